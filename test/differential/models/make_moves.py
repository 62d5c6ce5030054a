"""Elements that go somewhere else: reshapes, slices, concatenations, padding."""
import numpy as np
from onnx import helper

from makers import maker
from values import BOOL, F32, I32, I64, INTEGERS, REALS, U8, Unfit

SOME = REALS + INTEGERS + (BOOL,)


def some_axis(g, value):
    axis = g.random.randrange(value.rank)
    return axis - value.rank if g.opset >= 11 and g.random.random() < 0.3 else axis


def some_axes(g, value):
    axes = sorted(g.random.sample(range(value.rank), g.random.randint(1, value.rank)))
    if g.opset >= 11 and g.random.random() < 0.3:
        return [axis - value.rank for axis in axes]
    return axes


@maker("Transpose")
def transpose(g, op):
    a = g.operand(SOME)
    order = g.random.sample(range(a.rank), a.rank)
    g.node(op, [a], **({"perm": order} if g.random.random() < 0.9 else {}))


@maker("Flatten")
def flatten(g, op):
    a = g.operand(SOME)
    g.node(op, [a], axis=g.random.randint(0, a.rank))


@maker("Squeeze")
def squeeze(g, op):
    a = g.operand(SOME, suits=lambda value: any(value.static(axis) == 1 for axis in range(value.rank)))
    ones = [axis for axis in range(a.rank) if a.static(axis) == 1]
    g.node(op, [a], parameters={"axes": g.random.sample(ones, g.random.randint(1, len(ones)))})


@maker("Unsqueeze")
def unsqueeze(g, op):
    a = g.operand(SOME, rank=(0, 1, 2, 3, 4))
    count = g.random.randint(1, 2)
    g.node(op, [a], parameters={"axes": sorted(g.random.sample(range(a.rank + count), count))})


@maker("Shape", "Size")
def shape(g, op):
    a = g.operand(SOME)
    bounds = {"start": g.random.randint(-a.rank, a.rank), "end": g.random.randint(-a.rank, a.rank)}
    g.node(op, [a], **(bounds if op == "Shape" and g.opset >= 15 and g.random.random() < 0.4 else {}))


@maker("Reshape")
def reshape(g, op):
    """Sizes as constants with 0 and -1, or computed from the shape, as exporters write them."""
    a = g.operand(SOME, rank=(2, 3, 4))
    at = g.random.randrange(a.rank - 1)
    if g.random.random() < 0.4:  # two dimensions become one
        wanted = [0] * at + [-1] + [a.static(axis) or 0 for axis in range(at + 2, a.rank)]
        if wanted[at + 1:] and 0 in wanted[at + 1:]:
            raise Unfit("0 copies from the same place only")
        return g.node(op, [a, g.constant(np.array(wanted, I64))])
    if g.random.random() < 0.5:  # one becomes two
        axis = g.random.randrange(a.rank)
        size = a.static(axis)
        if not size:
            raise Unfit("only symbols")
        part = g.random.choice([each for each in range(1, size + 1) if size % each == 0])
        if any(a.static(each) is None for each in range(axis + 1, a.rank)):
            raise Unfit("0 copies from the same place only")
        return g.node(op, [a, g.constant(np.array([0] * axis + [part, size // part] +
                                                  [a.static(each) for each in range(axis + 1, a.rank)], I64))])
    if any(0 in a.dim(axis) for axis in (*range(at), *range(at + 2, a.rank))):
        raise Unfit("a size of 0 copies, too")
    sizes, = g.node("Shape", [a])
    front, = g.node("Slice", [sizes], parameters={"starts": [0], "ends": [at], "axes": [0]})
    back, = g.node("Slice", [sizes], parameters={"starts": [at + 2], "ends": [a.rank], "axes": [0]})
    wanted, = g.node("Concat", [front, g.integers(-1), back], axis=0)
    g.node(op, [a, wanted])


@maker("Slice")
def slices(g, op):
    a = g.operand(SOME)
    axes = some_axes(g, a)
    steps = [g.random.choice([1, 1, 1, 2, 3, -1, -2]) for _ in axes]
    starts = [g.random.choice([0, 1, 2, -2, -3]) if step > 0 else g.random.choice([-1, -2, 3]) for step in steps]
    ends = [g.random.choice([3, 4, -1, 2 ** 62]) if step > 0 else g.random.choice([0, -3, -2 ** 62]) for step in steps]
    parameters = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    if g.opset < 10:
        if any(step != 1 for step in steps):
            raise Unfit("steps are newer")
        del parameters["steps"]
    g.node(op, [a], parameters=parameters)


@maker("Concat")
def concat(g, op):
    a = g.operand(SOME, rank=(1, 2, 3, 4))
    axis = g.random.randrange(a.rank)
    parts = [a]
    for _ in range(g.random.choice([1, 1, 2])):
        dims = a.dims()
        dims[axis] = g.random.choice([1, 3, *g.symbols])
        parts.append(g.operand((a.element,), dims=dims, fresh=0.6))
    g.random.shuffle(parts)
    g.node(op, parts, axis=axis)


@maker("Split")
def split(g, op):
    a = g.operand(SOME, suits=lambda value: any((value.static(axis) or 0) > 1 for axis in range(value.rank)))
    axis = g.random.choice([each for each in range(a.rank) if (a.static(each) or 0) > 1])
    size = a.static(axis)
    if g.random.random() < 0.6:
        first = g.random.randint(0, size)
        return g.node(op, [a], outputs=2, axis=axis, parameters={"split": [first, size - first]})
    if size % 2 and g.opset < 18:
        raise Unfit("unequal parts")
    g.node(op, [a], outputs=2, axis=axis, **({"num_outputs": 2} if g.opset >= 18 else {}))


@maker("Expand")
def expand(g, op):
    a = g.operand(SOME, suits=lambda value: any(value.static(axis) == 1 for axis in range(value.rank)))
    if g.random.random() < 0.5:
        wanted = [g.random.choice([2, 3]) if a.static(axis) == 1 and g.random.random() < 0.7 else 1 for axis in range(a.rank)]
        return g.node(op, [a, g.constant(np.array(wanted, I64))])
    ones = [axis for axis in range(a.rank) if a.static(axis) == 1]
    dims = a.dims()
    dims[g.random.choice(ones)] = g.random.choice(list(g.symbols))
    like = g.operand(SOME, dims=dims)
    sizes, = g.node("Shape", [like])
    g.node(op, [a, sizes])


@maker("Tile")
def tile(g, op):
    a = g.operand(g.takes(op, 0, SOME))
    g.node(op, [a, g.constant(np.array([g.random.choice([1, 1, 2, 3]) for _ in range(a.rank)], I64))])


@maker("Pad")
def pad(g, op):
    a = g.operand(g.takes(op, 0, SOME))
    mode = g.random.choice(["constant", "constant", "edge", "reflect"] + (["wrap"] if g.opset >= 19 else []))
    low = -1 if mode == "constant" else 0
    pads = [g.random.choice([low, 0, 0, 1, 2]) for _ in range(2 * a.rank)]
    parameters = {"pads": pads}
    if mode == "constant" and g.random.random() < 0.5 and a.element != BOOL:
        if g.opset < 11:
            return g.node(op, [a], mode=mode, parameters=parameters, value=1.5)
        parameters["constant_value"] = np.array(3, a.element)
    g.node(op, [a], mode=mode, parameters=parameters)


@maker("DepthToSpace", "SpaceToDepth")
def blocks(g, op):
    block = g.random.choice([2, 3]) if op == "DepthToSpace" else 2
    if op == "DepthToSpace":
        a = g.operand(g.takes(op, 0, REALS), rank=4, suits=lambda value: (value.static(1) or 1) % block ** 2 == 0, fresh=0) \
            if g.random.random() < 0.4 else g.input(F32, [g.random.choice([1, 2]), block ** 2 * 2, *g.some_dims(2)])
        return g.node(op, [a], blocksize=block, mode=g.random.choice(["DCR", "CRD"]))
    g.node(op, [g.input(F32, [*g.some_dims(2), 4, 6])], blocksize=block)


@maker("Trilu")
def triangle(g, op):
    a = g.operand(g.takes(op, 0, SOME), rank=(2, 3, 4))
    inputs = [a] + ([g.constant(np.array(g.random.randint(-3, 3), I64))] if g.random.random() < 0.6 else [])
    g.node(op, inputs, upper=g.random.randint(0, 1))


@maker("ReverseSequence")
def reverse(g, op):
    batch, time = g.random.sample([0, 1], 2)
    a = g.operand(SOME, rank=(2, 3), suits=lambda value: value.static(time) is not None and value.static(time) > 0)
    lengths = g.input(I64, [a.dims()[batch]], low=1, high=a.static(time))
    g.node(op, [a, lengths], batch_axis=batch, time_axis=time)


@maker("EyeLike")
def eye(g, op):
    g.node(op, [g.operand(g.takes(op, 0, (F32, I32, I64)), rank=2)], k=g.random.randint(-2, 2))


@maker("ConstantOfShape")
def filled(g, op):
    sizes, = g.node("Shape", [g.operand(SOME)])
    element = g.random.choice([F32, I64, BOOL, U8])
    g.node(op, [sizes], value=helper.make_tensor("value", helper.np_dtype_to_tensor_dtype(element), [1], [1]))


@maker("Constant")
def constant(g, op):
    g.node("Add", [g.operand((F32,)), g.constant(np.array(0.5, np.float32), as_node=True)])
    g.made.append(op)


@maker("Range")
def ranges(g, op):
    """0 … a size of a value, as positions are made."""
    a = g.operand(SOME)
    sizes, = g.node("Shape", [a])
    last, = g.node("Gather", [sizes, g.constant(np.array(g.random.randrange(a.rank), I64))], axis=0)
    start, step = (g.constant(np.array(each, I64)) for each in (g.random.choice([0, 0, 1]), g.random.choice([1, 1, 2])))
    positions, = g.node(op, [start, last, step])
    if g.random.random() < 0.5:
        g.node("Cast", [positions], to=1)


@maker("CenterCropPad")
def center(g, op):
    a = g.operand(SOME[:6], rank=(2, 3))
    axes = some_axes(g, a)
    g.node(op, [a, g.constant(np.array([g.random.randint(1, 7) for _ in axes], I64))], axes=axes)
