#!/usr/bin/env python3
"""Fails when the name of an attribute of the dialect is spelled as text anywhere but where it is declared.

A name is declared as a constant, `kNameAttr = "weft.name"`; sources use the constant. A literal that names an operator
(`"weft.add"`, a mnemonic of dialects/weft/ops/*.td) is no attribute's, unless an accessor of attributes gets it.

    test/lint/attribute_names.py [ROOT]      exit 0: clean; 1: prints file:line, the literal, and what to use
    test/lint/attribute_names.py --self-test
"""
import os
import re
import sys

FOLDERS = ("dialects", "passes", "targets", "compiler", "tools")
LITERAL = re.compile(r'"(weft\.[a-z_]+)"')
DECLARED = re.compile(r'\b(k\w+Attr) = "(weft\.[a-z_]+)"')
ACCESSOR = re.compile(r"Attr\w*(<[\w:, ]*>)?\(")
OPERATOR = re.compile(r'^def Weft_\w+Op : \w+<"([a-z_0-9]+)"', re.M)


def files(root, endings):
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_line(line, constants, operators):
    """Literals of attributes that the line spells without declaring them, each with what to use."""
    declared = {text for _, text in DECLARED.findall(line)}
    for text in LITERAL.findall(line.split("//")[0]):
        if text in declared or (text[len("weft."):] in operators and not ACCESSOR.search(line)):
            continue
        yield text, f"use {constants[text]}" if text in constants else "declare a constant for it in the header of what it is about"


def check_tree(root):
    operators = {name for path in files(root, (".td",)) for name in OPERATOR.findall(read(path))}
    sources = {path: read(path) for path in files(root, (".cpp", ".h"))}
    constants = {text: name for source in sources.values() for name, text in DECLARED.findall(source)}
    findings = []
    for path, source in sources.items():
        for number, line in enumerate(source.splitlines(), 1):
            for text, instead in check_line(line, constants, operators):
                findings.append(f'{os.path.relpath(path, root)}:{number}: "{text}" is spelled as text: {instead}')
    return findings


def self_test():
    constants, operators = {"weft.weight": "kWeightAttr"}, {"add", "weight"}
    bad = ['  function.setArgAttr(i, "weft.weight", b.getUnitAttr());', 'op->setAttr("weft.new", value);',
           'spec.getArgAttrOfType<UnitAttr>(0, "weft.weight")']
    good = ['constexpr llvm::StringLiteral kWeightAttr = "weft.weight";', 'impl->create("weft.add", {x, y});', '// "weft.weight" says so',
            'text->find("weft.weight of");', 'constexpr StringLiteral kA = "a", kWeightAttr = "weft.weight";']
    assert all(list(check_line(line, constants, operators)) for line in bad)
    assert not any(list(check_line(line, constants, operators)) for line in good)
    assert OPERATOR.findall('def Weft_AddOp : Weft_Binary<"add", "sum; integers wrap">;') == ["add"]


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(os.path.normpath(root))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "attribute names: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
