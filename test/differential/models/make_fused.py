"""What ONNX Runtime's optimiser writes: com.microsoft."""
from make_elementwise import tame
from makers import maker
from values import F32

MS = "com.microsoft"


@maker(MS + "::Gelu", MS + "::QuickGelu", MS + "::FastGelu", MS + "::BiasGelu")
def gelu(g, op):
    x = g.operand((F32,), rank=(2, 3), suits=lambda value: tame(value) and value.static(value.rank - 1))
    bias = op == "BiasGelu" or (op == "FastGelu" and g.random.random() < 0.5)
    g.node(op, [x] + ([g.weight(F32, [x.static(x.rank - 1)])] if bias else []), domain=MS)


@maker(MS + "::FusedMatMul")
def fused_matmul(g, op):
    a = g.operand((F32,), rank=(2, 3))
    front, rows, inner = a.dims()[:-2], a.dims()[-2], a.dims()[-1]
    turned, other = g.random.randint(0, 1), g.random.randint(0, 1)
    if turned:
        inner = rows
    width = g.random.choice([3, 8, *g.symbols])
    b = g.operand((F32,), dims=[*front, width, inner] if other else [*front, inner, width])
    g.node(op, [a, b], domain=MS, transA=turned, transB=other, alpha=0.5)


@maker(MS + "::SkipLayerNormalization", MS + "::SkipSimplifiedLayerNormalization")
def skip_norm(g, op):
    x = g.operand((F32,), rank=3, suits=lambda value: value.static(2))
    skip = g.operand((F32,), dims=x.dims())
    weights = [g.weight(F32, [x.static(2)])]
    if op == "SkipLayerNormalization" and g.random.random() < 0.6:
        weights.append(g.weight(F32, [x.static(2)]))
        if g.random.random() < 0.5:
            weights.append(g.weight(F32, [x.static(2)]))
    g.node(op, [x, skip, *weights], domain=MS, epsilon=1e-3)


@maker(MS + "::MultiHeadAttention")
def multi_head(g, op):
    batch, queries, keys = (g.random.choice([1, 2, 3, *g.symbols]) for _ in range(3))
    heads, size = 2, 4
    inputs = [g.input(F32, [batch, queries, heads * size], rough=True)]
    inputs += [g.input(F32, [batch, keys, heads * size], rough=True) for _ in range(2)]
    if g.random.random() < 0.5:
        inputs.append(g.weight(F32, [3 * heads * size]))
    g.node(op, inputs, domain=MS, num_heads=heads)
