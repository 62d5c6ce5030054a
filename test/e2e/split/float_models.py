"""Small models of 32-bit floats, as exporters write them.

gpt     a layer of a decoder with a cache that goes in and comes out, and the table of the embedding once more as the output layer
llama   a layer with six heads of queries and three of keys, RMS norm, rotary positions, and a gate
vit     patches of an image, a class token, a layer of an encoder, and classes
"""
import numpy as np

HEAD = 32
CLASSES, TOKENS, POSITIONS = 202, 256, 64  # 202 does not divide by 4


class FloatGraph:
    """Operators upon a Graph that several models have."""

    def __init__(self, graph):
        self.graph, self.node, self.constant, self.reals = graph, graph.node, graph.constant, graph.reals

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def number(self, value):
        return self.constant(np.float32(value))

    def linear(self, x, k, n, name, has_bias=True):
        y = self.node("MatMul", x, self.constant(self.reals(k, n), name + ".weight"))
        return self.node("Add", y, self.constant(self.reals(n, scale=0.1), name + ".bias")) if has_bias else y

    def layer_norm(self, x, width):
        scale, shift = self.constant(1 + self.reals(width, scale=0.1)), self.constant(self.reals(width, scale=0.1))
        return self.node("LayerNormalization", x, scale, shift, axis=-1)

    def rms_norm(self, x, width):
        mean = self.node("ReduceMean", self.node("Pow", x, self.number(2)), self.integers(-1), keepdims=1)
        root = self.node("Sqrt", self.node("Add", mean, self.number(1e-6)))
        return self.node("Mul", self.node("Div", x, root), self.constant(1 + self.reals(width, scale=0.1)))

    def size(self, x, dim):
        return self.node("Shape", x, start=dim, end=dim + 1)

    def positions(self, begin, end):
        """Of two tensors of one element."""
        scalar = lambda value: self.node("Squeeze", value)
        return self.node("Range", scalar(begin), scalar(end), self.constant(np.int64(1)))

    def heads(self, x, count):
        return self.node("Transpose", self.node("Reshape", x, self.integers(0, 0, count, HEAD)), perm=[0, 2, 1, 3])

    def attention(self, q, k, v, width, mask=None):
        scores = self.node("Mul", self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2])), self.number(HEAD**-0.5))
        if mask:
            scores = self.node("Where", mask, scores, self.number(np.finfo(np.float32).min))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        return self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), self.integers(0, 0, width))

    def causal(self, queries, keys):
        return self.node("LessOrEqual", keys, self.node("Unsqueeze", queries, self.integers(-1)))


def gpt(graph):
    g, width, count = FloatGraph(graph), 4 * HEAD, 4
    table = g.constant(g.reals(CLASSES, width, scale=1), "embedding.weight")
    past = g.size("past_key", 2)
    total = g.node("Add", past, g.size("ids", 1))
    queries, keys = g.positions(past, total), g.positions(g.integers(0), total)
    x = g.node("Add", g.node("Gather", table, "ids"), g.node("Gather", g.constant(g.reals(POSITIONS, width, scale=1)), queries))
    normal = g.layer_norm(x, width)
    q, k, v = (g.heads(g.linear(normal, width, width, f"attention.{part}"), count) for part in ("query", "key", "value"))
    k, v = (g.node("Concat", f"past_{name}", new, axis=2, out=f"new_{name}") for name, new in (("key", k), ("value", v)))
    mixed = g.attention(q, k, v, width, g.causal(queries, keys))
    x = g.node("Add", x, g.linear(mixed, width, width, "attention.output"))
    inner = g.node("Gelu", g.linear(g.layer_norm(x, width), width, 2 * width, "mlp.up"), approximate="tanh")
    x = g.layer_norm(g.node("Add", x, g.linear(inner, 2 * width, width, "mlp.down")), width)
    logits = g.node("MatMul", x, g.node("Transpose", table, perm=[1, 0]), out="logits")
    cache = ["n", count, "p", HEAD]
    return {"ids": ("i64", ["n", "s"]), "past_key": ("f32", cache), "past_value": ("f32", cache)}, [logits, k, v]


def rotated(g, x, cos, sin):
    low, high = (g.node("Slice", x, g.integers(begin), g.integers(begin + HEAD // 2), g.integers(3)) for begin in (0, HEAD // 2))
    turned = g.node("Concat", g.node("Neg", high), low, axis=3)
    return g.node("Add", g.node("Mul", x, cos), g.node("Mul", turned, sin))


def repeated(g, x, times):
    """Every head of keys for so many of queries."""
    n, s = g.size(x, 0), g.size(x, 2)
    shape = g.node("Concat", n, g.integers(3, times), s, g.integers(HEAD), axis=0)
    return g.node("Reshape", g.node("Expand", g.node("Unsqueeze", x, g.integers(2)), shape), g.integers(0, 3 * times, -1, HEAD))


def llama(graph):
    g, width, inner = FloatGraph(graph), 6 * HEAD, 512
    x = g.node("Gather", g.constant(g.reals(TOKENS, width, scale=1), "embedding.weight"), "ids")
    positions = g.positions(g.integers(0), g.size("ids", 1))
    turns = g.constant((100.0 ** (-np.arange(HEAD // 2) / (HEAD // 2))).astype(np.float32))
    angles = g.node("Mul", g.node("Unsqueeze", g.node("Cast", positions, to=1), g.integers(-1)), turns)
    angles = g.node("Concat", angles, angles, axis=-1)
    cos, sin = g.node("Cos", angles), g.node("Sin", angles)
    normal = g.rms_norm(x, width)
    q = g.heads(g.linear(normal, width, width, "attention.query", False), 6)
    k, v = (g.heads(g.linear(normal, width, 3 * HEAD, f"attention.{part}", False), 3) for part in ("key", "value"))
    q, k = rotated(g, q, cos, sin), rotated(g, k, cos, sin)
    mixed = g.attention(q, repeated(g, k, 2), repeated(g, v, 2), width, g.causal(positions, positions))
    x = g.node("Add", x, g.linear(mixed, width, width, "attention.output", False))
    normal = g.rms_norm(x, width)
    gate, up = (g.linear(normal, width, inner, f"mlp.{part}", False) for part in ("gate", "up"))
    gated = g.node("Mul", g.node("Mul", gate, g.node("Sigmoid", gate)), up)
    x = g.rms_norm(g.node("Add", x, g.linear(gated, inner, width, "mlp.down", False)), width)
    logits = g.node("MatMul", x, g.constant(g.reals(width, TOKENS), "head.weight"), out="logits")
    return {"ids": ("i64", ["n", "s"])}, [logits]


def vit(graph):
    g, width, count = FloatGraph(graph), 4 * HEAD, 4
    filters = g.constant(g.reals(width, 3, 8, 8, scale=192**-0.5), "patches.weight")
    patches = g.node("Conv", "x", filters, g.constant(g.reals(width, scale=0.1)), kernel_shape=[8, 8], strides=[8, 8])
    rows = g.node("Transpose", g.node("Reshape", patches, g.integers(0, width, 16)), perm=[0, 2, 1])
    shape = g.node("Concat", g.size("x", 0), g.integers(1, width), axis=0)
    first = g.node("Expand", g.constant(g.reals(1, 1, width, scale=1)), shape)
    x = g.node("Add", g.node("Concat", first, rows, axis=1), g.constant(g.reals(1, 17, width, scale=1)), out="tokens")
    normal = g.layer_norm(x, width)
    q, k, v = (g.heads(g.linear(normal, width, width, f"attention.{part}"), count) for part in ("query", "key", "value"))
    x = g.node("Add", x, g.linear(g.attention(q, k, v, width), width, width, "attention.output"))
    inner = g.node("Gelu", g.linear(g.layer_norm(x, width), width, 2 * width, "mlp.up"))
    x = g.layer_norm(g.node("Add", x, g.linear(inner, 2 * width, width, "mlp.down")), width)
    token = g.node("Gather", x, g.constant(np.int64(0)), axis=1)
    return {"x": ("f32", ["n", 3, 32, 32])}, [g.linear(token, width, 10, "head")]


ALL = {"gpt": gpt, "llama": llama, "vit": vit}
