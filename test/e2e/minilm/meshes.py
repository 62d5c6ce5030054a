#!/usr/bin/env python3
"""MiniLM for 1, 2 and 4 ranks in one file: meshes.py WEFT WORK

Its weights are those of the file for one rank, a rank reads a quarter of what is split and all that is not, and results are those of
one rank. Needs the folder that tools/fetch-model prints in WEFT_TEST_MODEL.
"""

import json
import os
import subprocess
import sys

PLACES = ["--place", "*.attention.self.*.weight=[tp, _]", "--place", "*.intermediate.dense.weight=[tp, _]"]
MOST = 1.05  # of the weights for one rank


def weft(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def bytes_split(model):
    """Of the matrices of attention and of the products behind it."""
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    return config["num_hidden_layers"] * (4 * hidden * hidden + 2 * hidden * inner) * 4


def main(program, work):
    model = os.environ.get("WEFT_TEST_MODEL", "")
    if not os.path.isdir(model):
        print("SKIPPED: WEFT_TEST_MODEL names no folder; tools/fetch-model prints one")
        return 77
    os.makedirs(work, exist_ok=True)
    alone, several, expected = (os.path.join(work, name) for name in ["alone.weft", "several.weft", "expected.npz"])
    weft(program, "compile", "-q", model, "-o", alone)
    meshes = [word for size in (1, 2, 4) for word in ("--mesh", f"tp={size}")]
    weft(program, "compile", "-q", model, "-o", several, *meshes, *PLACES)
    one, all_of_them = (json.loads(weft(program, "inspect", path, "--json")) for path in [alone, several])
    findings = []
    ratio = all_of_them["weight_bytes"] / one["weight_bytes"]
    print(f"weights {ratio:.4f} of those for one rank")
    if ratio > MOST:
        findings.append(f"weights are {ratio:.3f} times those for one rank")
    programs = {1: all_of_them["functions"], **{each["ranks"]: each["functions"] for each in all_of_them["meshes"]}}
    least = bytes_split(model)
    whole = int(programs[1][0]["weights_read"])
    for ranks, functions in programs.items():
        read = int(functions[0]["weights_read"])
        split = (whole - read) * ranks / max(ranks - 1, 1)
        print(f"{ranks} ranks: each reads {read} bytes of {whole}")
        if ranks > 1 and not least <= split <= 1.02 * least:  # biases are split, too
            findings.append(f"with {ranks} ranks {split} bytes are split, not {least}")
    size = ["--dim", "batch=2", "--dim", "seq=7", "-q"]
    weft(program, "run", alone, *size, "--output", expected)
    for ranks in programs:
        done = subprocess.run([program, "run", several, *size, "--ranks", str(ranks), "--expect", expected, "--tol", "5e-5"],
                              capture_output=True, text=True)
        if done.returncode:
            findings.append(f"with {ranks} ranks: {done.stderr}")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
