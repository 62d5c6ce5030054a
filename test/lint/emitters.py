#!/usr/bin/env python3
"""Fails when a long emitter does not open with the loop nest that it emits, or marks other steps than the nest has.

An emitter is a source file of the folders below that builds code. From 150 lines on, the comment at its top has the loops that it emits,
in a few lines of pseudo-code, and the word or two of each step in square brackets at the end of its line. Functions of numbers have
their formula there. Where the code emits a step, a comment begins with the same words:

    //   for register tile of the block's rows                          [tiles]
    //     for chunk of k: totals += A[row, k] * B[k, n]                [sum]
    …
      // [tiles] A function for every number of rows.

    test/lint/emitters.py [ROOT]      exit 0: clean; 1: prints file:line of the emitter without a nest, the step or the mark that is alone
    test/lint/emitters.py --self-test
"""
import os
import re
import sys

FOLDERS = ("targets", "dialects/weft/code", "dialects/weft/interfaces")
LONG = 150 # lines
NEST_LINES = range(4, 15)
# What builds operations: none of these is needed to describe or to match what is there.
BUILDS = re.compile(r"\b(?:KernelContext|ElementBuilder|SerialBuilder|ImplicitLocOpBuilder|OpBuilder)\b|\blanes::|namespace weft::lanes\b")

WORDS = r"\[([a-z][a-z0-9-]*(?: [a-z0-9-]+)*)\]"
DRAWING = re.compile(r"//   +\S") # a line of the header that is indented
STEP = re.compile(rf"//   .*\S  +{WORDS}$")
MARK = re.compile(rf"\s*///? {WORDS}(?: |$)")


def header_of(lines):
    """How many lines the comment at the top has."""
    return next((number for number, line in enumerate(lines) if not line.startswith("//")), len(lines))


def nest_of(lines):
    """({words: line} of the steps, lines of the nest). The nest begins and ends where lines are indented."""
    drawings, drawing = [], []
    for number, line in enumerate(lines[:header_of(lines)] + [""], 1):
        if DRAWING.match(line):
            drawing.append((number, line))
        elif drawing:
            drawings.append(drawing)
            drawing = []
    nests = [drawing for drawing in drawings if any(STEP.match(line) for _, line in drawing)]
    steps = {STEP.match(line)[1]: number for nest in nests for number, line in nest if STEP.match(line)}
    return steps, sum(map(len, nests))


def marks_of(lines):
    """{words: line} of the comments behind the header that begin with words in brackets."""
    header = header_of(lines)
    return {MARK.match(line)[1]: number for number, line in enumerate(lines[header:], header + 1) if MARK.match(line)}


def check_file(text):
    """(line, what is wrong) of one emitter. A short one needs no nest; one that it has is right."""
    lines = text.splitlines()
    steps, length = nest_of(lines)
    marks = marks_of(lines)
    if len(lines) > LONG and not steps:
        yield 1, f"emits code in {len(lines)} lines, more than {LONG}, and does not open with the loop nest of it, steps in [brackets]"
    elif steps and length not in NEST_LINES:
        yield min(steps.values()), f"the nest has {length} lines; from {NEST_LINES[0]} to {NEST_LINES[-1]} show the way"
    for words in [] if not steps else sorted(set(steps) - set(marks)):
        yield steps[words], f"no code is marked '// [{words}]', a step of the nest"
    for words in sorted(set(marks) - set(steps)):
        yield marks[words], f"'[{words}]' marks code, but the nest has no such step"


def check_tree(root):
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not name.endswith(".cpp"):
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if BUILDS.search(text):
                    for line, what in check_file(text):
                        yield f"{os.path.relpath(path, root)}:{line}: {what}"


def self_test():
    nest = ("//===- A.cpp - Sums ---===//\n//\n// Lies as [k][n] in [begin, end) of\n//\n//   strips [channel][row]\n//\n"
            "//   for row                          [rows]\n//     for k: sums += a[row, k]       [sum up]\n"
            "//     store,\n//       masked beyond [n]\n//===---===//\n")
    code = "/// [rows] Why.\nint f() {\n  // [sum up] Why.\n  // [sum up]\n  // [n / 2] is a place\n  g(); // [no] mark\n}\n"
    assert nest_of(nest.splitlines()) == ({"rows": 7, "sum up": 8}, 4), nest_of(nest.splitlines())
    assert set(marks_of((nest + "\n" + code).splitlines())) == {"rows", "sum up"}
    fill = "int x;\n" * LONG
    assert not list(check_file(nest + "\n" + code + fill))
    wrong = {
        "more than": "// A file.\n\n" + fill,
        "'// [sum up]'": nest + "\n" + code.replace("// [sum up]", "// sum up") + fill,
        "'[all rows]'": nest + "\n" + code + "// [all rows] Why.\n" + fill,
        "from 4": nest.replace("//     store,\n", "") + "\n" + code,
        "'[rows]'": "// A short file.\n\n// [rows] Why.\n",
    }
    for what, text in wrong.items():
        findings = list(check_file(text))
        assert len(findings) == 1 and what in findings[0][1], (what, findings)
    assert not list(check_file("// A short file.\n\nint x;\n"))
    assert BUILDS.search("void emit(KernelContext &c)") and not BUILDS.search("#include <lanes.h>")


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = list(check_tree(os.path.normpath(root)))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "emitters: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
