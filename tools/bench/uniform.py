"""Whether `weft quantize` is more accurate than static bytes in all layers, in no more time than these take.

    python3 tools/bench/uniform.py [--models digits,bytes,photos,minilm,resnet50,mobilenetv2,llama160m]
Static bytes are what is written into ONNX files (`--search all -o FILE.onnx`). Models and calls are those that bench.py, trained/compare.py and decoder/compare.py have made. Both are judged by Weft, on at most 200
of the calls that no tool is calibrated with, of the decoder on a fifth of those it has: cosine to f32 and signal to noise, of the worst output; times are parts of f32's. `said` is what
prices and losses added up to: the time, and the loss of cosine as a part of what was lost. Runs with the Python of tools/test-env.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import numpy as np

import accuracy
import files

FOLDERS = {"digits": "trained", "bytes": "trained", "photos": "trained", "minilm": "", "resnet50": "", "mobilenetv2": "", "llama160m": "decoder"}
MORE = {"minilm": ["--mask", "attention_mask"], "llama160m": ["--at", "batch=1,seq=1,past=128"]}
MOST_JUDGED = 200


def path_of(model):
    return os.path.join(files.folder(), FOLDERS[model], "models", model)


def judged(model, folder):
    """Options that name other calls, which are written to a folder."""
    source = path_of(model) + ".judged.npz"
    if not os.path.exists(source):
        return []
    os.mkdir(folder)
    for i, (feed, _) in zip(range(MOST_JUDGED), accuracy.judged(source, "right" if FOLDERS[model] == "trained" else "answer")):
        np.savez(os.path.join(folder, f"{i:04}.npz"), **feed)
    return ["--evaluate", folder]


def found(model, *options):
    """What a search says of what it wrote."""
    path = path_of(model)
    weft = os.path.join(files.environ("")["WEFT_BENCH_BUILD"], "bin", "weft")
    command = [weft, "quantize", path + ".onnx", "--calibration", path + ".calls", "--json", *MORE.get(model, []), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(FOLDERS))
    options = parser.parse_args()
    print("| | static bytes: time | cosine | dB | search: time | said | cosine | dB | loss said |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for model in options.models.split(","):
        with tempfile.TemporaryDirectory() as work:
            calls = judged(model, os.path.join(work, "judged"))
            static = found(model, "--search", "all", "--budget", "cosine>=0.1", *calls, "-o", os.path.join(work, "a.onnx"), "-o", os.path.join(work, "a.weft"))
            other = found(model, "--budget", f"latency<={static['latency']:.4f}x", *calls, "-o", os.path.join(work, "b.weft"))
        cells = [f"{each['cosine']:.5f} | {each['sqnr']:.2f}" for each in (static, other)]
        print(f"| {model} | {static['latency']:.3f} | {cells[0]} | {other['latency']:.3f} | {other['predicted_latency']:.3f} | {cells[1]} | "
              f"{(1 - other['predicted_cosine']) / (1 - other['cosine']):.2f} |", flush=True)


if __name__ == "__main__":
    main()
