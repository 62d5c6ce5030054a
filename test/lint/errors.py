#!/usr/bin/env python3
"""Fails where an error is a text that somebody else fills or compares with "", or an optional of diagnostics.

docs/design.md says what errors are instead: `weft::Result`, MLIR's diagnostics, `llvm::Error`.

    test/lint/errors.py [ROOT]      exit 0: clean; 1: prints file:line, what is there, and what to write
    test/lint/errors.py --self-test
"""
import os
import re
import sys

sys.dont_write_bytecode = True
import bounds  # noqa: E402

FOLDERS = ("dialects/", "passes/", "targets/", "compiler/", "tools/")
REASON = r"(?:why|reason|error|message|problem|wrong|complaint)"
FILLED = "a text to be filled: return llvm::Error or llvm::Expected"
# An optional of one or several; a list is called List here and there.
OPTIONAL = re.compile(r"\boptional<(?:std::vector<)?(?:weft::)?(?:Diagnostic|List)>")
PARAMETER = re.compile(r"(?<!const )\bstd::string ?[&*] ?" + REASON + r"\b")
LOCAL = re.compile(r"^\s*(?:static )?std::string (?:\w+, )*" + REASON + r"(?:, \w+)*;")
COMPARED = re.compile(r"\bif \((?:const )?std::string " + REASON + r" = ")
# Files that call something else that fills a text -> what. Remove a row when it is no longer needed; the check says when.
KNOWN = {"targets/cpu/Codegen.cpp": "llvm::TargetRegistry::lookupTarget"}


def check_text(text):
    """(line, what is there and what to write) of everything that is no error."""
    code = bounds.code_of(text).splitlines()
    inside = {line for _, first, lines, _ in bounds.functions(text) for line in range(first, first + lines)}
    for number, line in enumerate(code, 1):
        if OPTIONAL.search(line):
            yield number, "an optional of diagnostics: return Result<void>, or Result of what there is otherwise"
        if PARAMETER.search(line) or (number in inside and LOCAL.search(line)):
            yield number, FILLED
        if COMPARED.search(line):
            yield number, "an empty text that means success: return llvm::Error, or emit where it is found"


def check_tree(root):
    findings, known = [], set()
    for name in bounds.committed(root):
        if not name.startswith(FOLDERS):
            continue
        with open(os.path.join(root, name), encoding="utf-8") as file:
            found = list(check_text(file.read()))
        if found and name in KNOWN:
            known.add(name)
            continue
        findings += [f"{name}:{number}: {what}" for number, what in found]
    return findings + [f"test/lint/errors.py: {name} is clean: remove its row from KNOWN" for name in KNOWN if name not in known]


def self_test():
    bad = ["std::optional<Diagnostic> refuse(int limit);", "std::optional<weft::Diagnostic> refuse();", "if (std::optional<List> bad = prepare()) f();",
           "Value create(int x, std::string &why);", "bool parse(StringRef text, std::string *error);",
           "void f() {\n  std::string why;\n  g(why);\n}", "void f() {\n  std::string text, why;\n}",
           'void f() {\n  if (std::string why = judge(x); !why.empty())\n    g();\n}']
    good = ["struct A {\n  std::string error; ///< why it failed\n};", "bool refuse(std::string why) { return false; }", "Failure damaged(const std::string &why);",
            "// std::string &why", "Result<void> prepare();", "void f() {\n  std::string reason = toString(std::move(error));\n}",
            "class P {\n  bool parse() { return !error.empty(); }\n  std::string error;\n};", "const std::string &error() const { return text; }",
            'void f() {\n  if (std::string place = placeOf(x); !place.empty())\n    g(place);\n}']
    for text in bad:
        assert list(check_text(text)), text
    for text in good:
        assert not list(check_text(text)), text


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(os.path.normpath(root))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "errors: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
