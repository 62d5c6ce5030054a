"""Files that `weft quantize` writes for other engines, beside what those engines' own quantisers make of the same calls.

    python3 tools/bench/exported.py [--models digits,photos,minilm,resnet50] [--rounds 9] [--sittings 5] [--again]
Models and calls are those that trained/compare.py and bench.py have made. One thread; all files of a model take turns, in new processes for each sitting. Scores are those of trained models, else mean cosines to f32 on calls that
no tool was calibrated with. What an engine prints while it loads our file with its defaults is shown behind the table: it should be nothing.
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import accuracy
import cases
import engines
import environment
import files
import turns

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = "ours"
TRAINED = ("digits", "photos")
CASES = {"minilm": "b1s128", "resnet50": "b1", "mobilenetv2": "b1"}
MOST_JUDGED = 200
LOADS = {"onnxruntime": "import sys, onnxruntime as o; o.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])",
         "openvino": "import sys, openvino as o; c = o.Core(); c.compile_model(c.read_model(sys.argv[1]), 'CPU')"}
FILES = {"Weft's file of the same search": ("weft", OURS), "ONNX Runtime, ours": ("onnxruntime", OURS), "ONNX Runtime, its own": ("onnxruntime", "int8"),
         "ONNX Runtime, f32": ("onnxruntime", "f32"), "OpenVINO, ours": ("openvino", OURS), "OpenVINO, NNCF": ("openvino", "nncf"),
         "OpenVINO, NNCF's transformer preset": ("openvino", "nncf_transformer")}
OWN = {"ONNX Runtime, ours": "ONNX Runtime, its own", "OpenVINO, ours": "OpenVINO, NNCF"}
OF_TRANSFORMERS = {"OpenVINO, ours": "OpenVINO, NNCF's transformer preset"}


class Judge:
    def __init__(self, name, model, form, work):
        engine = engines.load(name)
        self.engine, self.model = engine(work, model, form, 1), model
        self.judged = list(accuracy.judged(os.path.join(work, "models", model + ".judged.npz")))[:MOST_JUDGED]
        self.call = self.engine.bind(cases.inputs(model, CASES[model])[0])

    def score(self):
        lines = [(self.engine.first(self.engine.bind(feed)()), answer) for feed, answer in self.judged]
        got, expected = ([accuracy.line(self.model, each) for each in column] for column in zip(*lines))
        return accuracy.of(self.model, got, expected)["cosine"]


def work_of(model):
    return os.path.join(files.folder(), "trained") if model in TRAINED else files.folder()


def serve(name, model, form, work):
    script = [os.path.join(HERE, "trained", "judge.py")] if model in TRAINED else [os.path.abspath(__file__), "--serve"]
    return [environment.python(engines.ENGINES[name]), *script, name, model, form, work]


def make(work, model, again):
    """Searches, and writes for others and for itself."""
    folder, made = os.path.join(work, "models"), engines.onnx_file(work, model, OURS)
    if os.path.exists(made) and not again:
        return
    weft = os.path.join(files.environ("")["WEFT_BENCH_BUILD"], "bin", "weft")
    subprocess.run([weft, "quantize", os.path.join(folder, model + ".onnx"), "--calibration", os.path.join(folder, model + ".calls"), "--search", "all",
                    "--budget", "cosine>=0.9", "-o", made, "-o", engines.artifact(work, "weft", model, OURS), "-q",
                    *(["--mask", "attention_mask"] if model in cases.ENCODERS else [])], check=True)


def said(work, model, name):
    """What the engine says of our file."""
    done = subprocess.run([environment.python(engines.ENGINES[name]), "-c", LOADS[name], engines.onnx_file(work, model, OURS)], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="digits,photos,minilm,resnet50")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sittings", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="searches anew")
    options = parser.parse_args()
    for model in options.models.split(","):
        work = work_of(model)
        make(work, model, options.again)
        wanted = {label: file for label, file in FILES.items() if file[1] in ("f32", OURS) or os.path.exists(engines.onnx_file(work, model, file[1]))}
        results = turns.judged({label: serve(name, model, form, work) for label, (name, form) in wanted.items()}, options.rounds,
                               {**OWN, **(OF_TRANSFORMERS if model in cases.ENCODERS else {})}, files.environ(work), options.sittings)
        print(f"| {model} | score | ms | / the engine's own |\n|---|--:|--:|--:|")
        for label, result in results.items():
            cells = [result["failed"], "", ""] if "failed" in result else [f"{result['score']:.5f}", f"{result['ms']:.3f}", f"{result['ratio']:.3f}"]
            print("| " + " | ".join([label, *cells]) + " |", flush=True)
        for name in ("onnxruntime", "openvino"):
            print(f"{name} says of our file: {said(work, model, name) or 'nothing'}", flush=True)


if sys.argv[1:2] == ["--serve"]:
    turns.serve(lambda: Judge(*sys.argv[2:]))
elif __name__ == "__main__":
    main()
