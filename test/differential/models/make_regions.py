"""Branches and loops, whose bodies are graphs of their own."""
import numpy as np
from onnx import helper

from graph import SIZES, Scope
from makers import maker
from values import BOOL, F32, F64, I64, Unfit, Value, widened

SAFE = ("Add", "Mul", "Sub", "Tanh", "Sigmoid", "Neg", "Abs", "Max", "Min", "Relu", "MatMul", "Softmax", "Clip", "Where",
        "Concat", "Transpose", "Reshape", "ReduceSum", "Erf", "Identity", "Cast", "Equal", "Gather")


class Body:
    """Adds what is made to a body; leaves the graph as it was when the body cannot be."""

    def __init__(self, g):
        self.g, self.scope = g, Scope()

    def __enter__(self):
        self.made = len(self.g.made)
        self.g.scopes.append(self.scope)
        return self

    def __exit__(self, kind, problem, trace):
        self.g.scopes.remove(self.scope)
        if kind:
            del self.g.made[self.made:]

    def parameter(self, arrays, exact):
        """A value that the body gets, with the numbers of the first turn."""
        return self.g.add_value(Value(self.g.fresh("p"), arrays, [widened(each) for each in arrays], exact))

    def graph(self, inputs, outputs):
        """An output that is not made here needs a node that hands it on."""
        names = []
        for value in outputs:
            if not any(value.name in node.output for node in self.scope.nodes):
                name = self.g.fresh("v")
                self.scope.nodes.append(helper.make_node("Identity", [value.name], [name]))
                names.append(name)
            else:
                names.append(value.name)
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.element), [None] * value.rank)
                 for name, value in zip(names, outputs)]
        if len(set(names)) < len(names):
            raise Unfit("one value twice")
        return helper.make_graph(self.scope.nodes, self.g.fresh("body"), [self.g.declare(each) for each in inputs], infos,
                                 self.scope.initializers)


def some_nodes(g, count):
    """Nodes of whatever kind, where they fit."""
    from makers import MAKERS
    for _ in range(count):
        op = g.random.choice(SAFE)
        try:
            MAKERS[op](g, op)
        except Unfit:
            pass


def like(g, value):
    """Something with the type of a value, made in the body: what was added last, if it has it."""
    for found in reversed(g.scope.pool):
        if found.element == value.element and found.dims() == value.dims() and found.name != value.name:
            return found
    op = g.random.choice(["Add", "Mul", "Sub"] if value.element.kind in "iu" else ["Add", "Mul", "Max"])
    return g.node(op, [value, g.constant(np.array(g.random.choice([1, 2]), value.element), as_node=False)])[0]


def condition_of(g):
    """One boolean: an input, or whether a size is large."""
    if g.random.random() < 0.5:
        return g.input(BOOL, [])
    a = g.operand()
    sizes, = g.node("Shape", [a])
    one, = g.node("Gather", [sizes, g.constant(np.array(g.random.randrange(a.rank), I64))], axis=0)
    return g.node("Greater", [one, g.constant(np.array(g.random.choice([0, 3, 8]), I64))])[0]


@maker("If")
def branches(g, op):
    condition = condition_of(g)
    wanted = g.operand((F32, F64, I64), rank=(1, 2, 3))
    graphs = []
    for _ in range(2):
        with Body(g) as body:
            some_nodes(g, g.random.randint(1, 3))
            graphs.append(body.graph([], [like(g, wanted)]))
    node = helper.make_node(op, [condition.name], [g.fresh("v")], then_branch=graphs[0], else_branch=graphs[1])
    g.piece([node], [condition], list(node.output))


def trip_count(g):
    if g.random.random() < 0.5:
        return g.constant(np.array(g.random.randint(0, 4), I64))
    if g.random.random() < 0.5:
        return g.input(I64, [], low=0, high=4)
    sizes, = g.node("Shape", [g.operand()])
    return g.node("Gather", [sizes, g.constant(np.array(0, I64))], axis=0)[0]


@maker("Loop")
def loop(g, op):
    count = trip_count(g)
    carried = [g.operand((F32, F32, I64), rank=(1, 2), suits=lambda value: value.most() <= 16)
               for _ in range(g.random.randint(1, 2))]
    condition = None if g.random.random() < 0.7 else g.constant(np.array(True))
    with Body(g) as body:
        turn = body.parameter([np.array(0, np.int64)] * SIZES, True)
        go_on = body.parameter([np.array(True)] * SIZES, True)
        values = [body.parameter(each.native, each.element.kind != "f") for each in carried]
        some_nodes(g, g.random.randint(0, 2))
        after = [tamed(g, each) for each in values]
        scanned = [after[0]] if g.random.random() < 0.5 else []
        more = go_on
        if g.random.random() < 0.4:
            more, = g.node("Less", [turn, g.constant(np.array(2, np.int64))])
        outputs = [handed_on(g, each) for each in [more, *after, *scanned]]
        graph = body.graph([turn, go_on, *values], outputs)
    inputs = [count.name, condition.name if condition else "", *[each.name for each in carried]]
    node = helper.make_node(op, inputs, [g.fresh("v") for _ in range(len(carried) + len(scanned))], body=graph)
    g.piece([node], carried, list(node.output), exact=False)


def tamed(g, value):
    """The next turn's value: repeated turns do not let it grow."""
    following = like(g, value)
    if value.element.kind == "f":
        return g.node("Tanh", [following])[0]
    return following


def handed_on(g, value):
    """The same under another name: a body has each output once."""
    return g.node("Identity", [value])[0]


@maker("Scan")
def scan(g, op):
    axis = g.random.choice([0, 0, 1])
    sequence = g.operand((F32,), rank=(2, 3), suits=lambda value: value.most() <= 8)
    dims = [dim for at, dim in enumerate(sequence.dims()) if at != axis]
    if min(sequence.dim(axis)) < 1:
        raise Unfit("no first element")
    state = g.operand((F32,), dims=dims, suits=lambda value: value.most() <= 8, fresh=0.5)
    with Body(g) as body:
        before = body.parameter(state.native, False)
        element = body.parameter([array.take(0, axis) for array in sequence.native], False)
        mixed, = g.node(g.random.choice(["Add", "Mul", "Max"]), [before, element])
        some_nodes(g, g.random.randint(0, 2))
        after, = g.node("Tanh", [mixed])
        outputs = [after, handed_on(g, like(g, mixed))]
        graph = body.graph([before, element], outputs)
    node = helper.make_node(op, [state.name, sequence.name], [g.fresh("v"), g.fresh("v")], body=graph, num_scan_inputs=1,
                            scan_input_axes=[axis], scan_input_directions=[g.random.randint(0, 1)],
                            scan_output_axes=[g.random.randint(0, len(dims))],
                            scan_output_directions=[g.random.randint(0, 1)])
    g.piece([node], [state, sequence], list(node.output), exact=False)
