"""Attention and what belongs to it."""
from makers import maker
from values import F16, F32, I64


@maker("Attention")
def attention(g, op):
    batch, queries, keys = (g.random.choice([1, 2, 3, *g.symbols]) for _ in range(3))
    heads, shared, size = g.random.choice([(2, 1, 4), (2, 2, 4), (4, 2, 8)])
    element = g.random.choice([F32, F32, F16])
    causal = g.random.randint(0, 1)
    q = g.input(element, [batch, heads, queries, size], rough=True)
    k, v = (g.input(element, [batch, shared, keys, size], rough=True) for _ in range(2))
    inputs = [q, k, v]
    if not causal and g.random.random() < 0.4:
        inputs.append(g.input(element, [queries, keys]))
    attributes = {"softcap": 2.0} if g.random.random() < 0.2 else {}
    g.node(op, inputs, is_causal=causal, **attributes)


@maker("RotaryEmbedding")
def rotary(g, op):
    batch, length, size = g.random.choice([1, *g.symbols]), g.random.choice([3, *g.symbols]), 4
    x = g.input(F32, [batch, 2, length, size], rough=True)
    cos, sin = (g.input(F32, [20, size // 2], rough=True) for _ in range(2))
    positions = g.input(I64, [batch, length], low=0, high=19)
    g.node(op, [x, cos, sin, positions], interleaved=g.random.randint(0, 1))
