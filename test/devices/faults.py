#!/usr/bin/env python3
"""Faults in the compiler's own kernels are found: faults.py WEFT CALLS WORK SEEDS

Small models are compiled, faults are put into their PTX one at a time (harm.py), and the emulated GPU runs each at ragged and at whole sizes, in one
process for all (calls.cpp):
a finding must name the kernel, or numbers must be wrong, where a call reaches the line. Kernels without faults raise no alarm under SEEDS random schedules,
which the models share.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import harm

LEAST_FOUND = 150  # also when a line seems not to be reached, as nothing tells that it was
PRODUCT = """
func.func @main(%x: !weft.tensor<[m, k], f16> {weft.name = "x"}, %w: !weft.tensor<[k, n], f16> {weft.name = "w"}, %b: !weft.tensor<[n], f32> {weft.name = "b"})
    -> (!weft.tensor<[m, n], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, k], f16>, !weft.tensor<[k, n], f16>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %b : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
}
"""
# Bytes without a sign by bytes with one, rows as they lie and columns gathered.
BYTES = """
func.func @main(%x: !weft.tensor<[m, k], ui8> {weft.name = "x"}, %w: !weft.tensor<[k, n], i8> {weft.name = "w"}, %b: !weft.tensor<[n], i32> {weft.name = "b"})
    -> (!weft.tensor<[m, n], i32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, k], ui8>, !weft.tensor<[k, n], i8>) -> !weft.tensor<[m, n], i32>
  %1 = weft.sub %0, %b : (!weft.tensor<[m, n], i32>, !weft.tensor<[n], i32>) -> !weft.tensor<[m, n], i32>
  return %1 : !weft.tensor<[m, n], i32>
}
"""
LINES = """
func.func @main(%x: !weft.tensor<[m, n], f32> {weft.name = "x"}) -> (!weft.tensor<[m, n], f32> {weft.name = "y"}, !weft.tensor<[m], f32> {weft.name = "s"})
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.softmax %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.reduce sum %x [1] : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m], f32>
  return %0, %1 : !weft.tensor<[m, n], f32>, !weft.tensor<[m], f32>
}
"""
SUMS = """
func.func @main(%x: !weft.tensor<[m, k], f32> {weft.name = "x"}, %w: !weft.tensor<[k, n], f32> {weft.name = "w"})
    -> (!weft.tensor<[n, m], f32> {weft.name = "y"}, !weft.tensor<[m], f32> {weft.name = "s"}) attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> n m" %x, %w accumulate f32 : (!weft.tensor<[m, k], f32>, !weft.tensor<[k, n], f32>) -> !weft.tensor<[n, m], f32>
  %1 = weft.tanh %0 : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  %2 = weft.reduce max %1 [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[m], f32>
  return %1, %2 : !weft.tensor<[n, m], f32>, !weft.tensor<[m], f32>
}
"""
# Few rows of many steps, and few results of many elements: blocks share them. The last of equal extremes is in the last part.
SHARED = """
func.func @main(%x: !weft.tensor<[m, k], f16> {weft.name = "x"}, %w: !weft.tensor<[k, n], f16> {weft.name = "w"})
    -> (!weft.tensor<[m, n], f32> {weft.name = "y"}, !weft.tensor<[n], f32> {weft.name = "s"}, !weft.tensor<[], i64> {weft.name = "p"})
    attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, k], f16>, !weft.tensor<[k, n], f16>) -> !weft.tensor<[m, n], f32>
  %1 = weft.convert %w to f32 : (!weft.tensor<[k, n], f16>) -> !weft.tensor<[k, n], f32>
  %2 = weft.reduce sum %1 [0] : (!weft.tensor<[k, n], f32>) -> !weft.tensor<[n], f32>
  %3 = weft.reshape %w to [k*n] : (!weft.tensor<[k, n], f16>) -> !weft.tensor<[k*n], f16>
  %4 = weft.arg_reduce max %3 axis 0 {select_last} : (!weft.tensor<[k*n], f16>) -> !weft.tensor<[], i64>
  return %0, %2, %4 : !weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>, !weft.tensor<[], i64>
}
"""
# Architectures, and sizes of the symbols that fill tiles and lanes, and sizes that do not; each version of a kernel runs with both, as only rows of whole
# pieces are copied beside products. In "groups" warps multiply together: versions for fewer rows are those of "product".
MODELS = {
    "product": (PRODUCT, "80", ((19, 21, 13), (16, 32, 8), (5, 19, 67), (20, 72, 72), (40, 72, 72), (40, 27, 67), (40, 107, 67), (130, 72, 72), (130, 27, 67), (130, 107, 67))),
    "groups": (PRODUCT, "90a", ((130, 72, 72), (130, 27, 67), (260, 72, 72), (260, 107, 67), (520, 72, 144), (520, 27, 131))),
    "bytes": (BYTES, "80", ((5, 35, 67), (5, 288, 64), (20, 144, 72), (40, 144, 72), (40, 27, 67), (130, 144, 72), (130, 107, 67))),
    "lines": (LINES, "80", ((5, 37), (8, 64), (3, 300), (3, 301), (9, 4))),
    "sums": (SUMS, "80", ((3, 7, 5), (3, 7, 130), (7, 7, 131), (16, 8, 32), (20, 40, 72), (40, 19, 66), (40, 36, 12), (68, 19, 66), (68, 36, 12))),
    "shared": (SHARED, "80", ((3, 5000, 16), (3, 4100, 17), (3, 70000, 16))),
}
SLOW = {"shared": 1}  # so many of the last sizes, at which schedules are not tried


class Model:
    def __init__(self, weft, calls, work, name):
        self.name, self.folder = name, os.path.join(work, name)
        text, self.architecture, self.sizes = MODELS[name]
        symbols = re.search(r"#weft.symbols<(.*)>", text).group(1).split(", ")
        os.makedirs(self.folder, exist_ok=True)
        model, target = os.path.join(self.folder, "model.mlir"), f"cuda:sm_{self.architecture}"
        self.temps = os.path.join(self.folder, "temps")
        with open(model, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([weft, "compile", "-q", model, "-t", target, "-o", os.path.join(self.folder, "model.weft"), "--save-temps", self.temps], check=True)
        environment = {**os.environ, "WEFT_TEST_DEVICE": "emulated", "WEFT_TEST_TARGETS": target, "WEFT_EMULATED": f"sm={self.architecture}"}
        words = [",".join(f"{symbol}={size}" for symbol, size in zip(symbols, each)) for each in self.sizes]
        self.process = subprocess.Popen([calls, model, target, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.reached = [self.lines(number) for number in range(len(self.sizes))]

    def call(self, number, options):
        """What a call with these sizes says: "right", or what is wrong."""
        self.process.stdin.write(f"{number} sm={self.architecture},{options}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip() or sys.exit(f"FAILED: {self.name} ended the process: {options}")

    def lines(self, number):
        """Of each kernel, those that a call with these sizes comes to: no other call meets a fault there."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            if (said := self.call(number, f"code={self.temps},lines={folder},seed={number + 1}")) != "right":
                sys.exit(f"FAILED: {self.name} without a fault: {said}")
            paths = [os.path.join(folder, each) for each in os.listdir(folder)]
            return {os.path.basename(path)[:-6]: set(map(int, open(path, encoding="utf-8").read().split())) for path in paths}

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def kernels(self):
        """Names and texts."""
        for path in sorted(glob.glob(os.path.join(self.temps, "*.ptx"))):
            with open(path, encoding="utf-8") as file:
                yield os.path.basename(path)[:-4], file.read()

    def answer(self, kernel, line, ptx):
        """What is found in the kernel's text with a fault in a line: "finding", "wrong", "not reached", or nothing; and what is said."""
        numbers = [number for number, lines in enumerate(self.reached) if line in lines.get(kernel, ())]
        if not numbers:
            return "not reached", ""
        harmed = os.path.join(self.folder, "harmed")
        os.makedirs(harmed, exist_ok=True)
        path = os.path.join(harmed, f"{kernel}.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)
        try:
            for number in numbers:
                said = self.call(number, f"code={harmed},instructions=200000,seed={number + 1}")
                if said.startswith("wrong"):
                    return "wrong", said
                if said != "right":
                    return ("finding" if f"kernel '{kernel}'" in said else ""), said
        finally:
            os.remove(path)
        return "", "right numbers, and nothing found"


def harm_all(model, wrong, missed_at_times):
    """How many faults are found by what; those that must be found and are not stand in `wrong`. Of others, some must be found in some model:
    where blocks take tiles in turns, only blocks that are too many end at the loop's begin, and few grids have such."""
    counts = {}
    for rule in harm.RULES:
        missed = []
        for kernel, ptx in model.kernels():
            for line, text in rule.harmed(ptx):
                how, said = model.answer(kernel, line, text)
                counts[rule.name, how] = counts.get((rule.name, how), 0) + 1
                if not how:
                    missed.append(f"{model.name}: {kernel}, line {line} '{ptx.splitlines()[line - 1].strip()}': {rule.name}: {said.strip()[:300]}")
        if rule.every:
            wrong += missed
        else:
            missed_at_times.setdefault(rule.name, []).extend(missed)
    return counts


def main(weft, calls, work, seeds):
    wrong, counts, missed = [], {}, {}
    for name in MODELS:
        model = Model(weft, calls, work, name)
        for seed in range(int(seeds) // len(MODELS)):
            schedule = f"seed={seed + 1},{'lazy' if seed % 2 else 'eager'},blocks=random"
            if (said := model.call(seed % (len(model.sizes) - SLOW.get(name, 0)), schedule)) != "right":
                wrong.append(f"{name} without a fault, {schedule}: {said}")
        for key, count in harm_all(model, wrong, missed).items():
            counts[key] = counts.get(key, 0) + count
        model.close()
    for rule in harm.RULES:
        by = {how: counts.get((rule.name, how), 0) for how in ("finding", "wrong", "", "not reached")}
        if any(by.values()):
            print(f"{rule.name}: {by['finding']} findings, {by['wrong']} wrong numbers, {by['']} without effect, {by['not reached']} not reached")
    for name, lines in missed.items():
        if not counts.get((name, "finding"), 0) + counts.get((name, "wrong"), 0):
            wrong += lines
    found = sum(count for (_, how), count in counts.items() if how in ("finding", "wrong"))
    print(f"{found} faults found, {seeds} schedules without an alarm")
    if found < LEAST_FOUND:
        wrong.append(f"only {found} faults")
    for each in wrong:
        print(f"WRONG: {each}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
