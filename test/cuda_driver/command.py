#!/usr/bin/env python3
"""What the command says of a driver that is missing, too old, without a GPU, or that fails in the midst: command.py WEFT DRIVERS WORK"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "devices"))

from command import MODEL


def main(weft, drivers, work):
    work, wrong = pathlib.Path(work), []
    work.mkdir(parents=True, exist_ok=True)
    (work / "model.mlir").write_text(MODEL, encoding="utf-8")

    def call(code, text, *words, driver=drivers, **options):
        environment = {**os.environ, "LD_LIBRARY_PATH": driver, **options}
        done = subprocess.run([weft, *map(str, words)], capture_output=True, text=True, check=False, env=environment)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
        if done.returncode != code or text not in done.stdout + done.stderr or len(errors) != (code != 0):
            wrong.append(f"{' '.join(map(str, words))}, {options}: {done.returncode}, not {code} with '{text}'\n{done.stdout}{done.stderr}")

    call(0, "", "compile", "-q", work / "model.mlir", "-t", "x86:v2,cuda:sm_80", "-o", work / "model.weft")
    call(0, "", "compile", "-q", work / "model.mlir", "-t", "cuda:sm_90a", "-o", work / "new.weft")
    for m, n in ((0, 5), (1, 1), (3, 31), (40, 257)):
        sizes = ("--dim", f"m={m}", "--dim", f"n={n}")
        call(0, "", "run", "-q", work / "model.weft", *sizes, "-o", work / "cpu.npz")
        call(0, "as expected", "run", work / "model.weft", *sizes, "--device", "cuda", "--expect", f"@{work / 'cpu.npz'}")
    run = ("run", "-q", work / "model.weft", "--dim", "m=3", "--dim", "n=31", "--device")
    call(0, "weft_k_row", "profile", *run[2:-1], "--rounds", "7", "--device", "cuda")
    call(1, "there is no device 'cuda:1': 1 is here", *run, "cuda:1")
    call(0, "", *run, "cuda:1", WEFT_EMULATED="devices=2")
    call(4, "there is no NVIDIA driver", *run, "cuda", driver=str(work))
    call(4, "the NVIDIA driver is too old: it has no cu", *run, "cuda", driver=f"{drivers}/old")
    call(4, "is of CUDA 11.4, but 12.0 or newer is needed", *run, "cuda", WEFT_STAND_IN="version:11040")
    call(4, "the NVIDIA driver finds no GPU", *run, "cuda", WEFT_STAND_IN="cuInit:1:100")
    call(4, "an illegal memory access was encountered (CUDA error 700)", *run, "cuda", WEFT_EMULATED="instructions=9")
    call(4, "no memory for the 384 bytes that this call needs", *run, "cuda", WEFT_STAND_IN="cuMemAlloc_v2:1:2")
    call(4, "has no code for device 'cuda', which lacks sm_90a", "run", "-q", work / "new.weft", *run[3:], "cuda")
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
