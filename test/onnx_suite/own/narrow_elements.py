"""Elements of few bits."""
import ml_dtypes
import numpy as np
from onnx import TensorProto

from own.cases import CASES, Case, case, node, reals


def casts_to_powers():
    """All modes, for numbers on, between and beside powers of two; ONNX's reference and its table differ at the ends of the range."""
    x = np.ldexp(np.random.RandomState(3).uniform(1, 2, 300), np.random.RandomState(4).randint(-120, 120, 300)).astype(np.float32)
    x[:40], x[40:80] = np.ldexp(np.float32(1.5), np.arange(-20, 20)), np.ldexp(np.float32(1), np.arange(-20, 20))
    for mode in ("up", "down", "nearest"):
        for saturate in (0, 1):
            yield Case([node("Cast", to=TensorProto.FLOAT8E8M0, round_mode=mode, saturate=saturate)], {"x": ["n"]},
                       [{"x": x}, {"x": x[:1]}], opset=24)


for i, each in enumerate(casts_to_powers()):
    CASES.append((f"cast_to_powers_{i}", lambda each=each: each))


def blocks(kind, bits, opset, block, scale):
    """A product with weights in blocks."""
    columns, depth = 24, 4 * block
    random = np.random.RandomState(9)
    values = random.randint(0, 2 ** bits, (columns, depth)).astype(np.uint8)
    weights = values.view(kind) if bits == 4 and kind == ml_dtypes.float4_e2m1fn else values.astype(kind)
    constants = [("w", weights), ("s", random.uniform(0.25, 1, (columns, 4)).astype(scale))]
    nodes = [node("DequantizeLinear", "w s", "r", axis=1, block_size=block), node("Cast", "r", "f", to=TensorProto.FLOAT),
             node("Transpose", "f", "t", perm=[1, 0]), node("MatMul", "x t", "y")]
    return Case(nodes, {"x": ["m", depth]}, [{"x": reals(m, depth)} for m in (0, 1, 7, 40)], opset=opset,
                constants=constants, tolerance=(1e-4, 1e-4))


@case
def weights_float4_blocks():
    return blocks(ml_dtypes.float4_e2m1fn, 4, 23, 32, np.float32)


@case
def weights_float4_half_scales():
    return blocks(ml_dtypes.float4_e2m1fn, 4, 23, 16, np.float16)


@case
def weights_uint2_blocks():
    return blocks(ml_dtypes.uint2, 2, 25, 16, np.float32)


@case
def weights_int2_blocks():
    return blocks(ml_dtypes.int2, 2, 25, 16, np.float32)
