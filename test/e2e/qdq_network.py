#!/usr/bin/env python3
"""What ONNX Runtime makes of a network that Weft quantised: qdq_network.py WEFT HARDWARE WORK

Depthwise convolutions, a sum around some of them, another whose mean is read, and channels whose sizes differ by orders, so that they are equalised. In the file no node
divides channels: what makes them does. Every convolution, sum and product is computed in integers end to end, bytes are pooled, nothing is rounded twice, and answers
are those of Weft's artifact.
HARDWARE is the description of such files, which gets prices here, so that nothing depends on times.
"""

import collections
import json
import os
import shutil
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

MOST_APART = 0.001  # in cosine, of f32's answers
MOST_BETWEEN = 0.02  # of the largest answer, between the artifact and ONNX Runtime
LEAST_COSINE = 0.99
CALLS = 10
SUMS = [{"products": 2, "bits": 16, "overflow": "saturates"}, {"bits": 32, "overflow": "wraps"}]
SPREAD = 1.0  # of the logarithms of channels' sizes


class Network:
    def __init__(self, chance):
        self.chance, self.nodes, self.tensors = chance, [], []

    def tensor(self, name, values):
        self.tensors.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def conv(self, x, name, inputs, outputs, side=1, groups=1, reads=None, relu=True, gives=None, **rest):
        """Input channels are `reads` times as large as they would be, output channels are made `gives` times as large."""
        filters = self.chance.normal(0, (2 / (inputs // groups * side * side)) ** 0.5, (outputs, inputs // groups, side, side))
        if reads is not None:
            filters /= reads.reshape(-1, 1, 1, 1) if groups > 1 else reads.reshape(1, -1, 1, 1)
        gives = numpy.ones(outputs) if gives is None else gives
        weight = self.tensor(name + ".weight", filters * gives.reshape(-1, 1, 1, 1))
        bias = self.tensor(name + ".bias", self.chance.normal(0, 0.1, outputs) * gives)
        self.nodes.append(helper.make_node("Conv", [x, weight, bias], [name], f"/{name}/Conv", group=groups, pads=[side // 2] * 4, **rest))
        return self.node("Relu", [name], name + ".relu") if relu else name

    def node(self, kind, inputs, output, **rest):
        self.nodes.append(helper.make_node(kind, inputs, [output], f"/{output}/{kind}", **rest))
        return output

    def sizes(self, count):
        return numpy.exp(SPREAD * self.chance.normal(0, 1, count))

    def model(self):
        c, d, e = (self.sizes(count) for count in (48, 48, 32))
        x = self.conv("image", "stem", 3, 24, 3, relu=False, strides=[2, 2])
        y = self.conv(x, "expand", 24, 48, gives=c)
        y = self.conv(y, "inner", 48, 48, 3, groups=48, reads=c, gives=d)
        y = self.conv(y, "project", 48, 24, reads=d, relu=False)
        x = self.node("Add", [x, y], "sum")
        x = self.conv(x, "wide", 24, 32, 3, gives=e)
        x = self.node("MaxPool", [x], "half", kernel_shape=[2, 2], strides=[2, 2])
        x = self.conv(x, "last", 32, 32, reads=e)
        y = self.conv(x, "close", 32, 32, relu=False)
        x = self.node("Relu", [self.node("Add", [x, y], "ends")], "ends.relu")
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x], "mean")], "flat")
        head = self.tensor("head.weight", self.chance.normal(0, 0.2, (10, 32)))
        self.node("Gemm", [x, head, self.tensor("head.bias", self.chance.normal(0, 0.1, 10))], "answer", transB=1)
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 16])],
                                  [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["n", 10])], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def run(*arguments):
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"FAILED with {result.returncode}: {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def cosine(a, b):
    a, b = (each.astype(numpy.float64).ravel() for each in (a, b))
    return float(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))


def answer(path, image):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"image": image})[0]


def fused(path):
    """How many nodes of each kind ONNX Runtime computes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = "fused.onnx"
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return collections.Counter(node.op_type for node in onnx.load("fused.onnx").graph.node)


def pools_bytes(path):
    """Whether what is pooled was rounded as what the pool gives is."""
    graph = onnx.load(path).graph
    made = {output: node for node in graph.node for output in node.output}
    pool = next(node for node in graph.node if node.op_type == "MaxPool")
    readers = [node for node in graph.node if pool.output[0] in node.input]
    before = made[pool.input[0]]
    return before.op_type == "DequantizeLinear" and made[before.input[0]].op_type == "QuantizeLinear" and \
        [(node.op_type, node.input[1:]) for node in readers] == [("QuantizeLinear", before.input[1:])]


def check_pairs_of_others(weft, chance):
    """What somebody else rounds behind a pool, by a scale for each channel, stays there."""
    scale, zero = numpy_helper.from_array(numpy.full(3, 0.05, numpy.float32), "scale"), numpy_helper.from_array(numpy.zeros(3, numpy.int8), "zero")
    weight = numpy_helper.from_array(chance.normal(0, 1, (3, 10)).astype(numpy.float32), "weight")
    nodes = [helper.make_node("Relu", ["image"], ["active"]), helper.make_node("MaxPool", ["active"], ["pooled"], kernel_shape=[2, 2]),
             helper.make_node("QuantizeLinear", ["pooled", "scale", "zero"], ["bytes"], axis=1),
             helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["restored"], axis=1),
             helper.make_node("GlobalAveragePool", ["restored"], ["mean"]), helper.make_node("Flatten", ["mean"], ["flat"]),
             helper.make_node("MatMul", ["flat", "weight"], ["answer"], "/head/MatMul")]
    graph = helper.make_graph(nodes, "partly", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 16])],
                              [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["n", 10])], [scale, zero, weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, "partly.onnx")
    run(weft, "quantize", "partly.onnx", "--calibration", "calls", "--budget", "cosine>=0.9", "--hardware", "./priced.json", "-o", "whole.onnx")
    written = onnx.load("whole.onnx").graph.node
    kinds = collections.Counter(node.op_type for node in written)
    if kinds["QuantizeLinear"] != 2 or next(node for node in written if node.op_type == "MaxPool").input[0] != "active":
        sys.exit(f"WRONG: somebody else's nodes should stay as they are: {dict(kinds)}")


def priced(hardware):
    """The description with rates, so that integers always pay, and with the sums of ONNX Runtime on any processor."""
    with open(hardware) as file:
        data = json.load(file)
    data.update(name="priced", price="declared", float_multiply_adds_per_second=1e10)
    for way in data["operators"]:
        way["multiply_adds_per_second"] = 1e12
        if "sums" in way:
            way["sums"] = SUMS
    with open("priced.json", "w") as file:
        json.dump(data, file)


def main(weft, hardware, work):
    hardware = os.path.abspath(hardware)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "calls"))
    os.chdir(work)
    chance = numpy.random.default_rng(7)
    onnx.save(Network(chance).model(), "plain.onnx")
    calls = [chance.normal(0, 1, (1, 3, 16, 16)).astype(numpy.float32) for _ in range(CALLS)]
    for i, image in enumerate(calls):
        numpy.savez(f"calls/{i:03}.npz", image=image)
    priced(hardware)
    report = json.loads(run(weft, "quantize", "plain.onnx", "--calibration", "calls", "--budget", f"cosine>={LEAST_COSINE}", "--hardware", "./priced.json",
                            "--strategy", "found.strategy", "-o", "found.onnx", "-o", "found.weft", "--json"))
    forms = [layer["form"] for layer in report["layers"]]
    equalised = sum("strength" in layer for layer in report["layers"])
    print(f"{forms}, {equalised} equalised; cosine {report['cosine']:.5f}, promised {report['promised_cosine']:.5f}")
    if "f32" in forms or equalised < 3:
        sys.exit("WRONG: all layers should be integers, and some equalised")
    run(weft, "check", "found.onnx", "--hardware", "qdq")
    onnx.checker.check_model(onnx.load("found.onnx"))
    kinds = collections.Counter(node.op_type for node in onnx.load("found.onnx").graph.node)
    theirs = fused("found.onnx")
    print(f"written {dict(kinds)}, computed {dict(theirs)}")
    if kinds["Mul"] or theirs["Conv"] or theirs["FusedConv"] or theirs["QLinearConv"] != 7 or theirs["Gemm"]:
        sys.exit("WRONG: every convolution and product should be one of integers, and no node divide channels")
    if not pools_bytes("found.onnx"):
        sys.exit("WRONG: bytes should be pooled")
    if theirs["QLinearAdd"] != 2 or theirs["QuantizeLinear"] != 2 or theirs["DequantizeLinear"] != 1:
        sys.exit("WRONG: only the image and the mean should be rounded by a node, and nothing twice")
    run(weft, "quantize", "plain.onnx", "--strategy", "found.strategy", "--apply", "-o", "again.onnx", "-o", "again.weft")
    for kind in ("onnx", "weft"):
        if open(f"found.{kind}", "rb").read() != open(f"again.{kind}", "rb").read():
            sys.exit(f"WRONG: the strategy makes another again.{kind}")
    run(weft, "quantize", "plain.onnx", "--calibration", "calls", "--budget", "cosine>=0.9", "--search", "all", "-o", "all.onnx")
    if fused("all.onnx")["QLinearAdd"] != 2:
        sys.exit("WRONG: with all layers in bytes, sums should be of bytes whatever Weft's times are")
    check_pairs_of_others(weft, chance)
    for i in range(0, CALLS, 4):
        run(weft, "run", "-q", "found.weft", "--input", f"@calls/{i:03}.npz", "-o", "out.npz")
        with numpy.load("out.npz") as file:
            ours = file["answer"]
        their, plain = answer("found.onnx", calls[i]), answer("plain.onnx", calls[i])
        apart = float(numpy.abs(ours - their).max() / numpy.abs(plain).max())
        print(f"call {i}: Weft {cosine(ours, plain):.5f}, ONNX Runtime {cosine(their, plain):.5f}, {apart:.4f} apart")
        if abs(cosine(ours, plain) - cosine(their, plain)) > MOST_APART or apart > MOST_BETWEEN:
            sys.exit("WRONG: the file and the artifact differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
