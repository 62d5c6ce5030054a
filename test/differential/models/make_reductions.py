"""Many elements that become one: reductions, normalisations, sums along a line."""
import numpy as np

from make_elementwise import positive, tame
from make_moves import some_axes, some_axis
from makers import maker
from values import BOOL, F32, F64, I32, I64, REALS, U8


@maker("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
       "ReduceLogSumExp", "ReduceSumSquare")
def reduce(g, op):
    a = g.operand(g.takes(op, 0, REALS + (I32, I64, U8, BOOL)), suits=tame if op in ("ReduceProd", "ReduceLogSumExp") else None)
    if op == "ReduceLogSum":
        a = positive(g, a) if a.element.kind == "f" else a
    keep = {"keepdims": g.random.randint(0, 1)} if g.random.random() < 0.8 else {}
    if g.random.random() < 0.15:
        if "noop_with_empty_axes" in g.schema(op).attributes and g.random.random() < 0.5:
            keep["noop_with_empty_axes"] = 1
        return g.node(op, [a], **keep)
    g.node(op, [a], parameters={"axes": some_axes(g, a)}, **keep)


@maker("ArgMax", "ArgMin")
def arg(g, op):
    a = g.operand(g.takes(op, 0, REALS + (I32, I64, U8)), exact=True)
    last = {"select_last_index": g.random.randint(0, 1)} if g.opset >= 12 else {}
    g.node(op, [a], axis=some_axis(g, a), keepdims=g.random.randint(0, 1), **last)


@maker("Softmax", "LogSoftmax", "Hardmax")
def softmax(g, op):
    a = g.operand(g.takes(op, 0, REALS), suits=tame, exact=op == "Hardmax")
    g.node(op, [a], **({"axis": some_axis(g, a)} if g.random.random() < 0.8 else {}))


@maker("CumSum")
def cumsum(g, op):
    a = g.operand(g.takes(op, 0, (F32, F64, I32, I64)))
    g.node(op, [a, g.constant(np.array(some_axis(g, a), g.random.choice([I32, I64])))],
           exclusive=g.random.randint(0, 1), reverse=g.random.randint(0, 1))


@maker("LayerNormalization", "RMSNormalization")
def layer_norm(g, op):
    a = g.operand(g.takes(op, 0, REALS), rank=(2, 3, 4), suits=lambda value: value.static(value.rank - 1))
    width = a.static(a.rank - 1)
    weights = [g.weight(a.element, [width])]
    if op == "LayerNormalization" and g.random.random() < 0.7:
        weights.append(g.weight(a.element, [width]))
    g.node(op, [a, *weights], axis=-1, epsilon=g.random.choice([1e-5, 1e-3]))


@maker("InstanceNormalization", "GroupNormalization", "BatchNormalization")
def channel_norm(g, op):
    def suits(value):
        channels = value.static(1)
        return channels and (op != "GroupNormalization" or channels % 2 == 0)
    a = g.operand(g.takes(op, 0, REALS), rank=(3, 4), suits=suits)
    channels = a.static(1)
    if op == "BatchNormalization":
        weights = [g.weight(a.element, [channels]) for _ in range(3)]
        return g.node(op, [a, *weights, g.weight(a.element, [channels], low=1, high=3)], epsilon=1e-3)
    groups = {"num_groups": g.random.choice([1, 2])} if op == "GroupNormalization" else {}
    count = groups["num_groups"] if groups and g.opset < 21 else channels
    g.node(op, [a, g.weight(a.element, [count]), g.weight(a.element, [count])], epsilon=1e-3, **groups)


@maker("LpNormalization")
def lp_norm(g, op):
    a = g.operand(g.takes(op, 0, (F32, F64)))
    g.node(op, [positive(g, a)], axis=some_axis(g, a), p=g.random.choice([1, 2]))


@maker("MeanVarianceNormalization")
def mean_variance(g, op):
    g.node(op, [g.operand((F32,), rank=4)], axes=g.random.choice([[0, 2, 3], [1, 2]]))


@maker("LRN")
def lrn(g, op):
    g.node(op, [g.operand((F32,), rank=4, suits=tame)], size=g.random.choice([1, 3, 5]), alpha=0.25, beta=0.75, bias=1.5)


@maker("GlobalAveragePool", "GlobalMaxPool")
def whole(g, op):
    g.node(op, [g.operand(g.takes(op, 0, REALS), rank=(3, 4))])


@maker("Einsum")
def einsum(g, op):
    element = g.random.choice([F32, F64])
    equation, ranks = g.random.choice([("ij,jk->ik", (2, 2)), ("bij,bjk->bik", (3, 3)), ("bij,bkj->bki", (3, 3)),
                                       ("ij->ji", (2,)), ("ij->i", (2,)), ("i,j->ij", (1, 1)), ("bhid,bhjd->bhij", (4, 4)),
                                       ("...ij,...jk->...ik", (3, 3)), ("ij,ij->", (2, 2)), ("bi,ij,bj->b", (2, 2, 2))])
    sizes = {}
    operands = []
    for term in equation.split("->")[0].split(","):
        letters = term.replace("...", "b")
        for letter in letters:
            sizes.setdefault(letter, g.random.choice([*g.symbols, 2, 3, 4]))
        operands.append(g.operand((element,), dims=[sizes[letter] for letter in letters]))
    g.node(op, operands, equation=equation)
