"""Models that once failed: found by test/differential/models, made small. Each sentence says what was wrong."""
import numpy as np
from onnx import TensorProto, helper

from own.cases import Case, case, node, reals


@case
def small_integers_times_constants():
    """The product of numbers that are not known with numbers that are was taken for 0."""
    weight = np.arange(-3, 3, dtype=np.int8).reshape(3, 2)
    sets = [{"x": np.array([[0, 12, 14]], np.uint8)}, {"x": np.array([[255, 0, 1]], np.uint8)}]
    return Case([node("MatMulInteger", "x w zero")], {"x": [1, 3]}, sets,
                lambda feeds: [(feeds["x"].astype(np.int32) - 5) @ weight.astype(np.int32)],
                constants=[("w", weight), ("zero", np.array(5, np.uint8))])


@case
def small_weights_of_4_bits():
    """Weights of at most 64 bytes were refused: 'must be a constant'."""
    packed = np.arange(24, dtype=np.uint8).reshape(3, 1, 8) * 7
    scales = np.array([0.5, 0.25, 1], np.float32)

    def expected(feeds):
        numbers = np.stack([packed & 15, packed >> 4], -1).reshape(3, 16).astype(np.float32) - 8
        return [feeds["x"] @ (numbers * scales[:, None]).T]
    nodes = [helper.make_node("MatMulNBits", ["x", "w", "scales"], ["y"], domain="com.microsoft", K=16, N=3, bits=4,
                              block_size=16)]
    return Case(nodes, {"x": ["m", 16]}, [{"x": reals(m, 16)} for m in (0, 1, 5)], expected,
                constants=[("w", packed), ("scales", scales)], tolerance=(1e-5, 1e-5))


@case
def backwards_from_before_the_first():
    """A start before the first element is the first element, as ONNX clamps it; numpy has none there."""
    sets = [{"x": reals(m, n)} for m, n in [(0, 1), (1, 1), (2, 2), (3, 7)]]

    def expected(feeds):
        x = feeds["x"]
        start = max(x.shape[1] - 2, 0)
        return [np.ascontiguousarray(x[:, :start + 1][:, ::-1])]
    bounds = [("starts", [-2]), ("ends", [-2 ** 62]), ("axes", [1]), ("steps", [-1])]
    return Case([node("Slice", "x starts ends axes steps")], {"x": ["m", "n"]}, sets, expected,
                constants=[(name, np.array(value, np.int64)) for name, value in bounds])


@case
def turns_that_only_an_input_limits():
    """The compiler crashed when it counted the work of turns without a bound."""
    body = helper.make_graph(
        [node("Less", "turn two", "more"), node("Add", "value two_reals", "next")], "body",
        [helper.make_tensor_value_info("turn", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("value", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("more", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor("two", TensorProto.INT64, [], [2]), helper.make_tensor("two_reals", TensorProto.FLOAT, [], [2])])
    sets = [{"trips": np.array(trips, np.int64), "x": reals(m, 4)} for trips, m in [(0, 3), (2, 0), (3, 1), (9, 2)]]
    return Case([helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)], {"trips": [], "x": ["m", 4]}, sets,
                lambda feeds: [feeds["x"] + np.float32(2 * min(int(feeds["trips"]), 3))])


@case
def non_zero_of_a_number():
    """It was refused; it has no indices, only how many there are."""
    sets = [{"x": np.array(value, np.float32)} for value in (0, 2)]
    return Case([node("NonZero", "x")], {"x": []}, sets, lambda feeds: [np.zeros((0, int(feeds["x"] != 0)), np.int64)])
