"""Windows over images and lines: convolutions, pools, resampling."""
import numpy as np

from makers import maker
from values import F16, F32, F64, I64, U8, Unfit


def image(g, element=F32, ranks=(3, 4, 4), exact=False, rough=None):
    """Channels are known; the rest may be symbols, but never empty where a window lies."""
    found = g.pick(lambda value: value.element == element and value.rank in ranks and value.static(1) and
                   (value.exact or not exact) and all(min(value.dim(axis)) > 2 for axis in range(2, value.rank)))
    if found is not None and g.random.random() < 0.7:
        return found
    rank = g.random.choice(ranks)
    return g.input(element, [g.random.choice([1, 2, *g.symbols]), g.random.choice([1, 2, 3, 4, 6, 8]),
                             *[g.random.choice([5, 6, 8, *g.symbols]) for _ in range(rank - 2)]],
                   rough=False if exact else rough)


def window(g, spatial, sizes=(1, 2, 3, 3)):
    """kernel_shape and what surrounds it."""
    kernel = [g.random.choice(sizes) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel}
    if g.random.random() < 0.6:
        attributes["strides"] = [g.random.choice([1, 2]) for _ in range(spatial)]
    if g.random.random() < 0.25:
        attributes["auto_pad"] = g.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif g.random.random() < 0.7:
        pads = [g.random.randint(0, size - 1) for size in kernel]
        attributes["pads"] = pads + [g.random.choice([pad, g.random.randint(0, size - 1)]) for pad, size in zip(pads, kernel)]
    if g.random.random() < 0.2 and "auto_pad" not in attributes:
        attributes["dilations"] = [g.random.choice([1, 2]) for _ in range(spatial)]
    return attributes


@maker("Conv", "com.microsoft::FusedConv")
def conv(g, op):
    fused = op == "FusedConv"
    x = image(g, F32 if fused else g.random.choice([F32, F32, F32, F16]))
    channels = x.static(1)
    group = g.random.choice([each for each in (1, 1, 1, 2, channels) if channels % each == 0])
    out = group * g.random.choice([1, 2, 3, 8])
    attributes = window(g, x.rank - 2)
    weights = [g.weight(x.element, [out, channels // group, *attributes["kernel_shape"]])]
    if g.random.random() < 0.6:
        weights.append(g.weight(x.element, [out]))
    if fused:
        name, constants = g.random.choice([("Relu", None), ("Tanh", None), ("Clip", [-1.0, 2.0]), ("LeakyRelu", [0.25])])
        attributes |= {"domain": "com.microsoft", "activation": name} | ({"activation_params": constants} if constants else {})
    g.node(op, [x, *weights], group=group, **attributes)


@maker("ConvTranspose")
def conv_transpose(g, op):
    x = image(g)
    channels = x.static(1)
    group = g.random.choice([each for each in (1, 1, 2) if channels % each == 0])
    attributes = window(g, x.rank - 2)
    if g.random.random() < 0.3 and "strides" in attributes:
        attributes["output_padding"] = [stride - 1 for stride in attributes["strides"]]
    weights = [g.weight(x.element, [channels, g.random.choice([1, 2, 4]), *attributes["kernel_shape"]])]
    if g.random.random() < 0.6:
        weights.append(g.weight(x.element, [weights[0].static(1) * group]))
    g.node(op, [x, *weights], group=group, **attributes)


@maker("MaxPool", "AveragePool", "LpPool")
def pool(g, op):
    x = image(g, g.random.choice(g.takes(op, 0, (F32, F32, F32, F64, U8))))
    attributes = window(g, x.rank - 2, (2, 2, 3))
    schema = g.schema(op)
    if "auto_pad" not in attributes and g.random.random() < 0.4:
        attributes["ceil_mode"] = 1
    if op == "AveragePool":
        attributes["count_include_pad"] = g.random.randint(0, 1)
    if op == "LpPool":
        attributes["p"] = g.random.choice([1, 2])
    outputs = 2 if op == "MaxPool" and x.exact and len(schema.outputs) > 1 and g.random.random() < 0.2 else 1
    if op == "MaxPool" and outputs == 2 and g.random.random() < 0.3:
        attributes["storage_order"] = 1
    g.node(op, [x], outputs=outputs, **attributes)


@maker("ConvInteger")
def conv_integer(g, op):
    x = image(g, U8, (4,), exact=True)
    attributes = window(g, 2)
    weights = g.weight(g.random.choice([U8, np.dtype(np.int8)]), [g.random.choice([1, 4, 8]), x.static(1),
                                                                  *attributes["kernel_shape"]])
    zeros = [g.constant(np.array(g.random.randint(0, 20), U8))] if g.random.random() < 0.6 else []
    if zeros and g.random.random() < 0.4:
        zeros.append(g.constant(np.array(3, weights.element)))
    g.node(op, [x, weights, *zeros], **attributes)


@maker("Resize")
def resize(g, op):
    if g.opset < 11:
        raise Unfit("Resize means something else before")
    x = image(g, ranks=(4,))
    mode = g.random.choice(["nearest", "linear", "cubic"])
    attributes = {"mode": mode, "coordinate_transformation_mode":
                  g.random.choice(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])}
    if mode == "nearest":
        attributes["nearest_mode"] = g.random.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    roi = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
    if g.random.random() < 0.5:
        scales = [1, 1] + [g.random.choice([0.5, 1, 1.5, 2, 3]) for _ in range(2)]
        return g.node(op, [x, roi, g.constant(np.array(scales, np.float32))], **attributes)
    sizes = [g.random.randint(1, 9) for _ in range(2)]
    if x.static(0) is not None:
        wanted = g.constant(np.array([x.static(0), x.static(1), *sizes], I64))
    else:
        dims, = g.node("Shape", [x])
        front, = g.node("Slice", [dims], parameters={"starts": [0], "ends": [2], "axes": [0]})
        wanted, = g.node("Concat", [front, g.integers(*sizes)], axis=0)
    none = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
    g.node(op, [x, roi, none, wanted], **attributes)


@maker("Upsample")
def upsample(g, op):
    if g.opset > 9:
        raise Unfit("deprecated")
    x = image(g, ranks=(4,))
    scales = np.array([1, 1, g.random.choice([1, 2, 3]), g.random.choice([1, 2])], np.float32)
    g.node(op, [x, g.constant(scales)], mode=g.random.choice(["nearest", "linear"]))


@maker("GridSample")
def grid_sample(g, op):
    x = image(g, ranks=(4,))
    dims = x.dims()
    grid = g.input(F32, [dims[0], g.random.choice([2, 4]), g.random.choice([3, *g.symbols]), 2], rough=True, low=-1.2, high=1.2)
    mode = g.random.choice(["linear", "cubic"]) if g.opset >= 20 else g.random.choice(["bilinear", "bicubic"])
    g.node(op, [x, grid], mode=mode, padding_mode=g.random.choice(["zeros", "border", "reflection"]),
           align_corners=g.random.randint(0, 1))


@maker("AffineGrid")
def affine_grid(g, op):
    size = g.constant(np.array([2, 3, 4, 5], I64))
    g.node(op, [g.input(F32, [2, 2, 3]), size], align_corners=g.random.randint(0, 1))


@maker("RoiAlign")
def roi_align(g, op):
    x = image(g, ranks=(4,))
    if x.static(0) is None or x.has_empty():
        raise Unfit("no image")
    count = g.random.choice([2, *g.symbols])
    corners = g.input(F32, [count, 2], rough=True, low=0, high=2)
    far, = g.node("Add", [corners, g.constant(np.array(2.5, np.float32))])
    boxes, = g.node("Concat", [corners, far], axis=1)
    batches = g.input(I64, [count], low=0, high=x.static(0) - 1)
    g.node(op, [x, boxes, batches], mode=g.random.choice(["avg", "max"]), output_height=2, output_width=3,
           sampling_ratio=2, spatial_scale=g.random.choice([1.0, 0.5]))


@maker("Col2Im")
def col2im(g, op):
    x = g.input(F32, [g.random.choice([1, *g.symbols]), 2 * 4, 9], rough=True)
    g.node(op, [x, g.integers(4, 4), g.integers(2, 2)])


@maker("DeformConv")
def deform(g, op):
    batch = g.random.choice([1, 2, *g.symbols])
    x = g.input(F32, [batch, 2, 5, 6])
    offsets = g.input(F32, [batch, 8, 4, 5], rough=True, low=-0.9, high=0.9)
    g.node(op, [x, g.weight(F32, [3, 2, 2, 2]), offsets], kernel_shape=[2, 2])
