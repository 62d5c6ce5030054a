"""Quantised islands and integer operators. Scales are powers of two, so that every rounding is the same."""
import numpy as np
from onnx import TensorProto, helper

from make_windows import image, window
from makers import maker
from values import F32, I8, I32, U8, Unfit


def scale(g, element=F32, dims=()):
    return g.constant(np.asarray(2.0 ** g.numbers.randint(-3, 1, dims)).astype(element))


def zero_point(g, element, dims=()):
    low, high = (0, 20) if element == U8 else (-10, 10)
    return g.constant(np.asarray(g.numbers.randint(low, high + 1, dims)).astype(element))


def quantized(g, element=None, rank=None):
    """Integers from a value of the graph, their scale and zero point."""
    element = element or g.random.choice([U8, I8])
    found = g.operand((F32,), rank=rank, exact=True)
    if g.special:
        raise Unfit("integers of infinities")
    step, zero = scale(g), zero_point(g, element)
    return g.node("QuantizeLinear", [found, step, zero])[0], step, zero


def weight_of(g, shape, each=()):
    """Bytes of a weight and their zero point: signed ones around 0, or unsigned ones around any number."""
    element = g.random.choice([I8, U8])
    zeros = g.constant(np.zeros(each, I8)) if element == I8 else zero_point(g, U8, each)
    return g.constant(g.draw(element, shape), as_node=False), zeros


@maker("QuantizeLinear", "DequantizeLinear")
def quantize(g, op):
    """Of the whole, or of each slice along an axis."""
    element = g.random.choice([U8, I8])
    value = g.operand((F32,), rank=(1, 2, 3, 4), exact=True)
    if g.special:
        raise Unfit("integers of infinities")
    axis = g.random.randrange(value.rank)
    size = value.static(axis)
    each = g.opset >= 13 and size and g.random.random() < 0.5
    dims, attributes = ((size,), {"axis": axis}) if each else ((), {})
    step = scale(g, dims=dims)
    zeros = [zero_point(g, element, dims)] if element == I8 or g.random.random() < 0.7 else []
    integers, = g.node("QuantizeLinear", [value, step, *zeros], **attributes)
    if g.random.random() < 0.8:
        g.node("DequantizeLinear", [integers, step, *zeros], **attributes)


@maker("QuantizeLinear:island")
def island(g, op):
    """A product or a sum between quantised values, as quantisers write it."""
    kind = g.random.choice(["MatMul", "Add", "Conv"])
    rank = {"MatMul": (2, 3), "Add": None, "Conv": 4}[kind]
    if g.special:
        raise Unfit("integers of infinities")
    value = image(g, ranks=(4,), exact=True) if kind == "Conv" else g.operand((F32,), rank=rank, exact=True)
    step, zero = scale(g), zero_point(g, U8)
    integers, = g.node("QuantizeLinear", [value, step, zero])
    x, = g.node("DequantizeLinear", [integers, step, zero])
    if kind == "Add":
        y, = g.node("Add", [x, x])
    else:
        if kind == "Conv":
            attributes = window(g, 2)
            shape = [g.random.choice([2, 4]), x.static(1), *attributes["kernel_shape"]]
        else:
            attributes, shape = {}, [x.static(x.rank - 1), g.random.choice([3, 8])]
            if shape[0] is None:
                raise Unfit("a weight of symbols")
        each = g.opset >= 13 and g.random.random() < 0.5
        axis, width = (0, shape[0]) if kind == "Conv" else (1, shape[1])
        steps = scale(g, dims=(width,) if each else ())
        weight, zeros = weight_of(g, shape, (width,) if each else ())
        w, = g.node("DequantizeLinear", [weight, steps, zeros], **({"axis": axis} if each else {}))
        y, = g.node(kind, [x, w], **attributes)
    if y.exact:
        last, end = scale(g), zero_point(g, U8)
        integers, = g.node("QuantizeLinear", [y, last, end])
        g.node("DequantizeLinear", [integers, last, end])


@maker("DequantizeLinear:blocks")
def blocks(g, op):
    """Weights of 4 bits with a scale per block."""
    if g.opset < 21:
        raise Unfit("newer types")
    value = g.operand((F32,), rank=(2, 3), suits=lambda each: (each.static(each.rank - 1) or 1) % 4 == 0 and
                      each.static(each.rank - 1))
    inner, width = value.static(value.rank - 1), g.random.choice([3, 8])
    kind, low, high = g.random.choice([(TensorProto.INT4, -8, 7), (TensorProto.UINT4, 0, 15)])
    name, out = g.fresh("c"), g.fresh("v")
    numbers = g.numbers.randint(low, high + 1, inner * width)
    tensor = helper.make_tensor(name, kind, [inner, width], numbers)
    step = scale(g, dims=(inner // 4, width))
    zero = g.fresh("c")
    zeros = helper.make_tensor(zero, kind, [inner // 4, width], g.numbers.randint(0, 5, inner // 4 * width))
    g.piece([helper.make_node("DequantizeLinear", [name, step.name, zero], [out], axis=0, block_size=4)], [step], [out],
            tensors=[tensor, zeros])
    g.node("MatMul", [value, g.values[out]])


@maker("DynamicQuantizeLinear")
def dynamic(g, op):
    value = g.operand((F32,), exact=True)
    if g.special:
        raise Unfit("integers of infinities")
    integers, step, zero = g.node(op, [value], outputs=3)
    g.node("DequantizeLinear", [integers, step, zero])


@maker("MatMulInteger")
def matmul_integer(g, op):
    a, _, zero = quantized(g, U8, rank=(2, 3))
    width = g.random.choice([1, 4, 17])
    inner = a.static(a.rank - 1)
    b = g.weight(g.random.choice([U8, I8]), [inner, width]) if inner is not None else \
        g.input(g.random.choice([U8, I8]), [a.dims()[-1], width])
    zeros = [zero] if g.random.random() < 0.7 else []
    if zeros and g.random.random() < 0.6:
        zeros.append(zero_point(g, b.element, (width,) if g.random.random() < 0.4 else ()))
    sums, = g.node(op, [a, b, *zeros])
    if g.random.random() < 0.5:
        g.node("Cast", [sums], to=1)


@maker("QLinearMatMul")
def qlinear_matmul(g, op):
    a, step, zero = quantized(g, rank=(2, 3))
    inner, width = a.static(a.rank - 1), g.random.choice([1, 4, 17])
    if inner is None:
        raise Unfit("a weight of symbols")
    b = g.weight(I8 if a.element == I8 else g.random.choice([U8, I8]), [inner, width])
    last = zero_point(g, a.element)
    out, = g.node(op, [a, step, zero, b, scale(g), zero_point(g, b.element), scale(g), last])
    g.node("DequantizeLinear", [out, scale(g), last])


@maker("QLinearConv")
def qlinear_conv(g, op):
    value = image(g, ranks=(4,), exact=True)
    if g.special:
        raise Unfit("integers of infinities")
    step, zero = scale(g), zero_point(g, U8)
    x, = g.node("QuantizeLinear", [value, step, zero])
    channels = x.static(1)
    group = g.random.choice([1, 1, channels])
    attributes = window(g, 2)
    out = group * g.random.choice([1, 2, 4])
    each = (out,) if g.random.random() < 0.5 else ()
    weight, zeros = weight_of(g, [out, channels // group, *attributes["kernel_shape"]], each)
    inputs = [x, step, zero, weight, scale(g, dims=each), zeros, scale(g), zero_point(g, U8)]
    if g.random.random() < 0.5:
        inputs.append(g.constant(g.draw(I32, [out])))
    g.node(op, inputs, group=group, **attributes)


MS = "com.microsoft"


@maker(MS + "::QLinearAdd", MS + "::QLinearMul")
def qlinear_binary(g, op):
    a, step, zero = quantized(g)
    b = g.operand((a.element,), dims=a.dims())
    g.node(op, [a, step, zero, b, scale(g), zero_point(g, a.element), scale(g), zero_point(g, a.element)], domain=MS)


@maker(MS + "::QLinearLeakyRelu", MS + "::QLinearSigmoid")
def qlinear_unary(g, op):
    a, step, zero = quantized(g)
    if op == "QLinearSigmoid":
        return g.piece([helper.make_node(op, [a.name, step.name, zero.name, scale(g).name, zero.name], [g.fresh("v")],
                                         domain=MS)], [a, step, zero], [f"v{g.count}"], exact=False, slack=1)
    g.node(op, [a, step, zero, scale(g), zero], domain=MS, alpha=0.5)


@maker(MS + "::QLinearGlobalAveragePool")
def qlinear_pool(g, op):
    a, step, zero = quantized(g, rank=4)
    out = g.fresh("v")
    g.piece([helper.make_node(op, [a.name, step.name, zero.name, scale(g).name, zero.name], [out], domain=MS)],
            [a, step, zero], [out], exact=False, slack=1)


@maker(MS + "::QLinearConcat")
def qlinear_concat(g, op):
    a, step, zero = quantized(g, rank=(2, 3))
    b = g.operand((a.element,), dims=a.dims())
    g.node(op, [scale(g), zero_point(g, a.element), a, step, zero, b, scale(g), zero_point(g, a.element)], domain=MS,
           axis=g.random.randrange(a.rank))


@maker(MS + "::DynamicQuantizeMatMul")
def dynamic_matmul(g, op):
    value = g.operand((F32,), rank=(2, 3), exact=True)
    inner, width = value.static(value.rank - 1), g.random.choice([3, 8])
    if inner is None or g.special:
        raise Unfit("a weight of symbols")
    g.node(op, [value, g.constant(g.draw(I8, [inner, width])), scale(g), g.constant(np.array(2, I8))], domain=MS)


@maker(MS + "::MatMulIntegerToFloat")
def integer_to_float(g, op):
    a, step, zero = quantized(g, U8, rank=(2, 3))
    inner, width = a.static(a.rank - 1), g.random.choice([3, 8])
    if inner is None:
        raise Unfit("a weight of symbols")
    inputs = [a, g.constant(g.draw(I8, [inner, width])), step, scale(g), zero, g.constant(np.array(2, I8))]
    if g.random.random() < 0.5:
        inputs.append(g.weight(F32, [width]))
    g.node(op, inputs, domain=MS)


@maker(MS + "::MatMulNBits")
def nbits(g, op):
    inner, width, block = g.random.choice([16, 32, 48]), g.random.choice([3, 8]), 16
    value = g.input(F32, [*g.some_dims(g.random.choice([1, 2])), inner])
    blocks_of = (inner + block - 1) // block
    packed = g.constant(g.numbers.randint(0, 256, (width, blocks_of, block // 2)).astype(U8), as_node=False)
    inputs = [value, packed, scale(g, dims=(width, blocks_of) if g.random.random() < 0.5 else (width * blocks_of,))]
    if g.random.random() < 0.5:
        inputs.append(g.constant(g.numbers.randint(0, 256, (width, (blocks_of + 1) // 2)).astype(U8), as_node=False))
    g.node(op, inputs, domain=MS, K=inner, N=width, bits=4, block_size=block)
