"""Programs with known sizes, one per case, for engines whose programs with symbolic dimensions fail or are much slower.

    build_each(folder, work, model, precision, build)      calls build(ONNX file, program) for every case that is one call
    program(folder, feed)                                   the program for the sizes of this feed
"""
import os
import shutil
import tempfile
import zlib

import cases
from engines import onnx_file, why


def path(folder, feed):
    return os.path.join(folder, f"{zlib.crc32(repr([array.shape for array in feed.values()]).encode()):08x}.so")


def program(folder, feed):
    wanted = path(folder, feed)
    if os.path.exists(wanted + ".txt"):
        with open(wanted + ".txt") as file:
            raise RuntimeError(file.read())
    return wanted


def freeze(source, feed, target):
    """Writes the ONNX file with the sizes of `feed`. ONNX Runtime folds what is constant then, and tells the sizes of outputs."""
    import onnx
    import onnxruntime
    model = onnx.load(source)
    for value in model.graph.input:
        for dimension, size in zip(value.type.tensor_type.shape.dim, feed[value.name].shape):
            dimension.dim_value = size
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    onnx.save(model, target)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    outputs = onnxruntime.InferenceSession(target, options, ["CPUExecutionProvider"]).run(None, feed)
    model = onnx.load(target)
    for value, array in zip(model.graph.output, outputs):
        value.type.CopyFrom(onnx.helper.make_tensor_type_proto(value.type.tensor_type.elem_type, array.shape))
    onnx.save(model, target)


def build_each(folder, work, model, precision, build):
    """A case that cannot be built leaves its reason in the folder; none that can be is an error."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    reasons, built = [], 0
    for case in [c for c in cases.CASES[model] if c not in cases.STREAMS]:
        feed = cases.inputs(model, case, precision)[0]
        with tempfile.TemporaryDirectory() as scratch:
            frozen = os.path.join(scratch, "frozen.onnx")
            try:
                freeze(onnx_file(work, model, precision), feed, frozen)
                build(frozen, path(folder, feed))
                built += 1
            except Exception as error:  # of any library
                reasons.append(why(error))
                with open(path(folder, feed) + ".txt", "w") as file:
                    file.write(reasons[-1])
    if not built:
        raise RuntimeError(reasons[0])
