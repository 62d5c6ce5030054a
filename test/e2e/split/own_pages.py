"""One file for several numbers of ranks, of which each reads its share: own_pages.py WEFT OWN_PAGES NAME WORK

For 1, 2 and 4 ranks in one file, with weights of 1.05 times those of the file for one rank: opens in less than 10 ms, compiles to the same bytes
again, and gives what one rank gives while all pages but those of a rank's share are unreadable (own_pages.cpp). What a rank reads is a formula of the
file, up to the pages in which its ranges begin and end, and the tables of which only some lines are looked up.
"""
import json
import os
import subprocess
import sys

import layouts_of_models
from over_ranks import MOST_BYTES, SKIPPED, model_in

RANKS = 2, 4
PAGE = 4096
MOST_MILLISECONDS = 10
MOST_DIFFERENCE = 1e-5
TARGET = "x86:v3"
PANEL = 16  # columns of weights for that target
SIZES = 2, 7
TABLES = {"minilm": 30522 * 384 * 4, "llama": 256 * 192 * 4}  # bytes of those of which lines are looked up
PANELS = {"minilm": 12 * 384 // PANEL, "llama": 2 * 192 // PANEL}  # of weights that are cut along what they sum: a range in each


def weft(program, *words):
    return subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout


def number(formula, **values):
    """Of a text as 'inspect' prints it."""
    return eval(formula.replace("·", "*"), {"floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b), "mod": lambda a, b: a % b, "min": min, "max": max, "pos": lambda a: max(0, a)}, values)


def described(program, artifact):
    """The bytes of weights, how many there are, and by number of ranks the formula of what one reads."""
    found = json.loads(weft(program, "inspect", artifact, "--json"))
    programs = [(1, found), *((each["ranks"], each) for each in found.get("meshes", []))]
    return found["weight_bytes"], found["weights"], {ranks: each["functions"][0].get("weights_read", "") for ranks, each in programs}


def contents(path):
    with open(path, "rb") as file:
        return file.read()


class File:
    def __init__(self, program, reader, name, model):
        self.program, self.reader, self.name, self.model = program, reader, name, model
        places = layouts_of_models.ALL[name].layouts[0].places
        self.words = [word for ranks in (1, *RANKS) for word in ("--mesh", f"tp={ranks}")] + [word for each in places for word in ("--place", each)]

    def compiled(self, artifact, *words):
        weft(self.program, "compile", self.model, "-q", "-t", TARGET, "-o", artifact, *words)
        return artifact

    def findings(self):
        alone, *_ = described(self.program, self.compiled("alone.weft"))
        stored, weights, self.read = described(self.program, self.compiled("several.weft", *self.words))
        self.ends = (weights + PANELS[self.name]) * PAGE
        print(f"{self.name}: weights {stored / alone:.4f} of those for one rank")
        if stored > MOST_BYTES * alone:
            yield f"weights are {stored} bytes, those for one rank {alone}"
        if contents("several.weft") != contents(self.compiled("again.weft", *self.words)):
            yield "the same once more gives other bytes"
        for ranks in RANKS:
            yield from self.findings_of(ranks)

    def findings_of(self, ranks):
        lines = subprocess.run([self.reader, "several.weft", str(ranks), *map(str, SIZES)], check=True, capture_output=True, text=True).stdout.split("\n")
        alone, *own = [[float(cell) for cell in line.split()] for line in lines if line]
        opened = sorted(milliseconds for _, milliseconds, _ in [alone, *own])
        if opened[len(opened) // 2] > MOST_MILLISECONDS:
            yield f"opening takes {opened} ms"
        for rank, (pages, _, difference) in enumerate(own):
            share = number(self.read[ranks], rank_tp=rank) - TABLES[self.name]
            print(f"{self.name}: rank {rank} of {ranks} reads {pages * PAGE / share:.3f} of its share, {pages / alone[0]:.3f} of what one rank reads; {difference:.1e}", flush=True)
            if not difference <= MOST_DIFFERENCE:
                yield f"rank {rank} of {ranks} differs by {difference:.1e} of the scale"
            if pages * PAGE > share + self.looked_up() + self.ends:
                yield f"rank {rank} of {ranks} reads {pages} pages, its share is {share} bytes"

    def looked_up(self):
        """Pages of a table, whose lines may lie in two."""
        return 2 * PAGE * SIZES[0] * SIZES[1]


def main(program, reader, name, work):
    program = os.path.abspath(program)
    model = model_in(work, name)
    if not model:
        return SKIPPED
    found = list(File(program, reader, name, model).findings())
    for each in found:
        print(f"WRONG: {each}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
