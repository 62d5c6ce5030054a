#!/usr/bin/env python3
"""Fails where code names a processor, or asks for a number that stands for one, outside the folder that describes it.

  targets/cpu, targets/common            no processor, level or intrinsic, in comments neither; lanes, registers and bits of vectors are
                                         compared with no number but 1: what a machine has is asked of VectorMachine
  compiler, dialects, passes, tools,     no target's name in code; comments and help may show examples
  runtime/src but for the feature probe

    test/lint/machine_names.py [ROOT]      exit 0: clean; 1: prints file:line and the rule
    test/lint/machine_names.py --self-test
"""
import os
import re
import sys

SOURCES = (".h", ".hpp", ".c", ".cpp")
GENERIC = ("targets/cpu", "targets/common")
USERS = ("compiler", "dialects", "passes", "tools", "runtime/src")
PROBE = ("runtime/src/cpu/cpu_features.cpp",)

PROCESSOR = re.compile(r"\b(?:x86|avx|sse|vnni|fma3|neon|sve|amx|arm|aarch64)(?![a-z])|llvm\.(?:x86|aarch64|arm)\b|(?:avx|sse|neon|sve)\d", re.I)
COUNT = r"\b(?:lanes|laneCount|registers|vectorBits)\b(?:\(\))?\)*"
NUMBER = r"\(*(?!1\b)\d+"
COMPARED = re.compile(rf"{COUNT}\s*(?:==|!=|<=|>=|<|>)\s*{NUMBER}|{NUMBER}\s*(?:==|!=|<=|>=|<|>)\s*(?:\w+\.)*{COUNT}")
TARGET = re.compile(r'"[^"]*\b(?:x86|arm):[^"]*"')
COMMENT = re.compile(r"//.*|/\*.*?\*/")


def findings_of(path, number, line):
    """What is wrong with a line of the file."""
    if path.startswith(GENERIC):
        word = PROCESSOR.search(line)
        if word:
            yield f"{path}:{number}: '{word.group(0)}' names a processor: it belongs to the folder of its family"
        compared = COMPARED.search(COMMENT.sub("", line))
        if compared:
            yield f"{path}:{number}: '{compared.group(0)}' takes a number for a machine: ask VectorMachine"
    elif path.startswith(USERS) and path not in PROBE:
        name = TARGET.search(COMMENT.sub("", line))
        if name:
            yield f"{path}:{number}: {name.group(0)} names a target: ask targets/common/Registry.h, or CompileOptions"


def check_tree(root):
    findings = []
    for top in GENERIC + USERS:
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(files):
                if not name.endswith(SOURCES):
                    continue
                full = os.path.join(folder, name)
                with open(full, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        findings += findings_of(os.path.relpath(full, root), number, line.rstrip("\n"))
    return findings


def self_test():
    bad = [("targets/cpu/A.cpp", 'b.getStringAttr("llvm.x86.avx512.permvar.sf.512")'), ("targets/cpu/A.cpp", "// AVX2 has none"), ("targets/cpu/A.cpp", "scalefAvx512(p, n)"),
           ("targets/cpu/A.cpp", "if (c.isa.lanes == 16)"), ("targets/cpu/A.cpp", "return machine.registers() >= 32 ? 13 : 6;"),
           ("targets/cpu/A.cpp", "x = 512 <= options.vectorBits;"), ("targets/common/A.h", '/// "x86:v3"'),
           ("tools/weft/A.cpp", 'options.value("target", "x86:host")'), ("runtime/src/module.c", 'hint("--target x86:host")')]
    good = [("targets/cpu/A.cpp", "if (lanes == 1)"), ("targets/cpu/A.cpp", "for (int64_t l = 0; l < lanes; ++l)"),
            ("targets/cpu/A.cpp", "s.filters <= int64_t(machine.lanes())"), ("targets/cpu/A.cpp", "rows * 8 + machine.lanes()"),
            ("targets/cpu/A.cpp", "assert(assemble(classes))"), ("targets/x86/A.cpp", '"llvm.x86.avx2.pmadd.wd"'),
            ("tools/weft/A.h", 'std::string target; ///< "x86:v4"'), ("runtime/src/cpu/cpu_features.cpp", '"x86:v4"')]
    for path, line in bad:
        assert list(findings_of(path, 1, line)), line
    for path, line in good:
        assert not list(findings_of(path, 1, line)), line


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(os.path.normpath(root))
    print("\n".join(findings) if findings else "machine names: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
