#!/usr/bin/env python3
"""Exports MiniLM to ONNX with batch and seq left open: export.py dynamo|torchscript OUT.onnx

The two exporters of PyTorch write very different graphs: torch.export's operators, and those of a trace.
"""

import logging
import os
import sys
import warnings

import minilm

OPSET = 18


def main(exporter, out):
    path = minilm.directory()
    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    model = minilm.sentence_model(path, dtype=torch.float32)
    # Sizes above 1 that differ, so that neither exporter takes one for a constant or for the other.
    ids, mask = (torch.from_numpy(array) for array in minilm.inputs(3, 37))
    names = dict(input_names=["input_ids", "attention_mask"], output_names=list(minilm.OUTPUTS))
    if exporter == "dynamo":
        batch, seq = torch.export.Dim("batch", min=1), torch.export.Dim("seq", min=1, max=512)
        dims = {0: batch, 1: seq}
        torch.onnx.export(model, (ids, mask), out, dynamo=True, opset_version=OPSET, external_data=True,
                          dynamic_shapes={"input_ids": dims, "attention_mask": dims}, verbose=False, **names)
    elif exporter == "torchscript":
        dims = {0: "batch", 1: "seq"}
        torch.onnx.export(model, (ids, mask), out, dynamo=False, opset_version=OPSET,
                          dynamic_axes={"input_ids": dims, "attention_mask": dims, minilm.OUTPUTS[0]: dims,
                                        minilm.OUTPUTS[1]: {0: "batch"}}, **names)
    else:
        sys.exit(f"error: no exporter is called '{exporter}'\n  hint: dynamo, torchscript")
    check(out)


def check(path):
    """Both dimensions of both inputs must still be open, or the test would prove less than it says."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    for value in model.graph.input:
        dims = [dim.dim_param for dim in value.type.tensor_type.shape.dim]
        if len(dims) != 2 or not all(dims):
            sys.exit(f"error: input '{value.name}' was exported with fixed sizes")
    opset = next(each.version for each in model.opset_import if each.domain == "")
    print(f"{os.path.basename(path)}: {len(model.graph.node)} nodes, opset {opset}")


if __name__ == "__main__":
    main(*sys.argv[1:])
