"""Reads what a how-to page tells its reader to do.

Fenced code in C++, TableGen, MLIR and CMake goes into the file that the heading above it names in backticks: it becomes the file where the
heading says "(new)", else it is put at the end, in front of the lines that close the file. Comments of the page, which readers do not see,
say the rest:

    <!-- before: TEXT -->                       the next fence goes in front of the line with TEXT, not to the end
    <!-- after: TEXT -->                        ... behind the line with TEXT
    <!-- FILE: replace "OLD" with "NEW" -->     what the page says in words
    <!-- same: FILE -->                         the next fence is FILE as it is in the tree
    <!-- run TARGETS: COMMAND -->               what shows that it works; the command runs in the build folder
"""
import os
import re

LANGUAGES = ("cpp", "tablegen", "mlir", "cmake")
HEADING = re.compile(r"#+ .*?`([\w./+-]+/[\w.+-]+\.\w+)`( \(new\))?")
MARK = re.compile(r"<!-- (before|after|same|run [\w -]+|[\w./-]+): (.*) -->")
REPLACE = re.compile(r'replace "(.*)" with "(.*)"')
CLOSING = re.compile(r"\s*(#endif.*|} // (end )?namespace.*)?")


class Stale(Exception):
    """What the page says does not fit the tree."""


class Page:
    """The steps of a page in its order, and what shows that they work."""

    def __init__(self, path):
        self.path, self.steps, self.runs = path, [], []
        self.file, self.is_new, self.place = None, False, None
        with open(path, encoding="utf-8") as file:
            lines = iter(list(enumerate(file, 1)))
        for number, line in lines:
            if line.startswith("```"):
                code = "".join(self._fence(lines))
                if line[3:].strip() in LANGUAGES:
                    self._code(number, code)
            elif line.startswith("#"):
                heading = HEADING.match(line)
                self.file, self.is_new = (heading[1], bool(heading[2])) if heading else (None, False)
            elif line.startswith("<!-- "):
                self._mark(number, line.rstrip())

    @staticmethod
    def _fence(lines):
        for _, line in lines:
            if line.startswith("```"):
                return
            yield line

    def _mark(self, number, line):
        mark = MARK.fullmatch(line)
        replace = mark and REPLACE.fullmatch(mark[2])
        if not mark:
            raise Stale(f"{self.path}:{number}: this comment says nothing: {line}")
        if mark[1].startswith("run "):
            self.runs.append((mark[1].split()[1:], mark[2]))
        elif mark[1] in ("before", "after", "same"):
            self.place = (mark[1], mark[2])
        elif replace:
            self._step(number, mark[1], lambda text: replaced(text, replace[1], replace[2]))
        else:
            raise Stale(f'{self.path}:{number}: needs replace "OLD" with "NEW": {line}')

    def _code(self, number, code):
        (way, text), self.place = self.place or ("end", None), None
        if way == "same":
            self._step(number, text, lambda old: same(old, code))
        elif self.file and self.is_new:
            self._step(number, self.file, lambda old: code, is_new=True)
        elif self.file and way == "end":
            self._step(number, self.file, lambda old: closed_by(old, code))
        elif self.file:
            self._step(number, self.file, lambda old: beside(old, text, code, way))

    def _step(self, number, file, edit, is_new=False):
        self.steps.append((f"{self.path}:{number}", file, edit, is_new))

    def apply(self, tree):
        """Does all steps in a tree."""
        for place, name, edit, is_new in self.steps:
            path = os.path.join(tree, name)
            if os.path.exists(path) == is_new:
                raise Stale(f"{place}: {name} " + ("exists already" if is_new else "does not exist"))
            try:
                text = edit("" if is_new else open(path, encoding="utf-8").read())
            except Stale as why:
                raise Stale(f"{place}: {name} {why}") from None
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def same(text, code):
    if text != code:
        raise Stale("is not what the page shows")
    return text


def replaced(text, old, new):
    if text.count(old) != 1:
        raise Stale(f"has '{old}' {text.count(old)} times, not once")
    return text.replace(old, new)


def beside(text, mark, code, way):
    lines = text.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if mark in line]
    if len(at) != 1:
        raise Stale(f"has '{mark}' in {len(at)} lines, not in one")
    at = at[0] + (way == "after")
    return "".join(lines[:at]) + code + "".join(lines[at:])


def closed_by(text, code):
    """Code at the end, in front of '} // namespace' and '#endif'."""
    lines = text.splitlines(keepends=True)
    end = len(lines)
    while end and CLOSING.fullmatch(lines[end - 1].rstrip("\n")):
        end -= 1
    return "".join(lines[:end]) + "\n" + code + "\n" + "".join(lines[end:])
