"""Writes cases of our own for operators that ONNX's backend tests say little about, in the form of export_cases.py.

    python own_cases.py FOLDER

What random operators give is computed with numpy from the seeds; the rest with onnx's reference evaluator. Sizes are
symbols, and each case has a data set per size: 0, 1 and larger ones.
"""
import pathlib
import sys
import zlib

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

NAMES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.float16): "float16",
         np.dtype(ml_dtypes.float8_e8m0fnu): "float8e8m0",
         np.dtype(bool): "bool", np.dtype(np.uint8): "uint8", np.dtype(np.int8): "int8", np.dtype(np.int32): "int32", np.dtype(np.int64): "int64"}
CASES = []


def case(make):
    CASES.append((make.__name__, make))
    return make


def info(name, array, dims):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def model_of(nodes, inputs, outputs, opset, constants=()):
    graph = helper.make_graph(nodes, "case", inputs, outputs,
                              [numpy_helper.from_array(array, name) for name, array in constants])
    domains = {"": opset, "com.microsoft": 1}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in domains.items()], ir_version=10)


def node(op, inputs="x", outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def draw(seed, dims):
    return np.random.RandomState(seed & 0xFFFFFFFF).random_sample(dims)


def seed_of(output):
    """Of a node without a seed."""
    return zlib.crc32(output.encode())


def stored(array):
    """As .npy can hold it."""
    return array.view(np.uint8) if array.dtype == ml_dtypes.float8_e8m0fnu else array


class Case:
    """Nodes, the dimensions of inputs by name, data sets of inputs, and how a set's outputs follow (None: the reference)."""

    def __init__(self, nodes, dims, sets, expected=None, opset=22, constants=(), outputs=("y",), tolerance=(1e-6, 1e-7),
                 results=None):
        self.sets, self.tolerance, self.outputs = sets, tolerance, outputs
        inputs = [info(name, sets[0][name], dims[name]) for name in dims]
        declare = lambda arrays: [info(name, array, [None] * array.ndim) for name, array in zip(outputs, arrays)]
        if expected is None:
            loose = model_of(nodes, inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], opset,
                             constants)
            reference = ReferenceEvaluator(loose)
            expected = lambda feeds: reference.run(None, feeds)
        self.expected = [[np.asarray(each, order="C") for each in expected(feeds)] for feeds in sets]
        self.model = model_of(nodes, inputs, declare(self.expected[0]), opset, constants)

    def write(self, folder, name, lines):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, place / "model.onnx")
        for k, (feeds, results) in enumerate(zip(self.sets, self.expected)):
            members = {f"i{i}": stored(array) for i, array in enumerate(feeds.values())}
            members.update({f"o{i}": stored(array) for i, array in enumerate(results)})
            np.savez(place / f"set_{k}.npz", **members)
        operators = ",".join(sorted({each.op_type for each in self.model.graph.node}))
        lines.append(f"case\tweft/{name}\t{name}")
        lines.append(f"operators\t{operators}")
        lines.append(f"tolerance\t{self.tolerance[0]}\t{self.tolerance[1]}")
        lines += [f"input\t{key}\t{NAMES[array.dtype]}" for key, array in self.sets[0].items()]
        lines += [f"output\t{key}\t{NAMES[array.dtype]}" for key, array in zip(self.outputs, self.expected[0])]
        lines.append(f"sets\t{len(self.sets)}")


def reals(*dims, element=np.float32, seed=5):
    return np.random.RandomState(seed).standard_normal(dims).astype(element)


SIZES = [(0, 3), (1, 1), (2, 17), (40, 30)]


# ---- random numbers ------------------------------------------------------------------------------

@case
def random_uniform():
    return Case([node("RandomUniform", "", shape=[3, 400], low=-1.0, high=2.0, seed=7.0)], {}, [{}],
                lambda feeds: [(draw(7, (3, 400)) * 3 - 1).astype(np.float32)])


@case
def random_uniform_without_seed():
    return Case([node("RandomUniform", "", shape=[5], dtype=TensorProto.DOUBLE)], {}, [{}],
                lambda feeds: [draw(seed_of("y"), 5)])


@case
def random_uniform_like():
    return Case([node("RandomUniformLike", seed=-3.0)], {"x": ["m", "n"]}, [{"x": reals(*size)} for size in SIZES],
                lambda feeds: [draw(-3, feeds["x"].shape).astype(np.float32)])


def normal(seed, dims, mean, scale, element):
    u = draw(seed, (2, *dims))
    compute = np.float64 if element == np.float64 else np.float32
    radius = np.sqrt(-2 * np.log((1 - u[0]).astype(compute)))
    z = radius * np.cos(u[1].astype(compute) * compute(2 * np.pi))
    result = (z * compute(scale) + compute(mean)).astype(element)
    if result.size > 1000:  # they are normal
        assert abs(result.mean() - mean) < 4 * scale / result.size ** 0.5
        assert abs(result.std() / scale - 1) < 0.1 and abs(z.astype(float) ** 3).mean() < 2
    return result


@case
def random_normal():
    return Case([node("RandomNormal", "", shape=[50, 60], mean=2.0, scale=0.5, seed=1.0)], {}, [{}],
                lambda feeds: [normal(1, (50, 60), 2, 0.5, np.float32)], tolerance=(1e-5, 1e-5))


@case
def random_normal_like():
    return Case([node("RandomNormalLike", dtype=TensorProto.DOUBLE)], {"x": ["m", "n"]},
                [{"x": reals(*size, element=np.float16)} for size in SIZES],
                lambda feeds: [normal(seed_of("y"), feeds["x"].shape, 0, 1, np.float64)], tolerance=(1e-5, 1e-5))


@case
def bernoulli():
    return Case([node("Bernoulli", seed=11.0, dtype=TensorProto.INT32)], {"x": ["m", "n"]},
                [{"x": draw(99, size).astype(np.float32)} for size in SIZES],
                lambda feeds: [(draw(11, feeds["x"].shape) < feeds["x"].astype(float)).astype(np.int32)])


@case
def multinomial():
    def choose(feeds):
        x = feeds["x"].astype(float)
        weights = np.exp(x)
        total = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        chosen = (draw(4, (len(x), 50))[:, :, None] >= total[:, None, :]).sum(axis=2)
        return [np.minimum(chosen, x.shape[1] - 1).astype(np.int64)]
    sets = [{"x": 2 * reals(batch, classes)} for batch, classes in [(0, 1), (1, 1), (3, 7), (2, 40)]]
    return Case([node("Multinomial", sample_size=50, seed=4.0, dtype=TensorProto.INT64)], {"x": ["m", "n"]}, sets, choose)


def dropped(x, ratio, seed):
    kept = draw(seed, x.shape) >= ratio
    return [(x * kept * np.float32(1 / (1 - ratio))).astype(x.dtype), kept]


@case
def dropout_decided_by_an_input():
    sets = [{"x": reals(*size), "t": np.array(training)} for size in SIZES for training in (True, False)]
    return Case([node("Dropout", "x r t", "y mask", seed=3)], {"x": ["m", "n"], "t": []}, sets,
                lambda feeds: dropped(feeds["x"], 0.25, 3) if feeds["t"] else [feeds["x"], np.ones(feeds["x"].shape, bool)],
                constants=[("r", np.float32(0.25))], outputs=("y", "mask"))


@case
def dropout_before_opset_7():
    sets = [{"x": reals(*size)} for size in SIZES]
    return Case([node("Dropout", "x", "y", ratio=0.75)], {"x": ["m", "n"]}, sets,
                lambda feeds: dropped(feeds["x"], 0.75, seed_of("y"))[:1], opset=6)


# ---- loops ---------------------------------------------------------------------------------------

def scan_body(dims):
    declare = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    return helper.make_graph([node("Add", "s a", "s2"), node("Mul", "s2 b", "z")], "body",
                             [declare("s"), declare("a"), declare("b")], [declare("s2"), declare("z")])


@case
def scan_8_in_batches():
    def expected(feeds):
        s, a, b = feeds["s"], feeds["a"], feeds["b"][:, ::-1]
        states = s[:, None] + np.cumsum(a, axis=1)
        return [states[:, -1] if a.shape[1] else s, states * b]
    sets = [{"s": reals(m, 2), "a": reals(m, n, 2), "b": reals(m, n, 2, seed=6)}
            for m, n in [(0, 3), (1, 1), (3, 5), (2, 0)]]
    scan = node("Scan", "_ s a b", "y z", body=scan_body([2]), num_scan_inputs=2, directions=[0, 1])
    scan.input[0] = ""
    return Case([scan], {"s": ["m", 2], "a": ["m", "n", 2], "b": ["m", "n", 2]}, sets, expected, opset=8, outputs=("y", "z"))


@case
def linear_attention_of_any_length():
    sets = [{"q": reals(b, t, 12), "k": reals(b, t, 6, seed=2) / 3, "v": reals(b, t, 10, seed=3), "g": -abs(reals(b, t, 2)),
             "w": abs(reals(b, t, 1, seed=4))} for b, t in [(1, 1), (2, 7), (3, 20)]]
    attention = node("LinearAttention", "q k v _ g w", "y state", q_num_heads=4, kv_num_heads=2)
    attention.input[3] = ""
    return Case([attention], {"q": ["b", "t", 12], "k": ["b", "t", 6], "v": ["b", "t", 10], "g": ["b", "t", 2],
                              "w": ["b", "t", 1]}, sets, opset=27, outputs=("y", "state"), tolerance=(1e-4, 1e-5))


# ---- matrices and sets ---------------------------------------------------------------------------

@case
def det_of_any_size():
    sets = [{"x": reals(b, n, n)} for b, n in [(0, 2), (1, 0), (1, 1), (3, 2), (2, 9)]]
    sets.append({"x": np.array([[[0, 2], [3, 0]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]], np.float32)})
    return Case([node("Det")], {"x": ["b", "n", "n"]}, sets,
                lambda feeds: [np.linalg.det(feeds["x"].astype(float)).astype(np.float32)], tolerance=(1e-4, 1e-4))


def unique(axis, ordered):
    def expected(feeds):
        x = feeds["x"]
        y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
        inverse = inverse.reshape(-1)
        if not ordered:
            order = np.argsort(first)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            y = np.take(y, order, axis=axis or 0)
            first, inverse, counts = first[order], place[inverse], counts[order]
        return [y] + [each.astype(np.int64) for each in (first, inverse, counts)]
    sizes = [(1, 1), (2, 17), (30, 3)] + ([(0, 3)] if axis is None else [])
    sets = [{"x": np.random.RandomState(m).randint(0, 3, (m, n)).astype(np.float32)} for m, n in sizes]
    keys = {} if axis is None else {"axis": axis}
    return Case([node("Unique", "x", "y first inverse counts", sorted=int(ordered), **keys)], {"x": ["m", "n"]}, sets, expected,
                outputs=("y", "first", "inverse", "counts"))


for _axis in (None, 0, 1):
    for _ordered in (True, False):
        def _make(axis=_axis, ordered=_ordered):
            return unique(axis, ordered)
        _make.__name__ = f"unique_{'flat' if _axis is None else f'axis_{_axis}'}_{'sorted' if _ordered else 'as_found'}"
        case(_make)


# ---- sequences -----------------------------------------------------------------------------------

POSITIONS = [("p0", np.array(0)), ("p1", np.array(1)), ("last", np.array(-1))]


@case
def sequence_of_parts():
    nodes = [node("SequenceConstruct", "a b", "s0"), node("SequenceInsert", "s0 c p1", "s1"), node("SequenceInsert", "s1 a last", "s2"),
             node("SequenceErase", "s2 p0", "s3"), node("SequenceInsert", "s3 b", "s4"), node("SequenceAt", "s4 last", "at"),
             node("SequenceLength", "s4", "length"), node("Identity", "s4", "s5"),
             node("ConcatFromSequence", "s5", "joined", axis=0), node("SequenceErase", "s4", "s6"),
             node("SequenceConstruct", "a a", "pair"), node("ConcatFromSequence", "pair", "stacked", axis=-1, new_axis=1)]
    sets = [{"a": reals(m, 2), "b": reals(n, 2, seed=2), "c": reals(3, 2, seed=3)} for m, n in SIZES]

    def expected(feeds):
        a, b, c = feeds["a"], feeds["b"], feeds["c"]
        return [b, np.array(4), np.concatenate([c, a, b, b]), np.stack([a, a], axis=-1)]
    return Case(nodes, {"a": ["m", 2], "b": ["n", 2], "c": [3, 2]}, sets, expected, constants=POSITIONS,
                outputs=("at", "length", "joined", "stacked"))


@case
def sequence_from_a_split():
    nodes = [node("SplitToSequence", "x two", "parts", axis=1), node("SequenceAt", "parts last", "rest"),
             node("SequenceLength", "parts", "count"), node("SplitToSequence", "x", "rows", axis=1, keepdims=0),
             node("SequenceAt", "rows p1", "row"), node("SplitToSequence", "x sizes", "uneven", axis=1),
             node("SequenceAt", "uneven p0", "head")]
    constants = POSITIONS + [("two", np.array(2)), ("sizes", np.array([4, 1]))]

    def expected(feeds):
        x = feeds["x"]
        return [x[:, 4:], np.array(3), x[:, 1], x[:, :4]]
    return Case(nodes, {"x": ["m", 5]}, [{"x": reals(m, 5)} for m in (0, 1, 4)], expected, constants=constants,
                outputs=("rest", "count", "row", "head"))


@case
def sequence_map_over_a_list():
    declare = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    body = helper.make_graph([node("Add", "u w", "sum"), node("Neg", "u", "minus")], "body", [declare("u"), declare("w")],
                             [declare("sum"), declare("minus")])
    nodes = [node("SequenceConstruct", "a b", "s"), node("SequenceMap", "s c", "sums minuses", body=body),
             node("ConcatFromSequence", "sums", "y", axis=0), node("SequenceAt", "minuses p1", "z")]
    sets = [{"a": reals(m, 2), "b": reals(n, 2, seed=2), "c": reals(1, 2, seed=3)} for m, n in SIZES]
    return Case(nodes, {"a": ["m", 2], "b": ["n", 2], "c": [1, 2]}, sets,
                lambda feeds: [np.concatenate([feeds["a"], feeds["b"]]) + feeds["c"], -feeds["b"]], constants=POSITIONS,
                outputs=("y", "z"))


@case
def optionals_that_are_known():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))
    nodes = [node("Optional", "x", "o"), helper.make_node("Optional", [], ["none"], type=kind), node("OptionalGetElement", "o", "y"),
             node("OptionalHasElement", "o", "has"), node("OptionalHasElement", "none", "hasnot")]
    return Case(nodes, {"x": ["m"]}, [{"x": reals(m)} for m in (0, 1, 5)],
                lambda feeds: [feeds["x"], np.array(True), np.array(False)], outputs=("y", "has", "hasnot"))


# ---- com.microsoft -------------------------------------------------------------------------------

def contrib(op, inputs, outputs="y", **attributes):
    """A dash stands for an input that is left out."""
    result = node(op, inputs, outputs, domain="com.microsoft", **attributes)
    result.input[:] = ["" if name == "-" else name for name in result.input]
    return result


def erf(x):
    import math
    return np.vectorize(math.erf, otypes=[float])(x)


@case
def fused_activations():
    nodes = [contrib("Gelu", "x", "a"), contrib("BiasGelu", "x b", "c"), contrib("FastGelu", "x b", "d"), contrib("QuickGelu", "x", "e")]

    def expected(feeds):
        x = feeds["x"].astype(float)
        gelu = lambda v: v * (1 + erf(v / 2 ** 0.5)) / 2
        fast = lambda v: v * (1 + np.tanh((2 / np.pi) ** 0.5 * (v + 0.044715 * v ** 3))) / 2
        biased = x + BIAS
        return [each.astype(np.float32) for each in (gelu(x), gelu(biased), fast(biased), x / (1 + np.exp(-1.702 * x)))]
    return Case(nodes, {"x": ["m", 4]}, [{"x": reals(m, 4)} for m in (0, 1, 9)], expected, constants=[("b", BIAS)],
                outputs=("a", "c", "d", "e"), tolerance=(1e-5, 1e-6))


BIAS = np.array([0.5, -1, 2, 0], np.float32)
GAMMA = np.array([1, 2, -1, 0.5], np.float32)


@case
def fused_sums_and_norms():
    nodes = [contrib("SkipLayerNormalization", "x z g b b2", "y - - sum".replace("-", "_"), epsilon=1e-5),
             contrib("SkipSimplifiedLayerNormalization", "x z g", "rms", epsilon=1e-5),
             contrib("FusedMatMul", "x z", "p", alpha=0.5, transB=1)]
    nodes[0].output[1:3] = ["", ""]

    def expected(feeds):
        x, z = feeds["x"].astype(float), feeds["z"].astype(float)
        total = x + z + BIAS
        centered = total - total.mean(-1, keepdims=True)
        y = centered / np.sqrt((centered ** 2).mean(-1, keepdims=True) + 1e-5) * GAMMA + BIAS
        rms = (x + z) / np.sqrt(((x + z) ** 2).mean(-1, keepdims=True) + 1e-5) * GAMMA
        return [each.astype(np.float32) for each in (y, total, rms, x @ np.swapaxes(z, -1, -2) / 2)]
    sets = [{"x": reals(b, m, 4), "z": reals(b, m, 4, seed=2)} for b, m in [(0, 1), (1, 1), (3, 9)]]
    return Case(nodes, {"x": ["b", "m", 4], "z": ["b", "m", 4]}, sets, expected,
                constants=[("g", GAMMA), ("b", BIAS), ("b2", BIAS)], outputs=("y", "sum", "rms", "p"), tolerance=(1e-4, 1e-5))


# Attention. What ONNX Runtime 1.31 runs of these on the CPU was once compared with it by hand.

def rotated(x, cosines, sines, positions, interleaved=False):
    """x [b, h, s, d] with its first 2 * pairs elements turned by the angles at positions [b, s]."""
    cosine, sine = cosines[positions][:, None].astype(float), sines[positions][:, None].astype(float)
    pairs = cosines.shape[1]
    first, second = (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if interleaved else (slice(0, pairs), slice(pairs, 2 * pairs))
    y = x.astype(float).copy()
    y[..., first] = x[..., first] * cosine - x[..., second] * sine
    y[..., second] = x[..., first] * sine + x[..., second] * cosine
    return y


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def beside(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def attended(q, k, v, bias=0.0, scale=None):
    times = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, times, axis=1).astype(float), np.repeat(v, times, axis=1).astype(float)
    scores = q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5) + bias
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return beside(weights / weights.sum(axis=-1, keepdims=True) @ v)


def hidden(where):
    return np.where(where, 0.0, -10000.0)


def causal(queries, keys):
    return np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, 0.0, -np.inf)


ANGLES = np.arange(64)[:, None] / 3.0 ** np.arange(8)
COS, SIN = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)
CACHES = [("cos", COS), ("sin", SIN)]
LENGTHS = [(0, 3), (1, 1), (2, 17)]


@case
def rotary_embedding():
    """By a first position, by positions per batch, of neighbours, and of the first half of the heads."""
    nodes = [contrib("RotaryEmbedding", "x first cos sin", "a"), contrib("RotaryEmbedding", "x p cos sin", "c", interleaved=1),
             contrib("RotaryEmbedding", "h p cos sin", "d", num_heads=2, rotary_embedding_dim=16)]

    def expected(feeds):
        x, h, p = feeds["x"], feeds["h"], feeds["p"]
        from5 = np.broadcast_to(np.arange(x.shape[1]) + 5, p.shape)
        turn = lambda q, heads, *rest: beside(rotated(heads_of(q, heads), COS, SIN, *rest))
        return [each.astype(np.float32) for each in
                (turn(x, 3, from5), turn(x, 3, p, True), beside(rotated(heads_of(h, 2), COS, SIN, p)))]
    sets = [{"x": reals(b, s, 48), "h": reals(b, s, 64), "p": np.random.RandomState(s).randint(0, 64, (b, s))} for b, s in LENGTHS]
    return Case(nodes, {"x": ["b", "s", 48], "h": ["b", "s", 64], "p": ["b", "s"]}, sets, expected,
                constants=CACHES + [("first", np.array([5]))], outputs=("a", "c", "d"), tolerance=(1e-5, 1e-5))


QKV_BIAS = np.linspace(-1, 1, 48).astype(np.float32)


@case
def multi_head_attention_with_a_mask():
    nodes = [contrib("MultiHeadAttention", "q k v bias mask ab", "y", num_heads=2),
             contrib("MultiHeadAttention", "q k v - lengths", "z", num_heads=2, scale=0.5)]

    def expected(feeds):
        parts = [heads_of(feeds[name] + QKV_BIAS[at:at + 16], 2) for at, name in ((0, "q"), (16, "k"), (32, "v"))]
        plain = [heads_of(feeds[name], 2) for name in "qkv"]
        keys = feeds["k"].shape[1]
        y = attended(*parts, bias=hidden(feeds["mask"][:, None, None] > 0) + feeds["ab"])
        z = attended(*plain, bias=hidden(np.arange(keys) < feeds["lengths"][:, None, None, None]), scale=0.5)
        return [y.astype(np.float32), z.astype(np.float32)]
    sets = []
    for b, s, t in [(0, 1, 1), (1, 1, 1), (2, 5, 17), (1, 0, 3)]:
        mask = np.random.RandomState(t).randint(0, 2, (b, t)).astype(np.int32)
        sets.append({"q": reals(b, s, 16), "k": reals(b, t, 16, seed=2), "v": reals(b, t, 16, seed=3), "mask": mask,
                     "ab": reals(1, 2, s, t, seed=4), "lengths": np.arange(1, b + 1).astype(np.int32) * 1})
    return Case(nodes, {"q": ["b", "s", 16], "k": ["b", "t", 16], "v": ["b", "t", 16], "mask": ["b", "t"], "ab": [1, 2, "s", "t"],
                        "lengths": ["b"]}, sets, expected, constants=[("bias", QKV_BIAS)], outputs=("y", "z"), tolerance=(1e-4, 1e-5))


@case
def multi_head_attention_with_a_cache():
    nodes = [contrib("MultiHeadAttention", "q k v - - - pk pv", "y keys values", num_heads=2, unidirectional=1)]

    def expected(feeds):
        q, k, v = (heads_of(feeds[name], 2) for name in "qkv")
        k, v = np.concatenate([feeds["pk"], k], axis=2), np.concatenate([feeds["pv"], v], axis=2)
        return [attended(q, k, v, causal(q.shape[2], k.shape[2])).astype(np.float32), k, v]
    sets = [{"q": reals(b, s, 16), "k": reals(b, s, 16, seed=2), "v": reals(b, s, 16, seed=3), "pk": reals(b, 2, p, 8, seed=4),
             "pv": reals(b, 2, p, 8, seed=6)} for b, s, p in [(0, 1, 1), (1, 1, 0), (1, 1, 7), (2, 5, 17)]]
    cache = ["b", 2, "p", 8]
    return Case(nodes, {"q": ["b", "s", 16], "k": ["b", "s", 16], "v": ["b", "s", 16], "pk": cache, "pv": cache}, sets, expected,
                outputs=("y", "keys", "values"), tolerance=(1e-4, 1e-5))


@case
def multi_head_attention_of_packed_inputs():
    nodes = [contrib("MultiHeadAttention", "x - - bias", "y", num_heads=2),
             contrib("MultiHeadAttention", "q kv", "z", num_heads=2)]

    def expected(feeds):
        x, q, kv = feeds["x"], feeds["q"], feeds["kv"]
        parts = [heads_of(x[:, :, :, i].reshape(*x.shape[:2], 16) + QKV_BIAS[16 * i:16 * i + 16], 2) for i in range(3)]
        pair = [kv[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2)]
        return [attended(*parts).astype(np.float32), attended(heads_of(q, 2), *pair).astype(np.float32)]
    sets = [{"x": reals(b, s, 2, 3, 8), "q": reals(b, t, 16, seed=2), "kv": reals(b, s, 2, 2, 8, seed=3)}
            for b, s, t in [(0, 1, 2), (1, 1, 1), (2, 17, 3)]]
    return Case(nodes, {"x": ["b", "s", 2, 3, 8], "q": ["b", "t", 16], "kv": ["b", "s", 2, 2, 8]}, sets, expected,
                constants=[("bias", QKV_BIAS)], outputs=("y", "z"), tolerance=(1e-4, 1e-5))


def grouped(feeds, heads, own, window=None, scale=None):
    """Batches that start at their own places: result, keys and values."""
    q, k, v = heads_of(feeds["q"], heads), heads_of(feeds["k"], own), heads_of(feeds["v"], own)
    past, length = feeds["pk"].shape[2], q.shape[2]
    starts = np.maximum(feeds["last"] + 1 - length, 0)
    positions = starts[:, None] + np.arange(length)
    q, k = rotated(q, COS, SIN, positions), rotated(k, COS, SIN, positions)
    keys = np.zeros((len(q), own, past + length, q.shape[3]))
    values = np.zeros_like(keys)
    for b, start in enumerate(starts):
        for whole, old, new in ((keys, feeds["pk"], k), (values, feeds["pv"], v)):
            whole[b, :, :start], whole[b, :, start:start + length] = old[b, :, :start], new[b]
    distance = positions[:, None, :, None] - np.arange(past + length)
    seen = (distance >= 0) & (distance < (window or 1000))
    return attended(q, keys, values, np.where(seen, 0, -np.inf), scale), keys, values


def group_sets(sizes, last=None):
    return [{"q": reals(b, s, 64), "k": reals(b, s, 32, seed=2), "v": reals(b, s, 32, seed=3), "pk": reals(b, 2, p, 16, seed=4),
             "pv": reals(b, 2, p, 16, seed=6), "last": np.full(b, p + s - 1, np.int32) if last is None else np.array(last, np.int32),
             "mask": np.ones((b, p + s), np.int32)} for b, s, p in sizes]


GROUPS = {"q": ["b", "s", 64], "k": ["b", "s", 32], "v": ["b", "s", 32], "pk": ["b", 2, "p", 16], "pv": ["b", 2, "p", 16], "last": ["b"],
          "mask": ["b", "total"]}
TOTAL = [node("Shape", "mask", "lengths"), node("Gather", "lengths one", "total64"), node("Cast", "total64", "total", to=TensorProto.INT32)]


@case
def group_query_attention():
    nodes = TOTAL + [contrib("GroupQueryAttention", "q k v pk pv last total cos sin", "y keys values", num_heads=4, kv_num_heads=2,
                             do_rotary=1)]
    return Case(nodes, GROUPS, group_sets([(1, 1, 0), (1, 1, 7), (2, 5, 0), (3, 1, 17)]),
                lambda feeds: [each.astype(np.float32) for each in grouped(feeds, 4, 2)],
                constants=CACHES + [("one", np.array(1))], outputs=("y", "keys", "values"), tolerance=(1e-4, 1e-5))


@case
def group_query_attention_of_one_batch_in_a_window():
    nodes = TOTAL + [node("Concat", "q k v", "packed", axis=2),
                     contrib("GroupQueryAttention", "packed - - pk pv last total cos sin", "y keys values", num_heads=4, kv_num_heads=2,
                             do_rotary=1, local_window_size=3, scale=0.25)]
    dims = {name: [1, *rest] for name, (_, *rest) in GROUPS.items()}
    return Case(nodes, dims, group_sets([(1, 1, 0), (1, 1, 7), (1, 5, 0)]),
                lambda feeds: [each.astype(np.float32) for each in grouped(feeds, 4, 2, 3, 0.25)],
                constants=CACHES + [("one", np.array(1))], outputs=("y", "keys", "values"), tolerance=(1e-4, 1e-5))


@case
def group_query_attention_of_uneven_batches():
    """Only the result: what caches hold behind the end of a batch is open."""
    nodes = TOTAL + [contrib("GroupQueryAttention", "q k v pk pv last total cos sin", "y keys values", num_heads=4, kv_num_heads=2, do_rotary=1),
                     node("Slice", "keys zero three two", "begin")]
    def expected(feeds):
        y, keys, _ = grouped(feeds, 4, 2)
        return [y.astype(np.float32), keys[:, :, :3].astype(np.float32)]
    return Case(nodes, GROUPS, group_sets([(3, 1, 9)], [2, 9, 5]), expected, outputs=("y", "begin"), tolerance=(1e-4, 1e-5),
                constants=CACHES + [("one", np.array(1)), ("zero", np.array([0])), ("three", np.array([3])), ("two", np.array([2]))])


MERGED = reals(12, 48, seed=8) / 3


@case
def attention_of_merged_weights():
    """Masks as keys to keep, as lengths and as beginnings beside these, and one for each query."""
    nodes = [contrib("Attention", "x w bias mask", "a", num_heads=2), contrib("Attention", "x w bias lengths", "c", num_heads=2),
             contrib("Attention", "x w - mask3", "d", num_heads=2, mask_filter_value=-500.0, qkv_hidden_sizes=[16, 16, 16]),
             contrib("Attention", "x w bias ends", "e", num_heads=2, unidirectional=1)]

    def expected(feeds):
        x, key = feeds["x"].astype(float), np.arange(feeds["x"].shape[1])
        column = lambda list: list[:, None, None, None]
        ends, begins = np.split(feeds["ends"], 2)
        run = lambda bias, add: attended(*(heads_of(each, 2) for each in np.split(x @ MERGED + bias, 3, axis=2)), add)
        return [each.astype(np.float32) for each in (
            run(QKV_BIAS, hidden(feeds["mask"][:, None, None] > 0)), run(QKV_BIAS, hidden(key < column(feeds["lengths"]))),
            run(0, np.where(feeds["mask3"][:, None] > 0, 0, -500)),
            run(QKV_BIAS, hidden((key < column(ends)) & (key >= column(begins))) + causal(len(key), len(key))))]
    draws = lambda seed, *dims: np.random.RandomState(seed).randint(0, 2, dims).astype(np.int32)
    sets = [{"x": reals(b, s, 12), "mask": draws(s, b, s), "mask3": draws(s + 1, b, s, s), "lengths": np.arange(1, b + 1).astype(np.int32),
             "ends": np.concatenate([np.full(b, s), np.minimum(np.arange(b), s)]).astype(np.int32)} for b, s in LENGTHS]
    return Case(nodes, {"x": ["b", "s", 12], "mask": ["b", "s"], "mask3": ["b", "s", "s"], "lengths": ["b"], "ends": ["2*b"]}, sets,
                expected, constants=[("w", MERGED), ("bias", QKV_BIAS)], outputs=("a", "c", "d", "e"), tolerance=(1e-4, 1e-5))


@case
def attention_of_merged_weights_with_a_cache():
    nodes = [contrib("Attention", "x w bias mask past ab", "y present", num_heads=2, unidirectional=1)]

    def expected(feeds):
        q, k, v = (heads_of(each, 2) for each in np.split(feeds["x"].astype(float) @ MERGED + QKV_BIAS, 3, axis=2))
        present = np.concatenate([feeds["past"], np.stack([k, v])], axis=3)
        bias = hidden(feeds["mask"][:, None, None] > 0) + feeds["ab"] + causal(q.shape[2], present.shape[3])
        return [attended(q, *present, bias).astype(np.float32), present.astype(np.float32)]
    sets = [{"x": reals(b, s, 12), "mask": np.random.RandomState(p).randint(0, 2, (b, p + s)).astype(np.int32),
             "past": reals(2, b, 2, p, 8, seed=4), "ab": reals(b, 1, s, p + s, seed=6)} for b, s, p in [(0, 1, 1), (1, 1, 0), (1, 1, 7), (2, 5, 17)]]
    return Case(nodes, {"x": ["b", "s", 12], "mask": ["b", "p + s"], "past": [2, "b", 2, "p", 8], "ab": ["b", 1, "s", "p + s"]}, sets,
                expected, constants=[("w", MERGED), ("bias", QKV_BIAS)], outputs=("y", "present"), tolerance=(1e-4, 1e-5))


@case
def embeddings_and_norm():
    words, places, kinds = reals(30, 4, seed=1), reals(20, 4, seed=2), reals(2, 4, seed=3)
    nodes = [contrib("EmbedLayerNormalization", "ids kinds w p t g b mask", "y kept sum", epsilon=1e-5),
             contrib("EmbedLayerNormalization", "ids - w p - g b - at", "z none", epsilon=1e-5)]

    def expected(feeds):
        norm = lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * GAMMA + BIAS
        ids = feeds["ids"]
        total = words[ids] + places[:ids.shape[1]] + kinds[feeds["kinds"]]
        z = norm(words[ids].astype(float) + places[feeds["at"]])
        return [norm(total.astype(float)).astype(np.float32), feeds["mask"].sum(1, dtype=np.int32), total, z.astype(np.float32),
                np.zeros(len(ids), np.int32)]
    draws = lambda seed, limit, *dims: np.random.RandomState(seed).randint(0, limit, dims).astype(np.int32)
    sets = [{"ids": draws(1, 30, b, s), "kinds": draws(2, 2, b, s), "mask": draws(3, 2, b, s), "at": draws(4, 20, b, s)}
            for b, s in LENGTHS]
    return Case(nodes, {name: ["b", "s"] for name in sets[0]}, sets, expected, outputs=("y", "kept", "sum", "z", "none"),
                constants=[("w", words), ("p", places), ("t", kinds), ("g", GAMMA), ("b", BIAS)], tolerance=(1e-4, 1e-5))


def quantized(x, scale, zero, element=np.uint8):
    limits = np.iinfo(element)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(element)


@case
def quantized_operators():
    constants = [("s", np.float32(0.125)), ("s2", np.float32(0.0625)), ("z", np.uint8(100)), ("z2", np.uint8(30))]
    nodes = [contrib("QLinearAdd", "a s z b s2 z2 s z", "sum"), contrib("QLinearMul", "a s z b s2 z2 s z", "product"),
             contrib("QLinearSigmoid", "a s z s2 z2", "sigmoid"), contrib("QLinearLeakyRelu", "a s z s2 z2", "leaky", alpha=0.25),
             contrib("QLinearConcat", "s z a s z b s2 z2", "joined", axis=0)]

    def expected(feeds):
        a = (feeds["a"].astype(float) - 100) / 8
        b = (feeds["b"].astype(float) - 30) / 16
        return [quantized(a + b, 1 / 8, 100), quantized(a * b, 1 / 8, 100), quantized(1 / (1 + np.exp(-a)), 1 / 16, 30),
                quantized(np.where(a < 0, a / 4, a), 1 / 16, 30),
                np.concatenate([feeds["a"], quantized(b, 1 / 8, 100)])]
    sets = [{name: np.random.RandomState(seed).randint(0, 256, (m, 5)).astype(np.uint8) for seed, name in ((1, "a"), (2, "b"))}
            for m in (0, 1, 7)]
    return Case(nodes, {"a": ["m", 5], "b": ["m", 5]}, sets, expected, constants=constants,
                outputs=("sum", "product", "sigmoid", "leaky", "joined"))


@case
def quantized_pools_and_lines():
    constants = [("s", np.float32(0.125)), ("s2", np.float32(1 / 256)), ("z", np.uint8(100)), ("z2", np.uint8(0))]
    nodes = [contrib("QLinearGlobalAveragePool", "x s z s z", "pool"), contrib("QLinearSoftmax", "x s z s2 z2", "lines", axis=1, opset=13)]

    def expected(feeds):
        x = (feeds["x"].astype(float) - 100) / 8
        weights = np.exp(x - x.max(axis=1, keepdims=True))
        return [quantized(x.mean(axis=(2, 3), keepdims=True), 1 / 8, 100),
                quantized(weights / weights.sum(axis=1, keepdims=True), 1 / 256, 0)]
    sets = [{"x": np.random.RandomState(m).randint(90, 110, (m, 3, n, 5)).astype(np.uint8)} for m, n in ((0, 2), (1, 1), (2, 7))]
    return Case(nodes, {"x": ["m", 3, "n", 5]}, sets, expected, constants=constants, outputs=("pool", "lines"))


@case
def quantized_products():
    weight = np.random.RandomState(3).randint(-128, 128, (20, 6)).astype(np.int8)
    scale, bias = np.linspace(0.01, 0.06, 6).astype(np.float32), np.arange(6).astype(np.float32)
    constants = [("w", weight), ("wt", np.ascontiguousarray(weight.T)), ("ws", scale), ("bias", bias), ("s", np.float32(0.05)),
                 ("z", np.uint8(120)), ("c", np.arange(6).astype(np.int32)), ("ys", np.float32(3)), ("wz", np.int8(0)),
                 ("one", np.float32(0.02))]
    nodes = [contrib("DynamicQuantizeMatMul", "x w ws - bias", "dynamic"), contrib("MatMulIntegerToFloat", "q w s ws z - bias", "float"),
             contrib("QGemm", "q s z wt one wz c ys z", "gemm", transB=1)]

    def expected(feeds):
        x, q = feeds["x"], feeds["q"].astype(np.int64) - 120
        low, high = min(x.min(initial=0), 0), max(x.max(initial=0), 0)
        step = np.float32(high - low) / np.float32(255)
        zero = np.rint(np.clip(-low / step, 0, 255)) if step else 0
        integers = quantized(x, step or 1, zero).astype(np.int64) - int(zero)
        gemm = (q @ weight + np.arange(6)) * (0.05 * 0.02)
        return [(integers @ weight * (step * scale) + bias).astype(np.float32), (q @ weight * (0.05 * scale) + bias).astype(np.float32),
                quantized(gemm, 3, 120)]
    sets = [{"x": reals(m, 20), "q": np.random.RandomState(m).randint(0, 256, (m, 20)).astype(np.uint8)} for m in (0, 1, 7, 40)]
    return Case(nodes, {"x": ["m", 20], "q": ["m", 20]}, sets, expected, constants=constants, outputs=("dynamic", "float", "gemm"),
                tolerance=(1e-4, 1e-4))


# ---- narrow elements -----------------------------------------------------------------------------

def casts_to_powers():
    """All modes, for numbers on, between and beside powers of two; ONNX's reference and its table differ at the ends of the range."""
    x = np.ldexp(np.random.RandomState(3).uniform(1, 2, 300), np.random.RandomState(4).randint(-120, 120, 300)).astype(np.float32)
    x[:40], x[40:80] = np.ldexp(np.float32(1.5), np.arange(-20, 20)), np.ldexp(np.float32(1), np.arange(-20, 20))
    for mode in ("up", "down", "nearest"):
        for saturate in (0, 1):
            yield Case([node("Cast", to=TensorProto.FLOAT8E8M0, round_mode=mode, saturate=saturate)], {"x": ["n"]},
                       [{"x": x}, {"x": x[:1]}], opset=24)


for i, each in enumerate(casts_to_powers()):
    CASES.append((f"cast_to_powers_{i}", lambda each=each: each))


def blocks(kind, bits, opset, block, scale):
    """A product with weights in blocks."""
    columns, depth = 24, 4 * block
    random = np.random.RandomState(9)
    values = random.randint(0, 2 ** bits, (columns, depth)).astype(np.uint8)
    weights = values.view(kind) if bits == 4 and kind == ml_dtypes.float4_e2m1fn else values.astype(kind)
    constants = [("w", weights), ("s", random.uniform(0.25, 1, (columns, 4)).astype(scale))]
    nodes = [node("DequantizeLinear", "w s", "r", axis=1, block_size=block), node("Cast", "r", "f", to=TensorProto.FLOAT),
             node("Transpose", "f", "t", perm=[1, 0]), node("MatMul", "x t", "y")]
    return Case(nodes, {"x": ["m", depth]}, [{"x": reals(m, depth)} for m in (0, 1, 7, 40)], opset=opset,
                constants=constants, tolerance=(1e-4, 1e-4))


@case
def weights_float4_blocks():
    return blocks(ml_dtypes.float4_e2m1fn, 4, 23, 32, np.float32)


@case
def weights_float4_half_scales():
    return blocks(ml_dtypes.float4_e2m1fn, 4, 23, 16, np.float16)


@case
def weights_uint2_blocks():
    return blocks(ml_dtypes.uint2, 2, 25, 16, np.float32)


@case
def weights_int2_blocks():
    return blocks(ml_dtypes.int2, 2, 25, 16, np.float32)


def main():
    folder = pathlib.Path(sys.argv[1]) / "own"
    lines = []
    for name, make in CASES:
        make().write(folder, name, lines)
    (folder / "manifest.txt").write_text("\n".join(lines) + "\n")


main()
