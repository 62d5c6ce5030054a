"""Positions: gathers, scatters, orders, selections."""
import numpy as np

from make_moves import SOME, some_axis
from makers import maker
from values import BOOL, F32, F64, I32, I64, Unfit


def least_size(value, axis):
    return min(value.dim(axis))


def indices(g, dims, size, element=None, negative=True):
    """Positions in 0 … size-1, some counted from the end."""
    if size < 1:
        raise Unfit("nothing to point at")
    low = -size if negative and g.opset >= 11 and g.random.random() < 0.3 else 0
    element = element or g.random.choice([I64, I64, I32])
    if g.random.random() < 0.3 and all(isinstance(dim, int) for dim in dims):
        return g.constant(g.draw(element, dims, low=low, high=size - 1))
    return g.input(element, dims, low=low, high=size - 1)


@maker("Gather")
def gather(g, op):
    a = g.operand(SOME)
    axis = some_axis(g, a)
    g.node(op, [a, indices(g, g.some_dims(g.random.choice([0, 1, 1, 2])), least_size(a, axis))], axis=axis)


@maker("GatherElements")
def gather_elements(g, op):
    a = g.operand(SOME)
    axis = some_axis(g, a)
    dims = a.dims()
    dims[axis] = g.random.choice([1, 3, *g.symbols])
    g.node(op, [a, indices(g, dims, least_size(a, axis))], axis=axis)


@maker("GatherND")
def gather_nd(g, op):
    a = g.operand(SOME, rank=(2, 3))
    depth = g.random.randint(1, a.rank)
    size = min(least_size(a, axis) for axis in range(depth))
    g.node(op, [a, indices(g, [*g.some_dims(1), depth], size, I64)])


def scatter_reduction(g, op, element):
    if "reduction" not in g.schema(op).attributes or element == BOOL:
        return {}
    names = ["none", "none", "add", "mul"] + (["max", "min"] if g.opset >= 18 else [])
    return {"reduction": g.random.choice(names)}


def positions(g, size, count):
    """Different ones, so that the order of updates decides nothing."""
    return g.random.sample(range(size), count)


@maker("ScatterElements", "Scatter")
def scatter_elements(g, op):
    if (op == "Scatter") != (g.opset < 11):
        raise Unfit("the other name")
    a = g.operand(SOME, rank=(1, 2, 3))
    axis = some_axis(g, a)
    size = least_size(a, axis)
    if size < 1:
        raise Unfit("nothing to point at")
    count = g.random.randint(1, min(size, 3))
    dims = [1] * a.rank
    dims[axis] = count
    if any(least_size(a, each) < 1 for each in range(a.rank)):
        raise Unfit("nothing to point at")
    where = g.constant(np.array(positions(g, size, count), I64).reshape(dims))
    g.node(op, [a, where, g.weight(a.element, dims)], axis=axis, **scatter_reduction(g, op, a.element))


@maker("ScatterND")
def scatter_nd(g, op):
    a = g.operand(SOME, rank=(1, 2, 3))
    size = least_size(a, 0)
    if size < 1:
        raise Unfit("nothing to point at")
    count = g.random.randint(1, min(size, 3))
    where = g.constant(np.array(positions(g, size, count), I64).reshape(count, 1))
    updates = g.operand((a.element,), dims=[count, *a.dims()[1:]])
    g.node(op, [a, where, updates], **scatter_reduction(g, op, a.element))


@maker("TensorScatter")
def tensor_scatter(g, op):
    cache = g.input(F32, [2, 6, 3])
    g.node(op, [cache, g.input(F32, [2, 2, 3]), g.input(I64, [2], low=0, high=3)], axis=1)


@maker("TopK")
def top_k(g, op):
    a = g.operand(g.takes(op, 0, (F32, F64, I32, I64)), exact=True)
    axis = some_axis(g, a)
    k = g.random.randint(0, 3)
    if least_size(a, axis) < k:
        raise Unfit("more than there are")
    attributes = {"largest": g.random.randint(0, 1), "sorted": 1} if g.opset >= 11 else {}
    if "k" in g.schema(op).attributes:
        return g.node(op, [a], outputs=2, axis=axis, k=k)
    g.node(op, [a, g.integers(k)], outputs=2, axis=axis, **attributes)


@maker("OneHot")
def one_hot(g, op):
    element = g.random.choice([F32, I64])
    where = g.input(g.random.choice([I64, I32]), g.some_dims(g.random.choice([1, 2])), low=-3, high=5)
    g.node(op, [where, g.constant(np.array(4, I64)), g.constant(np.array([0, 2], element))],
           axis=g.random.randint(-1, where.rank))


@maker("NonZero")
def non_zero(g, op):
    g.node(op, [g.operand(g.takes(op, 0, (F32, I32, I64, BOOL)), exact=True)])


@maker("Compress")
def compress(g, op):
    a = g.operand(SOME)
    if g.random.random() < 0.3:
        if min(array.size for array in a.native) < 3:
            raise Unfit("more conditions than elements")
        return g.node(op, [a, g.input(BOOL, [3])])
    axis = some_axis(g, a)
    if least_size(a, axis) < 3:
        raise Unfit("more conditions than elements")
    g.node(op, [a, g.constant(g.draw(BOOL, [3]))], axis=axis)


@maker("NonMaxSuppression")
def suppression(g, op):
    count = g.random.choice(["n", 6])
    corners = g.input(F32, [1, count, 2], rough=False)
    far, = g.node("Add", [corners, g.constant(np.array(3, np.float32))])
    boxes, = g.node("Concat", [corners, far], axis=2)
    scores = g.input(F32, [1, 2, count], rough=True)
    # Scores only order boxes; as inputs they are the same for all.
    scores.exact = True
    g.node(op, [boxes, scores, g.integers(3), g.constant(np.array([0.375], np.float32)),
                g.constant(np.array([-0.25], np.float32))])
    scores.exact = False
