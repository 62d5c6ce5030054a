"""Small models shaped like those that phones and boards run: an encoder as of sentence embeddings, inverted residuals with depthwise
convolutions, super-resolution of any size, and dense layers of bytes and of 4 bits. Each maker gives (model, [inputs of a call, …]).
"""
import numpy as np
import onnx
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"


class Builder:
    """Nodes in the order in which they are added; every call gives the name of its result."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(7)
        self.renamed = {}

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def noise(self, *dims):
        fan_in = int(np.prod(dims[1:])) if len(dims) == 4 else dims[0]
        return self.weight(self.random.normal(0, 1 / np.sqrt(fan_in), dims).astype(np.float32))

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def model(self, inputs, outputs, opset=17):
        info = lambda name, element, dims: helper.make_tensor_value_info(name, element, dims)
        ends = [info(name, TensorProto.FLOAT, dims) for name, dims in outputs.items()]
        starts = [info(name, element, dims) for name, (element, dims) in inputs.items()]
        for node in self.nodes:
            if node.output[0] in self.renamed:
                node.output[0] = self.renamed[node.output[0]]
        graph = helper.make_graph(self.nodes, "model", starts, ends, self.weights)
        versions = [helper.make_opsetid("", opset)] + [helper.make_opsetid(MICROSOFT, 1)] * any(node.domain for node in self.nodes)
        return helper.make_model(graph, opset_imports=versions, ir_version=8)

    def linear(self, x, inner, outer):
        return self.add("Add", self.add("MatMul", x, self.noise(inner, outer)), self.noise(outer))

    def heads(self, x, count, width):
        return self.add("Transpose", self.add("Reshape", x, self.weight(np.array([0, 0, count, width]))), perm=[0, 2, 1, 3])

    def normalized(self, x, width):
        return self.add("LayerNormalization", x, self.weight(np.ones(width, np.float32)), self.noise(width), axis=-1)

    def conv(self, x, channels, filters, kernel, group=1, **attributes):
        pad = kernel // 2
        return self.add("Conv", x, self.noise(filters, channels // group, kernel, kernel), self.noise(filters), group=group,
                        pads=[pad] * 4, **attributes)


def encoder(width=96, heads=4, layers=2):
    b = Builder()
    x = b.normalized(b.add("Gather", b.noise(200, width), "ids"), width)
    for _ in range(layers):
        q, k, v = (b.heads(b.linear(x, width, width), heads, width // heads) for _ in range(3))
        scores = b.add("Mul", b.add("MatMul", q, b.add("Transpose", k, perm=[0, 1, 3, 2])),
                       b.weight(np.float32(1 / np.sqrt(width // heads))))
        mixed = b.add("Transpose", b.add("MatMul", b.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        joined = b.add("Reshape", mixed, b.weight(np.array([0, 0, width])))
        x = b.normalized(b.add("Add", x, b.linear(joined, width, width)), width)
        h = b.linear(x, width, 4 * width)
        gelu = b.add("Mul", h, b.add("Add", b.add("Erf", b.add("Mul", h, b.weight(np.float32(0.5 ** 0.5)))), b.weight(np.float32(1))))
        x = b.normalized(b.add("Add", x, b.linear(b.add("Mul", gelu, b.weight(np.float32(0.5))), 4 * width, width)), width)
    b.renamed = {x: "y"}
    model = b.model({"ids": (TensorProto.INT64, ["b", "s"])}, {"y": ["b", "s", width]})
    return model, [{"ids": b.random.integers(0, 200, (m, s))} for m, s in [(1, 16), (3, 37), (2, 1)]]


def mobile():
    b = Builder()
    clip = lambda x: b.add("Clip", x, b.weight(np.float32(0)), b.weight(np.float32(6)))
    x, channels = clip(b.conv("x", 3, 16, 3, strides=[2, 2])), 16
    for filters, stride in [(16, 1), (24, 2), (24, 1), (40, 2)]:
        wide = 6 * channels
        y = clip(b.conv(x, channels, wide, 1))
        y = clip(b.conv(y, wide, wide, 3, group=wide, strides=[stride, stride]))
        y = b.conv(y, wide, filters, 1)
        x, channels = (b.add("Add", x, y) if stride == 1 and filters == channels else y), filters
    x = b.add("Flatten", b.add("GlobalAveragePool", x))
    y = b.linear(x, channels, 10)
    b.renamed = {y: "y"}
    model = b.model({"x": (TensorProto.FLOAT, ["n", 3, "h", "w"])}, {"y": ["n", 10]})
    return model, [{"x": b.random.normal(size=(n, 3, h, w)).astype(np.float32)} for n, h, w in [(1, 32, 32), (2, 45, 27)]]


def super_resolution(scale=3):
    b = Builder()
    x = "x"
    for channels, filters, kernel in [(1, 64, 5), (64, 64, 3), (64, 32, 3)]:
        x = b.add("Relu", b.conv(x, channels, filters, kernel))
    y = b.add("DepthToSpace", b.conv(x, 32, scale * scale, 3), blocksize=scale, mode="CRD")
    b.renamed = {y: "y"}
    model = b.model({"x": (TensorProto.FLOAT, ["n", 1, "h", "w"])}, {"y": ["n", 1, "3*h", "3*w"]})
    return model, [{"x": b.random.normal(size=(1, 1, h, w)).astype(np.float32)} for h, w in [(16, 16), (21, 13)]]


def quantized(width=64):
    """Layers as quantised models say them: activations of unsigned or signed bytes, weights of signed ones per column."""
    b = Builder()
    layers = []
    for zero in (np.uint8(128), np.int8(3)):
        scale = b.weight(np.float32(0.05))
        bytes_ = b.add("DequantizeLinear", b.add("QuantizeLinear", "x", scale, b.weight(zero)), scale, b.weight(zero))
        w = b.weight(b.random.integers(-127, 128, (width, width)).astype(np.int8))
        real = b.add("DequantizeLinear", w, b.weight(b.random.uniform(0.001, 0.004, width).astype(np.float32)),
                     b.weight(np.zeros(width, np.int8)), axis=1)
        layers.append(b.add("Relu", b.add("Add", b.add("MatMul", bytes_, real), b.noise(width))))
    b.renamed = {b.add("Add", *layers): "y"}
    model = b.model({"x": (TensorProto.FLOAT, ["m", width])}, {"y": ["m", width]})
    return model, [{"x": b.random.normal(size=(m, width)).astype(np.float32)} for m in (1, 7, 33)]


def four_bits(width=96, block=32):
    """Layers whose weights have 4 bits and a scale per block, without zero points and with some; rows are rounded to bytes block by block."""
    b = Builder()
    blocks, layers = width // block, []
    for has_zeros in (False, True):
        packed = b.weight(b.random.integers(0, 256, (width, blocks, block // 2)).astype(np.uint8))
        scales = b.weight(b.random.uniform(0.001, 0.01, width * blocks).astype(np.float32))
        zeros = [b.weight(b.random.integers(0, 256, (width, (blocks + 1) // 2)).astype(np.uint8))] if has_zeros else []
        layers.append(b.add("MatMulNBits", "x", packed, scales, *zeros, domain=MICROSOFT, K=width, N=width, bits=4, block_size=block,
                            accuracy_level=4))
    b.renamed = {b.add("Add", *layers): "y"}
    model = b.model({"x": (TensorProto.FLOAT, ["m", width])}, {"y": ["m", width]})
    return model, [{"x": b.random.normal(size=(m, width)).astype(np.float32)} for m in (1, 33, 5)]


MODELS = [("encoder", encoder), ("mobile", mobile), ("super_resolution", super_resolution), ("quantized", quantized),
          ("four_bits", four_bits)]
