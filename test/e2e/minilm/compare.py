#!/usr/bin/env python3
"""Compiles MiniLM once and compares every shape with float64: compare.py WEFT MODEL REFERENCE WORK

MODEL is `checkpoint` or an ONNX file. Largest differences and the times of calls are printed; answers of one and of two
threads must have the same bits.
"""

import os
import subprocess
import sys

import minilm

MOST = 2e-5


def weft(*arguments):
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if result.returncode == 0:
        return result
    sys.exit(f"FAILED with {result.returncode}: {' '.join(map(str, arguments))}\n{result.stderr}")


def answers(program, artifact, case, work, threads):
    import numpy

    out = os.path.join(work, f"{os.path.basename(case)}-{threads}.npz")
    result = weft(program, "run", artifact, "--input", f"@{case}-in.npz", "--output", out, "--threads", threads)
    time = next((line for line in result.stderr.splitlines() if "(first call)" in line), "")
    with numpy.load(out) as file:
        return {name: file[name] for name in file.files}, time


def judge(name, got, want, kept):
    """Findings about one output, and its worst difference where tokens are kept and in padding."""
    import numpy

    if got.dtype != numpy.float32 or got.shape != want.shape:
        return [f"{name} is {got.dtype}{got.shape}, not float32{want.shape}"], {}
    difference = numpy.abs(got.astype(numpy.float64) - want)
    parts = {name: (numpy.ones(want.shape[:1], bool), MOST)}
    if got.ndim == 3:
        parts = {name: (kept, MOST), "padding": (~kept, MOST)}
    wrong, worst = [], {}
    for part, (where, most) in parts.items():
        if not where.any():
            continue
        worst[part] = float(difference[where].max())
        if not worst[part] <= most:  # also when it is not a number
            wrong.append(f"{name} differs by {worst[part]:.3g}, more than {most:g}" + " in padding" * (part == "padding"))
    return wrong, worst


def compare(expected, one, two, kept):
    """Findings, each a sentence; and the worst differences."""
    wrong, worst = [], {}
    if sorted(one) != sorted(expected):
        return [f"the outputs are {sorted(one)}, not {sorted(expected)}"], worst
    for name, want in expected.items():
        found, differences = judge(name, one[name], want, kept)
        wrong += found
        worst.update(differences)
        if one[name].tobytes() != two[name].tobytes():
            wrong.append(f"{name} has other bits with two threads than with one")
    return wrong, worst


def is_named(program, path):
    """Whether a folder is called by its name, also with the slash that shells put behind it."""
    if not os.path.isdir(path):
        return True
    name, first = os.path.basename(path.rstrip("/")), weft(program, "inspect", path.rstrip("/") + "/").stdout.splitlines()[0]
    if not first.startswith(name + "  "):
        print(f"WRONG: 'inspect' calls {name}/ so: {first}")
    return first.startswith(name + "  ")


def main(program, model, reference, work):
    path = minilm.directory() if model == "checkpoint" else model
    missing = [s for s in minilm.SHAPES if not os.path.isfile(f"{reference}/{s[0]}x{s[1]}-out.npz")]
    if missing or not os.path.exists(path):
        minilm.skip("the float64 answers or the exported model were not made; their tests say why")
    import numpy

    os.makedirs(work, exist_ok=True)
    artifact = os.path.join(work, "minilm.weft")
    print(weft(program, "compile", path, "--output", artifact).stdout.strip().splitlines()[-1])
    failures = 0 if is_named(program, path) else 1
    for batch, seq in minilm.SHAPES:
        case = f"{reference}/{batch}x{seq}"
        with numpy.load(case + "-out.npz") as file:
            expected = {name: file[name] for name in file.files}
        with numpy.load(case + "-in.npz") as file:
            kept = file["attention_mask"] != 0
        one, time = answers(program, artifact, case, work, 1)
        two, _ = answers(program, artifact, case, work, 2)
        wrong, worst = compare(expected, one, two, kept)
        failures += len(wrong)
        row = "  ".join(f"{name} {value:.2e}" for name, value in worst.items())
        print(f"{batch:>3} x {seq:<4} {row}  {time}")
        for line in wrong:
            print(f"      WRONG: {line}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
