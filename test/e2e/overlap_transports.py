#!/usr/bin/env python3
"""Exchanges in pieces on every transport: overlap_transports.py WEFT MPIRUN WORK [long]

A column and row pair whose tokens are split, with weights of f32 and bf16, and a ring of attention give, byte for byte, what '--fuse-comm never' gives ranks
that are threads: fused, as threads, as processes with shared memory, and under mpirun. With 'long' on more ranks and at more sizes. MPIRUN may be empty.
"""

import pathlib
import random
import struct
import subprocess
import sys

from processes import under_launcher

WIDTH, INNER, HEADS = 32, 64, 4
TRANSPORTS = {"threads": ["--transport", "threads"], "shm": ["--transport", "shm"], "mpirun": ["--transport", "mpi"]}


def tensor(*dims):
    return f"!weft.tensor<[{', '.join(map(str, dims))}], f32>"


class Text:
    """A program of s tokens."""

    def __init__(self):
        self.lines, self.chance = [], random.Random(1)

    def op(self, name, what, types, result, node=""):
        self.lines.append(f"%{name} = weft.{what} : ({', '.join(types)}) -> {result}" + (f' loc("{node}")' if node else ""))

    def multiply(self, name, source, rows, columns):
        values = struct.pack(f"<{rows * columns}f", *(self.chance.uniform(-1, 1) for _ in range(rows * columns)))
        weight = tensor(rows, columns)
        self.lines.append(f'%w{name} = weft.constant dense<"0x{values.hex().upper()}"> : tensor<{rows}x{columns}xf32> -> {weight}')
        self.op(name, f'contract "m k, k n -> m n" %{source}, %w{name} accumulate f32', [tensor("s", rows), weight], tensor("s", columns), name)

    def whole(self, result):
        tokens = tensor("s", WIDTH)
        return (f'func.func @main(%x: {tokens} {{weft.name = "x"}}) -> ({tokens} {{weft.name = "y"}}) attributes {{weft.symbols = #weft.symbols<s>}} {{\n'
                + "".join(f"  {line}\n" for line in self.lines) + f"  return %{result} : {tokens}\n}}\n")


def pair():
    text = Text()
    text.multiply("up", "x", WIDTH, INNER)
    text.op("act", "abs %up", [tensor("s", INNER)], tensor("s", INNER))
    text.multiply("down", "act", INNER, WIDTH)
    text.op("y", "add %down, %x", [tensor("s", WIDTH)] * 2, tensor("s", WIDTH))
    return text.whole("y")


def ring():
    text, apart, heads, scores = Text(), tensor("s", HEADS, WIDTH // HEADS), tensor(HEADS, "s", WIDTH // HEADS), tensor(HEADS, "s", "s")
    for name in "qkv":
        text.multiply("p" + name, "x", WIDTH, WIDTH)
        text.op("r" + name, f"reshape %p{name} to [s, {HEADS}, {WIDTH // HEADS}]", [tensor("s", WIDTH)], apart)
        text.op(name, f"transpose %r{name} [1, 0, 2]", [apart], heads)
    text.op("a", 'contract "h s d, h t d -> h s t" %q, %k accumulate f32', [heads, heads], scores)
    text.op("b", "softmax %a", [scores], scores)
    text.op("c", 'contract "h s t, h t d -> s h d" %b, %v accumulate f32', [scores, heads], apart)
    text.op("y", f"reshape %c to [s, {WIDTH}]", [apart], tensor("s", WIDTH))
    return text.whole("y")


SPLIT = ["--place", "x=[tp, _]", "--place", "y=[tp, _]"]
PROGRAMS = {"pair": (pair, [*SPLIT, "--place", "up=[_, tp]"]), "bf16": (pair, [*SPLIT, "--place", "up=[_, tp]", "--weights", "bf16"]), "ring": (ring, SPLIT)}


class Runs:
    def __init__(self, weft, mpirun, work):
        self.weft, self.mpirun, self.work, self.findings, self.count = weft, mpirun, pathlib.Path(work), [], 0
        self.work.mkdir(parents=True, exist_ok=True)

    def call(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, env=under_launcher(None), timeout=120, cwd=self.work)
        if done.returncode:
            self.findings.append(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def compile(self, name, ranks):
        make, told = PROGRAMS[name]
        source = self.work / f"{name}.mlir"
        source.write_text(make(), encoding="ascii")
        for fuse in ("always", "never"):
            self.call(self.weft, "compile", "-q", source, "--target", "x86:v2", "--mesh", f"tp={ranks}", *told, "--fuse-comm", fuse, "-o", f"{fuse}.weft")
        # Else both would be the same.
        if name != "ring" and "fused" not in self.call(self.weft, "inspect", "always.weft"):
            self.findings.append(f"{name} on {ranks} ranks: nothing is fused")

    def output(self, fuse, transport, ranks, size):
        made = self.work / "y.npy"
        made.unlink(missing_ok=True)
        words = [self.weft, "run", "-q", f"{fuse}.weft", "--dim", f"s={size}", "--output", made, *TRANSPORTS[transport]]
        start = [self.mpirun, "--oversubscribe", "-n", str(ranks)] if transport == "mpirun" else []
        self.call(*start, *words, *([] if start else ["--ranks", str(ranks)]))
        self.count += 1
        return made.read_bytes() if made.exists() else None

    def compare(self, name, ranks, sizes):
        self.compile(name, ranks)
        for size in sizes:
            want = self.output("never", "threads", ranks, size)
            for transport in TRANSPORTS:
                if (transport != "mpirun" or self.mpirun) and (want is None or self.output("always", transport, ranks, size) != want):
                    self.findings.append(f"{name} on {ranks} ranks, s = {size}, {transport}: other bytes")


def main(weft, mpirun, work, how=""):
    runs = Runs(weft, mpirun, work)
    cases = [(name, ranks, (0, 1, 37, 100, 200)) for name in PROGRAMS for ranks in (2, 3, 4, 8)] if how == "long" else [("pair", 2, (200,)), ("bf16", 3, (1,)), ("ring", 2, (37,))]
    for case in cases:
        runs.compare(*case)
    print("\n".join(runs.findings) or f"{runs.count} calls, all with the same bytes")
    sys.exit(bool(runs.findings))


if __name__ == "__main__":
    main(*sys.argv[1:])
