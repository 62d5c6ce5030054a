#!/usr/bin/env python3
"""Exports one architecture with one exporter, and writes inputs and float64 answers: export.py NAME EXPORTER OUT

OUT/model.onnx, OUT/N-in.npz and OUT/N-out.npz for sizes number N, and OUT/complete at the end. The last line on standard error
says why when torch cannot export the model.
"""

import copy
import inspect
import logging
import os
import sys
import warnings

import registry


def prepare():
    import torch

    # transformers asks this of a driver, and in an environment of tools/test-env there is none to answer.
    torch.cuda.is_current_stream_capturing = lambda: False
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(5)
    return torch


def nested(model, dims):
    """The dimensions of all arguments as torch.export wants them: those of *arguments are one tuple."""
    kinds = [parameter.kind for parameter in inspect.signature(model.forward).parameters.values()]
    plain = sum(kind == inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)
    rest = [tuple(dims[plain:])] if inspect.Parameter.VAR_POSITIONAL in kinds else dims[plain:]
    return tuple(dims[:plain] + rest)


def reason(error):
    """The innermost error's first line."""
    while error.__cause__:
        error = error.__cause__
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {line[:300]}"


def export(torch, entry, exporter, model, path):
    arguments = tuple(torch.from_numpy(a) for a in entry.arrays(0).values())
    named = {n: {i: d for i, d in enumerate(s.dims) if isinstance(d, str)} for n, s in entry.inputs.items()}
    names = dict(input_names=list(entry.inputs), output_names=entry.outputs, opset_version=entry.opset)
    with torch.no_grad():
        if exporter == "dynamo":
            torch.onnx.export(model, arguments, path, dynamo=True, external_data=False, verbose=False,
                              dynamic_shapes=nested(model, list(named.values())), **names)
        else:
            axes = {} if exporter == registry.FIXED else dict(dynamic_axes=named)
            torch.onnx.export(model, arguments, path, dynamo=False, **axes, **names)


def check(entry, path):
    """All symbols must still be open, or the test would prove less than it says."""
    import onnx

    for value in onnx.load(path).graph.input:
        dims = value.type.tensor_type.shape.dim
        for dim, said in zip(dims, entry.inputs[value.name].dims):
            if isinstance(said, str) and not dim.dim_param:
                raise ValueError(f"the exporter fixed '{said}' of input '{value.name}' to {dim.dim_value}")


def answers(torch, entry, model, out):
    import numpy

    double = copy.deepcopy(model).double()
    for index in range(len(entry.sizes)):
        arrays = entry.arrays(index)
        given = [torch.from_numpy(a).double() if a.dtype == numpy.float32 else torch.from_numpy(a) for a in arrays.values()]
        with torch.no_grad():
            got = double(*given)
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(entry.outputs), f"{len(got)} outputs"
        numpy.savez(os.path.join(out, f"{index}-in.npz"), **arrays)
        numpy.savez(os.path.join(out, f"{index}-out.npz"), **{n: t.numpy() for n, t in zip(entry.outputs, got)})


def main(name, exporter, out):
    entry = registry.load()[name]
    torch = prepare()
    os.makedirs(out, exist_ok=True)
    model = entry.build().eval()
    answers(torch, entry, model, out)
    path = os.path.join(out, "model.onnx")
    try:
        export(torch, entry, exporter, model, path)
        if exporter != registry.FIXED:
            check(entry, path)
    except Exception as error:  # whatever torch raises
        sys.exit(reason(error))
    with open(os.path.join(out, "complete"), "w"):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
