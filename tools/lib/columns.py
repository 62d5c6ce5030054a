#!/usr/bin/env python3
"""Wraps comments of C and C++ at 100 columns, where clang-format wraps code, and names lines that stay wider.

Only paragraphs of '//' comments with a line that is too wide are wrapped; titles lose dashes. Tables, drawings and code in comments (lines that are
indented) are not: they are named, as are comments behind code. Raw strings and lines with a URL may be wider.

    columns.py [--check] FILE...     exit 0: all are within bounds; 1: a line is too wide, or with --check, a comment would be wrapped
    columns.py --self-test
"""
import re
import sys
import textwrap

COLUMNS = 100
# Folders whose comments are still wider. Taken out, a folder is wrapped by tools/format.
LATER = ("compiler/artifact/", "compiler/driver/", "compiler/host/", "compiler/import/onnx/", "compiler/import/readers/",
         "compiler/import/text/", "compiler/include/", "compiler/model/", "compiler/plan/", "compiler/tuning/", "dialects/",
         "passes/", "runtime/", "targets/", "test/", "tools/weft/cli/", "tools/weft/compile_verbs/", "tools/weft/model/",
         "tools/weft/tune/", "tools/weft/verbs/")

COMMENT = re.compile(r"(\s*)(///?<?) ?(.*)")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
TITLE = re.compile(r"(\s*//===-.*[^-\s])\s+-+===//") # as a head of a file has it
ITEM = re.compile(r"(?:[-*]|\d+\.) +")


def comment_of(line):
    """(what stands before the text, the text) of a line that is a comment to be wrapped, or None."""
    found = COMMENT.fullmatch(line)
    if not found or found[3].startswith("===") or line.lstrip().startswith("////"):
        return None
    return found[1] + found[2] + " ", found[3]


def shorter(line):
    """A title with as many dashes as there is room for, at least one."""
    title = TITLE.fullmatch(line)
    return f"{title[1]} {'-' * max(1, COLUMNS - len(title[1]) - 6)}===//" if title and len(line) > COLUMNS else line


def paragraphs(lines):
    """Lines in groups that are wrapped together; each has what stands before the text, or None where lines stay as they are."""
    before, group = None, []
    for line in lines:
        comment = comment_of(line)
        text = comment[1] if comment else ""
        stands = not comment or not text or text.startswith(" ")
        if group and (stands or before != comment[0] or ITEM.match(text)):
            yield before, group
            group = []
        if stands:
            yield None, [line]
        else:
            before = comment[0]
            group.append(text)
    if group:
        yield before, group


def raw_lines(text):
    return {number for found in RAW_STRING.finditer(text)
            for number in range(text.count("\n", 0, found.start()), text.count("\n", 0, found.end()) + 1)}


def wrap(text):
    raw = raw_lines(text)
    lines = [line if number in raw else shorter(line) for number, line in enumerate(text.split("\n"))]
    out, at = [], 0
    for before, group in paragraphs(lines):
        begin, at = at, at + len(group)
        if before is None or begin in raw or all(len(before + line) <= COLUMNS for line in group):
            out += lines[begin:at]
            continue
        item = ITEM.match(group[0])
        hanging = before + " " * (len(item[0]) if item else 0)
        out += textwrap.wrap(" ".join(line.strip() for line in group), COLUMNS, initial_indent=before, subsequent_indent=hanging, break_long_words=False,
                             break_on_hyphens=False)
    return "\n".join(out)


def too_wide(text):
    raw = raw_lines(text)
    for number, line in enumerate(text.split("\n")):
        if len(line) > COLUMNS and "://" not in line and number not in raw:
            yield number + 1, len(line)


def self_test():
    words = "word " * 30
    wrapped = wrap(f"  /// {words}\n  /// more\n  ///\n  ///   {words}\nint x;\n")
    assert wrapped == wrap(wrapped) and wrapped.split("\n")[0] == "  /// " + ("word " * 19).rstrip(), wrapped
    assert wrapped.count("more") == 1 and wrapped.split("\n")[1].endswith("word more"), wrapped
    assert f"  ///   {words}" in wrapped and [number for number, _ in too_wide(wrapped)] == [4], wrapped
    item = wrap(f"// - {words}\n// - short\n").split("\n")
    assert item[1].startswith("//   word") and item[2] == "// - short", item
    raw = f'f(R"(\n// {words}\n)");\n'
    assert wrap(raw) == raw and not list(too_wide(raw))
    assert not list(too_wide("// https://" + "a" * 100))
    assert wrap("//===- A.h - Words " + "-" * 99 + "===//") == "//===- A.h - Words " + "-" * 76 + "===//"


def main():
    self_test()
    check = "--check" in sys.argv[1:]
    found = 0
    for name in sys.argv[1:]:
        if name.startswith("--") or name.startswith(LATER):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        wrapped = wrap(text)
        if wrapped != text and check:
            print(f"{name}: comments are wider than {COLUMNS} columns")
            found += 1
        elif wrapped != text:
            with open(name, "w", encoding="utf-8") as file:
                file.write(wrapped)
        for number, width in too_wide(wrapped):
            print(f"{name}:{number}: {width} columns, more than {COLUMNS}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
