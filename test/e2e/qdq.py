#!/usr/bin/env python3
"""Quantises an ONNX file into one that other engines run: qdq.py WEFT WORK

A convolution, and products with a relu between them, one of them a Gemm; one reads what is added to its result, which may be rounded for both. ONNX Runtime loads what is written, and is as near to the f32
model as Weft's artifact of the same strategy; what is not quantised, names and metadata stay. A product whose weight the file does not have
as it is multiplied is not looked for.
"""

import os
import shutil
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

MOST_APART = 0.001  # in cosine


def make_model(path, chance):
    def weight(name, *shape):
        return numpy_helper.from_array(chance.normal(0, 0.1, shape).astype(numpy.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "filter", "bias"], ["c"], "/conv/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "/relu/Relu"),
        helper.make_node("ReduceMean", ["r"], ["p"], "/pool/ReduceMean", axes=[2], keepdims=0),
        helper.make_node("MatMul", ["p", "first"], ["h"], "/first/MatMul"),
        helper.make_node("Relu", ["h"], ["a"], "/second/Relu"),
        helper.make_node("MatMul", ["a", "second"], ["s"], "/second/MatMul"),
        helper.make_node("Add", ["a", "s"], ["sum"], "/second/Add"),
        helper.make_node("ReduceMean", ["sum"], ["m"], "/mean/ReduceMean", axes=[1], keepdims=0),
        helper.make_node("Gemm", ["m", "third", "offset"], ["g"], "/third/Gemm", transB=1, alpha=2.0),
        helper.make_node("Transpose", ["fourth"], ["turned"], "/turned/Transpose", perm=[1, 0]),
        helper.make_node("MatMul", ["g", "turned"], ["y"], "/fourth/MatMul"),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8, "h", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 24])],
        [weight("filter", 32, 8, 3, 3), weight("bias", 32), weight("first", 64, 256), weight("second", 256, 256), weight("third", 48, 256),
         weight("offset", 48), weight("fourth", 24, 48)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="someone")
    model.ir_version = 8
    helper.set_model_props(model, {"kept": "yes"})
    onnx.save(model, path)


def run(*arguments, code=0):
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if result.returncode != code:
        sys.exit(f"FAILED with {result.returncode}: {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stderr


def cosine(a, b):
    a, b = (each.astype(numpy.float64).ravel() for each in (a, b))
    return float(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))


def answer(path, x):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def check(weft, plain, found, x):
    """Of one call; gives the cosines of ONNX Runtime on the file and of the artifact."""
    numpy.savez("in.npz", x=x)
    run(weft, "run", "-q", f"{found}.weft", "--input", "@in.npz", "-o", "out.npz")
    with numpy.load("out.npz") as file:
        ours = file["y"]
    wanted = answer(plain, x)
    return cosine(answer(f"{found}.onnx", x), wanted), cosine(ours, wanted)


def main(weft, work):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "calls"))
    os.chdir(work)
    chance = numpy.random.default_rng(1)
    make_model("plain.onnx", chance)
    calls = [chance.normal(0, 1, (1 + i % 3, 8, 8 + i, 64)).astype(numpy.float32) for i in range(20)]
    for i, x in enumerate(calls):
        x[:, 3] *= 10  # a large channel
        numpy.savez(f"calls/{i:03}.npz", x=x)
    run(weft, "quantize", "plain.onnx", "--calibration", "calls", "--budget", "cosine>=0.99", "-o", "found.onnx", "-o", "found.weft",
        "--strategy", "found.strategy")
    # all layers, whatever pays here, so that every kind is written
    with open("found.strategy") as file:
        lines = [line.split(" | ") for line in file.read().splitlines()]
    if lines[4][2:5:2] != ["/fourth/MatMul", "f32"]:
        sys.exit(f"WRONG: {lines[4]} cannot be written")
    for line in lines[:4]:
        if line[4] == "f32":
            line[4] = "static scale=0.25 zero=128"
    with open("all.strategy", "w") as file:
        file.writelines(" | ".join(line) + "\n" for line in lines)
    run(weft, "quantize", "plain.onnx", "--strategy", "all.strategy", "--apply", "-o", "all.onnx", "-o", "all.weft")
    sums = [[*line[:4], "everywhere scale=0.0078125 zero=0", "-"] if line[2] == "/second/MatMul" else line for line in lines]
    with open("sums.strategy", "w") as file:
        file.writelines(" | ".join(line) + "\n" for line in sums)
    run(weft, "quantize", "plain.onnx", "--strategy", "sums.strategy", "--apply", "-o", "sums.onnx", "-o", "sums.weft")
    check_sums()
    kept = ("qdq", "accelerator", "x86-v3-pairs")  # descriptions of hardware that files keep to, read again
    for hardware in kept:
        run(weft, "quantize", "plain.onnx", "--calibration", "calls", "--time", "5s", "--budget", "cosine>=0.9", "--hardware", hardware,
            "-o", f"{hardware}.onnx", "-o", f"{hardware}.weft")
        run(weft, "check", f"{hardware}.onnx", "--hardware", hardware)
    check_accelerator()
    for name in ("found", "all", "sums", *kept):
        for x in calls[::7]:
            theirs, ours = check(weft, "plain.onnx", name, x)
            print(f"{name}: ONNX Runtime {theirs:.5f}, Weft {ours:.5f}")
            if abs(theirs - ours) > MOST_APART:
                sys.exit("WRONG: the file and the artifact differ")
    model = onnx.load("all.onnx")
    onnx.checker.check_model(model)
    kinds = [node.op_type for node in model.graph.node]
    names = [node.name for node in model.graph.node]
    results = sum(" gives " in line[4] for line in lines)  # of the convolution, where it was found
    if kinds.count("QuantizeLinear") != 4 + results or "/second/Relu" not in names or model.producer_name != "someone" or \
            [prop.key for prop in model.metadata_props] != ["kept"]:
        sys.exit(f"WRONG: {kinds}, {names}")
    refuse(weft, lines, "/first/MatMul", "rows", "layer '/first/MatMul' has rows with scales of their own")
    refuse(weft, lines, "/fourth/MatMul", "static scale=0.25 zero=128",
           "node '/fourth/MatMul' does not read its weight as the file has it")
    # what another output ends with leaves no file of this one
    os.makedirs("no.weft/folder")
    said = run(weft, "quantize", "plain.onnx", "--strategy", "all.strategy", "--apply", "-o", "no.onnx", "-o", "no.weft", code=1)
    if "no.weft" not in said or os.path.exists("no.onnx"):
        sys.exit(f"WRONG: {said}")


def check_sums():
    """The sum reads what the product reads: one node rounds, and it stands in front of both."""
    model = onnx.load("sums.onnx")
    onnx.checker.check_model(model)
    nodes = {node.name: node for node in model.graph.node}
    added, product = nodes["/second/Add"].input[0], nodes["/second/MatMul"].input[0]
    if added != product or nodes[added].op_type != "DequantizeLinear" or nodes[added].input[0] not in nodes:
        sys.exit(f"WRONG: the sum reads {added}, the product {product}")


def check_accelerator():
    """Signed bytes, and one scale for each tensor, which is a power of two."""
    graph = onnx.load("accelerator.onnx").graph
    written = {each.name: numpy_helper.to_array(each) for each in graph.initializer if "/weft/" in each.name}
    scales = [each for name, each in written.items() if name.endswith("scale")]
    bytes_and_zeros = [each for name, each in written.items() if name.endswith(("zero", "bytes"))]
    if not scales or any(each.shape != () or numpy.frexp(each)[0] != 0.5 for each in scales) or \
            any(each.dtype != numpy.int8 for each in bytes_and_zeros):
        sys.exit(f"WRONG: {written}")


def refuse(weft, lines, node, form, why):
    """A decision that the file cannot say is refused by name, and nothing is written."""
    with open("no.strategy", "w") as file:
        for line in lines:
            fields = [*line[:4], form, *line[5:]] if line[2] == node else line
            file.write(" | ".join(fields) + "\n")
    said = run(weft, "quantize", "plain.onnx", "--strategy", "no.strategy", "--apply", "-o", "no.weft", "-o", "no.onnx", "-o", "no.mlir", code=1)
    left = [name for name in os.listdir(".") if name.startswith("no.") and name != "no.strategy"]
    if why not in said or left:
        sys.exit(f"WRONG: {said} {left}")


if __name__ == "__main__":
    main(*sys.argv[1:])
