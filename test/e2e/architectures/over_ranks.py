#!/usr/bin/env python3
"""Splits an architecture over ranks in several ways, and compares every shape with one rank: over_ranks.py WEFT NAME WORK

Weights and inputs are placed by how many dimensions they have, as nobody would who knows the model: what follows must be right all the
same. Ranks are threads; the first layout's are processes, too.
"""

import os
import sys

import run

MOST = 1e-5  # of the largest element of an output
LAYOUTS = [  # mesh, and placements of which the first are taken that the model has values for: matrices and sequences, or images
    ("tp=3", ["[_, tp]"], ["[_, tp, _, _]"]),
    ("dp=2,tp=2", ["[dp, tp]"], ["[dp, tp, _, _]"]),
    ("tp=8", ["[tp, _]", "[_, tp, _]"], ["[tp, _]"], ["[tp, _, _, _]"]),
]


def ranks_of(mesh):
    count = 1
    for axis in mesh.split(","):
        count *= int(axis.split("=")[1])
    return count


def split_over(program, model, artifact, mesh, *choices):
    """Nothing, or a finding."""
    for dims in choices:
        places = [word for each in dims for word in ("--place", f"*={each}")]
        failure = run.weft(program, "compile", model, "-q", "-o", artifact, "--mesh", mesh, *places)
        if "W0315" not in failure:  # else no value has so many dimensions
            break
    return failure


def answers(program, artifact, given, out, *options):
    """The outputs by name, or what the command says."""
    import numpy

    failure = run.weft(program, "run", artifact, "--input", f"@{given}", "--output", out, *options)
    if failure:
        return failure
    with numpy.load(out) as file:
        return {name: file[name] for name in file.files}


def difference(got, want):
    """Of the scale; infinity where shapes or integers differ."""
    import numpy

    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.size == 0:
        return 0
    if want.dtype.kind != "f":
        return 0 if (got == want).all() else float("inf")
    return float(numpy.abs(got.astype(numpy.float64) - want).max() / max(numpy.abs(want).max(), 1e-30))


def compare(program, entry, folder, work):
    """Findings, each a sentence."""
    model, out = os.path.join(folder, "model.onnx"), os.path.join(work, "out.npz")
    alone, split = os.path.join(work, "alone.weft"), os.path.join(work, "split.weft")
    if failure := run.weft(program, "compile", model, "-q", "-o", alone):
        return [failure]
    expected = [answers(program, alone, f"{folder}/{i}-in.npz", out) for i in range(len(entry.sizes))]
    findings = []
    for layout in LAYOUTS:
        mesh = layout[0]
        if failure := split_over(program, model, split, *layout):
            findings.append(f"{mesh}: {failure}")
            continue
        for transport in ["threads", "shm"] if layout is LAYOUTS[0] else ["threads"]:
            worst = 0
            for i, (at, want) in enumerate(zip(entry.sizes, expected)):
                got = answers(program, split, f"{folder}/{i}-in.npz", out, "--ranks", ranks_of(mesh), "--transport", transport)
                where = f"{mesh} {transport}, {', '.join(f'{name} = {size}' for name, size in at.items())}"
                if isinstance(got, str):
                    findings.append(f"{where}: {got}")
                    continue
                off = {name: difference(got[name], want[name]) for name in entry.outputs}
                findings += [f"{where}: {name} differs by {each:.3g} of its scale" for name, each in off.items() if not each <= MOST]
                worst = max([worst, *off.values()])
            print(f"{mesh:<12}{transport:<10}{worst:.1e}", flush=True)
    return findings


def main(program, name, work):
    os.makedirs(work, exist_ok=True)
    os.makedirs(run.cache(), exist_ok=True)
    entry = run.described()[name]
    findings = compare(program, entry, run.exported(entry, entry.exporters[0]), work)
    for finding in findings:
        print(f"WRONG: {finding}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
