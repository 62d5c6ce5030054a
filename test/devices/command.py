#!/usr/bin/env python3
"""What a user of a device types, and what the command answers: command.py WEFT WORK

One file has code for a processor and for a GPU, and answers every shape on both; what cannot run is refused in one line.
"""

import filecmp
import json
import os
import struct
import subprocess
import sys

MODEL = """
func.func @main(%x: !weft.tensor<[m, 24], f32> {weft.name = "x"}, %y: !weft.tensor<[24, n], f32> {weft.name = "y"})
    -> (!weft.tensor<[m, n], f32> {weft.name = "z"}) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %y accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
}
"""

#: A product with a weight of f32.
DEPTH, WIDTH = 512, 768
PIECE = 65536  # to which what precedes weights in a file is rounded
LINEAR = f"""
weft.weight @w from "w.bin" at 0 bytes {DEPTH * WIDTH * 4} : !weft.tensor<[{DEPTH}, {WIDTH}], f32>
func.func @main(%x: !weft.tensor<[m, {DEPTH}], f32> {{weft.name = "x"}}) -> (!weft.tensor<[m, {WIDTH}], f32> {{weft.name = "z"}})
    attributes {{weft.symbols = #weft.symbols<m>}} {{
  %w = weft.constant @w -> !weft.tensor<[{DEPTH}, {WIDTH}], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, {DEPTH}], f32>, !weft.tensor<[{DEPTH}, {WIDTH}], f32>) -> !weft.tensor<[m, {WIDTH}], f32>
  return %0 : !weft.tensor<[m, {WIDTH}], f32>
}}
"""


class Trial:
    """Calls the command in a folder of its own, and keeps what was wrong."""

    def __init__(self, weft, work):
        self.weft, self.work, self.wrong = weft, work, []
        os.makedirs(work, exist_ok=True)

    def call(self, *arguments):
        return subprocess.run([self.weft, *arguments], cwd=self.work, capture_output=True, text=True, check=False)

    def says(self, text, *arguments):
        done = self.call(*arguments)
        if text not in done.stderr:
            self.wrong.append(f"{' '.join(arguments)}: does not say '{text}'\n{done.stderr}")

    def works(self, *arguments, says=""):
        done = self.call(*arguments)
        if done.returncode or says not in done.stdout + done.stderr:
            self.wrong.append(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")

    def counts(self, artifact):
        """A profile says what the kernels of the device's variant did in one call: every thread of a row reads and writes once or more."""
        done = self.call("profile", artifact, "--dim", "m=3", "--dim", "n=40", "--device", "emulated", "--json", "-q")
        rows = {kernel["name"].split("_")[2]: kernel for kernel in json.loads(done.stdout)["kernels"]} if done.returncode == 0 else {}
        row = rows.get("row", {}).get("counters", {})
        least = {"launches": 1, "blocks": 1, "between_lanes": 10, "sectors": 3 * 5, "bytes_written": 3 * 40 * 4}
        if any(row.get(name, 0) < most for name, most in least.items()) or row["bytes_written"] != least["bytes_written"]:
            self.wrong.append(f"profile counts {row}\n{done.stderr}")

    def needs_no_toolkit(self, artifact):
        """Where no folder has programs and no variable names a toolkit, the same file is made."""
        alone = {name: value for name, value in os.environ.items() if "CUDA" not in name and name != "PATH"}
        subprocess.run([self.weft, "compile", "-q", "model.mlir", "-t", "cuda:sm_80", "-o", "alone.weft"], cwd=self.work, env=alone, check=False)
        files = [os.path.join(self.work, name) for name in (artifact, "alone.weft")]
        if not all(map(os.path.exists, files)) or not filecmp.cmp(*files, shallow=False):
            self.wrong.append("without a CUDA Toolkit another file is made, or none")

    def opens(self, plugins, *words):
        """Which plug-ins the system's loader says that a call opens."""
        done = subprocess.run([self.weft, "run", "-q", *words, "--dim", "m=2", "--dim", "n=2"], cwd=self.work, capture_output=True, text=True, check=False,
                              env={**os.environ, "LD_DEBUG": "files"})
        opened = {name for name in ("cuda", "emulated") if f"libweft_{name}.so" in done.stderr}
        if done.returncode or opened != plugins:
            self.wrong.append(f"run {' '.join(words)}: {done.returncode}, opens {opened or 'no plug-in'}, not {plugins}")

    def narrows(self, *words):
        """Weights that are rounded lie in the file in 16 bits, and a device reads what the processor reads."""
        self.works("compile", "linear.mlir", *words, "-t", "cuda:sm_80", "-o", "narrow.weft")
        self.works("compile", "linear.mlir", *words, "-t", "x86:v3", "-o", "cpu.weft")
        for rows in (1, 17, 130):
            self.works("run", "cpu.weft", "--dim", f"m={rows}", "-o", "cpu.npz")
            self.works("run", "narrow.weft", "--dim", f"m={rows}", "--device", "emulated", "--expect", "@cpu.npz", says="as expected")
        self.works("compile", "linear.mlir", "-t", "cuda:sm_80", "-o", "wide.weft")
        wide, narrow = (os.path.getsize(os.path.join(self.work, f"{name}.weft")) for name in ("wide", "narrow"))
        if abs(wide - narrow - DEPTH * WIDTH * 2) > PIECE + 8192:
            self.wrong.append(f"{' '.join(words)}: the file has {narrow} bytes, and {wide} without")

    def refuses(self, code, text, *arguments):
        done = self.call(*arguments)
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")]
        if done.returncode != code or len(lines) != 1 or text not in lines[0]:
            self.wrong.append(f"{' '.join(arguments)}: {done.returncode} instead of {code}, '{text}'\n{done.stderr}")


def main(weft, work):
    trial = Trial(weft, work)
    with open(os.path.join(work, "model.mlir"), "w", encoding="utf-8") as file:
        file.write(MODEL)
    trial.works("compile", "model.mlir", "-t", "x86:v2,cuda:sm_80,sm_90a", "-o", "both.weft", says="x86:v2, cuda:sm_90a, cuda:sm_80")
    trial.works("compile", "model.mlir", "-t", "cuda:sm_80", "-o", "gpu.weft")
    with open(os.path.join(work, "linear.mlir"), "w", encoding="utf-8") as file:
        file.write(LINEAR)
    with open(os.path.join(work, "w.bin"), "wb") as file:
        file.write(struct.pack(f"<{DEPTH * WIDTH}f", *((i * 7919 % 2003 - 1001) / 1001 / 16 for i in range(DEPTH * WIDTH))))
    for words in (["--weights", "bf16"], ["--weights", "f16"], ["--compute", "bf16"]):
        trial.narrows(*words)
    trial.works("compile", "model.mlir", "-t", "x86:v2", "-o", "cpu.weft")
    with open(os.path.join(work, "named.mlir"), "w", encoding="utf-8") as file:
        file.write(MODEL.replace("-> !weft.tensor<[m, n], f32>\n", '-> !weft.tensor<[m, n], f32> loc("product")\n', 1))
    trial.works("compile", "named.mlir", "-t", "cuda:sm_80", "-o", "named.weft")
    trial.works("inspect", "gpu.weft", says="cuda:sm_80")
    trial.needs_no_toolkit("gpu.weft")
    trial.opens(set(), "cpu.weft")
    trial.opens(set(), "both.weft")
    trial.opens(set(), "both.weft", "--device", "cpu")
    trial.opens({"emulated"}, "both.weft", "--device", "emulated")
    for m, n in ((0, 0), (0, 5), (1, 1), (3, 31), (7, 32), (8, 33), (40, 257)):
        sizes = ("--dim", f"m={m}", "--dim", f"n={n}")
        trial.works("run", "both.weft", *sizes, "-o", "cpu.npz")
        for file in ("both.weft", "gpu.weft"):
            trial.works("run", file, *sizes, "--device", "emulated", "--expect", "@cpu.npz", says="as expected")
    trial.works("bench", "both.weft", "--dim", "m=3", "--dim", "n=4", "--rounds", "7", "--device", "emulated")
    trial.counts("both.weft")
    trial.works("verify", "model.mlir", "--dim", "m=3", "--dim", "n=33", "--device", "emulated", "--bisect", says="all outputs agree")
    trial.works("verify", "model.mlir", "both.weft", "--dim", "m=3", "--dim", "n=4", "--device", "emulated", "--json", says='"target": "cuda:sm_80"')
    trial.works("verify", "model.mlir", "--dim", "m=9", "--dim", "n=4", "--device", "emulated", "--bisect=passes", says="plan-place-memory")
    trial.works("profile", "both.weft", "--dim", "m=3", "--dim", "n=4", "--rounds", "7", "--device", "emulated", says="weft_k_row")

    sizes = ("--dim", "m=2", "--dim", "n=2")
    os.environ["WEFT_EMULATED"] = "instructions=9"
    trial.refuses(4, "more than 9 instructions", "run", "gpu.weft", *sizes, "--device", "emulated")
    trial.says("hint: the kernel computes 'product'", "run", "named.weft", *sizes, "--device", "emulated")
    del os.environ["WEFT_EMULATED"]
    trial.refuses(4, "has no code for device 'emulated'", "run", "cpu.weft", *sizes, "--device", "emulated")
    trial.refuses(1, "there is no device 'nosuch'", "run", "both.weft", *sizes, "--device", "nosuch")
    trial.refuses(1, "names no device", "run", "both.weft", *sizes, "--device", "emulated:x")
    trial.refuses(1, "there is no emulated GPU 9", "run", "both.weft", *sizes, "--device", "emulated:9")
    trial.refuses(4, "has no code for device 'emulated'", "verify", "model.mlir", *sizes, "--device", "emulated", "-t", "x86:v2")
    trial.works("compile", "model.mlir", "-t", "cuda:sm_90a", "-o", "new.weft")
    trial.refuses(4, "has no code for device 'emulated', which lacks sm_90a", "run", "new.weft", *sizes, "--device", "emulated")
    trial.refuses(4, "has no code for device 'cpu'", "run", "gpu.weft", *sizes, "--device", "cpu")
    trial.refuses(2, "'--peak' measures processors", "profile", "both.weft", *sizes, "--peak", "--device", "emulated")
    trial.refuses(2, "no model is split over ranks yet", "compile", "model.mlir", "-t", "cuda:sm_80", "--mesh", "tp=2", "-o", "no.weft")
    trial.refuses(2, "the nearest is 'cuda:sm_80'", "compile", "model.mlir", "-t", "cuda:sm_88", "-o", "no.weft")
    for line in trial.wrong:
        print(f"WRONG: {line}")
    sys.exit(1 if trial.wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
