"""Writes ONNX models that mean harm, without the onnx package: make_hostile.py CASE writes CASE.onnx.

Without arguments it prints the names of all cases. Every case is a function that returns a model's bytes.
"""

import struct
import sys

INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


#--- The wire format -----------------------------------------------------------------------------


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def value_info(name, element, dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def attribute(name, value):
    if isinstance(value, int):
        return field(5, field(1, name) + field(3, value) + field(20, 2))
    if isinstance(value, list):
        return field(5, field(1, name) + fields(8, value) + field(20, 7))
    if isinstance(value, str):
        return field(5, field(1, name) + field(4, value) + field(20, 3))
    return field(5, field(1, name) + field(6, value) + field(20, 5))  # a graph


def node(op, inputs, outputs, name="n", domain="", **attributes):
    return (fields(1, inputs) + fields(2, outputs) + field(3, name) + field(4, op)
            + b"".join(attribute(key, value) for key, value in attributes.items())
            + (field(7, domain) if domain else b""))


def int64s(name, values, dims=None):
    data = struct.pack(f"<{len(values)}q", *values)
    return fields(1, [len(values)] if dims is None else dims) + field(2, 7) + field(8, name) + field(9, data)


def external(name, dims, **entries):
    listed = b"".join(field(13, field(1, key) + field(2, str(value))) for key, value in entries.items())
    return fields(1, dims) + field(2, 1) + field(8, name) + listed + field(14, 1)


def graph(nodes, tensors=(), inputs=None, outputs=("y",)):
    inputs = [value_info("x", 1, ["n", 4])] if inputs is None else inputs
    results = [field(1, name) if isinstance(name, str) else name for name in outputs]
    return fields(1, nodes) + field(2, "g") + fields(5, tensors) + fields(11, inputs) + fields(12, results)


def model(body, functions=(), opset=18, version=9):
    domains = field(8, field(2, opset)) + (field(8, field(1, "f") + field(2, 1)) if functions else b"")
    return field(1, version) + field(7, body) + domains + fields(25, functions)


def function(name, nodes):
    opsets = field(9, field(2, 18)) + field(9, field(1, "f") + field(2, 1))
    return field(1, name) + field(4, "x") + field(5, "y") + fields(7, nodes) + opsets + field(10, "f")


def of_shape(op, values, **attributes):
    """x and a constant list of int64, such as a shape."""
    return model(graph([node(op, ["x", "c"], ["y"], **attributes)], [int64s("c", values)]))


def of_constants(op, *lists, **attributes):
    """Lists of int64 only: what shape arithmetic folds. The result is the size of a tensor."""
    names = [f"c{i}" for i in range(len(lists))]
    nodes = [node(op, names, ["s"], "n0", **attributes), node("Expand", ["x", "s"], ["y"], "n1")]
    return model(graph(nodes, [int64s(name, values) for name, values in zip(names, lists)]))


def of_attributes(op, dims=("n", 4), **attributes):
    return model(graph([node(op, ["x"], ["y"], **attributes)], inputs=[value_info("x", 1, list(dims))]))


#--- Graphs that hang together wrongly -----------------------------------------------------------


@case
def good():
    return model(graph([node("Relu", ["x"], ["y"])]))


@case
def cycle():
    return model(graph([node("Relu", ["b"], ["a"], "n0"), node("Neg", ["a"], ["b"], "n1"), node("Add", ["x", "b"], ["y"], "n2")]))


@case
def self_cycle():
    return model(graph([node("Add", ["x", "y"], ["y"])]))


@case
def missing_initializer():
    return model(graph([node("Add", ["x", "w"], ["y"])]))


@case
def missing_output():
    return model(graph([node("Relu", ["x"], ["z"])]))


@case
def value_given_twice():
    return model(graph([node("Relu", ["x"], ["y"], "n0"), node("Neg", ["x"], ["y"], "n1")]))


@case
def input_twice():
    inputs = [value_info("x", 1, ["n"]), value_info("x", 1, ["m", 4])]
    return model(graph([node("Relu", ["x"], ["y"])], inputs=inputs))


@case
def initializer_twice():
    return model(graph([node("Relu", ["x"], ["y"])], [int64s("w", [1]), int64s("w", [2])]))


@case
def initializer_written():
    """By a node that nothing needs: still it cannot be known which of the two others mean."""
    return model(graph([node("Add", ["x", "w"], ["y"], "n0"), node("Neg", ["x"], ["w"], "n1")], [int64s("w", [1])]))


@case
def input_written():
    return model(graph([node("Relu", ["x"], ["y"], "n0"), node("Neg", ["x"], ["x"], "n1")]))


@case
def more_outputs():
    return model(graph([node("Relu", ["x"], ["y", "z"])]))


@case
def many_more_outputs():
    return model(graph([node("MaxPool", ["x"], ["y", "", "z"], kernel_shape=[1])], inputs=[value_info("x", 1, ["n", 3, 4])]))


@case
def outputs_left_out():
    return model(graph([node("Relu", ["x"], ["y", "", ""])]))


@case
def control_characters():
    return model(graph([node("Re\x1b[31mlu\n", ["x"], ["y"], "evil\r\nname\x07")]))


@case
def no_opset():
    return field(1, 9) + field(7, graph([node("Relu", ["x"], ["y"])]))


@case
def opset_of_the_future():
    return model(graph([node("Relu", ["x"], ["y"])]), opset=INT_MAX)


@case
def format_of_the_future():
    return model(graph([node("Relu", ["x"], ["y"])]), version=15)


@case
def opset_negative():
    return model(graph([node("Relu", ["x"], ["y"])]), opset=INT_MIN)


#--- What is no model ----------------------------------------------------------------------------


@case
def program():
    return b"func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>"


@case
def pointer():
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab\nsize 12345\n"


@case
def archive():
    return b"PK\x03\x04\x14\x00\x00\x00"


@case
def zeros():
    return bytes(100)


@case
def nothing():
    return b""


#--- Other files ---------------------------------------------------------------------------------


def of_external(**entries):
    return model(graph([node("Add", ["x", "w"], ["y"])], [external("w", [4], **entries)]))


@case
def external_parent():
    return of_external(location="../secret.bin")


@case
def external_absolute():
    return of_external(location="/etc/passwd")


@case
def external_link():
    return of_external(location="link.bin")


@case
def external_missing():
    return of_external(location="nothing.bin")


@case
def external_folder():
    return of_external(location=".")


@case
def external_behind_end():
    return of_external(location="w.bin", offset=8, length=16)


@case
def external_overflow():
    return of_external(location="w.bin", offset=INT_MAX, length=INT_MAX)


@case
def external_negative():
    return of_external(location="w.bin", offset=-16, length=16)


#--- Sizes that no machine has -------------------------------------------------------------------


@case
def dims_negative():
    return of_attributes("Relu", [-5, 4])


@case
def dims_overflow():
    return of_attributes("Relu", [INT_MAX, INT_MAX, INT_MAX])


@case
def dims_many():
    return of_attributes("Relu", [1] * 60)


@case
def initializer_absurd():
    return model(graph([node("Add", ["x", "w"], ["y"])], [fields(1, [1 << 40, 1 << 40]) + field(2, 1) + field(8, "w") + field(9, b"abcd")]))


@case
def expand_absurd():
    return of_shape("Expand", [INT_MAX, 1, 4])


@case
def tile_absurd():
    return of_shape("Tile", [1 << 40, 1 << 40])


@case
def reshape_absurd():
    return of_shape("Reshape", [INT_MAX, INT_MAX, -1])


@case
def reshape_two_unknown():
    return of_shape("Reshape", [-1, -1])


@case
def pad_absurd():
    return of_shape("Pad", [INT_MAX, INT_MAX, INT_MAX, INT_MAX])


@case
def constant_of_shape_absurd():
    nodes = [node("ConstantOfShape", ["c"], ["z"], "n0"), node("ReduceSum", ["z"], ["s"], "n1"), node("Add", ["x", "s"], ["y"], "n2")]
    return model(graph(nodes, [int64s("c", [1 << 31, 1 << 31, 1 << 31])]))


@case
def range_absurd():
    nodes = [node("Range", ["a", "b", "c"], ["r"], "n0"), node("Cast", ["r"], ["f"], "n1", to=1), node("ReduceSum", ["f"], ["s"], "n2"),
             node("Add", ["x", "s"], ["y"], "n3")]
    return model(graph(nodes, [int64s("a", [INT_MIN], []), int64s("b", [INT_MAX], []), int64s("c", [1], [])]))


@case
def range_of_nothing():
    nodes = [node("Range", ["a", "b", "c"], ["r"], "n0"), node("Expand", ["x", "r"], ["y"], "n1")]
    return model(graph(nodes, [int64s("a", [0], []), int64s("b", [4], []), int64s("c", [0], [])]))


#--- Numbers at the end of their range -----------------------------------------------------------


@case
def divide_overflow():
    return of_constants("Div", [INT_MIN, 4], [-1, 1])


@case
def divide_by_zero():
    return of_constants("Div", [1, 4], [0, 1])


@case
def remainder_overflow():
    return of_constants("Mod", [INT_MIN, 4], [-1, 5])


@case
def remainder_by_zero():
    return of_constants("Mod", [1, 4], [0, 5])


@case
def multiply_overflow():
    return of_constants("Mul", [INT_MIN, 4], [-1, 1])


@case
def negate_overflow():
    return of_constants("Neg", [INT_MIN, 4])


@case
def absolute_overflow():
    return of_constants("Abs", [INT_MIN, 4])


@case
def sum_overflow():
    return of_constants("ReduceSum", [INT_MAX, INT_MAX, 4])


@case
def slice_extremes():
    return model(graph([node("Slice", ["x", "a", "b", "c", "d"], ["y"])],
                       [int64s("a", [INT_MIN]), int64s("b", [INT_MAX]), int64s("c", [0]), int64s("d", [INT_MIN])]))


@case
def slice_step_zero():
    return model(graph([node("Slice", ["x", "a", "b", "c", "d"], ["y"])],
                       [int64s("a", [0]), int64s("b", [4]), int64s("c", [1]), int64s("d", [0])]))


@case
def slice_axis_extreme():
    return model(graph([node("Slice", ["x", "a", "b", "c"], ["y"])], [int64s("a", [0]), int64s("b", [1]), int64s("c", [INT_MIN])]))


@case
def gather_extreme():
    return of_shape("Gather", [INT_MIN, INT_MAX], axis=1)


@case
def softmax_axis_extreme():
    return of_attributes("Softmax", axis=INT_MIN)


@case
def concat_axis_extreme():
    return model(graph([node("Concat", ["x", "x"], ["y"], axis=INT_MIN)]))


@case
def transpose_extreme():
    return of_attributes("Transpose", perm=[INT_MIN, 0])


@case
def flatten_extreme():
    return of_attributes("Flatten", axis=INT_MAX)


@case
def unsqueeze_extreme():
    return of_shape("Unsqueeze", [INT_MIN])


@case
def split_extreme():
    return model(graph([node("Split", ["x", "c"], ["y", "z"], axis=1)], [int64s("c", [INT_MIN, INT_MAX])]))


@case
def split_into_many():
    return of_attributes("Split", axis=1, num_outputs=INT_MAX)


@case
def top_k_negative():
    return model(graph([node("TopK", ["x", "c"], ["y", "i"], axis=1)], [int64s("c", [INT_MIN])]))


@case
def cumulate_extreme():
    return model(graph([node("CumSum", ["x", "c"], ["y"])], [int64s("c", [INT_MIN], [])]))


def of_windows(op, **attributes):
    return of_attributes(op, [1, 2, "h", "w"], **attributes)


@case
def grid_of_integers():
    inputs = [value_info("x", 1, ["n", 2, "h", "w"]), value_info("g", 7, ["n", 5, 5, 2])]
    return model(graph([node("GridSample", ["x", "g"], ["y"])], inputs=inputs), opset=20)


@case
def pool_strides_zero():
    return of_windows("MaxPool", kernel_shape=[2, 2], strides=[0, 0])


@case
def pool_kernel_extreme():
    return of_windows("MaxPool", kernel_shape=[INT_MAX, INT_MIN])


@case
def pool_pads_extreme():
    return of_windows("AveragePool", kernel_shape=[2, 2], pads=[INT_MAX, INT_MAX, INT_MAX, INT_MAX])


@case
def neighbours_extreme():
    return of_attributes("LRN", [1, "c", "h", "w"], size=INT_MAX)


@case
def neighbours_all():
    return of_attributes("LRN", ["n", 3, 2, 2], size=INT_MAX)


@case
def quantised_as_floats():
    scalar = lambda name, kind, data: field(2, kind) + field(8, name) + field(9, data)
    names = ["x", "s", "z", "x", "s", "z", "s", "f"]
    tensors = [scalar("s", 1, struct.pack("<f", 1)), scalar("z", 3, b"\0"), scalar("f", 1, struct.pack("<f", 0))]
    return model(graph([node("QLinearMatMul", names, ["y"])], tensors, inputs=[value_info("x", 3, [4, 4])]))


def filling(nodes, *results):
    """A loop with two sequences, `p` and `q`, and what its body leaves in their places."""
    names = [field(1, name) for name in ("i", "go", "p", "q")]
    body = graph([node("Identity", ["go"], ["on"])] + nodes, inputs=names, outputs=["on", *results])
    loop = node("Loop", ["k", "", "e", "e"], ["pn", "qn"], "loop", body=body)
    tail = [node("SequenceAt", ["pn", "far"], ["at"]), node("ConcatFromSequence", ["pn"], ["y"], axis=0)]
    return model(graph([node("SequenceEmpty", [], ["e"], "e"), loop] + tail, [int64s("k", [3], []), int64s("far", [INT_MIN], [])], outputs=("y", "at")))


APPENDS = [node("SequenceInsert", [name, "x"], [name + "2"]) for name in "pq"]


@case
def sequence_position_extreme():
    return filling(APPENDS, "p2", "q2")


@case
def sequences_swapped():
    return filling(APPENDS, "q2", "p2")


@case
def sequence_not_filled():
    return filling(APPENDS, "p2", "q")


@case
def sequence_filled_in_front():
    return filling([node("SequenceInsert", ["p", "x", "k"], ["p2"])], "p2", "q")


@case
def text_with_newlines():
    return model(graph([node("Gelu", ["x"], ["y"], approximate="\0tanh\n?")]), opset=20)


@case
def conv_extreme():
    nodes = [node("Conv", ["x", "w"], ["y"], strides=[INT_MAX, 1], dilations=[INT_MAX, INT_MAX], pads=[INT_MIN, 0, INT_MAX, 0], group=INT_MIN)]
    tensor = fields(1, [1, 2, 1, 1]) + field(2, 1) + field(8, "w") + field(9, struct.pack("<2f", 1, 1))
    return model(graph(nodes, [tensor], inputs=[value_info("x", 1, [1, 2, "h", "w"])]))


@case
def conv_groups_zero():
    tensor = fields(1, [1, 2, 1, 1]) + field(2, 1) + field(8, "w") + field(9, struct.pack("<2f", 1, 1))
    return model(graph([node("Conv", ["x", "w"], ["y"], group=0)], [tensor], inputs=[value_info("x", 1, [1, 2, "h", "w"])]))


@case
def cast_extreme():
    return of_attributes("Cast", to=INT_MIN)


def of_integers(op, element=6, **attributes):
    return model(graph([node(op, ["x"], ["y"], **attributes)], inputs=[value_info("x", element, ["n", 4])]))


@case
def exponential_of_integers():
    return of_integers("Exp")


@case
def softmax_of_integers():
    return of_integers("Softmax")


@case
def bits_of_floats():
    return of_attributes("BitwiseNot")


#--- Depth and width -----------------------------------------------------------------------------


@case
def branches_nested():
    inner = graph([node("Relu", ["x"], ["y"])], inputs=[])
    for _ in range(500):
        inner = graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=graph([node("Neg", ["x"], ["y"])], inputs=[]))], inputs=[])
    return model(graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=inner[:0])],
                       inputs=[value_info("x", 1, ["n", 4]), value_info("c", 9, [])]))


@case
def branches_deep():
    """As deep as --limit nesting=500 allows."""
    inner = graph([node("Relu", ["x"], ["y"])], inputs=[])
    other = graph([node("Neg", ["x"], ["y"])], inputs=[])
    for _ in range(498):
        inner = graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=other)], inputs=[])
    return model(graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=other)],
                       inputs=[value_info("x", 1, ["n", 4]), value_info("c", 9, [])]))


@case
def loops_deep():
    """Loops in loops; what they need is proved for each, so these are fewer."""
    def body(nodes):
        return graph(nodes, inputs=[value_info("i", 7, []), value_info("go", 9, []), value_info("x", 1, ["n", 4])], outputs=("go2", "y"))
    inner = body([node("Identity", ["go"], ["go2"]), node("Relu", ["x"], ["y"])])
    for _ in range(98):
        inner = body([node("Identity", ["go"], ["go2"]), node("Loop", ["m", "c", "x"], ["y"], body=inner)])
    return model(graph([node("Loop", ["m", "c", "x"], ["y"], body=inner)],
                       inputs=[value_info("x", 1, ["n", 4]), value_info("c", 9, []), value_info("m", 7, [])]))


@case
def tensor_of_terabytes():
    return model(graph([node("ConstantOfShape", ["c"], ["y"])], [int64s("c", [1 << 21, 1 << 20])]))


@case
def constants_decoded():
    """Numbers that the file spells: a thousand of them take more room than there."""
    data = fields(1, [1000]) + field(2, 7) + field(8, "c") + fields(7, range(5, 1005))
    return model(graph([node("Add", ["x", "c"], ["y"])], [data], [value_info("x", 7, [1000])]))


@case
def functions_nested():
    functions = [function(f"F{i}", [node(f"F{i + 1}", ["x"], ["y"], domain="f")]) for i in range(300)]
    functions.append(function("F300", [node("Relu", ["x"], ["y"])]))
    return model(graph([node("F0", ["x"], ["y"], domain="f")]), functions)


@case
def functions_recursive():
    functions = [function("F", [node("G", ["x"], ["y"], domain="f")]), function("G", [node("F", ["x"], ["y"], domain="f")])]
    return model(graph([node("F", ["x"], ["y"], domain="f")]), functions)


@case
def functions_exponential():
    """Two calls on each of 60 levels."""
    functions = [function(f"F{i}", [node(f"F{i + 1}", ["x"], ["a"], "n0", "f"), node(f"F{i + 1}", ["a"], ["y"], "n1", "f")]) for i in range(60)]
    functions.append(function("F60", [node("Relu", ["x"], ["y"])]))
    return model(graph([node("F0", ["x"], ["y"], domain="f")]), functions)


@case
def operators_of_all_kinds():
    """Each unknown for a reason of its own, among as many inputs that have initial values."""
    count = 30000
    nodes = [node(f"Op{i}", ["x"], [f"v{i}"], f"n{i}") for i in range(count)]
    inputs = [value_info("x", 1, ["n", 4])] + [value_info(f"w{i}", 1, [1]) for i in range(count)]
    tensors = [fields(1, [1]) + field(2, 1) + field(8, f"w{i}") + field(9, struct.pack("<f", 1)) for i in range(count)]
    return model(graph(nodes, tensors, inputs, [f"v{i}" for i in range(count)]))


@case
def doubling():
    """Sizes double 70 times: x, x joined with itself, and so on."""
    nodes = [node("Concat", [f"v{i}" if i else "x"] * 2, [f"v{i + 1}"], f"n{i}", axis=0) for i in range(70)]
    return model(graph(nodes, outputs=["v70"]))


@case
def squaring():
    """An expression of one symbol whose degree doubles 70 times."""
    nodes = []
    for i in range(70):
        before = f"v{i}" if i else "x"
        nodes += [node("Shape", [before], [f"s{i}"], f"a{i}"), node("ReduceProd", [f"s{i}"], [f"p{i}"], f"b{i}", keepdims=1),
                  node("Mul", [f"p{i}", f"p{i}"], [f"q{i}"], f"c{i}"), node("Expand", ["one", f"q{i}"], [f"v{i + 1}"], f"d{i}")]
    one = fields(1, [1]) + field(2, 1) + field(8, "one") + field(9, struct.pack("<f", 1))
    return model(graph(nodes, [one], outputs=["v70"]))


def main(names):
    for name in names:
        with open(name + ".onnx", "wb") as out:
            out.write(CASES[name]())
    if not names:
        print(*CASES, sep="\n")


main(sys.argv[1:])
