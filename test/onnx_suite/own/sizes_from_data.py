"""Sizes that are inputs, or computed from them: nothing limits them."""
import numpy as np
from onnx import TensorProto, helper

from own.cases import Case, case, node, reals

ints = lambda *values: np.array(values, np.int64)
COUNTS = [0, 1, 17, 3, 600, 5]


def small(*dims):
    return (np.arange(np.prod(dims), dtype=np.float32) % 7 - 3).reshape(dims)


@case
def range_of_a_computed_length():
    nodes = [node("Mul", "k k", "square"), node("Range", "zero square one", "r"), node("Range", "k zero minus", "down"),
             node("Cast", "r", "f", to=TensorProto.FLOAT), node("Sin", "f", "y"), node("ReduceSum", "y", "s", keepdims=0)]
    constants = [("zero", np.array(0)), ("one", np.array(1)), ("minus", np.array(-3))]
    return Case(nodes, {"k": []}, [{"k": np.array(k)} for k in [0, 1, 23, 5, -3]], constants=constants,
                outputs=("y", "s", "down"), tolerance=(1e-4, 1e-4))


@case
def range_of_any_bounds():
    sets = [{"a": np.array(a), "b": np.array(b), "d": np.array(d)}
            for a, b, d in [(0, 5, 1), (3, -9, -5), (7, 7, 2), (2, 1, 4), (-100, 900, 3), (5, 6, 2**40), (2**62, -2**62, -2**60)]]
    return Case([node("Range", "a b d")], {"a": [], "b": [], "d": []}, sets)


@case
def range_of_reals():
    sets = [{"a": np.float32(a), "b": np.float32(b), "d": np.float32(d)}
            for a, b, d in [(0, 5, 0.5), (3, -9, -5), (7, 7, 2), (2, 1, 4), (-1, 900, 0.75)]]
    return Case([node("Range", "a b d")], {"a": [], "b": [], "d": []}, sets)


@case
def zeros_and_ranges_of_one_length_are_added():
    """Both know the length by the same symbol, or compare their symbols."""
    nodes = [node("ConstantOfShape", "k", "zeros", value=helper.make_tensor("v", TensorProto.INT64, [1], [7])),
             node("Squeeze", "k", "limit"), node("Range", "zero limit one", "r"), node("Add", "zeros r", "y")]
    return Case(nodes, {"k": [1]}, [{"k": ints(k)} for k in COUNTS], constants=[("zero", np.array(0)), ("one", np.array(1))])


@case
def shape_from_an_input():
    nodes = [node("ConstantOfShape", "s", "zeros"), node("Add", "zeros x", "y")]
    sets = [{"s": ints(*s), "x": reals(s[1])} for s in [(2, 3), (0, 5), (1, 1), (40, 33), (3, 0)]]
    return Case(nodes, {"s": [2], "x": ["n"]}, sets)


@case
def expand_both_ways():
    sets = [{"x": reals(*dims), "s": ints(*s)}
            for dims, s in [((1, 3), (4, 3)), ((1, 3), (1, 1)), ((5, 3), (1, 3)), ((5, 3), (5, 1)), ((1, 3), (0, 1)), ((1, 3), (70, 1))]]
    return Case([node("Expand", "x s", "e"), node("Exp", "e", "y")], {"x": ["n", 3], "s": [2]}, sets)


@case
def expand_adds_dimensions():
    sets = [{"x": reals(n), "s": ints(*s)} for n, s in [(2, (3, 1, 2)), (2, (0, 4, 1)), (1, (2, 5, 6))]]
    return Case([node("Expand", "x s")], {"x": ["n"], "s": [3]}, sets)


@case
def reshape_to_an_input():
    sets = [{"x": reals(*dims), "s": ints(*s)}
            for dims, s in [((4, 6), (3, 8)), ((4, 6), (-1, 2)), ((4, 6), (0, -1)), ((0, 6), (0, 6)), ((1, 6), (6, -1)), ((50, 6), (2, -1))]]
    nodes = [node("Reshape", "x s", "r"), node("Softmax", "r", "y"), node("ReduceSum", "r", "z", keepdims=0)]
    return Case(nodes, {"x": ["n", 6], "s": [2]}, sets, outputs=("y", "z"), tolerance=(1e-5, 1e-5))


@case
def reshape_to_zero():
    sets = [{"x": reals(*dims), "s": ints(*s)} for dims, s in [((0, 6), (3, 0, 2)), ((2, 6), (3, 2, 2)), ((2, 6), (-1, 2, 2))]]
    return Case([node("Reshape", "x s", allowzero=1)], {"x": ["n", 6], "s": [3]}, sets)


@case
def reshape_to_computed_sizes():
    """As exporters write it: sizes from the data of one input, the rest from the shape of another."""
    nodes = [node("Gather", "s p1", "heads"), node("Shape", "x", "dims"), node("Slice", "dims p0 p1", "batch"),
             node("Concat", "batch heads rest", "target", axis=0), node("Reshape", "x target", "split"),
             node("Transpose", "split", "y", perm=[1, 0, 2])]
    sets = [{"x": reals(n, 12), "s": ints(9, h)} for n, h in [(3, 4), (1, 1), (5, 12), (30, 2)]]
    constants = [("p0", ints(0)), ("p1", ints(1)), ("rest", ints(-1))]
    return Case(nodes, {"x": ["n", 12], "s": [2]}, sets, constants=constants)


@case
def tile_by_an_input():
    sets = [{"x": reals(n, 2), "t": ints(*t)} for n, t in [(3, (2, 1)), (0, (5, 2)), (1, (0, 3)), (4, (1, 1)), (7, (60, 2))]]
    return Case([node("Tile", "x t", "a"), node("Relu", "a", "y")], {"x": ["n", 2], "t": [2]}, sets)


@case
def one_hot_of_any_depth():
    sets = [{"i": ints(*i), "d": np.array(d), "v": np.array([-1, 2], np.float32)}
            for i, d in [((0, 2, -1), 3), ((1, 5, 0), 1), ((4, 4, 4), 50), ((1, 0, -2), 2)]]
    return Case([node("OneHot", "i d v", axis=0)], {"i": [3], "d": [], "v": [2]}, sets)


@case
def slice_between_inputs():
    sets = [{"x": reals(n, 4), "a": ints(a, 3), "b": ints(b, -10**9)}
            for n, a, b in [(9, 2, 7), (9, -3, 2**62), (9, -100, -1), (9, 8, 2), (0, 0, 5), (1, -1, 1)]]
    nodes = [node("Slice", "x a b axes steps", "cut"), node("Neg", "cut", "y")]
    return Case(nodes, {"x": ["n", 4], "a": [2], "b": [2]}, sets, constants=[("axes", ints(0, 1)), ("steps", ints(2, -1))])


@case
def slice_along_axes_from_an_input():
    sets = [{"x": reals(n, 4, 3), "a": ints(a, 1), "b": ints(b, 3), "axes": ints(*axes)}
            for n, a, b, axes in [(5, 1, 4, (0, 1)), (5, 1, 3, (-1, 0)), (5, -3, 2**62, (1, 2)), (0, 0, 2, (2, -3)), (9, -100, -2, (-2, 2))]]
    nodes = [node("Slice", "x a b axes", "cut"), node("Neg", "cut", "y")]
    return Case(nodes, {"x": ["n", 4, 3], "a": [2], "b": [2], "axes": [2]}, sets)


@case
def pad_by_an_input():
    sets = [{"x": reals(n, 3), "p": ints(*p), "v": np.float32(2.5)}
            for n, p in [(4, (1, 0, 2, 0)), (4, (-1, 2, 0, -1)), (0, (0, 0, 3, 1)), (6, (0, -3, -6, 5)), (2, (40, 0, 0, 0))]]

    def expected(feeds):
        x, p = feeds["x"], feeds["p"]
        x = np.pad(x, list(zip(np.maximum(p[:2], 0), np.maximum(p[2:], 0))), constant_values=feeds["v"])
        return [x[tuple(slice(max(-a, 0), n + min(b, 0)) for a, b, n in zip(p[:2], p[2:], x.shape))]]
    return Case([node("Pad", "x p v")], {"x": ["n", 3], "p": [4], "v": []}, sets, expected)


@case
def reflect_by_an_input():
    sets = [{"x": reals(n, 3), "p": ints(*p)} for n, p in [(4, (1, 0, 2, 0)), (4, (0, 2, 3, 1)), (9, (8, 1, 0, 0))]]
    return Case([node("Pad", "x p", mode="reflect")], {"x": ["n", 3], "p": [4]}, sets)


@case
def split_by_an_input():
    sets = [{"x": reals(sum(s), 2), "s": ints(*s)} for s in [(2, 3), (0, 4), (5, 0), (1, 30)]]
    nodes = [node("Split", "x s", "a b", axis=0), node("Exp", "a", "y"), node("Neg", "b", "z")]
    return Case(nodes, {"x": ["n", 2], "s": [2]}, sets, outputs=("y", "z"))


@case
def largest_of_an_input():
    sets = [{"x": small(3, n) + np.arange(n, dtype=np.float32) / 64, "k": ints(k)} for n, k in [(5, 2), (4, 4), (9, 0), (1, 1)]]
    return Case([node("TopK", "x k", "y z")], {"x": [3, "n"], "k": [1]}, sets, outputs=("y", "z"))


@case
def resize_to_an_input():
    sets = [{"x": reals(1, 2, h, h), "s": ints(1, 2, *s)} for h, s in [(4, (8, 6)), (3, (1, 2)), (5, (5, 5))]]
    resize = node("Resize", "x _ _ s", mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    resize.input[1] = resize.input[2] = ""
    return Case([resize], {"x": [1, 2, "h", "w"], "s": [4]}, sets)


def vectors(name, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, [None])


@case
def branches_of_their_own_sizes():
    yes = helper.make_graph([node("Range", "zero k one", "r"), node("Cast", "r", "y1", to=TensorProto.FLOAT)], "yes", [], [vectors("y1")])
    no = helper.make_graph([node("Tile", "x two", "t"), node("Exp", "t", "y2")], "no", [], [vectors("y2")])
    nodes = [node("Greater", "k zero", "c"), node("If", "c", "b", then_branch=yes, else_branch=no), node("Neg", "b", "y"),
             node("ReduceSum", "b", "s", keepdims=0)]
    sets = [{"x": reals(n), "k": np.array(k)} for n, k in [(3, 5), (4, -1), (0, 0), (2, 700), (5, 1)]]
    constants = [("zero", np.array(0)), ("one", np.array(1)), ("two", ints(2))]
    return Case(nodes, {"x": ["n"], "k": []}, sets, constants=constants, outputs=("y", "s"), tolerance=(1e-5, 1e-5))


@case
def turns_of_their_own_sizes():
    body = helper.make_graph(
        [node("Gather", "k i", "ki"), node("Range", "zero ki one", "r"), node("Cast", "r", "f", to=TensorProto.FLOAT),
         node("Sin", "f", "g"), node("ReduceSum", "g", "h", keepdims=0), node("Add", "sum h", "next"), node("Identity", "go", "on"),
         node("Identity", "h", "each")],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("sum", TensorProto.FLOAT, [])],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, []),
         helper.make_tensor_value_info("each", TensorProto.FLOAT, [])])
    nodes = [node("Size", "k", "turns"), node("Loop", "turns _ start", "last all", body=body)]
    nodes[1].input[1] = ""

    def expected(feeds):
        each = [np.sin(np.arange(k, dtype=np.float32)).sum(dtype=np.float32) for k in feeds["k"]]
        return [np.float32(sum(each)), np.array(each, np.float32)]
    sets = [{"k": ints(*k)} for k in [(3, 900, 1), (), (0, 0), (5,)]]
    constants = [("zero", np.array(0)), ("one", np.array(1)), ("start", np.float32(0))]
    return Case(nodes, {"k": ["n"]}, sets, expected, constants=constants, outputs=("last", "all"), tolerance=(1e-4, 1e-4))


@case
def as_many_turns_as_an_input_says():
    """The stack has room for all of them before the first."""
    body = helper.make_graph(
        [node("Mul", "v v", "square"), node("Cos", "square", "next"), node("Identity", "go", "on"), node("Identity", "next", "each")],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, ["n"]),
         helper.make_tensor_value_info("each", TensorProto.FLOAT, ["n"])])
    nodes = [node("Loop", "k _ x", "last all", body=body), node("ReduceSum", "all axis", "y", keepdims=0)]
    nodes[0].input[1] = ""

    def expected(feeds):
        v, each = feeds["x"], []
        for _ in range(feeds["k"]):
            v = np.cos(v * v)
            each.append(v)
        return [v, np.stack(each) if each else np.zeros((0, len(v)), np.float32),
                np.sum(each, axis=0, dtype=np.float32) if each else np.zeros(len(v), np.float32)]
    sets = [{"x": reals(n), "k": np.array(k)} for n, k in [(3, 4), (2, 0), (0, 3), (5, 100)]]
    return Case(nodes, {"x": ["n"], "k": []}, sets, expected, constants=[("axis", ints(0))], outputs=("last", "all", "y"),
                tolerance=(1e-4, 1e-4))
