"""Writes textual IR that means harm: make_text.py CASE writes CASE.mlir."""

import sys

DEEP = 100000


def attribute(text):
    return "module attributes {a = " + text + "} {}\n"


def program(lines, result="%r"):
    tensor = "!weft.tensor<[n], f32>"
    body = "".join(f"  {line} : ({', '.join([tensor] * line.count('%', 2))}) -> {tensor}\n" for line in lines)
    return (f"func.func @main(%a: {tensor}) -> {tensor} attributes {{weft.symbols = #weft.symbols<n>}} {{\n"
            f"{body}  return {result} : {tensor}\n}}\n")


def branches(first, second):
    """A branch each."""
    tensor = "!weft.tensor<[n], f32>"
    text = (f"func.func @main(%c: !weft.tensor<[], i1>, %p: {tensor}) -> {tensor} attributes {{weft.symbols = #weft.symbols<n>}} {{\n"
            f"  %r = weft.if %c : (!weft.tensor<[], i1>) -> {tensor} {{\n    {first}\n  }} else {{\n    {second}\n  }}\n"
            f"  return %r : {tensor}\n}}\n")
    return text.replace("TENSOR", tensor)


def nested(levels):
    """A branch in a branch."""
    tensor = "!weft.tensor<[n], f32>"
    text = "weft.yield %p : " + tensor
    for i in range(levels):
        text = (f"%r{i} = weft.if %c : (!weft.tensor<[], i1>) -> {tensor} {{ {text} }} else {{ weft.yield %p : {tensor} }}\n"
                f"weft.yield %r{i} : {tensor}")
    head, _, _ = text.rpartition("weft.yield")
    return (f"func.func @main(%c: !weft.tensor<[], i1>, %p: {tensor}) -> {tensor} attributes {{weft.symbols = #weft.symbols<n>}} {{\n"
            f"{head}return %r{levels - 1} : {tensor}\n}}\n")


def chain(count, operator):
    """Every operator reads the one before it, as often as it has operands."""
    lines = []
    for i in range(count):
        before = f"%v{i - 1}" if i else "%a"
        lines.append(f"%v{i} = weft.{operator} " + ", ".join([before] * (2 if operator == "add" else 1)))
    return program(lines, f"%v{count - 1}")


def with_bytes(*entries, count=1):
    """A weight whose bytes stand behind the program."""
    weight = f'weft.weight @w from "b" at 0 bytes {4 * count} : !weft.tensor<[{count}], f32>\n'
    return weight + program(["%r = weft.neg %a"]) + "{-# external_resources: { weft_weights: { " + ", ".join(entries) + " } } #-}\n"


CASES = {
    "brackets_deep": lambda: attribute("[" * 490 + "1" + "]" * 490),
    "regions_deep": lambda: nested(245),
    "brackets": lambda: attribute("[" * DEEP + "1" + "]" * DEEP),
    "closed_in_strings": lambda: attribute('["]", ' * DEEP + "1" + "]" * DEEP),
    "closed_in_comments": lambda: attribute("[ // ]\n" * DEEP + "1" + "]" * DEEP),
    "closed_by_arrows": lambda: attribute("tuple<() -> " * DEEP + "i1" + ">" * DEEP),
    "closed_by_another": lambda: attribute("[)" * DEEP),
    "affine_minus": lambda: attribute("affine_map<() -> (" + "-" * 1000000 + "1)>"),
    "use_in_earlier_branch": lambda: branches("weft.yield %2 : TENSOR", "%2 = weft.neg %p : (TENSOR) -> TENSOR weft.bad"),
    "use_of_later_line": lambda: program(["%r = weft.neg %b", "%b = weft.neg %a"]),
    "no_tensor": lambda: "func.func @main(%a: i32) -> i32 { return %a : i32 }\n",
    "tensor_of_mlir": lambda: "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }\n",
    "calls_itself": lambda: program(["%r = func.call @main(%a)"]),
    "other_file": lambda: 'weft.weight @w from "../secret.bin" at 0 bytes 4 : !weft.tensor<[1], f32>\n' + program(["%r = weft.neg %a"]),
    "behind_end": lambda: 'weft.weight @w from "behind_end.mlir" at 9223372036854775807 bytes 4 : !weft.tensor<[1], f32>\n' + program(["%r = weft.neg %a"]),
    "foreign_bytes": lambda: program(["%r = weft.neg %a"]) + '{-# dialect_resources: { builtin: { x: "0x00000000ff" } } #-}\n',
    "no_digits": lambda: with_bytes('_b: "0011223g"'),
    "no_name": lambda: with_bytes('_b$4: "00112233"'),
    "half_a_byte": lambda: with_bytes('_b: "0011223"'),
    "no_text": lambda: with_bytes("_b: true"),
    "two_contents": lambda: with_bytes('_b: "00112233"', '_b: "00112244"'),
    "few_bytes": lambda: with_bytes('_b: "00112233"', count=2),
    "long_chain": lambda: chain(5000, "neg"),
    "doubled": lambda: chain(60, "add"),
}

for name in sys.argv[1:]:
    with open(name + ".mlir", "w") as out:
        out.write(CASES[name]())
