"""Splits a small model with narrow numbers in several ways and compares it with one rank: over_ranks.py WEFT NAME WORK

Ranks are threads. Where parts have one size, kernels must be those of one rank and weights must not take more of the file.
"""
import json
import os
import re
import subprocess
import sys

import models
import numpy as np

MOST_BYTES = 1.05  # of one rank's weights; images are left out, whose few filters are stored as panels of many
COLUMNS, ROWS, FILTERS, CHANNELS = "[_, tp]", "[tp, _]", "[tp, _, _, _]", "[_, tp, _, _]"
IMAGES = [  # mesh, placements, whether all parts have one size, and schedules that one rank has not
    ("tp=2", [f"block*.up.weight={FILTERS}"], True),
    ("tp=4", [f"block*.up.weight={FILTERS}"], True),
    ("tp=4", [f"*.weight={FILTERS}"], False),
    ("tp=2", [f"block*.mid.weight={CHANNELS}"], True),
    ("dp=2,tp=2", ["x=[dp, _, _, _]", f"block*.up.weight={FILTERS}"], True),
    ("tp=3", [f"block*.up.weight={FILTERS}"], False),
    ("dp=2", ["x=[dp, _, _, _]", "*.weight=[dp*, _, _, _]"], False),
]
GATHERED = ("dp=2", ["x=[dp, _, _]", "*.weight*=[_, dp*]"], True)  # columns of bytes, which are panels


def layers(columns, rows, of_batch=()):
    """`of_batch`: schedules that ranks with a part of the batch have besides."""
    pairs = [f"attention.[qkv]*.weight*={columns}", f"mlp.[ug]*.weight*={columns}"]
    return [
        ("tp=2", pairs, True),
        ("tp=4", pairs, True),
        ("tp=2", [f"mlp.down.weight*={rows}", f"attention.output.weight*={rows}"], True),
        ("tp=2", ["x=[_, tp, _]", *pairs], True, {"product"}),  # of attention: keys and values are gathered behind queries
        ("dp=2,tp=2", ["x=[dp, _, _]", *pairs], True, set(of_batch)),
        ("tp=3", pairs, False),
    ]


MODELS = {  # the most that results may differ from those of one rank, of their scale, layouts, and sizes
    "qdq": (0, [*layers(COLUMNS, ROWS), GATHERED], [{"n": 2, "s": 7}, {"n": 1, "s": 1}]),
    # The first products read rows of a slice of what all have, which nothing computes before.
    "int4": (1e-5, layers(ROWS, COLUMNS, {"product"}), [{"n": 2, "s": 7}, {"n": 1, "s": 1}]),
    "int4_a4": (1e-5, layers(ROWS, COLUMNS), [{"n": 1, "s": 5}]),
    "cnn": (1e-5, IMAGES, [{"n": 2, "h": 17, "w": 12}, {"n": 1, "h": 1, "w": 3}]),
    "cnn_qdq": (1e-6, IMAGES, [{"n": 2, "h": 17, "w": 12}]),
}


TARGETS = {"qdq": [("x86:v4+vnni", "integer_contraction")], "int4": [("x86:v4", "contraction")], "int4_a4": [("x86:v4+vnni", "block_dots")]}


def weft(program, *words):
    """What the command prints, or an exception with what it says."""
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"weft {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def options(mesh, placements):
    return ["--mesh", mesh] + [word for each in placements for word in ("--place", each)]


def schedules(text):
    """Of the products and windows that are named there."""
    return set(re.findall(r"@?weft_k_(\w*(?:product|contraction|convolution|dots|winograd)\w*)_[0-9a-f]+", text))


def compiled(program, artifact, *words):
    """The schedules of an artifact, and the bytes of its weights."""
    weft(program, "compile", "model.onnx", "-q", "-o", artifact, *words)
    described = weft(program, "inspect", artifact, "--json")
    return schedules(described), json.loads(described)["weight_bytes"]


def result(program, artifact, sizes, *words):
    dims = [word for name, size in sizes.items() for word in ("--dim", f"{name}={size}")]
    weft(program, "run", artifact, "-q", "--output", "out.npz", *dims, *words)
    with np.load("out.npz") as file:
        return file[file.files[0]]


def difference(got, want):
    """Of the scale."""
    return float(np.abs(got - want).max() / np.abs(want).max()) if got.shape == want.shape else float("inf")


def ranks_of(mesh):
    return int(np.prod([int(axis.split("=")[1]) for axis in mesh.split(",")]))


def findings(program, name):
    most, layouts, cases = MODELS[name]
    alone, bytes_alone = compiled(program, "alone.weft")
    expected = [result(program, "alone.weft", sizes) for sizes in cases]
    for mesh, placements, isEven, *others in layouts:
        what = f"{mesh} {' '.join(placements)}"
        split, bytes_split = compiled(program, "split.weft", *options(mesh, placements))
        got = [result(program, "split.weft", sizes, "--ranks", ranks_of(mesh), "--transport", "threads") for sizes in cases]
        worst = max(map(difference, got, expected))
        print(f"{what}: {worst:.1e}, {bytes_split / bytes_alone:.2f} x the weights, {' '.join(sorted(split))}", flush=True)
        if not worst <= most:
            yield f"{what}: differs by {worst:.1e} of the scale"
        if isEven and split - set().union(*others) != alone:
            yield f"{what}: has {sorted(split)}, one rank has {sorted(alone)}"
        if isEven and layouts is not IMAGES and bytes_split > MOST_BYTES * bytes_alone:
            yield f"{what}: has {bytes_split} bytes of weights, one rank has {bytes_alone}"
    for target, schedule in TARGETS.get(name, []):  # whose code does not run everywhere
        for words in ([], options(*layouts[0][:2])):
            found = schedules(weft(program, "compile", "model.onnx", "--stop-after", "plan", "-t", target, *words))
            if found != {schedule}:
                yield f"{target}: has {sorted(found)}"


def main(program, name, work):
    program = os.path.abspath(program)
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    models.main(name, "model.onnx")
    found = list(findings(program, name))
    for each in found:
        print(f"WRONG: {each}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
