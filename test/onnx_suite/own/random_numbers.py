"""Random numbers, computed with numpy from the seeds."""
import numpy as np
from onnx import TensorProto

from own.cases import Case, SIZES, case, draw, node, reals, seed_of


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
