"""Products of matrices."""
from makers import maker
from values import F16, F32, F64, I32, I64


@maker("MatMul")
def matmul(g, op):
    a = g.operand(g.takes(op, 0, (F32, F32, F64, F16, I32, I64)), rank=(1, 2, 2, 3, 3, 4))
    inner = a.dims()[-1]
    width = g.random.choice([1, 3, 4, 8, 17])
    if a.static(a.rank - 1) is not None and g.random.random() < 0.6:
        return g.node(op, [a, g.weight(a.element, [a.static(a.rank - 1), width])])
    front = [dim if g.random.random() < 0.8 else 1 for dim in a.dims()[:-2]] if g.random.random() < 0.7 else []
    g.node(op, [a, g.operand((a.element,), dims=[*front, inner, g.random.choice([width, *g.symbols])])])


@maker("Gemm")
def gemm(g, op):
    a = g.operand(g.takes(op, 0, (F32, F32, F64, F16)), rank=2)
    transposed = g.random.randint(0, 1)
    inner, rows = (a.dims()[0], a.dims()[1]) if transposed else (a.dims()[1], a.dims()[0])
    other, width = g.random.randint(0, 1), g.random.choice([1, 3, 8, *g.symbols])
    b = g.operand((a.element,), dims=[width, inner] if other else [inner, width], fresh=0.6)
    inputs = [a, b]
    if g.random.random() < 0.7:
        inputs.append(g.operand((a.element,), dims=g.random.choice([[width], [1], [rows, width], [rows, 1], [1, width]]),
                                fresh=0.6))
    scales = {name: g.random.choice([0.5, 2.0]) for name in ("alpha", "beta")} if g.random.random() < 0.5 else {}
    g.node(op, inputs, transA=transposed, transB=other, **scales)
