#!/usr/bin/env python3
"""Compiles every model of models.py with its dimensions renamed or without names, and calls it as ONNX Runtime does: run.py WEFT WORK WHAT

WHAT is a model, or a shard of all models, such as 0/3.
Sizes are those that the author meant, all of them 1, one input's 1, 0 or another number. What ONNX Runtime computes must be equal; what
it refuses must be refused when the program is entered.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "differential" / "models"))

import numpy as np
import onnx
import onnxruntime

import models
from compiled import call

#: What the file calls dimension `i`, a symbol `s`, of an input: no two of "own" are equal, as TensorFlow writes them.
SPELLINGS = {
    "own": lambda name, i, symbol: f"unk__{name}_{i}",
    "none": lambda name, i, symbol: None,
    "other inputs": lambda name, i, symbol: f"{symbol}_of_{name}" if i == 0 else None,
}
MEANT = [4, 3, 6, 5, 7]
#: Where ONNX Runtime does not do what ONNX says about sizes of 0.
LEFT_OUT = {"joined_channels": "Concat ignores empty tensors, whatever their other dimensions", "gated_channels": "pools refuse no pixels"}
MOST = 1e-5


def shapes_at(model, sizes):
    return {name: [sizes.get(d, d) for d in spec.dims] for name, spec in model.inputs.items()}


def calls(model):
    """Names of situations, and the shapes of all inputs."""
    meant = dict(zip(model.symbols(), MEANT))
    large = {symbol: 31 + size for symbol, size in meant.items()}  # more than two vectors
    yield "as meant", shapes_at(model, meant)
    yield "all 1", shapes_at(model, dict.fromkeys(meant, 1))
    yield "large", shapes_at(model, large)
    for name in model.inputs:
        yield f"large, {name} is 1", {**shapes_at(model, large), name: shapes_at(model, dict.fromkeys(meant, 1))[name]}
    for name, spec in model.inputs.items():
        for i, symbol in enumerate(spec.dims):
            for size in (1, 9) if model.name in LEFT_OUT else (1, 0, 9):
                if not isinstance(symbol, str):
                    continue
                shapes = shapes_at(model, meant)
                shapes[name][i] = size
                yield f"dimension {i} of {name} is {size}", shapes


def arrays(model, shapes):
    random = np.random.default_rng(3)
    for name, spec in model.inputs.items():
        if spec.element == np.float32:
            yield name, random.standard_normal(shapes[name]).astype(np.float32)
        else:
            yield name, random.integers(0, spec.below or 2, shapes[name]).astype(spec.element)


def expected(proto, feeds):
    """Outputs by name, or None where ONNX Runtime refuses."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto, options)
    names = [output.name for output in session.get_outputs()]
    try:
        return dict(zip(names, session.run(names, feeds)))
    except (onnxruntime.capi.onnxruntime_pybind11_state.Fail, onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument,
            onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException):
        return None


def differs(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype} {list(got.shape)} instead of {want.dtype} {list(want.shape)}"
    if want.dtype.kind != "f":
        return "has other elements" if (got != want).any() else ""
    scale = max(np.abs(want).max(initial=0), 1)
    return "" if np.allclose(got, want, rtol=MOST, atol=MOST * scale, equal_nan=True) else "has other numbers"


def judge(weft, artifact, feeds, want):
    """A finding, or nothing."""
    given, out = artifact.with_suffix(".in.npz"), artifact.with_suffix(".out.npz")
    np.savez(given, **feeds)
    code, said = call(weft, "run", artifact, "-q", "--input", f"@{given}", "-o", out)
    if want is None:
        return "" if code == 1 and said.startswith("error[W04") else f"is refused by ONNX Runtime, but ends with {code}: {said}"
    if code:
        return f"is computed by ONNX Runtime, but ends with {code}: {said}"
    with np.load(out) as got:
        wrong = {name: differs(got[name], array) for name, array in want.items()}
    return "; ".join(f"{name} {how}" for name, how in wrong.items() if how)


def compare(weft, model, spelling, folder):
    """Findings, and how many calls were computed and how many refused."""
    proto = model.proto(SPELLINGS[spelling]).SerializeToString()
    path = folder / f"{model.name}.onnx"
    path.write_bytes(proto)
    artifact = path.with_suffix(".weft")
    code, said = call(weft, "compile", path, "-q", "-o", artifact)
    if code:
        return [f"compile: {said}"], [0, 0]
    findings, counts = [], [0, 0]
    for situation, shapes in calls(model):
        feeds = dict(arrays(model, shapes))
        want = expected(proto, feeds)
        counts[want is None] += 1
        if wrong := judge(weft, artifact, feeds, want):
            findings.append(f"{situation}, {shapes}: {wrong}")
    return findings, counts


def chosen(what):
    """Models by name, or every one of a shard such as 0/3."""
    shard, _, shards = what.partition("/")
    return list(models.ALL.values())[int(shard)::int(shards)] if shards else [models.ALL[what]]


def main(weft, work, what):
    folder = pathlib.Path(work)
    os.makedirs(folder, exist_ok=True)
    failed, total = 0, [0, 0, 0]
    for model in chosen(what):
        for spelling in SPELLINGS:
            findings, counts = compare(weft, model, spelling, folder)
            total = [a + b for a, b in zip(total, [1, *counts])]
            failed += bool(findings)
            for finding in findings:
                print(f"WRONG: {model.name} ({spelling}): {finding}", flush=True)
    print(f"{total[0]} models, {total[1]} calls computed, {total[2]} refused, {failed} models wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
