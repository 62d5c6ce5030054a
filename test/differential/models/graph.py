"""A random ONNX model that grows piece by piece, with its numbers.

    graph = Graph(seed)
    x = graph.input(F32, ["n", 8])
    y, = graph.node("Softmax", [x], axis=-1)      # Unfit when ONNX Runtime has no kernel for it, or its numbers are useless
    model = graph.model()

Every value is known at several sizes of the symbols, as ONNX Runtime computes it node by node, and once more in double
precision: that tells shapes, and how far two right computations may lie apart (Value.error). A value is exact when all
computations must give the same bits; only exact ones are compared, rounded, sorted or quantised.
"""
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

import peer
from differences import difference_of
from values import BOOL, I64, MOST, REALS, Unfit, Value, WEIGHTS, finite_difference, largest, last_place, on_grid, widened

#: Of the result's scale, what `weft compile --accuracy fast` may round convolutions by.
FAST = 2e-4
#: At so many sizes; the first only tells dimensions apart.
SIZES = 4


def has(op, opset):
    try:
        return not onnx.defs.get_schema(op, opset).deprecated
    except onnx.defs.SchemaError:
        return False


class Scope:
    """Nodes of a graph or of a body: what a piece is added to."""

    def __init__(self):
        self.nodes, self.initializers, self.pool = [], [], []


class Graph:
    def __init__(self, seed, operators=()):
        self.random = random.Random(seed)
        self.numbers = np.random.RandomState(seed & 0xFFFFFFFF)
        self.opset = self.random.choice([opset for opset in peer.OPSETS if all(has(op, opset) for op in operators)] or peer.OPSETS)
        self.fast = self.random.random() < 0.5  # products of convolutions may be saved
        self.special = self.random.random() < 0.1  # infinities and nan among the inputs
        self.symbols = self.make_symbols()
        self.inputs, self.values, self.made = [], {}, []
        self.scopes = [Scope()]
        self.count = 0

    # ---- sizes -------------------------------------------------------------------------------------

    def make_symbols(self):
        """Sizes of each symbol: one that no other has, then zero, one and larger ones."""
        names = ["n", "m", "k"][: self.random.randint(1, 3)]
        first = self.random.sample([5, 6, 7, 11, 13], len(names))
        symbols = {name: [size] + [self.random.choice([2, 3, 4, 5, 8, 9, 16, 17]) for _ in range(SIZES - 1)]
                   for name, size in zip(names, first)}
        if self.random.random() < 0.5:
            symbols[self.random.choice(names)][1] = 0
        if self.random.random() < 0.7:
            symbols[self.random.choice(names)][2] = 1
        if self.random.random() < 0.2:
            symbols[self.random.choice(names)][3] = self.random.choice([33, 40, 70])
        return symbols

    def some_dims(self, rank):
        return [self.random.choice(list(self.symbols)) if self.random.random() < 0.6 else
                self.random.choice([1, 2, 3, 4, 5, 8, 16]) for _ in range(rank)]

    def sizes_of(self, dims):
        """Of dimensions as names, numbers, or sizes that a value has."""
        vectors = [self.symbols[dim] if isinstance(dim, str) else dim if isinstance(dim, tuple) else [dim] * SIZES
                   for dim in dims]
        return [tuple(vector[at] for vector in vectors) for at in range(SIZES)]

    def named(self, dims):
        """Sizes that values have as names or numbers of an input's declaration, or None."""
        names = {tuple(sizes): name for name, sizes in self.symbols.items()}
        found = [dim if not isinstance(dim, tuple) else dim[0] if len(set(dim)) == 1 else names.get(dim) for dim in dims]
        return None if None in found else found

    # ---- values ------------------------------------------------------------------------------------

    @property
    def scope(self):
        return self.scopes[-1]

    def fresh(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def draw(self, element, dims, rough=False, low=None, high=None):
        """Random numbers; reals are exact, quarters in -4..4, unless they are to be rough."""
        if element == BOOL:
            return np.asarray(self.numbers.randint(0, 2, dims), bool)
        if element.kind == "f":
            if rough:
                return np.asarray(self.numbers.standard_normal(dims) if low is None else
                                  self.numbers.uniform(low, high, dims)).astype(element)
            array = np.asarray(self.numbers.randint(*((-16, 17) if low is None else (low * 4, high * 4 + 1)), dims) / 4)
            if self.special and low is None:
                chosen = np.asarray(self.numbers.choice([np.inf, -np.inf, np.nan, -0.0], dims))
                array = np.where(np.asarray(self.numbers.random_sample(dims)) < 0.1, chosen, array)
            return np.asarray(array).astype(element)
        if low is None:
            low, high = (0, 20) if element.kind == "u" else (-10, 10)
        return np.asarray(self.numbers.randint(low, high + 1, dims)).astype(element)

    def add_value(self, value):
        self.values[value.name] = value
        self.scope.pool.append(value)
        return value

    def input(self, element, dims, rough=None, low=None, high=None, suits=None):
        """Inputs are the whole model's, also when a body asks for one."""
        names = self.named(dims)
        if names is None:
            raise Unfit("an input of a size that is no symbol")
        if rough is None:
            rough = element.kind == "f" and self.random.random() < 0.3
        arrays = [self.draw(element, sizes, rough, low, high) for sizes in self.sizes_of(names)]
        value = Value(self.fresh("x"), arrays, [widened(each) for each in arrays], not rough)
        if suits is not None and not suits(value):
            raise Unfit("no operand")
        self.inputs.append((value, names))
        self.values[value.name] = value
        self.scopes[0].pool.append(value)
        return value

    def constant(self, array, as_node=None):
        """An initializer, or a Constant node; of the body that is being made."""
        array = np.asarray(array)
        name = self.fresh("c")
        if as_node is None:
            as_node = self.random.random() < 0.25
        tensor = numpy_helper.from_array(array, name)
        if as_node:
            self.scope.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.scope.initializers.append(tensor)
        value = Value(name, [array] * SIZES, [widened(array)] * SIZES, on_grid(array), constant=True)
        self.values[name] = value
        return value

    def integers(self, *numbers, element=I64):
        return self.constant(np.array(numbers, element))

    # ---- operands ----------------------------------------------------------------------------------

    def visible(self):
        return [value for scope in self.scopes for value in scope.pool]

    def pick(self, suits):
        """One of the values that suit, rather a late one; or None."""
        found = [value for value in self.visible() if suits(value)]
        if not found:
            return None
        return found[-1 - min(int(self.random.expovariate(0.5)), len(found) - 1)]

    def operand(self, elements=REALS, rank=None, dims=None, exact=False, suits=None, fresh=0.25):
        """A value of the graph, or a new input when none fits (and sometimes anyway). `dims` are sizes that values have,
        names or numbers."""
        ranks = (rank,) if isinstance(rank, int) else rank or (1, 2, 3, 4, 5)  # others ask for rank 0
        wanted = None if dims is None else [tuple(sizes) for sizes in zip(*self.sizes_of(dims))] if dims else []

        def fits(value):
            return (value.element in elements and not value.slack
                    and (value.rank in ranks if wanted is None else value.dims() == wanted) and (value.exact or not exact)
                    and (suits is None or suits(value)))
        found = self.pick(fits) if self.random.random() >= fresh else None
        if found is not None:
            return found
        element = self.random.choices(elements, [WEIGHTS.get(each, 1) for each in elements])[0]
        for _ in range(8):
            some = self.some_dims(self.random.choice(ranks if rank is not None else (1, 2, 2, 3, 3, 4))) if dims is None else dims
            try:
                return self.input(element, some, rough=False if exact else None, suits=suits)
            except Unfit:
                if dims is not None:
                    raise
        raise Unfit("no operand")

    def weight(self, element, dims, rough=None, low=None, high=None):
        """A constant of reals or integers, or now and then an input."""
        if self.random.random() < 0.2:
            return self.input(element, dims, rough, low, high)
        if rough is None:
            rough = element.kind == "f" and self.random.random() < 0.3
        special, self.special = self.special, False
        array = self.draw(element, dims, rough, low, high)
        self.special = special
        return self.constant(array)

    # ---- pieces ------------------------------------------------------------------------------------

    def schema(self, op, domain=""):
        try:
            found = onnx.defs.get_schema(op, self.opset, domain)
        except onnx.defs.SchemaError:
            raise Unfit(f"{op} is newer") from None
        if found.deprecated:
            raise Unfit(f"{op} is no longer, or not yet again")
        return found

    def takes(self, op, index, elements):
        """Those of the elements that the operator's input may have."""
        schema = self.schema(op)
        types = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        allowed = types.get(parameter.type_str, [parameter.type_str])
        found = tuple(each for each in elements if f"tensor({peer.TYPE_NAMES[each]})" in allowed)
        if not found:
            raise Unfit(f"{op} takes none of these elements")
        return found

    def node(self, op, inputs, outputs=1, domain="", parameters=None, exact=True, **attributes):
        """A node's outputs. `parameters` go where the opset has them: into attributes, or into inputs as constants."""
        inputs = list(inputs)
        if domain == "":
            schema = self.schema(op)
            names = [each.name for each in schema.inputs]
            for name, value in (parameters or {}).items():
                if name in schema.attributes:
                    attributes[name] = value.tolist() if isinstance(value, np.ndarray) else value
                elif name in names:
                    at = names.index(name)
                    inputs += [None] * (at + 1 - len(inputs))
                    inputs[at] = self.constant(value if isinstance(value, np.ndarray) else np.array(value, I64))
            attributes = {name: value for name, value in attributes.items() if name in schema.attributes}
        node = helper.make_node(op, [each.name if each is not None else "" for each in inputs],
                                [self.fresh("v") for _ in range(outputs)], domain=domain, **attributes)
        return self.piece([node], [each for each in inputs if each is not None], list(node.output), exact=exact)

    def captured(self, nodes):
        """Names that bodies read from around them."""
        names, made = [], set()
        for node in nodes:
            names += [name for name in node.input if name]
            made |= set(node.output)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    body = attribute.g
                    inner = {each.name for each in body.input} | {each.name for each in body.initializer}
                    names += [name for name in self.captured(body.node) if name not in inner]
        return [name for name in dict.fromkeys(names) if name not in made]

    def piece(self, nodes, inputs, outputs, exact=True, slack=0, tensors=()):
        """Nodes that belong together; only `outputs` are values. `exact`: they are when all reals that they read are."""
        for node in nodes:
            why = difference_of(node, self)
            if why:
                raise Unfit(f"{node.op_type}: {why}")
        names = self.captured(nodes)
        read = [self.values[name] for name in names if name in self.values]
        try:
            native, wide = peer.run_piece(nodes, read, outputs, tensors, self.opset, SIZES)
        except peer.Refused as refusal:
            raise Unfit(str(refusal)) from None
        if self.fast and any(node.op_type == "Conv" for node in nodes):
            exact = False
        made = [self.result(name, native[i], wide[i], read, exact, slack) for i, name in enumerate(outputs)]
        if self.fast and any(node.op_type == "Conv" for node in nodes):
            for value in made:
                value.error = max(value.error, FAST * value.most())
        self.scope.nodes += nodes
        self.scope.initializers += tensors
        for value in made:
            self.add_value(value)
        for node in nodes:
            self.made.append(f"{node.domain}::{node.op_type}" if node.domain else node.op_type)
        return made

    def result(self, name, native, wide, read, exact, slack):
        element = native[0].dtype
        sure = exact and all(each.exact for each in read)
        error = 0.0
        if element.kind == "f":
            if not self.special and not all(np.isfinite(array).all() for array in native):
                raise Unfit("not finite")
            most = max(map(largest, native))
            if most > MOST[element]:
                raise Unfit("large numbers")
            same = all(np.array_equal(a.astype(np.float64), b, equal_nan=True) for a, b in zip(native, wide))
            sure = sure and same and all(map(on_grid, native))
            if not sure:
                error = self.error_of(element, most, native, wide, read)
        elif not sure and any(each.element.kind == "f" and not each.exact for each in read) and not slack:
            raise Unfit("integers of reals that are not exact")
        return Value(name, native, wide, sure, error, slack=slack)

    def error_of(self, element, most, native, wide, read):
        """What the last places of the value and of what it was computed from make, and what double precision tells."""
        apart = max((largest(a.astype(np.float64) - np.where(np.isfinite(b), b, 0.0)) if np.isfinite(a).all() else
                     finite_difference(a, b) for a, b in zip(native, wide)), default=0.0)
        error = 16 * apart + 100 * last_place(element) * most
        for each in read:
            if each.element.kind == "f" and not each.constant:
                error = max(error, each.error / 16, 4 * last_place(each.element) * min(each.most(), 100.0))
        if not np.isfinite(error) or error > max(0.05 * most, 1e-30):
            raise Unfit("nothing but rounding")
        return error

    # ---- the model ---------------------------------------------------------------------------------

    def declare(self, value, dims=None):
        return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.element),
                                             [None] * value.rank if dims is None else dims)

    def results(self):
        """What no node reads, and some of the rest."""
        scope = self.scopes[0]
        read, inputs = read_by_nodes(scope.nodes), {value.name for value, _ in self.inputs}
        return [value for value in scope.pool if value.name not in inputs and
                (value.name not in read or self.random.random() < 0.15)]

    def model(self):
        results = self.results()
        scope = self.scopes[0]
        used = read_by_nodes(scope.nodes)
        self.inputs = [(value, dims) for value, dims in self.inputs if value.name in used]
        graph = helper.make_graph(scope.nodes, "random", [self.declare(value, dims) for value, dims in self.inputs],
                                  [self.declare(value) for value in results],
                                  [each for each in scope.initializers if each.name in used])
        return peer.model_of(graph, self.opset), results


def read_by_nodes(nodes):
    """All names that nodes and their bodies read."""
    names = set()
    for node in nodes:
        names |= set(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                names |= read_by_nodes(attribute.g.node) | {each.name for each in attribute.g.output}
    return names
