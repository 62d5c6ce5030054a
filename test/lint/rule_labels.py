#!/usr/bin/env python3
"""Fails when a numbered rule of an operator has no refusing test that carries its label.

A rule is a line `(R2) …` in the description of an operator (dialects/weft/**/*.td). Its test is a comment `// add (R2)` in front of the
CHECK, or on top of the TEST_CASE, that shows what is refused, in test/dialects/weft. Labels of a class of operators carry the class's
name (`binary`), those of an attribute its mnemonic.

    test/lint/rule_labels.py [ROOT]      exit 0: clean; 1: prints the rule that has no test, or the label that has no rule
    test/lint/rule_labels.py --self-test
"""
import os
import re
import sys

DECLARATION = re.compile(r'^(?:def|class) Weft_(\w+?)(?:Op|Attr)?\b[^"]*(?:"(\w+)")?')
RULE = re.compile(r"^\s*\(R(\d+)\)(?: to \(R(\d+)\))?(?: and \(R(\d+)\))?\s")
LABELS = re.compile(r"^\s*// (\w+ \(R\d+\)(?:, \w+ \(R\d+\))*)$")
LABEL = re.compile(r"(\w+) \(R(\d+)\)")
MNEMONIC = re.compile(r'let mnemonic = "(\w+)"')


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def rules_of(text):
    """(name, number) of every rule of a .td file."""
    name, rules = "", set()
    for line in text.splitlines():
        declaration, rule = DECLARATION.match(line), RULE.match(line)
        if declaration:
            is_class = line.startswith("class")
            name = snake(declaration.group(1)) if is_class or not declaration.group(2) else declaration.group(2)
        if MNEMONIC.search(line):
            name = MNEMONIC.search(line).group(1)
        if rule:
            first, last, other = (int(each) if each else None for each in rule.groups())
            rules |= {(name, number) for number in list(range(first, (last or first) + 1)) + ([other] if other else [])}
    return rules


def labels_of(text):
    """(name, number) of every label that a CHECK follows in the same test."""
    labels, waiting = set(), []
    for line in text.splitlines():
        match = LABELS.match(line)
        if match:
            waiting += [(name, int(number)) for name, number in LABEL.findall(match.group(1))]
        elif "CHECK" in line:
            labels.update(waiting)
            waiting = []
        elif line.startswith("}"):
            waiting = []
    return labels


def collect(root, folder, ending, read):
    found = {}
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(ending):
                full = os.path.join(path, name)
                with open(full, encoding="utf-8") as file:
                    for each in read(file.read()):
                        found.setdefault(each, os.path.relpath(full, root))
    return found


def check_tree(root):
    rules = collect(root, "dialects/weft", ".td", rules_of)
    labels = collect(root, "test/dialects/weft", ".cpp", labels_of)
    findings = [f"{rules[name, number]}: rule (R{number}) of '{name}' has no test: '// {name} (R{number})' in test/dialects/weft"
                for name, number in sorted(set(rules) - set(labels))]
    findings += [f"{labels[name, number]}: '// {name} (R{number})' labels a test, but there is no such rule"
                 for name, number in sorted(set(labels) - set(rules))]
    return findings


def self_test():
    text = ('class Weft_Binary<string mnemonic, string text> : Base<mnemonic> {\n    (R1) one\n    (R2) two\n}\n'
            'def Weft_ConvTransposeOp : Weft_Window<"conv_transpose", []> {\n    (R1) to (R3) and (R5) as in `conv`.\n    (R4) four\n}\n'
            'def Weft_AliasesAttr : AttrDef<Weft_Dialect, "Aliases"> {\n  let mnemonic = "aliases";\n    (R1) one\n    see (R9)\n}\n')
    assert rules_of(text) == {("binary", 1), ("binary", 2), ("aliases", 1)} | {("conv_transpose", n) for n in range(1, 6)}, rules_of(text)
    test = ("TEST_CASE(\"a\") {\n  // conv (R1), binary (R2)\n  CHECK(x);\n  // conv (R2)\n}\nTEST_CASE(\"b\") {\n  CHECK(y);\n"
            "  // see conv (R3) for more\n  CHECK(z);\n}\n")
    assert labels_of(test) == {("conv", 1), ("binary", 2)}, labels_of(test)


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(os.path.normpath(root))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "rule labels: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
