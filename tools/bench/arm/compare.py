#!/usr/bin/env python3
"""Instructions of one call of Weft and of emulated peers, on the same model and inputs.

    compare.py --weft WEFT --call PROGRAM --peers FOLDER --models FOLDER [--case 'minilm:b1s16@arm:v8@cortex-a53' …]

Writes docs/performance/arm.json, and the tables of arm.md there.

WEFT compiles; PROGRAM is build/arm64/bin/weft_call_artifact (cmake --preset arm64); the peers' folder is from make-peers, models from
tools/bench (MODEL.int8 and MODEL.int4 are what its quantiser made; MODEL.int4.gguf lies beside for llama.cpp). A case is
MODEL:CASE@TARGET@PROCESSOR, arm:v8 and neoverse-n1 where none is named; behind a target may stand options of `weft compile`. Every answer
is compared with the first peer's. A cell that is there already is kept, unless --case names it; --ours counts Weft alone anew, in the cells
that --case names or in all. A ratio is the best peer's instructions / Weft's: above 1 means that Weft executes fewer. What computes in bf16
or with SVE is compared with Weft's own count in f32 with NEON. Runs with the Python of tools/test-env.
"""
import argparse
import dataclasses
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import cases
import numpy as np
import onnx
from cells import Asked, known, put
from counting import EMULATOR, PROCESSORS, Counter, Given, plugin

ELEMENTS = {"float32": "f32", "int64": "i64"}
ERROR = 2e-4  # between two answers in f32, of the largest magnitude
HERE = os.path.dirname(os.path.abspath(__file__))


def differs(answer, reference, asked):
    if asked.precision() == "int4":  # llama.cpp gives logits of the last token only
        answer = answer.reshape(-1)[-reference.size:]
    answer = answer.reshape(reference.shape)
    if asked.precision() != "f32":
        judged = cases.judge(answer, reference, asked.network(), asked.precision())
        print(f"{asked}: cosine {judged['cosine']:.4f}", flush=True)
        return not judged["right"]
    return not np.abs(answer - reference).max() <= ERROR * np.abs(reference).max()


@dataclasses.dataclass
class Inputs:
    model: str  # the path
    feed: dict
    output: str

    @staticmethod
    def of(asked, folder):
        path = os.path.abspath(f"{folder}/{asked.model}.onnx")
        return Inputs(path, cases.inputs(asked.network(), asked.case)[0],
                      onnx.load(path, load_external_data=False).graph.output[0].name)


class Peers:
    """Engines for ARM in an emulated Python."""

    def __init__(self, folder, counter, calls, llamacpp):
        self.folder, self.counter, self.calls = folder, counter, calls
        self.settings = ["-E", f"LD_LIBRARY_PATH={os.path.abspath(llamacpp)}", "-E", f"LLAMACPP={os.path.abspath(llamacpp)}/libllama.so"] if llamacpp else []

    def count(self, engine, inputs, processor):
        """What a call executes, and the answer."""
        work = self.counter.folder.name
        np.savez(f"{work}/feed.npz", **inputs.feed)
        root = os.path.abspath(f"{self.folder}/root-{processor}")
        model = inputs.model.replace(".onnx", ".gguf") if engine == "llamacpp" else inputs.model
        command = [EMULATOR[0], "-cpu", PROCESSORS[processor], "-L", root, "-E", f"PYTHONPATH={os.path.abspath(self.folder)}/site", *self.settings, "-plugin",
                   plugin(self.counter.plugin, f"{work}/counts.json", PROCESSORS[processor]), f"{root}/usr/bin/python3.11", f"{HERE}/peer.py", engine, model,
                   f"{work}/feed.npz", inputs.output, str(self.calls), f"{work}/answer.npy"]
        run = subprocess.run(command, capture_output=True, text=True, cwd=work)  # converters leave files behind
        if run.returncode:
            raise RuntimeError(f"{engine}: exit {run.returncode}: {(run.stderr or run.stdout).strip().splitlines()[-1:]}")
        with open(f"{work}/counts.json", encoding="utf-8") as file:
            return json.load(file), np.load(f"{work}/answer.npy")


def count_weft(options, counter, asked, inputs):
    artifact = f"{counter.folder.name}/model.weft"
    subprocess.run([options.weft, "compile", "-q", inputs.model, "-t", *asked.target.split(), "-o", artifact], check=True)
    given = [Given(array.shape, ELEMENTS[str(array.dtype)], array.tobytes()) for array in inputs.feed.values()]
    counted = counter.count(artifact, given, PROCESSORS[asked.cpu], options.calls)
    return counted, np.frombuffer(counter.answer(), np.float32)


def answer_of(options, asked, inputs):
    """What tools/bench keeps of the model in float64, or what ONNX Runtime gives here."""
    kept = f"{options.models}/{asked.model}.{asked.case}.reference.npz"
    if os.path.exists(kept):
        file = np.load(kept)
        return file[file.files[0]]
    import onnxruntime
    return onnxruntime.InferenceSession(inputs.model, providers=["CPUExecutionProvider"]).run([inputs.output], inputs.feed)[0]


def count_peers(options, counter, asked, inputs):
    """{engine: what a call executes} of those that agree with the first one, and its answer."""
    counted, reference = {}, None
    for engine in asked.peers():
        try:
            count, answer = Peers(options.peers, counter, options.calls, options.llamacpp).count(engine, inputs, asked.cpu)
        except RuntimeError as error:
            print(f"{asked}: {error}", file=sys.stderr)
            continue
        reference = answer if reference is None else reference
        if differs(answer, reference, asked):
            error = np.abs(answer.reshape(reference.shape) - reference).max() / np.abs(reference).max()
            print(f"{asked}: {engine} answers otherwise than the first peer, by {error:.1g} of the largest, in {sum(count['kinds'].values())}",
                  file=sys.stderr)
            continue
        counted[engine] = count
    return counted, reference


def compared(asked, ours, peers, moved):
    """The cell. `peers`: {engine: instructions}, `moved`: {engine: bytes loaded and stored}."""
    best = min(peers, key=peers.get)
    return {**dataclasses.asdict(asked), "peer": best, "ours": ours.instructions, "best": peers[best],
            "ratio": round(peers[best] / ours.instructions, 3), "peers": peers, "loaded": ours.loaded, "stored": ours.stored, "moved": moved}


def count_case(options, counter, asked):
    inputs = Inputs.of(asked, options.models)
    ours, answer = count_weft(options, counter, asked, inputs)
    print(f"{asked}: {ours.instructions}, {ours.loaded} + {ours.stored} bytes", flush=True)
    if plain := asked.plain():
        own = next((cell for cell in known() if Asked.of(cell) == plain), None)
        if not own:
            sys.exit(f"{asked}: {plain} has to be counted first")
        if differs(answer, answer_of(options, asked, inputs), asked):
            sys.exit(f"{asked}: Weft's answer is not the model's")
        return compared(asked, ours, {"weft": own["ours"]}, {})
    counted, reference = count_peers(options, counter, asked, inputs)
    if reference is None or differs(answer, reference, asked):
        sys.exit(f"{asked}: no peer answers, or Weft's answer is another one")
    return compared(asked, ours, {engine: sum(count["kinds"].values()) for engine, count in counted.items()},
                    {engine: count["loaded"] + count["stored"] for engine, count in counted.items()})


def recount(options, counter, cell):
    """The cell with Weft counted anew."""
    asked = Asked.of(cell)
    inputs = Inputs.of(asked, options.models)
    ours, answer = count_weft(options, counter, asked, inputs)
    if differs(answer, answer_of(options, asked, inputs), asked):
        sys.exit(f"{asked}: Weft's answer is not the model's")
    print(f"{asked}: {cell['ours']} -> {ours.instructions}, {100 * (ours.instructions / cell['ours'] - 1):+.2f} %", flush=True)
    return compared(asked, ours, cell["peers"], cell.get("moved", {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("weft", "call", "peers", "models"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--case", action="append", default=[], type=Asked.parse)
    parser.add_argument("--llamacpp", metavar="FOLDER", help="of libllama.so, built for ARM with i8mm; else the package's, which has no products of bytes")
    parser.add_argument("--calls", type=int, default=3, help="the last of so many is counted")
    parser.add_argument("--ours", action="store_true", help="count Weft alone anew in cells that are there")
    options = parser.parse_args()
    counter = Counter(options.call)
    if options.ours:
        for cell in known():
            if not options.case or Asked.of(cell) in options.case:
                put(recount(options, counter, cell))
        return
    there = [Asked.of(cell) for cell in known()]
    for asked in options.case or [asked for asked in Asked.all() if asked not in there]:
        put(count_case(options, counter, asked))


main()
