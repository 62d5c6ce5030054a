#!/usr/bin/env python3
"""Fails when something that programs outside of Weft use has no comment of its own directly above it.

  runtime/include/weft/*.h       every exported function (WEFT_API …) and every function pointer in a struct
  compiler/include/weft/*.hpp    every type, function and member that is public

A declaration needs a comment that ends on the line above; a member of a struct may have it behind (///<). In C++ the overloads that
follow a documented function share its comment. Left out are constructors that move or take nothing, and destructors.

    test/lint/exported_comments.py [ROOT]      exit 0: clean; 1: prints file:line and the declaration
    test/lint/exported_comments.py --self-test
"""
import os
import re
import sys

C_DECLARATION = re.compile(r"^WEFT_API\b|^\s+\w[\w\s*]*\(\*\w+\)\(")
C_COMMENT_ENDS = re.compile(r"(?<!---- )\*/$|^\s*//")  # a headline is no comment of what follows

SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;()]*\{$")
EXEMPT = re.compile(r"^(?:friend\b|static_assert\b|class \w+;|using namespace\b)|^~|^(\w+)\((?:\1 ?&&.*)?\)|= (?:default|delete);$")
NAME = re.compile(r"([\w~]+|operator\W+)\s*\(")


def c_findings(lines):
    for number, line in enumerate(lines, 1):
        if C_DECLARATION.match(line) and not C_COMMENT_ENDS.search(lines[number - 2].rstrip()):
            yield number, line.strip()


class Cpp:
    """A reader of headers as clang-format leaves them: one declaration a line, or one that ends in braces further down."""

    def __init__(self, lines):
        self.lines = lines
        self.scopes = []  # of each open brace: "public", "private" or "body"
        self.documented = ""  # the function above, when it has a comment

    def findings(self):
        index = 0
        while index < len(self.lines):
            line = self.lines[index].strip()
            first, text = index, line
            index += 1
            if not line or line.startswith(("//", "#", "*", "/*")):
                continue
            if line in ("public:", "private:", "protected:"):
                self.scopes[-1] = line[:-1]
                continue
            if line.startswith(("}", "namespace")):
                self.scopes = self.scopes + ["public"] if line.endswith("{") else self.scopes[:-1]
                continue
            while not re.search(r"[;{}]$", re.sub(r"\s*//.*$", "", text)) and index < len(self.lines):
                text += " " + self.lines[index].strip()
                index += 1
            is_private = any(scope != "public" for scope in self.scopes)
            if not is_private and self.is_bare(text, first, index - 1):
                yield first + 1, text
            scope = SCOPE.match(re.sub(r"\s*//.*$", "", text))
            if scope:
                self.scopes.append("private" if scope.group(1) == "class" else "public")
            else:
                index = self.skip_body(first, index)

    def is_bare(self, text, first, last):
        name = NAME.search(text)
        has_comment = self.lines[first - 1].strip().startswith("//") or any("///<" in line for line in self.lines[first:last + 1])
        is_overload = name and name.group(1) == self.documented
        self.documented = name.group(1) if name and (has_comment or is_overload) else ""
        return not has_comment and not is_overload and not EXEMPT.search(re.sub(r"\s*//.*$", "", text))

    def skip_body(self, first, index):
        """The line behind a declaration with braces."""
        depth = lambda end: sum(line.count("{") - line.count("}") for line in (re.sub(r"//.*$", "", l) for l in self.lines[first:end]))
        while depth(index) > 0 and index < len(self.lines):
            index += 1
        return index


def check(path, text):
    lines = text.split("\n")
    return list(Cpp(lines).findings() if path.endswith(".hpp") else c_findings(lines))


def check_tree(root):
    findings = []
    for folder, ending in (("runtime/include/weft", ".h"), ("compiler/include/weft", ".hpp")):
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if name.endswith(ending):
                path = f"{folder}/{name}"
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    findings += [f"{path}:{number}: no comment above: {text}" for number, text in check(path, file.read())]
    return findings


def self_test():
    assert not check("a.h", "/* Adds. */\nWEFT_API int add(int a,\n                int b);\n")
    assert check("a.h", "/* Adds. */\nWEFT_API int add(int a);\nWEFT_API int sub(int a);\n") == [(3, "WEFT_API int sub(int a);")]
    assert check("a.h", "/* ---- Calls ---- */\nWEFT_API int sub(int a);\n")
    assert check("a.h", "typedef struct {\n  int x;\n  void (*f)(int);\n} t;\n") == [(3, "void (*f)(int);")]
    good = "\n/// A.\nclass A {\npublic:\n  A(A &&) noexcept;\n  ~A();\n  /// Gives.\n  int f() const {\n    return 1;\n  }\n  int f(int x);\n\nprivate:\n  int g();\n};\n"
    assert not check("a.hpp", good), check("a.hpp", good)
    for bad in ("\nclass B {\n};\n", "\n/// A.\nstruct A {\n  int x;\n};\n", "\n/// A.\nstruct A {\n  int x; ///< one\n  int f();\n};\n",
                "\n/// A.\nclass A {\npublic:\n  /// f\n  int f();\n  int g();\n};\n", "\nenum class E { A, B };\n"):
        assert check("a.hpp", bad), bad


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    findings = check_tree(os.path.normpath(root))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "exported comments: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
