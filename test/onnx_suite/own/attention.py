"""com.microsoft: attention. What ONNX Runtime 1.31 runs of these on the CPU was once compared with it by hand."""
import numpy as np
from onnx import TensorProto

from own.cases import Case, LENGTHS, case, contrib, node, reals


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
