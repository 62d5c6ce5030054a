#!/usr/bin/env python3
"""Instructions of one call of Weft and of emulated peers, on the same model and inputs.

    compare.py --weft WEFT --call PROGRAM --peers FOLDER --models FOLDER [--case minilm:b1s16 …]

Writes docs/performance/arm.json, and the table of arm.md there.

WEFT compiles; PROGRAM is build/arm64/bin/weft_call_artifact (cmake --preset arm64); the peers' folder is from make-peers, models from
tools/bench. Every answer is compared with the first peer's. A cell that is there already is kept, unless --case
names it; --ours counts Weft alone anew, in the cells that --case names or in all. A ratio is the best peer's instructions / Weft's: above 1 means that Weft executes fewer. Runs with the Python of tools/test-env.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import cases
import numpy as np
import onnx
from counting import Counter, Given

CASES = ["minilm:b1s16", "mobilenetv2:b1", "superres:h64w64"]
PEERS = ["onnxruntime", "openvino", "mnn"]
TARGET, CPU = "arm:v8", "neoverse-n1"
ERROR = 2e-4  # between two answers, of the largest magnitude
ELEMENTS = {"float32": "f32", "int64": "i64"}
HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = os.path.realpath(f"{HERE}/../../../docs/performance")
BEGIN, END = "<!-- written by tools/bench/arm/compare.py -->\n", "<!-- until here -->\n"


def differs(answer, reference):
    return np.abs(answer.reshape(reference.shape) - reference).max() > ERROR * np.abs(reference).max()


class Peers:
    def __init__(self, folder, counter):
        self.folder, self.counter = folder, counter

    def process(self, engine, model, output, calls):
        out = f"{self.counter.folder.name}/counts.json"
        command = ["qemu-aarch64", "-cpu", CPU, "-L", f"{self.folder}/root", "-E", f"PYTHONPATH={self.folder}/site", "-plugin",
                   f"{self.counter.plugin},out={out}", f"{self.folder}/root/usr/bin/python3.11", f"{HERE}/peer.py", engine, model,
                   f"{self.folder}/feed.npz", output, str(calls), f"{self.folder}/answer.npy"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"{engine}: {(run.stderr or run.stdout).strip().splitlines()[-1:]}")
        with open(out, encoding="utf-8") as file:
            return sum(json.load(file)["kinds"].values()), np.load(f"{self.folder}/answer.npy")

    def count(self, engine, model, output):
        """Instructions of a call, and the answer. The first process converts the model where an engine wants that."""
        if engine == "mnn":
            self.process(engine, model, output, 1)
        one, _ = self.process(engine, model, output, 1)
        three, answer = self.process(engine, model, output, 3)
        return (three - one) // 2, answer


def count_weft(options, counter, path, feed):
    artifact = f"{options.peers}/model.weft"
    subprocess.run([options.weft, "compile", "-q", path, "-t", TARGET, "-o", artifact], check=True)
    inputs = [Given(array.shape, ELEMENTS[str(array.dtype)], array.tobytes()) for array in feed.values()]
    return counter.count(artifact, inputs, CPU), counter.answer()


def count_case(options, counter, case):
    model, of_model = case.split(":")
    path, feed = f"{options.models}/{model}.onnx", cases.inputs(model, of_model)[0]
    np.savez(f"{options.peers}/feed.npz", **feed)
    output = onnx.load(path, load_external_data=False).graph.output[0].name
    ours, answer = count_weft(options, counter, path, feed)
    peers, reference = {}, None
    for engine in PEERS:
        try:
            count, given = Peers(options.peers, counter).count(engine, path, output)
        except RuntimeError as error:
            print(f"{case}: {error}", file=sys.stderr)
            continue
        reference = given if reference is None else reference
        if differs(given, reference):
            print(f"{case}: {engine} answers otherwise than the first peer", file=sys.stderr)
            continue
        peers[engine] = count
    if reference is None or differs(np.frombuffer(answer, np.float32), reference):
        sys.exit(f"{case}: no peer answers, or Weft's answer is another one")
    best = min(peers, key=peers.get)
    return {"model": model, "case": of_model, "target": TARGET, "cpu": CPU, "peer": best, "ours": ours.instructions, "best": peers[best],
            "ratio": round(peers[best] / ours.instructions, 3), "peers": peers, "loaded": ours.loaded, "stored": ours.stored}


def answer_of(options, cell, path, feed):
    """What tools/bench keeps of the model in float64, or what ONNX Runtime gives here."""
    kept = f"{options.models}/{cell['model']}.{cell['case']}.reference.npz"
    if os.path.exists(kept):
        file = np.load(kept)
        return file[file.files[0]]
    import onnxruntime
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feed)[0]


def recount(options, counter, cell):
    """The cell with Weft counted anew."""
    path, feed = f"{options.models}/{cell['model']}.onnx", cases.inputs(cell["model"], cell["case"])[0]
    ours, answer = count_weft(options, counter, path, feed)
    if differs(np.frombuffer(answer, np.float32), answer_of(options, cell, path, feed)):
        sys.exit(f"{cell['model']}: Weft's answer is not the model's")
    return {**cell, "ours": ours.instructions, "ratio": round(cell["best"] / ours.instructions, 3), "loaded": ours.loaded,
            "stored": ours.stored}


def table(cells):
    """Millions, a row per cell."""
    rows = ["| model | case | target | Weft | " + " | ".join(PEERS) + " | best / Weft |", "|---" * (5 + len(PEERS)) + "|"]
    for cell in cells:
        numbers = [cell["ours"]] + [cell["peers"].get(peer) for peer in PEERS]
        shown = ["-" if number is None else f"{number / 1e6:.1f}" for number in numbers]
        rows.append(f"| {cell['model']} | {cell['case']} | `{cell['target']}` | " + " | ".join(shown) + f" | {cell['ratio']:.2f} |")
    return "\n".join(rows) + "\n"


def write(cells):
    with open(f"{PAGES}/arm.json", "w", encoding="utf-8") as file:
        file.write('{"cells": [\n' + ",\n".join(json.dumps(cell) for cell in cells) + "\n]}\n")
    with open(f"{PAGES}/arm.md", encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    with open(f"{PAGES}/arm.md", "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table(cells) + END + rest.split(END)[1])


def known():
    if not os.path.exists(f"{PAGES}/arm.json"):
        return []
    with open(f"{PAGES}/arm.json", encoding="utf-8") as file:
        return json.load(file)["cells"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("weft", "call", "peers", "models"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--ours", action="store_true", help="count Weft alone anew in cells that are there")
    options = parser.parse_args()
    cells = known()
    there = {f"{cell['model']}:{cell['case']}" for cell in cells}
    counter = Counter(options.call)
    if options.ours:
        is_wanted = lambda cell: not options.case or f"{cell['model']}:{cell['case']}" in options.case
        write([recount(options, counter, cell) if is_wanted(cell) else cell for cell in cells])
        return
    for case in options.case or [case for case in CASES if case not in there]:
        cells = [cell for cell in cells if f"{cell['model']}:{cell['case']}" != case] + [count_case(options, counter, case)]
        print(cells[-1])
        write(cells)


main()
