"""A model's plan as text, read back: where it has to lie, and whether it prints the same again.

    text = PlanText(model, folder)      in a folder of its own, which is the caller's
    … weft compile MODEL --stop-after plan > text.path
    text.bring_files()                  those that it names
    … weft compile text.path text.options --dump-ir text.printed
    text.difference()                   nothing, or where it prints differently
"""
import itertools
import os
import pathlib
import re
import shutil

FILE_OF_WEIGHT = re.compile(rb'\s*weft\.weight @.* from "((?:[^"\\]|\\.)*)" at ')
ESCAPED = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
# What only the model can be told: its plan has it. True: the next word is the option's value.
OF_THE_MODEL = {"--constant": True, "--op": True, "--in-place": False}
MOST_SHOWN = 60  # characters of a line


def unescaped(text):
    return ESCAPED.sub(lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()), text)


def shown(line):
    return "nothing" if line is None else repr(line.decode(errors="replace").strip()[:MOST_SHOWN])


class PlanText:
    def __init__(self, model, folder):
        self.home = model.path if model.path.is_dir() else model.path.parent
        name = model.path.name if model.path.is_dir() else model.path.stem  # what the compiler calls it
        self.folder, self.path, self.printed = folder, folder / f"{name}.mlir", folder / "printed"
        self.options = list(self.kept(model.options))

    @staticmethod
    def kept(options):
        words = iter(options)
        for word in words:
            name = word.partition("=")[0]
            if name not in OF_THE_MODEL:
                yield word
            elif OF_THE_MODEL[name] and word == name:
                next(words, None)

    def files(self):
        """Names of files, among them those that stand for bytes in the text."""
        with open(self.path, "rb") as lines:
            return {os.fsdecode(unescaped(found[1])) for found in map(FILE_OF_WEIGHT.match, lines) if found}

    def bring_files(self):
        for name in self.files():
            here, there = self.folder / name, self.home / name
            if not there.is_file():
                continue
            here.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(os.path.realpath(there), here)
            except OSError:  # the folder is on another disk
                shutil.copyfile(there, here)

    def difference(self):
        again, = self.printed.glob("*-plan.mlir")
        with open(self.path, "rb") as old, open(again, "rb") as new:
            for number, (before, after) in enumerate(itertools.zip_longest(old, new), 1):
                if before != after:
                    return f"line {number} is {shown(before)}, and {shown(after)} once the text was read"
        return ""
