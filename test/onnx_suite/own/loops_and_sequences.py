"""Loops, sequences and optionals."""
import numpy as np
from onnx import TensorProto, helper

from own.cases import Case, SIZES, case, node, reals


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


def filling_body(nodes, dims, outputs):
    """Of a loop that carries a float `s` and a sequence `q`."""
    declare = lambda name, type=TensorProto.FLOAT, dims=dims: helper.make_tensor_value_info(name, type, dims)
    sequence = lambda name: helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, dims)
    return helper.make_graph(nodes, "body", [declare("i", TensorProto.INT64, []), declare("go", TensorProto.BOOL, []), declare("s"), sequence("q")],
                             [declare("on", TensorProto.BOOL, []), declare("s2"), sequence(outputs)] + [declare("z")])


@case
def sequence_filled_by_a_loop():
    """A scripted loop that appends to a list, which is stacked or joined behind it."""
    body = filling_body([node("Identity", "go", "on"), node("Gather", "x i", "row", axis=0), node("Add", "s row", "s2"),
                         node("SequenceInsert", "q s2", "q2"), node("Neg", "s2", "z")], [2], "q2")
    nodes = [node("Shape", "x", "n1", start=0, end=1), node("Squeeze", "n1", "n"), node("SequenceEmpty", "", "q0"),
             node("Loop", "n true s0 q0", "last q minus", body=body), node("ConcatFromSequence", "q", "stacked", axis=1, new_axis=1),
             node("ConcatFromSequence", "q", "joined", axis=0), node("SequenceLength", "q", "length"), node("SequenceAt", "q end", "at")]

    def expected(feeds):
        sums = feeds["s0"] + np.cumsum(feeds["x"], axis=0, dtype=np.float32)
        return [sums[-1], -sums, sums.T, sums.reshape(-1), np.array(len(sums)), sums[-2]]
    return Case(nodes, {"x": ["n", 2], "s0": [2]}, [{"x": reals(n, 2), "s0": reals(2, seed=3)} for n in (2, 3, 40)], expected,
                constants=[("true", np.array(True)), ("end", np.array(-2))],
                outputs=("last", "minus", "stacked", "joined", "length", "at"), tolerance=(1e-5, 1e-6))


@case
def sequence_filled_by_pairs_until_a_condition():
    body = filling_body([node("Add", "s s0", "s2"), node("ReduceSum", "s2", "total", keepdims=0), node("Less", "total bound", "on"),
                         node("SequenceInsert", "q s2", "q1"), node("Neg", "s2", "z"), node("SequenceInsert", "q1 z", "q2")], ["m"], "q2")
    nodes = [node("SequenceEmpty", "", "q0"), node("Loop", "limit true s0 q0", "last q minus", body=body),
             node("ConcatFromSequence", "q", "y", axis=-2, new_axis=1), node("SequenceLength", "q", "length")]

    def expected(feeds):
        s, bound, rows = feeds["s0"], feeds["bound"], []
        for _ in range(5):
            s = s + feeds["s0"]
            rows += [s, -s]
            if not s.sum() < bound:
                break
        return [np.stack(rows), np.array(len(rows)), s]
    sets = [{"s0": np.ones(m, np.float32), "bound": np.float32(bound)} for m, bound in [(1, 3), (4, 1), (3, 1000), (17, 60)]]
    return Case(nodes, {"s0": ["m"], "bound": []}, sets, expected, constants=[("true", np.array(True)), ("limit", np.array(5))],
                outputs=("y", "length", "last"))
