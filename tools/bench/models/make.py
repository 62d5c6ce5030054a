"""Writes a model as ONNX with symbolic shapes, and the float64 answers of its cases. Runs in the torch environment.

    python make.py FOLDER MODEL                 FOLDER/MODEL.onnx, FOLDER/MODEL.CASE.reference.npz (and .tokens.npz)
    python make.py FOLDER MODEL model_bf16      FOLDER/MODEL.model_bf16.onnx, exported from the same module in 16 bits
"""
import logging
import os
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np
import torch
from torch.export import Dim

import cases
import models
from models import vision

# transformers asks this of a driver, and in an environment of tools/test-env there is none to answer.
torch.cuda.is_current_stream_capturing = lambda: False
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def arguments(name, feed, floats=None):
    """A feed as the arguments of the module, with floats of this type if one is given."""
    tensors = [torch.from_numpy(array) for array in feed.values()]
    if floats:
        tensors = [tensor.to(floats) if tensor.is_floating_point() else tensor for tensor in tensors]
    return (tensors[0], tensors[1:]) if name in cases.DECODERS else tuple(tensors)


def signature(name):
    """An example feed, the symbolic dimensions and the names of the outputs."""
    random, batch = np.random.default_rng(0), Dim("batch", min=1, max=4096)
    if name in cases.DECODERS:
        layers = cases.DECODERS[name][0]
        past = {0: batch, 2: Dim("past", min=0, max=1 << 14)}
        outputs = [f"present_{kind}_{i}" for i in range(layers) for kind in ("key", "value")]
        return (cases.decoder(random, name, 3, 5, batch=2),
                ({0: batch, 1: Dim("seq", min=1, max=1 << 14)}, [dict(past) for _ in outputs]), ["logits"] + outputs)
    if name in cases.ENCODERS:
        ids = {0: batch, 1: Dim("seq", min=2, max=512)}
        return cases.tokens(random, 2, 9), (dict(ids), dict(ids), dict(ids)), ["last_hidden_state"]
    if name in cases.IMAGES:
        sizes = {2: Dim("height", min=1, max=4096), 3: Dim("width", min=1, max=4096)}
        return cases.image(random, 2, 24, 40), ({0: batch, **sizes},), [cases.IMAGES[name]]
    return cases.image(random, 2), ({0: batch},), ["logits"]


def export(name, net, path, floats=torch.float32):
    feed, shapes, outputs = signature(name)
    program = torch.onnx.export(net.to(floats), arguments(name, feed, floats), dynamo=True, opset_version=18, dynamic_shapes=shapes,
                                input_names=list(feed), output_names=outputs, optimize=True, verbose=False,
                                external_data=False)
    program.save(path)


def write_references(folder, name, net):
    net = net.double()
    for case in cases.CASES.get(name, []):
        answers = {}
        for i, feed in enumerate(cases.inputs(name, case)):
            feed = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feed.items()}
            with torch.inference_mode():
                answer = net(*arguments(name, feed))
            answers[f"step{i}"] = (answer[0] if isinstance(answer, tuple) else answer).numpy()
        np.savez(os.path.join(folder, f"{name}.{case}.reference.npz"), **answers)


def write_token_references(folder, name, net):
    """For llama.cpp: the past is what the model makes of cases.prefix() and of the tokens of the steps before."""
    net = net.double()
    for case in [c for c in cases.CASES[name] if not c.startswith("prefill")]:
        feeds, answers = cases.inputs(name, case), {}
        length = feeds[0]["past_key_0"].shape[2]
        tokens = cases.prefix(cases.DECODERS[name][3], length)
        empty = [torch.zeros(v[:, :, :0].shape, dtype=torch.float64) for v in list(feeds[0].values())[1:]]
        with torch.inference_mode():
            _, *past = net(torch.tensor([tokens]), empty)
            for i, feed in enumerate(feeds):
                logits, *past = net(torch.from_numpy(feed["input_ids"]), past)
                answers[f"step{i}"] = logits.numpy()
        np.savez(os.path.join(folder, f"{name}.{case}.tokens.npz"), **answers)


def main(folder, name, precision="f32"):
    begin, net = time.process_time(), models.build(name)
    if precision in cases.FLOATS:
        made = f"{name}.{precision}.onnx"
        export(name, vision.folded(net), os.path.join(folder, made), getattr(torch, cases.FLOATS[precision]))
    else:
        made = f"{name}.onnx and its float64 answers"
        export(name, net, os.path.join(folder, name + ".onnx"))
        write_references(folder, name, net)
        if name in cases.DECODERS:
            write_token_references(folder, name, net)
    print(f"{made}: {time.process_time() - begin:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
