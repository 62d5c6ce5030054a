"""Two layers of a decoder of 16-bit floats with a cache: decoder.py FILE.onnx ELEMENT

Grouped queries, RMS norm, rotary positions behind what is in the cache, a causal mask, and a gate. ELEMENT f16 is the model; f32 has the
same weights and computes in 32 bits, which is what the model is compared with.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e" / "split"))

import numpy as np
from onnx import TensorProto, helper, save

from float_models import HEAD, FloatGraph, rotated
from models import Graph

ELEMENTS = {"f16": (TensorProto.FLOAT16, np.float16), "f32": (TensorProto.FLOAT, np.float32)}
LAYERS, QUERIES, KEYS, INNER, TOKENS = 2, 6, 3, 256, 192
WIDTH = QUERIES * HEAD


class Decoder(FloatGraph):
    def __init__(self, graph, element):
        super().__init__(graph)
        self.element, self.kind = ELEMENTS[element]

    def weight(self, *shape, name=None, scale=None):
        return self.constant(self.reals(*shape, scale=scale).astype(np.float16).astype(self.kind), name)

    def number(self, value):
        return self.constant(self.kind(value))

    def linear(self, x, k, n, name, has_bias=False):
        return self.node("MatMul", x, self.weight(k, n, name=name + ".weight"))

    def rms_norm(self, x, width):
        """Summed in 32 bits, as exporters write it."""
        wide = self.node("Cast", x, to=TensorProto.FLOAT)
        mean = self.node("ReduceMean", self.node("Mul", wide, wide), self.integers(-1), keepdims=1)
        root = self.node("Sqrt", self.node("Add", mean, super().number(1e-6)))
        return self.node("Mul", self.node("Cast", self.node("Div", wide, root), to=self.element), self.weight(width, scale=0.5))

    def turns(self, positions):
        """Cosines and sines of the angles of these positions."""
        each = self.constant((100.0 ** (-np.arange(HEAD // 2) / (HEAD // 2))).astype(np.float32))
        angles = self.node("Mul", self.node("Unsqueeze", self.node("Cast", positions, to=TensorProto.FLOAT), self.integers(-1)), each)
        angles = self.node("Concat", angles, angles, axis=-1)
        return [self.node("Cast", self.node(op, angles), to=self.element) for op in ("Cos", "Sin")]

    def repeated(self, x):
        """Every head of keys for all queries that it answers."""
        n, s = self.size(x, 0), self.size(x, 2)
        shape = self.node("Concat", n, self.integers(KEYS, QUERIES // KEYS), s, self.integers(HEAD), axis=0)
        return self.node("Reshape", self.node("Expand", self.node("Unsqueeze", x, self.integers(2)), shape), self.integers(0, QUERIES, -1, HEAD))

    def attention(self, q, k, v, width, mask=None):
        scores = self.node("Mul", self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2])), self.number(HEAD**-0.5))
        scores = self.node("Where", mask, scores, self.number(-60000))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        return self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), self.integers(0, 0, width))

    def layer(self, x, i, turns, mask):
        """What it gives, and the longer caches."""
        name, normal = f"layer{i}", self.rms_norm(x, WIDTH)
        q = rotated(self, self.heads(self.linear(normal, WIDTH, WIDTH, f"{name}.query"), QUERIES), *turns)
        k = rotated(self, self.heads(self.linear(normal, WIDTH, KEYS * HEAD, f"{name}.key"), KEYS), *turns)
        v = self.heads(self.linear(normal, WIDTH, KEYS * HEAD, f"{name}.value"), KEYS)
        k, v = (self.node("Concat", f"past_{kind}{i}", new, axis=2, out=f"present_{kind}{i}") for kind, new in (("key", k), ("value", v)))
        mixed = self.attention(q, self.repeated(k), self.repeated(v), WIDTH, mask)
        x = self.node("Add", x, self.linear(mixed, WIDTH, WIDTH, f"{name}.output"))
        normal = self.rms_norm(x, WIDTH)
        gate, up = (self.linear(normal, WIDTH, INNER, f"{name}.{part}") for part in ("gate", "up"))
        gated = self.node("Mul", self.node("Mul", gate, self.node("Sigmoid", gate)), up)
        return self.node("Add", x, self.linear(gated, INNER, WIDTH, f"{name}.down")), [k, v]

    def network(self):
        past = self.size("past_key0", 2)
        total = self.node("Add", past, self.size("ids", 1))
        queries, keys = self.positions(past, total), self.positions(self.integers(0), total)
        turns, mask = self.turns(queries), self.causal(queries, keys)
        x, caches = self.node("Gather", self.weight(TOKENS, WIDTH, name="embedding.weight", scale=1), "ids"), []
        for i in range(LAYERS):
            x, longer = self.layer(x, i, turns, mask)
            caches += longer
        logits = self.node("MatMul", self.rms_norm(x, WIDTH), self.weight(WIDTH, TOKENS, name="head.weight"), out="logits")
        return [logits, *caches]


def main(path, element):
    graph = Graph(11)
    outputs = Decoder(graph, element).network()
    kind, cache = ELEMENTS[element][0], ["n", KEYS, "p", HEAD]
    caches = [f"past_{part}{i}" for i in range(LAYERS) for part in ("key", "value")]
    given = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", "s"])]
    given += [helper.make_tensor_value_info(name, kind, cache) for name in caches]
    results = [helper.make_tensor_value_info(name, kind, None) for name in outputs]
    made = helper.make_graph(graph.nodes, "decoder", given, results, graph.tensors)
    save(helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20)]), path)


if __name__ == "__main__":
    main(*sys.argv[1:])
