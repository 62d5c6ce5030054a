"""Quantised operators, of ONNX and of com.microsoft."""
import numpy as np

from own.cases import Case, case, contrib, node, reals


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


def whole(seed, low, high, *dims, element=np.uint8):
    return np.random.RandomState(seed).randint(low, high, dims).astype(element)


@case
def convolutions_of_bytes():
    """Filters with and without a zero point of their own, one for all and one for each of more filters than are followed while importing."""
    kinds = {"each": whole(1, 100, 140, 80), "zeros": np.zeros(80, np.uint8), "one": np.array(131, np.uint8)}
    filters, scale, bias = whole(2, 0, 256, 80, 3, 3, 2), np.linspace(0.5, 1.5, 80).astype(np.float32) * 2e-4, whole(3, -900, 900, 80, element=np.int32)
    nodes = [node("QLinearConv", f"x sx zx f sw {name} sy zy bias", f"y_{name}", pads=[1, 0, 1, 2], strides=[2, 1]) for name in kinds]
    constants = [("sx", np.float32(0.5)), ("zx", np.uint8(120)), ("f", filters), ("sw", scale), ("sy", np.float32(0.25)), ("zy", np.uint8(99)),
                 ("bias", bias)]

    def expected(feeds):
        x = np.pad(feeds["x"].astype(np.int64) - 120, [(0, 0), (0, 0), (1, 1), (0, 2)])
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(2, 3))[:, :, ::2]
        results = []
        for zero in kinds.values():
            centred = filters.astype(np.int64) - np.reshape(zero, (-1, 1, 1, 1))
            total = np.einsum("nchwij,fcij->nfhw", windows, centred) + bias[:, None, None]
            results.append(quantized(total * (np.float32(0.5) * scale)[:, None, None], np.float32(0.25), 99))
        return results
    sets = [{"x": whole(n + h, 0, 256, n, 3, h, 5)} for n, h in [(0, 4), (1, 1), (2, 9)]]
    return Case(nodes, {"x": ["n", 3, "h", 5]}, sets, expected, constants=[*constants, *((name, zero) for name, zero in kinds.items() if zero.ndim),
                                                                          ("one", kinds["one"])],
                outputs=tuple(f"y_{name}" for name in kinds), tolerance=(0, 0))


@case
def products_of_two_that_change():
    """Neither side is a constant: rows and columns have scales and zero points of their own."""
    nodes = [node("QLinearMatMul", "a sa za b sb zb sy zy")]
    scales = {"sa": np.float32([0.5, 1, 2, 0.25]), "sb": np.float32([1, 0.5, 3])}
    zeros = {"za": whole(4, 100, 150, 4), "zb": whole(5, 100, 150, 3)}

    def expected(feeds):
        total = (feeds["a"].astype(np.int64) - zeros["za"][:, None]) @ (feeds["b"].astype(np.int64) - zeros["zb"])
        return [quantized(total * (scales["sa"][:, None] * scales["sb"]), np.float32(900), 128)]
    sets = [{"a": whole(k, 0, 256, 4, k), "b": whole(k + 1, 0, 256, k, 3)} for k in (0, 1, 40)]
    return Case(nodes, {"a": [4, "k"], "b": ["k", 3]}, sets, expected, tolerance=(0, 0),
                constants=[*scales.items(), *zeros.items(), ("sy", np.float32(900)), ("zy", np.uint8(128))])
