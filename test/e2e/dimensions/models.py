"""Small models whose inputs meet in broadcasts: their dimensions are symbols of the author's, which a test renames or leaves out.

    @model(a=floats("n", 4), b=floats("n", 4))
    def sum(m):
        return m.Add("a", "b")

A size that two inputs share is one that the author means to be equal; ONNX only asks that the operators can use it.
"""
import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

ALL = {}


@dataclasses.dataclass(frozen=True)
class Input:
    element: type
    dims: tuple
    below: int = 0  # of integers


def floats(*dims):
    return Input(np.float32, dims)


def integers(below, *dims):
    return Input(np.int64, dims, below)


def truths(*dims):
    return Input(np.bool_, dims)


class Maker:
    """Collects nodes: m.Add("a", "b") writes one and gives the name of its output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def __getattr__(self, op):
        def node(*inputs, outputs=1, **attributes):
            names = [f"{op.lower()}{len(self.nodes)}_{k}" for k in range(outputs)]
            self.nodes.append(helper.make_node(op, list(inputs), names, name=names[0], **attributes))
            return names[0] if outputs == 1 else names
        return node

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *dims):
        return self.constant(np.random.default_rng(len(self.constants)).standard_normal(dims).astype(np.float32) / 4)


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    inputs: dict
    make: object

    def symbols(self):
        return sorted({d for spec in self.inputs.values() for d in spec.dims if isinstance(d, str)})

    def proto(self, spell):
        """`spell(input, dimension, symbol)` is what the file calls a dimension: text, or None for nothing."""
        maker = Maker()
        made = self.make(maker)
        outputs = made if isinstance(made, list) else [made]
        values = []
        for name, spec in self.inputs.items():
            dims = [spell(name, i, d) if isinstance(d, str) else d for i, d in enumerate(spec.dims)]
            values.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(spec.element)), dims))
        graph = helper.make_graph(maker.nodes, self.name, values, [onnx.ValueInfoProto(name=name) for name in outputs],
                                  maker.constants)
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def model(**inputs):
    def register(make):
        ALL[make.__name__] = Model(make.__name__, inputs, make)
        return make
    return register


# ---- Elementwise operators ---------------------------------------------------------------------


@model(a=floats("n"), b=floats("n"))
def lines(m):
    return m.Add("a", "b")


@model(a=floats("n", "k"), b=floats("n", "k"), c=floats("n", "k"))
def three_matrices(m):
    return m.Mul(m.Sub("a", "b"), "c")


@model(a=floats("n", "k", 5), b=floats("k", 5))
def lower_rank(m):
    return m.Div("a", m.Exp("b"))


@model(a=floats("n", "k"), b=floats("n", 1), c=floats(1, "k"))
def row_and_column(m):
    return m.Add(m.Add("a", "b"), "c")


@model(a=floats("n", "k"), b=floats("n", "k"), c=floats("k"))
def sum_of_three(m):
    return m.Sum("a", "b", "c")


@model(a=floats("n", "k"), b=floats("n", "k"))
def largest(m):
    return m.Max("a", m.Neg("b"))


@model(c=truths("n", "k"), a=floats("n", "k"), b=floats("n", "k"))
def chosen(m):
    return m.Where("c", "a", "b")


@model(a=floats("n", "k"), b=floats("n", "k"), c=floats("n", "k"))
def chosen_by_order(m):
    return m.Where(m.Less("a", "b"), "c", m.Neg("c"))


@model(a=truths("n", "k"), b=truths("n", "k"), c=truths("n", "k"))
def logic(m):
    return m.Not(m.Or(m.And("a", "b"), "c"))


@model(a=floats("n", "k", 3), b=floats("n", "k", 3))
def transposed(m):
    return m.Add(m.Transpose("a", perm=[1, 0, 2]), m.Transpose("b", perm=[1, 0, 2]))


@model(a=floats("n"), b=floats("k"), c=floats("n", "k"))
def outer(m):
    return m.Add(m.Mul(m.Unsqueeze("a", m.ints(1)), "b"), "c")


@model(x=floats("n", 4, "k"), slope=floats(4, "k"))
def slopes(m):
    return m.PRelu("x", "slope")


@model(a=floats("n", "k"), b=floats("n", "k"))
def powers(m):
    return m.Pow(m.Abs("a"), m.Sigmoid("b"))


# ---- Products ----------------------------------------------------------------------------------


@model(a=floats("b", 3, 4), b=floats("b", 4, 5))
def products(m):
    return m.MatMul("a", "b")


@model(a=floats("b", "h", "n", "k"), b=floats("b", "h", "k", "p"))
def products_of_heads(m):
    return m.MatMul("a", "b")


@model(a=floats("b", "n", "k"), b=floats("k", "p"))
def product_of_inputs(m):
    return m.MatMul("a", "b")


@model(a=floats("b", "n", 6), b=floats("b", "n", 6))
def product_of_sum(m):
    return m.Relu(m.MatMul(m.Add("a", "b"), m.weight(6, 8)))


@model(a=floats("n", 6), b=floats("n", 8))
def residual_product(m):
    return m.Add(m.MatMul("a", m.weight(6, 8)), "b")


@model(a=floats("n", "k"), b=floats("p", "k"), c=floats("n", "p"))
def gemm(m):
    return m.Add(m.Gemm("a", "b", transB=1, alpha=0.5), "c")


@model(a=floats("b", "n", "k"), b=floats("b", "k", "p"))
def einsum_products(m):
    return m.Einsum("a", "b", equation="bik,bkj->bij")


@model(a=floats("b", "h", "n", 4), b=floats("b", "h", "p", 4))
def einsum_scores(m):
    return m.Einsum("a", "b", equation="bhid,bhjd->bhij")


@model(a=floats("n", "k"), b=floats("n", "k"))
def einsum_dots(m):
    return m.Einsum("a", "b", equation="nk,nk->n")


# ---- Attention ---------------------------------------------------------------------------------


@model(scores=floats("b", 2, "s", "t"), mask=floats("b", 1, 1, "t"))
def masked_scores(m):
    return m.Softmax(m.Add("scores", "mask"), axis=-1)


@model(scores=floats("b", 2, "s", "t"), mask=floats("b", 1, "s", "t"), values=floats("b", 2, "t", 4))
def masked_attention(m):
    return m.MatMul(m.Softmax(m.Add("scores", "mask"), axis=-1), "values")


@model(q=floats("b", 2, "s", 4), k=floats("b", 2, "t", 4), v=floats("b", 2, "t", 4), keep=truths("b", 1, 1, "t"))
def attention(m):
    scores = m.MatMul("q", m.Transpose("k", perm=[0, 1, 3, 2]))
    scores = m.Where("keep", m.Mul(scores, m.constant(np.float32(0.5))), m.constant(np.float32(-1e4)))
    return m.MatMul(m.Softmax(scores, axis=-1), "v")


@model(ids=integers(7, "b", "s"), mask=integers(2, "b", "s"))
def embedded(m):
    table = m.weight(7, 8)
    weights = m.Unsqueeze(m.Cast("mask", to=onnx.TensorProto.FLOAT), m.ints(2))
    return m.ReduceMean(m.Mul(m.Gather(table, "ids"), weights), axes=[1])


@model(ids=integers(7, "b", "s"), positions=integers(9, "b", "s"), kinds=integers(2, "b", "s"))
def three_embeddings(m):
    words, places, kinds = (m.Gather(m.weight(n, 8), name) for n, name in ((7, "ids"), (9, "positions"), (2, "kinds")))
    x = m.Add(m.Add(words, places), kinds)
    return m.LayerNormalization(x, m.weight(8), m.weight(8), axis=-1)


# ---- Images ------------------------------------------------------------------------------------


@model(x=floats("b", 3, "h", "w"), skip=floats("b", 4, "h", "w"))
def convolution_residual(m):
    return m.Relu(m.Add(m.Conv("x", m.weight(4, 3, 3, 3), pads=[1, 1, 1, 1]), "skip"))


@model(x=floats("b", 3, "h", "w"), y=floats("b", 3, "h", "w"))
def two_convolutions(m):
    left = m.Conv("x", m.weight(4, 3, 3, 3), pads=[1, 1, 1, 1])
    return m.Add(left, m.Conv("y", m.weight(4, 3, 1, 1)))


@model(x=floats("b", 4, "h", "w"), gate=floats("b", 4, 1, 1))
def gated_channels(m):
    return m.MaxPool(m.Mul("x", m.Sigmoid("gate")), kernel_shape=[2, 2], pads=[0, 0, 1, 1])


@model(x=floats("b", 4, "h", "w"), low=floats("b", 4, "h", "w"))
def joined_channels(m):
    return m.Conv(m.Concat("x", "low", axis=1), m.weight(2, 8, 1, 1))


# ---- Moves -------------------------------------------------------------------------------------


@model(a=floats("n", 3), b=floats("p", 3))
def joined_lines(m):
    return m.Concat("a", "b", axis=0)


@model(a=floats("n", "k"), b=floats("n", "k"))
def joined_sums(m):
    both = m.Add("a", "b")
    return m.Concat(both, m.Mul(both, "b"), axis=1)


@model(x=floats("n", "k"), like=floats("n", "k"))
def expanded(m):
    return m.Expand("x", m.Shape("like"))


@model(x=floats("n", 4), like=floats("n", 2, 2))
def reshaped(m):
    return m.Add(m.Reshape("x", m.Shape("like")), "like")


@model(a=floats("n", "k", 2), b=floats("n", "k", 2))
def flattened(m):
    return m.Reshape(m.Add("a", "b"), m.ints(0, -1))


@model(a=floats("n", "k"), b=floats("n", "k"))
def sliced(m):
    return m.Slice(m.Mul("a", "b"), m.ints(0, 1), m.ints(2, 100), m.ints(0, 1))


@model(a=floats("n", "k"), b=floats("n", "k"))
def shape_of_sum(m):
    return m.ConstantOfShape(m.Shape(m.Add("a", "b")))


# ---- Lines -------------------------------------------------------------------------------------


@model(a=floats("n", "k"), b=floats("n", "k"))
def summed(m):
    return [m.ReduceSum(m.Mul("a", "b"), m.ints(1), keepdims=0), m.ReduceMax(m.Add("a", "b"), axes=[0])]


@model(a=floats("n", "k"), b=floats("n", "k"))
def centered(m):
    both = m.Add("a", "b")
    return m.Sub(both, m.ReduceMean(both, axes=[1]))


@model(a=floats("n", "k", 8), b=floats("n", "k", 8))
def normalized(m):
    return m.LayerNormalization(m.Add("a", "b"), m.weight(8), m.weight(8), axis=-1)


@model(a=floats("n", "k"), b=floats("n", "k"))
def cumulated(m):
    return m.CumSum(m.Add("a", "b"), m.ints(1))


@model(a=floats("n", "k"), b=floats("n", "k"))
def best_places(m):
    return m.ArgMax(m.Softmax(m.Add("a", "b"), axis=1), axis=0)
