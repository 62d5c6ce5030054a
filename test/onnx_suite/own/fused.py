"""com.microsoft: operators that stand for several of ONNX."""
import math

import numpy as np

from own.cases import Case, LENGTHS, case, contrib, reals


def erf(x):
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
