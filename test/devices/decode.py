#!/usr/bin/env python3
"""The example decoder keeps its cache on a device: decode.py WEFT DECODE WORK

64 steps give the tokens that they give on the processor, and nothing but a token goes to the device and logits come back in each.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import decoder

STEPS = 64


def run(wrong, code, *words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != code:
        wrong.append(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def main(weft, decode, work):
    os.makedirs(work, exist_ok=True)
    model, artifact, copying = (os.path.join(work, name) for name in ("decoder.onnx", "decoder.weft", "copying.weft"))
    wrong = []
    decoder.main(model, "f32")
    for path, words in ((artifact, ["--in-place"]), (copying, [])):
        run(wrong, 0, weft, "compile", "-q", model, "-t", "x86:v3,cuda:sm_80", *words, "-o", path)
    here, there = (run(wrong, 0, decode, artifact, STEPS, device).stdout.splitlines() for device in ("cpu", "emulated"))
    tokens = here[0].split() if here else []
    if len(tokens) != STEPS or len(set(tokens)) < 3 or here[:1] != there[:1]:
        wrong.append(f"tokens of the processor: {here}\n  and of the device: {there}")
    counts = f"{STEPS} steps on emulated: {STEPS * 8} bytes went to the device, {STEPS * 4 * decoder.TOKENS} came back"
    if there[1:] != [counts] or not here[-1].endswith(" 0 bytes went to the device, 0 came back"):
        wrong.append(f"copies: {here[1:]}, {there[1:]}")
    for code, text, words in ((1, "no decoder with tokens first and caches that grow in place", [copying, STEPS]),
                              (1, "there is no device 'nothing'", [artifact, STEPS, "nothing"]),
                              (2, "usage", [artifact, 0])):
        refused = run(wrong, code, decode, *words)
        if len(refused.stderr.splitlines()) != 1 or text not in refused.stderr:
            wrong.append(f"{words}: {refused.stderr}")
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
