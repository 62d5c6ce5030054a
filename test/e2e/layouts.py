#!/usr/bin/env python3
"""Splits a layer with its gradients by the layouts of tensor parallelism, and compares with the unsplit program: layouts.py WEFT WORK

Forward and backward are one program, written out as contractions: layer norm, two linear layers with GELU between them and a residual
around, an output layer, softmax cross-entropy, and the gradients of all three weights and of the input.
What ranks send is counted while the program is evaluated, and must be what 'weft inspect' says of the compiled one. For one product
alone both are what is known of its layout.
"""

import json
import os
import re
import struct
import subprocess
import sys

HIDDEN, INNER, CLASSES = 12, 24, 10
MULTIPLE = 24  # of tokens where programs are compiled: formulas are short; with 7 they are evaluated
MOST = 1e-5  # of the largest element


class Program:
    """Text of a function: every value has a name, which is its node's, too."""

    def __init__(self):
        self.lines, self.types, self.outputs = [], {}, []

    def type(self, *dims, element="f32"):
        return f"!weft.tensor<[{', '.join(map(str, dims))}], {element}>"

    def give(self, name, operation, operands, to):
        self.types[name] = to
        values, types = ", ".join(f"%{each}" for each in operands), ", ".join(self.types[each] for each in operands)
        head, _, rest = operation.partition("|")
        self.lines.append(f'  %{name} = weft.{head} {values} {rest} : ({types}) -> {to} loc("node.{name}")')
        return name

    def product(self, name, rule, left, right, *dims):
        return self.give(name, f'contract "{rule}"|accumulate f32', [left, right], self.type(*dims))

    def number(self, name, value):
        self.types[name] = self.type()
        self.lines.append(f"  %{name} = weft.fill {value:.9e} : f32 -> {self.type()}")
        return name

    def text(self, inputs, outputs):
        given = ", ".join(f'%{name}: {to} {{weft.name = "{name}"}}' for name, to in inputs.items())
        results = ", ".join(f'{self.types[name]} {{weft.name = "{name}"}}' for name in outputs)
        ends = f"  return {', '.join('%' + name for name in outputs)} : {', '.join(self.types[name] for name in outputs)}"
        return "\n".join([f"func.func @main({given}) -> ({results})",
                          '    attributes {weft.symbols = #weft.symbols<m : "1 <= m">} {', *self.lines, ends, "}", ""])


def layer():
    p = Program()
    tokens, inner, lines = p.type("m", HIDDEN), p.type("m", INNER), p.type("m", 1)
    inputs = {"x": tokens, "scale": p.type(HIDDEN), "shift": p.type(HIDDEN), "up": p.type(HIDDEN, INNER), "down": p.type(INNER, HIDDEN),
              "head": p.type(CLASSES, HIDDEN), "label": p.type("m", 1, element="i64")}
    p.types.update(inputs)
    # Forward: AB, AB, AB^T.
    p.give("norm", "normalize", ["x", "scale", "shift"], tokens)
    p.lines[-1] = p.lines[-1].replace(" :", " {epsilon = 1.0e-5 : f64, center = true} :", 1)
    p.product("y", "m k, k j -> m j", "norm", "up", "m", INNER)
    p.give("g", "activation gelu", ["y"], inner)
    p.product("z", "m j, j k -> m k", "g", "down", "m", HIDDEN)
    p.give("r", "add", ["x", "z"], tokens)
    p.product("logits", "m k, c k -> m c", "r", "head", "m", CLASSES)
    classes = p.type("m", CLASSES)
    p.give("log", "softmax", ["logits"], classes)
    p.lines[-1] = p.lines[-1].replace(" :", " {logarithm} :", 1)
    p.give("picked", "gather_elements|axis 1 outside clamped", ["log", "label"], lines)
    p.give("loss", "neg", ["picked"], lines)
    # Backward.
    p.give("chances", "exp", ["log"], classes)
    p.types["index"] = p.type("m", CLASSES, element="i64")
    p.lines.append(f"  %index = weft.iota dim 1 : {p.types['index']}")
    p.number("one", 1), p.number("zero", 0)
    p.give("isLabel", "compare eq", ["index", "label"], p.type("m", CLASSES, element="i1"))
    p.give("hot", "select", ["isLabel", "one", "zero"], classes)
    p.give("dlogits", "sub", ["chances", "hot"], classes)
    p.product("dhead", "m c, m k -> c k", "dlogits", "r", CLASSES, HIDDEN)
    p.product("dr", "m c, c k -> m k", "dlogits", "head", "m", HIDDEN)
    p.product("ddown", "m j, m k -> j k", "g", "dr", INNER, HIDDEN)
    p.product("dg", "m k, j k -> m j", "dr", "down", "m", INNER)
    # The derivative of GELU is (1 + erf(y/sqrt 2))/2 + y*e^(-y*y/2)/sqrt(2 pi).
    p.number("root", 0.5**0.5), p.number("half", 0.5), p.number("density", 0.3989422804014327)
    for name, operation, operands in [("ys", "mul", ["y", "root"]), ("erf", "erf", ["ys"]), ("cdf1", "add", ["erf", "one"]), ("cdf", "mul", ["cdf1", "half"]),
                                      ("ys2", "mul", ["ys", "ys"]), ("nys2", "neg", ["ys2"]), ("bell", "exp", ["nys2"]), ("pdf", "mul", ["bell", "density"]),
                                      ("ypdf", "mul", ["y", "pdf"]), ("slope", "add", ["cdf", "ypdf"]), ("dy", "mul", ["dg", "slope"])]:
        p.give(name, operation, operands, inner)
    p.product("dup", "m k, m j -> k j", "norm", "dy", HIDDEN, INNER)
    p.product("dnorm", "m j, k j -> m k", "dy", "up", "m", HIDDEN)
    return p.text(inputs, ["loss", "r", "dhead", "ddown", "dup", "dnorm", "dr"])


def product(rule, left, right, result):
    """Operands are computed, because every rank has the whole of inputs."""
    p = Program()
    inputs = {"x": p.type(*left), "w": p.type(*right)}
    p.types.update(inputs)
    p.give("a", "abs", ["x"], p.types["x"])
    p.give("b", "abs", ["w"], p.types["w"])
    p.product("c", rule, "a", "b", *result)
    return p.text(inputs, ["c"])




#===-- Commands -----------------------------------------------------------------------------------===#


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    """Shape and elements of an .npy file of f32."""
    with open(path, "rb") as file:
        data = file.read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = data[10:end].decode()
    assert "'<f4'" in header, header
    shape = re.search(r"\(([^)]*)\)", header).group(1)
    return shape, struct.unpack(f"<{(len(data) - end) // 4}f", data[end:])


def formula(text, values):
    """The value of an expression over symbols."""
    functions = {"min": min, "max": max, "pos": lambda a: max(0, a), "floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b),
                 "mod": lambda a, b: a % b}
    return eval(text, {"__builtins__": {}}, {**functions, **values})


def places_of(mesh, rank):
    """Where a rank stands along the axes, the last of which is the fastest."""
    places = {}
    for name, size in reversed(mesh):
        places["rank_" + name] = rank % size
        rank //= size
    return places


class Layout:
    def __init__(self, weft, work, text):
        self.weft, self.work, self.model = weft, work, os.path.join(work, "layout.mlir")
        with open(self.model, "w") as file:
            file.write(text)

    def options(self, mesh, places):
        axes = ",".join(f"{name}={size}" for name, size in mesh)
        return ["--mesh", axes] + [word for place in places for word in ("--place", place)]

    def counted(self, mesh, places, m):
        """What every rank sends over each axis, and whether results are those of one rank."""
        one, split = os.path.join(self.work, "one"), os.path.join(self.work, "split")
        run(self.weft, "eval", self.model, "--dim", f"m={m}", "-q", "--output-dir", one)
        said = json.loads(run(self.weft, "eval", self.model, "--dim", f"m={m}", "--json", "--output-dir", split, *self.options(mesh, places)))
        for name in sorted(os.listdir(one)):
            (shape, want), (other, got) = read(os.path.join(one, name)), read(os.path.join(split, name))
            off = max((abs(a - b) for a, b in zip(got, want)), default=0) / max((abs(a) for a in want), default=1)
            if shape != other or not off <= MOST:
                sys.exit(f"{mesh} {places} m={m}: {name} differs by {off:.3g} of its scale")
            os.remove(os.path.join(one, name))
        return {row["axes"]: [(rank["bytes"], rank["messages"]) for rank in row["ranks"]] for row in said.get("sent", [])}

    def formulas(self, mesh, places):
        artifact = os.path.join(self.work, "layout.weft")
        run(self.weft, "compile", "-q", self.model, "--target", "x86:v2", "--dim", f"m=multiple-of({MULTIPLE})", "-o", artifact, *self.options(mesh, places))
        said = json.loads(run(self.weft, "inspect", artifact, "--json"))
        return {row["axes"]: (row["bytes"], row["messages"]) for row in said["functions"][0].get("sent", [])}

    def check(self, mesh, places, sizes):
        formulas, ranks = self.formulas(mesh, places), 1
        for _, size in mesh:
            ranks *= size
        counts = {}
        for m in sizes:
            counts[m] = self.counted(mesh, places, m)
            if set(counts[m]) != set(formulas):
                sys.exit(f"{mesh} {places}: ranks send over {sorted(counts[m])}, but the formulas are for {sorted(formulas)}")
            for axis, texts in formulas.items():
                said = [tuple(formula(text, {"m": m, **places_of(mesh, rank)}) for text in texts) for rank in range(ranks)]
                if said != counts[m][axis]:
                    sys.exit(f"{mesh} {places} m={m}: ranks send {counts[m][axis]} over {axis}, but the formulas say {said}")
        return counts


#===-- Layouts ------------------------------------------------------------------------------------===#


CUBES = (2, 2, 2), (4, 2, 1), (1, 1, 8), (1, 8, 1), (8, 1, 1)


def blocks(rows, columns):
    """Everything in blocks of a grid: tokens and the first dimension of weights over one, features and the second over the other."""
    return [f"*=[{rows}, {columns}]", f"label=[{rows}, _]", f"loss=[{rows}, _]", f"node.*=[{rows}, {columns}]"]


def cube():
    """Tokens over i, features over l, pieces over j; of what the first layer gives, features over j and pieces over l, and back."""
    return ["x=[i, l+j]", "up=[l+i, j]", "node.y=[i+l, j]", "node.g=[i+l, j]", "down=[j+i, l]", "r=[i+j, l]", "dup=[l+i, j]", "ddown=[j+i, l]",
            "dnorm=[i, l+j]", "label=[i, _]"]


def layouts():
    for q in 1, 2, 3:
        yield f"2D {q}", [("r", q), ("c", q)], blocks("r", "c")
    for q, d in (1, 1), (2, 1), (2, 2):
        yield f"2.5D {q} {q} {d}", [("d", d), ("r", q), ("c", q)], blocks("d+r", "c") + [
            f"{name}=[r, c]" for name in ("up", "down", "head", "dup", "ddown", "dhead")]
    for sizes in CUBES:
        yield "3D " + " ".join(map(str, sizes)), list(zip("ijl", sizes)), cube()


def check_layers(weft, work):
    layout = Layout(weft, work, layer())
    for name, mesh, places in layouts():
        layout.counted(mesh, places, 7)
        sent = layout.check(mesh, places, [MULTIPLE])[MULTIPLE]
        print(f"{name:<12}{', '.join(f'{axis} {ranks[0][0]} B in {ranks[0][1]}' for axis, ranks in sent.items())}", flush=True)


TOKENS = 48
FORMS = {"AB": "m k, k n -> m n", "ABT": "m k, n k -> m n", "ATB": "m k, m n -> k n"}


def area(dims):
    return 4 * (TOKENS if dims[0] == "m" else dims[0]) * (TOKENS if dims[1] == "m" else dims[1])


def sent_by(layout, mesh, places, result):
    """Bytes and messages of rank 0 over each axis, but for those that give every rank the result: over one axis after the other."""
    counts = layout.check(mesh, places, [TOKENS])[TOKENS]
    gathered, sent, axes = area(result), {}, dict(mesh)
    for _, size in mesh:
        gathered //= size
    for name in [axis for axis in "lrdcij" if axis in axes]: # pieces before the blocks that they are in
        size = axes[name]
        have, messages = counts[name][0] if name in counts else (0, 0)
        sent[name] = (have - (size - 1) * gathered, messages - (size - 1))
        gathered *= size
    return sent


def expect(what, sent, want):
    if sent != want:
        sys.exit(f"{what}: rank 0 sends {sent}, but the layout's formula is {want}")


def check_products(weft, work):
    """One product alone, of sizes that divide. SUMMA sends each rank q - 1 of q blocks of a panel, or sums of such."""
    few, many = 12, 36  # the panels that each form sends are the smaller ones; of others, other panels are sent
    forms = {"AB": (("m", few), (few, many), ("m", many)), "ABT": (("m", many), (few, many), ("m", few)), "ATB": (("m", few), ("m", many), (few, many))}
    for q in 1, 2, 3:
        for name, (a, b, c) in forms.items():
            layout = Layout(weft, work, product(FORMS[name], a, b, c))
            mesh, places = [("r", q), ("c", q)], ["node.a=[r, c]", "node.b=[r, c]", "c=[r, c]"]
            panel = lambda dims: ((q - 1) * area(dims) // q**2, q - 1)
            columns, rows = {"AB": (a, b), "ABT": (c, b), "ATB": (a, c)}[name]
            expect(f"2D {q} {name}", sent_by(layout, mesh, places, c), {"r": panel(rows), "c": panel(columns)})
    # With depth every layer does so with its tokens and the whole weight, and nothing passes between layers.
    a, b, c = forms["AB"]
    layout = Layout(weft, work, product(FORMS["AB"], a, b, c))
    for q, d in (1, 1), (2, 1), (2, 2):
        sent = sent_by(layout, [("d", d), ("r", q), ("c", q)], ["node.a=[d+r, c]", "node.b=[r, c]", "c=[d+r, c]"], c)
        panel = lambda dims, depth: ((q - 1) * area(dims) // (depth * q**2), q - 1)
        expect(f"2.5D {q} {q} {d}", sent, {"d": (0, 0), "r": panel(b, 1), "c": panel(a, d)})
    # The pieces of a cube lie within blocks. One axis is split after the other, so of three operands with pieces one would have them the
    # other way around: weights have none where all three sizes are more than 1.
    a, b, c = ("m", 64), (64, 32), ("m", 32)
    layout = Layout(weft, work, product(FORMS["AB"], a, b, c))
    for i, j, l in CUBES:
        isCube = min(i, j, l) > 1
        places = ["node.a=[i+j, l]", "node.b=[l, j]" if isCube else "node.b=[l+i, j]", "c=[i+l, j]"]
        piece = lambda dims, ranks: ((ranks - 1) * area(dims) // (i * j * l), ranks - 1)
        sent = sent_by(layout, [("i", i), ("j", j), ("l", l)], places, c)
        expect(f"3D {i} {j} {l}", sent, {"i": (0, 0) if isCube else piece(b, i), "j": piece(a, j), "l": piece(c, l)})
    print("products: as their layouts say")


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    check_products(*sys.argv[1:])
    check_layers(*sys.argv[1:])
