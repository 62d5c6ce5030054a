"""com.microsoft: operators that stand for several of ONNX."""
import math

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from own.cases import Case, LENGTHS, case, contrib, info, model_of, node, reals


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


def of(op, **attributes):
    """Some function of ONNX as its reference computes it."""
    model = model_of([node(op, "v", "w", **attributes)], [info("v", np.zeros(1, np.float32), [None] * 4)],
                     [helper.make_empty_tensor_value_info("w")], 22)
    return lambda v: ReferenceEvaluator(model).run(None, {"v": v.astype(np.float32)})[0]


ACTIVATIONS = [("Relu", [], of("Relu")), ("LeakyRelu", [0.25], of("LeakyRelu", alpha=0.25)), ("Tanh", [], np.tanh),
               ("Clip", [-0.5, 1.5], lambda v: np.clip(v, -0.5, 1.5)), ("Sigmoid", [], of("Sigmoid")),
               ("HardSigmoid", [0.3, 0.6], of("HardSigmoid", alpha=0.3, beta=0.6))]


@case
def fused_convolutions():
    """With a bias, a sum, and every activation that the optimiser puts behind them."""
    filters, bias = reals(4, 3, 1, 1, seed=6), reals(4, seed=7)
    names = [name.lower() for name, _, _ in ACTIVATIONS]
    nodes = [contrib("FusedConv", "x f b z", name.lower(), activation=name, **({"activation_params": constants} if constants else {}))
             for name, constants, _ in ACTIVATIONS] + [contrib("FusedConv", "x f - z", "plain"), contrib("FusedConv", "x f", "padded", pads=[1, 0, 0, 2])]

    def expected(feeds):
        product = np.einsum("nchw,fc->nfhw", feeds["x"].astype(float), filters[:, :, 0, 0])
        total = product + bias[:, None, None] + feeds["z"]
        padded = np.pad(product, [(0, 0), (0, 0), (1, 0), (0, 2)])
        return [each.astype(np.float32) for each in [*(f(total) for _, _, f in ACTIVATIONS), product + feeds["z"], padded]]
    sets = [{"x": reals(n, 3, h, 5), "z": reals(n, 4, h, 5, seed=2)} for n, h in [(0, 4), (1, 1), (2, 9)]]
    return Case(nodes, {"x": ["n", 3, "h", 5], "z": ["n", 4, "h", 5]}, sets, expected, constants=[("f", filters), ("b", bias)],
                outputs=(*names, "plain", "padded"), tolerance=(1e-4, 1e-5))


@case
def fused_matrix_products():
    weights = reals(5, 4, seed=8)
    nodes = [contrib("FusedGemm", "x w b", "a", transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.1),
             contrib("FusedGemm", "x v", "c", activation="HardSigmoid", activation_alpha=0.25, activation_beta=0.5),
             contrib("FusedGemm", "x v", "d", activation="Elu")]

    def expected(feeds):
        product = feeds["x"].astype(float) @ weights.T
        a = product / 2 + CBIAS
        return [each.astype(np.float32) for each in (np.where(a < 0, a * 0.1, a), np.clip(product / 4 + 0.5, 0, 1),
                                                     np.where(product < 0, np.expm1(product), product))]
    return Case(nodes, {"x": ["m", 4]}, [{"x": reals(m, 4)} for m in (0, 1, 9)], expected, outputs=("a", "c", "d"),
                constants=[("w", weights), ("v", weights.T.copy()), ("b", CBIAS)], tolerance=(1e-4, 1e-5))


CBIAS = np.array([1, -1, 0.5, 0, 2], np.float32)
