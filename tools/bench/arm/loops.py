#!/usr/bin/env python3
"""How near the inner loops of a compiled model come to what a core could multiply, by LLVM's model of the core (llvm-mca).

    loops.py ARTIFACT --call PROGRAM --input x=1,3,64,64:f32 [--cpu neoverse-n1] [--core neoverse-n1 --core cortex-a55]

PROGRAM, inputs and CPU are those of count.py: a call is counted under the emulator as CPU, so each loop has its share of what the artifact
executes. Of loops that multiply, the largest that have 80 % of what all of them execute are listed, and per core: cycles that their products
alone would take / cycles of a turn. A spill is a vector on the stack.
"""
import argparse
import collections
import dataclasses
import re
import subprocess

from counting import Counter, Tensor, functions_of

CORES = ["neoverse-n1", "neoverse-v1", "cortex-a55"]
MOST = 0.8  # of what loops with products execute
# How products look: the number of a register that no other instruction needs goes into the braces.
PRODUCTS = {
    "fmla v": "fmla v{}.4s, v30.4s, v31.s[0]", "fmla z": "fmla z{}.s, z30.s, z7.s[0]",
    "fmul v": "fmul v{}.4s, v30.4s, v31.4s", "fmul z": "fmul z{}.s, z30.s, z31.s",
    "sdot v": "sdot v{}.4s, v30.16b, v31.4b[0]", "sdot z": "sdot z{}.s, z30.b, z7.b[0]",
    "udot v": "udot v{}.4s, v30.16b, v31.4b[0]", "udot z": "udot z{}.s, z30.b, z7.b[0]",
    "usdot v": "usdot v{}.4s, v30.16b, v31.4b[0]", "usdot z": "usdot z{}.s, z30.b, z7.b[0]",
    "sudot v": "sudot v{}.4s, v30.16b, v31.4b[0]", "sudot z": "sudot z{}.s, z30.b, z7.b[0]",
    "smmla v": "smmla v{}.4s, v30.16b, v31.16b", "smmla z": "smmla z{}.s, z30.b, z31.b",
    "ummla v": "ummla v{}.4s, v30.16b, v31.16b", "ummla z": "ummla z{}.s, z30.b, z31.b",
    "usmmla v": "usmmla v{}.4s, v30.16b, v31.16b", "usmmla z": "usmmla z{}.s, z30.b, z31.b",
    "bfdot v": "bfdot v{}.4s, v30.8h, v31.2h[0]", "bfdot z": "bfdot z{}.s, z30.h, z7.h[0]",
    "smlal v": "smlal v{}.4s, v30.4h, v31.4h", "smlal2 v": "smlal2 v{}.4s, v30.8h, v31.8h",
}
TAPS = 4  # products of a sum: where the first ones are multiplications, there are so many multiply-adds for each at least
FEATURES = "+neon,+fullfp16,+dotprod,+i8mm,+bf16,+sve,+sve2"


@dataclasses.dataclass
class Loop:
    kernel: str
    lines: list  # instructions, the branch back is the last
    executed: int  # instructions of a call

    def products(self):
        """{kind: how many in a turn}"""
        found = collections.Counter()
        for line in self.lines:
            name = re.match(r"(\w+)\s+([vz])\d", line)
            if name and " ".join(name.groups()) in PRODUCTS:
                found[" ".join(name.groups())] += 1
        for register in "vz":
            if found[f"fmul {register}"] * TAPS > found[f"fmla {register}"]:  # other arithmetic
                del found[f"fmul {register}"]
        return +found

    def spills(self):
        return sum(bool(re.match(r"(ldr|str|ldp|stp|ldur|stur)\s+[qz]\d+.*\[(sp|x29)", line)) for line in self.lines)


def cycles(lines, core):
    """Of a turn, in the long run."""
    turns = 200
    text = "\n".join(re.sub(r"0x[0-9a-f]+ <.*", "turn", line) for line in ["turn:", *lines]) + "\n"
    run = subprocess.run(["llvm-mca-19", "-mtriple=aarch64-linux-gnu", f"-mcpu={core}", f"-mattr={FEATURES}", f"-iterations={turns}",
                          "-instruction-info=0", "-resource-pressure=0"], input=text, capture_output=True, text=True, check=True)
    return int(re.search(r"Total Cycles:\s+(\d+)", run.stdout).group(1)) / turns


class Rates:
    """What share of a core's multiply-adds a loop has."""

    def __init__(self):
        self.alone = {}

    def of(self, loop, core):
        least = sum(count * self.cycles_alone(kind, core) for kind, count in loop.products().items())
        return least / cycles(loop.lines, core)

    def cycles_alone(self, kind, core):
        if (kind, core) not in self.alone:
            many = 24  # sums: more than latency times units
            self.alone[kind, core] = cycles([PRODUCTS[kind].format(i + (i > 6)) for i in range(many)], core) / many
        return self.alone[kind, core]


def disassemble(artifact):
    """{function: [(address, instruction)]}"""
    text = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", artifact], capture_output=True, text=True, check=True).stdout
    functions, lines = {}, []
    for line in text.splitlines():
        if name := re.match(r"[0-9a-f]+ <(.*)>:", line):
            lines = functions.setdefault(name.group(1), [])
        elif found := re.match(r"\s*([0-9a-f]+):\s+(\S.*)", line):
            lines.append((int(found.group(1), 16), re.sub(r"\s*//.*", "", found.group(2)).strip()))
    return functions


def inner_loops(lines):
    """[(first, last)] of loops without another one inside, as positions in `lines`."""
    at = {address: i for i, (address, _) in enumerate(lines)}
    spans = []
    for last, (address, line) in enumerate(lines):
        back = re.match(r"(?:b\.\w+|cbn?z|tbn?z)\b.*?0x([0-9a-f]+)", line)
        if back and int(back.group(1), 16) in at and int(back.group(1), 16) < address:
            spans.append((at[int(back.group(1), 16)], last))
    return [one for one in spans if not any(other != one and one[0] <= other[0] and other[1] <= one[1] for other in spans)]


def loops_of(artifact, blocks):
    """All inner loops that multiply, those that execute most first."""
    code, found = disassemble(artifact), []
    for place, length, name in functions_of(artifact):
        lines = code.get(name, [])
        here = [(begin - place, count) for begin, count in blocks if place <= begin < place + length]
        if not here or not lines:
            continue
        for first, last in inner_loops(lines):
            begin, end = lines[first][0] - lines[0][0], lines[last][0] - lines[0][0]
            loop = Loop(name, [line for _, line in lines[first:last + 1]], sum(n for at, n in here if begin <= at <= end))
            if loop.executed and loop.products():
                found.append(loop)
    return sorted(found, key=lambda loop: -loop.executed)


def largest(loops):
    """Those that have most of what all execute."""
    total, sofar = sum(loop.executed for loop in loops), 0
    for loop in loops:
        if sofar >= MOST * total:
            return
        sofar += loop.executed
        yield loop


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact")
    parser.add_argument("--call", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--cpu", default="neoverse-n1")
    parser.add_argument("--core", action="append", default=[], choices=CORES)
    options = parser.parse_args()
    counter = Counter(options.call)
    blocks = counter.blocks(options.artifact, [Tensor.parse(text) for text in options.input], options.cpu)
    total, rates, cores = sum(count for _, count in blocks), Rates(), options.core or CORES
    print(f"{'share':>6} {'length':>7} {'products':>9} {'spills':>7} " + " ".join(f"{core:>12}" for core in cores) + "  kernel")
    for loop in largest(loops_of(options.artifact, blocks)):
        shares = " ".join(f"{100 * rates.of(loop, core):>10.1f} %" for core in cores)
        print(f"{100 * loop.executed / total:>4.1f} % {len(loop.lines):>7} {sum(loop.products().values()):>9} {loop.spills():>7} {shares}  "
              f"{loop.kernel}")


if __name__ == "__main__":
    main()
