#!/usr/bin/env python3
"""The programs of programs.py run, and a device that gives something else is found: check.py WEFT RUN_PTX WORK

Every instruction that computes in kernels which the compiler makes of a model with products, normalisation and integers has a program, and what must
be the same everywhere is what an H200 gave (h200.txt).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import programs

MODEL = """
func.func @main(%x: !weft.tensor<[m, 64], f16> {weft.name = "x"}, %y: !weft.tensor<[64, n], f16> {weft.name = "y"}, %i: !weft.tensor<[m], i64> {weft.name = "i"})
    -> (!weft.tensor<[m, n], f16> {weft.name = "z"}, !weft.tensor<[m, 64], f16> {weft.name = "rows"}) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %y accumulate f32 : (!weft.tensor<[m, 64], f16>, !weft.tensor<[64, n], f16>) -> !weft.tensor<[m, n], f32>
  %3 = weft.convert %0 to f16 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f16>
  %1 = weft.softmax %3 : (!weft.tensor<[m, n], f16>) -> !weft.tensor<[m, n], f16>
  %2 = weft.gather %x, %i axis 0 : (!weft.tensor<[m, 64], f16>, !weft.tensor<[m], i64>) -> !weft.tensor<[m, 64], f16>
  return %1, %2 : !weft.tensor<[m, n], f16>, !weft.tensor<[m, 64], f16>
}
"""
# Programs that came after the H200 answered.
NOT_ASKED = {"mma.m16n8k32.u8.s8", "mma.m16n8k32.s8.u8"}
# What moves, decides, addresses and waits, and sums of integers that addresses take.
OTHER = re.compile(r"(ld|st|mov|cvta|bra|ret|bar|selp|and|or|xor|not|setp|add|sub|cp|mad\.lo\.u|mul\.lo\.u|cvt\.[us]\d+\.[us]\d+|cvt\.[us]\d+\.pred)\b")


def call(wrong, code, *words, options=""):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env={**os.environ, "WEFT_EMULATED": options})
    if done.returncode != code:
        wrong.append(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return done


def used(weft, work, wrong):
    """Instructions of the kernels that compute a model."""
    model, kernels = work / "model.mlir", work / "kernels"
    model.write_text(MODEL, encoding="utf-8")
    call(wrong, 0, weft, "compile", "-q", model, "-t", "cuda:sm_80", "--save-temps", kernels, "-o", work / "model.weft")
    names = set()
    for file in kernels.glob("*.ptx"):
        for line in file.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\s+(?:@!?%p\d+\s+)?([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)\s.*;", line)
            if found:
                names.add(found[1])
    return names


def assembled(work, wrong):
    """NVIDIA's assembler takes them, where there is one."""
    assembler = shutil.which("ptxas") or next(iter(sorted(pathlib.Path("/usr/local").glob("cuda*/bin/ptxas"))), None)
    for file in sorted(work.glob("*.ptx")) if assembler else []:
        call(wrong, 0, assembler, "-arch", "sm_80", file, "-o", os.devnull)


def main(weft, run_ptx, work):
    work, wrong = pathlib.Path(work), []
    shutil.rmtree(work, ignore_errors=True)
    count = programs.write(work)
    assembled(work, wrong)
    call(wrong, 0, run_ptx, "emulated", work, "write")
    for options in ("", "seed=5,lazy,blocks=random", "threads=2"):
        same = call(wrong, 0, run_ptx, "emulated", work, "compare", options=options).stdout.splitlines()
        if len(same) != count or not all(line.endswith(" right") for line in same):
            wrong.append(f"{options}: {len(same)} lines of {count}: {same[:5]}")
    real = dict(line.split() for line in pathlib.Path(__file__).with_name("h200.txt").read_text(encoding="utf-8").splitlines())
    emulated = programs.digests(work)
    wrong += [f"{name} gives other bits than an H200, or has no line" for name in {*real, *emulated} - NOT_ASKED if real.get(name) != emulated.get(name)]
    wrong += [f"{name} has a line of an H200's, or no program" for name in NOT_ASKED if name in real or name not in emulated]
    for name, at in (("fma.rn.f32", 8), ("tanh.approx.f32", 2), ("ldmatrix.x4", 0)):
        file = work / f"{name}.out"
        data = bytearray(file.read_bytes())
        data[at] ^= 1 if name != "tanh.approx.f32" else 0x40
        file.write_bytes(data)
    said = call(wrong, 1, run_ptx, "emulated", work, "compare").stdout.splitlines()
    if sorted(line.split()[0] for line in said if not line.endswith("right")) != ["fma.rn.f32", "ldmatrix.x4", "tanh.approx.f32"]:
        wrong.append(f"three results that were changed: {[line for line in said if not line.endswith('right')]}")
    call(wrong, 4, run_ptx, "nothing", work, "compare")
    call(wrong, 2, run_ptx)
    text = " ".join(each.text for each in programs.programs())
    lacking = sorted(name for name in used(weft, work, wrong) if not OTHER.match(name) and name + " " not in text)
    if lacking:
        wrong.append(f"kernels use what no program executes: {lacking}")
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
