"""Where ONNX Runtime does not do what ONNX says, or leaves it open: nodes that random models do not have.

Each entry names an operator, when it differs, and why. What Weft does otherwise than ONNX never belongs here.
"""
import pathlib

import numpy as np



class Difference:
    def __init__(self, op, condition, reason, applies=lambda node, graph: True):
        self.op, self.condition, self.reason, self.applies = op, condition, reason, applies


def reads_nothing(node, graph):
    return any(graph.values[name].has_empty() for name in node.input if name in graph.values)


def reads_nan(node, graph):
    return graph.special  # some input has them


def reads_double(node, graph):
    return any(graph.values[name].element == np.float64 for name in node.input if name in graph.values)


def reads_zeros(node, graph):
    return not all(array.any() for array in graph.values[node.input[0]].native)


def asks_for_mask(node, graph):
    return len(node.output) > 1 and graph.opset < 12


def odd_zero_point(node, graph):
    name = node.input[1 if node.op_type == "QLinearConcat" else 7 if node.op_type in ("QLinearAdd", "QLinearMul") else 4]
    return bool((graph.values[name].native[0] % 2).any())


def collects_no_turn(node, graph):
    carried = len(node.input) - 2
    turns = graph.values[node.input[0]]
    return len(node.output) > carried and turns.least() < 1


def leaves_fraction(node, graph):
    modes = [attribute.s for attribute in node.attribute if attribute.name == "coordinate_transformation_mode"]
    if modes != [b"align_corners"] or len(node.input) != 3:
        return False
    scales = graph.values[node.input[2]].native[0]
    return any((size * float(scale)) % 1 for array in graph.values[node.input[0]].native
               for size, scale in zip(array.shape, scales))


REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"]

INTERPOLATIONS = ["Upsample", "Resize", "GridSample", "RoiAlign", "DeformConv"]
ORDERS = ["ArgMax", "ArgMin", "ReduceMax", "ReduceMin", "Hardmax", "TopK", "MaxPool", "GlobalMaxPool"]

DIFFERENCES = [
    *[Difference(op, "an input without elements", "the process is aborted", reads_nothing) for op in ("GRU", "LSTM")],
    Difference("RNN", "an input without elements", "the last state is 0 instead of the initial one", reads_nothing),
    *[Difference(op, "an input without elements", "the result has the shape of the input, or 0 for an average",
                 reads_nothing) for op in REDUCTIONS],
    Difference("Loop", "collected values of no turn", "their dimensions are all 0, not only the first", collects_no_turn),
    *[Difference(op, "nan", "whether it is the largest is left open by ONNX", reads_nan) for op in ORDERS],
    *[Difference(op, "infinities or nan", "whether a weight of 0 hides them is left open by ONNX", reads_nan)
      for op in INTERPOLATIONS],
    *[Difference(op, "nan", "the functions between the states make numbers of it", reads_nan) for op in ("RNN", "GRU", "LSTM")],
    *[Difference(op, "double", "a constant of the formula is rounded to float", reads_double) for op in ("Gelu", "HardSwish")],
    *[Difference(op, "double", "statistics are computed in float, as 'stash_type' allows", reads_double)
      for op in ("GroupNormalization", "LayerNormalization", "RMSNormalization")],
    Difference("Resize", "align_corners and scales that leave a fraction", "the spacing follows from the whole number of elements, "
               "ONNX's from the product of size and scale", leaves_fraction),
    *[Difference(op, "infinities or nan", "which of both a sum of products has is left open by ONNX", reads_nan)
      for op in ("DFT", "STFT")],
    Difference("LRN", "infinities or nan", "sums go from channel to channel, and keep them", reads_nan),
    Difference("DynamicQuantizeLinear", "an input of zeros", "the step is 1, not 0 as in ONNX's formula", reads_zeros),
    Difference("Dropout", "a mask before opset 12", "it is false, what ONNX leaves open", asks_for_mask),
    *[Difference(op, "an odd zero point of the result", "halves are rounded after it is added, not before, as QuantizeLinear does",
                 odd_zero_point) for op in ("QLinearAdd", "QLinearMul", "QLinearLeakyRelu", "QLinearConcat")],
]


def difference_of(node, graph):
    """The reason not to have this node, or None."""
    for each in DIFFERENCES:
        if each.op == node.op_type and each.applies(node, graph):
            return f"{each.condition}: {each.reason}"
    return None


#: Operators of the tiers must and should that no model has.
ABSENT = {
    **{op: "ONNX Runtime 1.31 does not know its opset" for op in
       ("BitCast", "CausalConvWithState", "CumProd", "LinearAttention", "SwiGLU")},
}
#: What Weft refuses by design, with where that is written.
REFUSALS = [
    ("of tensors, but is needed while compiling", "ranks, axes and steps: docs/symbolic-shapes.md"),
    ("before the contents of tensors decide how many", "stacks of loops: docs/symbolic-shapes.md"),
]
TIERS = dict(reversed(line.split("\t")) for line in
             (pathlib.Path(__file__).parents[2] / "onnx_suite" / "operators.txt").read_text().splitlines()
             if not line.startswith("#"))


def refusal_is_known(refusal):
    """Only operators of the tier 'must' may not be refused, and those where it is written."""
    return TIERS.get(refusal.op) != "must" or any(text in str(refusal) for text, _ in REFUSALS)
