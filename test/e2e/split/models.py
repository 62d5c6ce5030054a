"""Small models, as quantisers and exporters write them: models.py NAME FILE.onnx

qdq      a layer of an encoder: weights of 8 bits per channel, activations of 8 bits, four heads
int4     a layer of a decoder: weights of 4 bits in blocks of 32 (MatMulNBits), four heads, rows as they are
int4_a4  the same with rows that may be rounded to bytes
cnn      convolutions on images of any size, a mean and a product
cnn_qdq  the same, quantised
and those of float_models.py
"""
import sys

import float_models
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

WIDTH, INNER, HEADS, BLOCK = 128, 256, 4, 32


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.tensors, self.count = [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, array, name=None):
        name = name or self.name("c")
        self.tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, domain="", out=None, **attributes):
        out = out or self.name(op)
        self.nodes.append(helper.make_node(op, list(inputs), [out], name=f"/{out}", domain=domain, **attributes))
        return out

    def reals(self, *shape, scale=None):
        return (self.random.standard_normal(shape) * (scale or shape[0] ** -0.5)).astype(np.float32)

    #-- 8 bits

    def rounded(self, value, step=1 / 24, zero=121):
        step, zero = self.constant(np.float32(step)), self.constant(np.uint8(zero))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, step, zero), step, zero)

    def weight8(self, array, axis, name):
        each = tuple(d for d in range(array.ndim) if d != axis)
        steps = (np.abs(array).max(axis=each) / 127).astype(np.float32)
        shape = [-1 if d == axis else 1 for d in range(array.ndim)]
        integers = np.clip(np.rint(array / steps.reshape(shape)), -127, 127).astype(np.int8)
        return self.node("DequantizeLinear", self.constant(integers, name), self.constant(steps),
                         self.constant(np.zeros(len(steps), np.int8)), axis=axis)

    #-- products

    def product(self, kind, x, n, k, name):
        """x times a weight of [k, n], plus a bias."""
        bias = self.constant(self.reals(n, scale=0.1), name + ".bias")
        if kind == "qdq":
            y = self.node("MatMul", self.rounded(x), self.weight8(self.reals(k, n), 1, name + ".weight"))
        else:
            nibbles = self.random.integers(0, 256, (n, k // BLOCK, BLOCK // 2), dtype=np.uint8)
            steps = (self.random.uniform(0.5, 1, n * k // BLOCK) * k ** -0.5 / 4).astype(np.float32)
            zeros = [self.constant(self.random.integers(0, 256, n * k // BLOCK // 2, dtype=np.uint8))] if "gate" in name else []
            y = self.node("MatMulNBits", x, self.constant(nibbles, name + ".weight"), self.constant(steps), *zeros,
                          domain="com.microsoft", K=k, N=n, bits=4, block_size=BLOCK, accuracy_level=4 if kind == "int4_a4" else 0)
        return self.node("Add", y, bias)

    def heads(self, x, order):
        shape = self.constant(np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def attention(self, kind, x):
        q, k, v = (self.product(kind, x, WIDTH, WIDTH, f"attention.{part}") for part in ("query", "key", "value"))
        scores = self.node("MatMul", self.heads(q, [0, 2, 1, 3]), self.heads(k, [0, 2, 3, 1]))
        scaled = self.node("Mul", scores, self.constant(np.float32((WIDTH // HEADS) ** -0.5)))
        mixed = self.node("MatMul", self.node("Softmax", scaled, axis=-1), self.heads(v, [0, 2, 1, 3]))
        flat = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant(np.array([0, 0, WIDTH], np.int64)))
        return self.product(kind, flat, WIDTH, WIDTH, "attention.output")

    def normalised(self, x):
        ones = self.constant(np.ones(WIDTH, np.float32))
        return self.node("LayerNormalization", x, ones, self.constant(self.reals(WIDTH, scale=0.1)), axis=-1)

    def layer(self, kind):
        x = self.normalised(self.node("Add", "x", self.attention(kind, "x")))
        inner = self.product(kind, x, INNER, WIDTH, "mlp.up")
        if kind == "qdq":
            inner = self.node("Gelu", inner)
        else:
            gate = self.product(kind, x, INNER, WIDTH, "mlp.gate")
            inner = self.node("Mul", inner, self.node("Mul", gate, self.node("Sigmoid", gate)))
        return self.normalised(self.node("Add", x, self.product(kind, inner, WIDTH, INNER, "mlp.down")))

    #-- images

    def convolution(self, kind, x, out, into, size, name, **attributes):
        filters = self.reals(out, into, size, size, scale=(into * size * size) ** -0.5)
        if kind == "cnn_qdq":
            x, filters = self.rounded(x), self.weight8(filters, 0, name + ".weight")
        else:
            filters = self.constant(filters, name + ".weight")
        bias = self.constant(self.reals(out, scale=0.1), name + ".bias")
        return self.node("Relu", self.node("Conv", x, filters, bias, kernel_shape=[size, size], **attributes))

    def network(self, kind):
        x = self.convolution(kind, "x", 16, 3, 3, "stem", pads=[1, 1, 1, 1], strides=[2, 2])
        for i in range(3):
            inner = self.convolution(kind, x, 32, 16, 1, f"block{i}.up")
            inner = self.convolution(kind, inner, 32, 32, 3, f"block{i}.mid", pads=[1, 1, 1, 1])
            x = self.node("Add", x, self.convolution(kind, inner, 16, 32, 1, f"block{i}.down"))
        mean = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Gemm", mean, self.constant(self.reals(10, 16), "head.weight"), self.constant(self.reals(10, scale=0.1)), transB=1)


def narrow(graph, name):
    if name.startswith("cnn"):
        return {"x": ("f32", ["n", 3, "h", "w"])}, [graph.network(name)]
    return {"x": ("f32", ["n", "s", WIDTH])}, [graph.layer(name)]


def main(name, path):
    graph = Graph(7)
    inputs, outputs = float_models.ALL[name](graph) if name in float_models.ALL else narrow(graph, name)
    elements = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64}
    given = [helper.make_tensor_value_info(each, elements[element], dims) for each, (element, dims) in inputs.items()]
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in outputs]
    made = helper.make_graph(graph.nodes, name, given, results, graph.tensors)
    save(helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]), path)


if __name__ == "__main__":
    main(*sys.argv[1:])
