#!/usr/bin/env python3
"""Fails when a facet of an operator is not in the file of its family: a path is computed from a family's name.

  dialects/weft/ops/<Family>.td, .cpp      declaration; types, rules, verifiers
  dialects/weft/code/<Family>.cpp          emitScalar, emitElement, emitSerial
  dialects/weft/reference/<Family>.cpp     evaluateScalar, evaluate

A family that lacks a facet is in LACKING with the reason; a room has no other sources than those of HELPERS.

    test/lint/facets.py [ROOT]      exit 0: clean; 1: prints the file and the rule
    test/lint/facets.py --self-test
"""
import os
import re
import sys
import tempfile

DIALECT = "dialects/weft"
ROOMS = {
    "ops": r"inferReturnTypes|verify|ruleText|rootKind|serialUnits|serialScratch|decompose|sentBytes|sentMessages",
    "code": r"emitScalar|emitElement|emitSerial",
    "reference": r"evaluateScalar|evaluate|exchange",
}
# (family, room) -> why it has no file there.
LACKING = {
    ("Collective", "code"): "ranks exchange between kernels: programs over ranks are evaluated, not yet compiled",
    ("Control", "code"): "the host program is its code: compiler/host",
    ("Control", "reference"): "the evaluator walks its regions: compiler/eval",
    ("Kernel", "code"): "its region holds the operators that are computed",
    ("Kernel", "reference"): "its region holds the operators that have a meaning",
    ("Normalize", "code"): "whole lines are the schedule's: targets/cpu/schedules/line/Row.cpp",
    ("Reduction", "code"): "its rule and its combiner say all",
    ("Reduction", "reference"): "its rule and its combiner say all",
}
# Sources of a room that are no family's.
HELPERS = {
    "ops": {"Base.td", "Infer.h"},
    "code": {"Emit.h", "NarrowFloat.cpp"},
    "reference": {"Combine.cpp", "Constant.h", "Interpreter.cpp", "Positions.cpp", "Reference.h", "Tensor.cpp", "Walk.h"},
}
OPERATION = re.compile(r'^def Weft_(\w+Op)\s*:', re.M)


def method_of(room):
    return re.compile(r"^(?:[\w:<>,& ]+\s)?(\w+Op)::(?:" + ROOMS[room] + r")\(", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def families(root):
    """Name of a family -> the classes of its operators."""
    folder = os.path.join(root, DIALECT, "ops")
    found = {name[:-3]: OPERATION.findall(read(os.path.join(folder, name)))
             for name in sorted(os.listdir(folder)) if name.endswith(".td")}
    return {family: operators for family, operators in found.items() if operators}


def check_room(root, room, operators):
    """`operators`: class -> family."""
    folder = os.path.join(root, DIALECT, room)
    names = set(operators.values())
    present = set()
    for source in sorted(os.listdir(folder)):
        family, where = source.rsplit(".", 1)[0], f"{DIALECT}/{room}/{source}"
        if source not in HELPERS[room] and family not in names:
            yield f"{where}: no family of operators has this name: see dialects/weft/ops/*.td"
        if not source.endswith(".cpp"):
            continue
        present.add(family)
        text = read(os.path.join(folder, source))
        for other, method in ROOMS.items():
            for match in method_of(other).finditer(text):
                here, operator = match.group(0).strip(" ("), match.group(1)
                if other != room:
                    yield f"{where}: '{here}' belongs into {DIALECT}/{other}"
                elif operators.get(operator, family) != family:
                    yield f"{where}: '{here}' belongs into {DIALECT}/{room}/{operators[operator]}.cpp"
    for family in sorted(names):
        lacking = (family, room) in LACKING
        if family in present and lacking:
            yield f"{DIALECT}/{room}/{family}.cpp: exists: remove its row from LACKING in test/lint/facets.py"
        if family not in present and not lacking:
            yield f"{DIALECT}/{room}/{family}.cpp: does not exist, and LACKING in test/lint/facets.py has no reason why"


def check_tree(root):
    operators = {operator: family for family, list in families(root).items() for operator in list}
    return [finding for room in ROOMS for finding in check_room(root, room, operators)]


def self_test():
    assert method_of("code").search("Value AddOp::emitScalar(Builder &b, ValueRange e) {").group(1) == "AddOp"
    assert method_of("ops").search("LogicalResult AddOp::inferReturnTypes(MLIRContext *,").group(1) == "AddOp"
    assert not method_of("reference").search("  return cast<AddOp>(op).evaluate(call);")
    with tempfile.TemporaryDirectory() as root:
        def write(path, text):
            full = os.path.join(root, DIALECT, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)

        for room in ROOMS:
            write(f"{room}/Add.cpp", "")
            write(f"{room}/Mul.cpp", "")
        write("ops/Add.td", "def Weft_AddOp : Weft_Op;\n")
        write("ops/Mul.td", "def Weft_MulOp : Weft_Op;\n")
        assert check_tree(root) == [], check_tree(root)
        write("ops/Add.cpp", "Value AddOp::emitElement(int) {}\n")
        write("code/Mul.cpp", "Value AddOp::emitScalar(int) {}\n")
        write("code/Sums.cpp", "")
        os.remove(os.path.join(root, DIALECT, "reference/Mul.cpp"))
        found = check_tree(root)
        for part in ("ops/Add.cpp: 'Value AddOp::emitElement' belongs into dialects/weft/code",
                     "code/Mul.cpp: 'Value AddOp::emitScalar' belongs into dialects/weft/code/Add.cpp",
                     "code/Sums.cpp: no family", "reference/Mul.cpp: does not exist"):
            assert any(part in finding for finding in found), (part, found)
        assert len(found) == 4, found


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(root)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "facets: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
