"""One element at a time: arithmetic, functions, comparisons, conversions."""
import numpy as np
from onnx import TensorProto, helper

from makers import maker
from values import BOOL, ELEMENTS, F16, F32, F64, I32, I64, INTEGERS, REALS, Unfit


def tame(value):
    return value.most() <= 8


def broadcast(g, value):
    """Sizes that broadcast against a value's: its own, ones in places, fewer in front."""
    dims = [dim if g.random.random() < 0.75 else 1 for dim in value.dims()]
    return dims[g.random.randint(0, len(dims)):] if g.random.random() < 0.3 else dims


def partner(g, value, **options):
    """Another operand of its type, which broadcasts."""
    dims = broadcast(g, value)
    if g.random.random() < 0.4 and all(not isinstance(dim, tuple) or len(set(dim)) == 1 for dim in dims):
        sizes = [dim if isinstance(dim, int) else dim[0] for dim in dims]
        return g.weight(value.element, sizes)
    try:
        return g.operand((value.element,), dims=dims, **options)
    except Unfit:
        return g.weight(value.element, [])


def positive(g, value, least=0.5):
    """Away from zero, where functions have poles."""
    size, = g.node("Abs", [value])
    return g.node("Add", [size, g.constant(np.array(least, value.element))])[0]


@maker("Abs", "Neg", "Sign", "Relu")
def signed(g, op):
    g.node(op, [g.operand(g.takes(op, 0, REALS + INTEGERS), exact=op == "Sign")])


@maker("Floor", "Ceil", "Round", "Not", "IsNaN", "IsInf", "BitwiseNot")
def stepped(g, op):
    elements = g.takes(op, 0, ELEMENTS)
    value = g.operand(elements, exact=True)
    if op == "IsInf":
        return g.node(op, [value], detect_negative=g.random.randint(0, 1), detect_positive=g.random.randint(0, 1))
    g.node(op, [value])


@maker("Exp", "Sin", "Cos", "Tanh", "Sigmoid", "Erf", "Atan", "Asinh", "Sinh", "Cosh", "Softplus", "Softsign", "Mish",
       "HardSwish")
def smooth(g, op):
    g.node(op, [g.operand(g.takes(op, 0, REALS), suits=tame)])


@maker("Tan", "Asin", "Acos", "Atanh")
def within_one(g, op):
    value = g.operand(g.takes(op, 0, REALS), suits=tame)
    if value.most() > 0.9:
        value, = g.node("Div", [value, g.constant(np.array(max(value.most(), 1) * 1.25, value.element))])
    g.node(op, [value])


@maker("Log", "Sqrt", "Reciprocal")
def positive_only(g, op):
    g.node(op, [positive(g, g.operand(g.takes(op, 0, REALS), suits=tame))])


@maker("Acosh")
def above_one(g, op):
    g.node(op, [positive(g, g.operand(g.takes(op, 0, REALS), suits=tame), 1.5)])


@maker("Elu", "Celu", "Selu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Shrink", "Gelu", "Swish")
def with_numbers(g, op):
    value = g.operand(g.takes(op, 0, REALS), suits=tame, exact=op in ("ThresholdedRelu", "Shrink"))
    some = {name: g.random.choice([0.25, 0.5, 1.0, 1.5]) for name in ("alpha", "gamma", "beta", "lambd", "bias")}
    if g.random.random() < 0.3:
        some = {}
    if op == "Gelu":
        some = {"approximate": g.random.choice(["none", "tanh"])}
    g.node(op, [value], **some)


@maker("Add", "Sub", "Mul")
def arithmetic(g, op):
    a = g.operand(g.takes(op, 0, REALS + INTEGERS))
    pair = [a, partner(g, a)]
    g.random.shuffle(pair)
    g.node(op, pair)


@maker("Div")
def divide(g, op):
    a = g.operand(g.takes(op, 0, REALS + INTEGERS))
    if a.element.kind != "f":
        return g.node(op, [a, g.weight(a.element, [], low=1, high=7)])
    b = g.weight(a.element, [], low=1, high=3) if g.random.random() < 0.5 else positive(g, partner(g, a))
    g.node(op, [a, b])


@maker("Mod")
def modulo(g, op):
    a = g.operand(g.takes(op, 0, REALS[:2] + INTEGERS), exact=True)
    b = g.weight(a.element, [], low=1, high=7) if a.element.kind != "f" else g.constant(np.array(1.5, a.element))
    g.node(op, [a, b], fmod=int(a.element.kind == "f" or g.random.random() < 0.3))


@maker("Pow")
def power(g, op):
    a = g.operand(g.takes(op, 0, (F32, F64, I32, I64)), suits=lambda value: value.most() <= 30)
    if g.random.random() < 0.6 or a.element.kind != "f":
        element = a.element if g.opset < 12 else g.random.choice([a.element, F32, I64])
        if a.element.kind != "f":
            element = I64 if element != a.element else element
        return g.node(op, [a, g.constant(np.array(g.random.choice([0, 1, 2, 3]), element))])
    g.node(op, [positive(g, a), g.constant(np.array(g.random.choice([0.5, -0.5, 1.5, -1, 2.5]), a.element))])


@maker("Max", "Min", "Sum", "Mean")
def several(g, op):
    a = g.operand(g.takes(op, 0, REALS + INTEGERS))
    g.node(op, [a] + [partner(g, a) for _ in range(g.random.choice([0, 1, 1, 1, 2]))])


@maker("PRelu")
def prelu(g, op):
    a = g.operand(g.takes(op, 0, REALS), rank=(2, 3, 4))
    dims = [1] * a.rank
    axis = g.random.randrange(a.rank)
    if a.static(axis):
        dims[axis] = a.static(axis)
    g.node(op, [a, g.weight(a.element, dims[g.random.randint(0, axis):])])


@maker("And", "Or", "Xor")
def logical(g, op):
    a = g.operand((BOOL,))
    g.node(op, [a, partner(g, a)])


@maker("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
def compare(g, op):
    a = g.operand(g.takes(op, 0, REALS + INTEGERS + (BOOL,)), exact=True)
    g.node(op, [a, partner(g, a, exact=True)])


@maker("BitShift")
def shift(g, op):
    a = g.operand(g.takes(op, 0, INTEGERS), suits=lambda value: value.element.kind == "u")
    g.node(op, [a, g.weight(a.element, [], low=0, high=7)], direction=g.random.choice(["LEFT", "RIGHT"]))


@maker("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(g, op):
    a = g.operand(g.takes(op, 0, INTEGERS))
    g.node(op, [a, partner(g, a)])


@maker("Where")
def where(g, op):
    a = g.operand(g.takes(op, 1, REALS + INTEGERS))
    condition = g.operand((BOOL,), dims=broadcast(g, a))
    g.node(op, [condition, a, partner(g, a)])


@maker("Clip")
def clip(g, op):
    a = g.operand(g.takes(op, 0, REALS + INTEGERS))
    low, high = (np.array(number, a.element) for number in (1, 5))
    if a.element.kind == "f":
        low, high = np.array(-1.5, a.element), np.array(2, a.element)
    schema = g.schema(op)
    if "min" in schema.attributes:
        return g.node(op, [a], min=float(low), max=float(high))
    low, high = (g.constant(each) if g.random.random() < 0.8 else None for each in (low, high))
    g.node(op, [a, low, high][: 3 if high is not None else 2 if low is not None else 1])


@maker("Cast", "CastLike")
def cast(g, op):
    a = g.operand(g.takes(op, 0, ELEMENTS), exact=g.random.random() < 0.8)
    wanted = g.random.choice(ELEMENTS if a.exact else REALS)
    if a.element.kind in "fi" and wanted.kind == "u" and a.least() < 0 and a.element.kind == "f":
        raise Unfit("negative numbers have no unsigned form")
    if a.element.kind == "f" and wanted.kind in "iu" and not all(np.isfinite(each).all() for each in a.native):
        raise Unfit("what integers lack")
    if a.element.kind == "f" and wanted.kind in "iu" and a.most() > np.iinfo(wanted).max:
        raise Unfit("too large")
    if op == "CastLike":
        return g.node(op, [a, g.weight(wanted, [1])])
    g.node(op, [a], to=helper.np_dtype_to_tensor_dtype(wanted))


SHORT = {TensorProto.BFLOAT16: 9, TensorProto.FLOAT8E4M3FN: 19, TensorProto.FLOAT8E5M2: 19,
         TensorProto.FLOAT8E4M3FNUZ: 19, TensorProto.FLOAT8E5M2FNUZ: 19}


@maker("Cast:short")
def cast_short(g, op):
    """There and back through a type that arrays in files cannot have."""
    short = g.random.choice([each for each, since in SHORT.items() if g.opset >= max(since, 13)] or [None])
    if short is None:
        raise Unfit("newer types")
    a = g.operand((F32, F16), exact=True)
    between, out = g.fresh("v"), g.fresh("v")
    g.piece([helper.make_node("Cast", [a.name], [between], to=short),
             helper.make_node("Cast", [between], [out], to=TensorProto.FLOAT)], [a], [out])


@maker("Identity")
def identity(g, op):
    g.node(op, [g.operand(ELEMENTS)])


@maker("Dropout")
def dropout(g, op):
    g.node(op, [g.operand(g.takes(op, 0, REALS))], outputs=g.random.choice([1, 1, 2]))
