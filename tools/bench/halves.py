"""What models that were exported in 16 bits take beside the same models in f32, on every level of x86 that this machine runs.

    python3 tools/bench/halves.py [--models minilm,…] [--levels v2,v3,v4,v4+bf16] [--rounds 9]
One thread; the files of a case take turns. Times are parts of f32's on the same level; of ONNX Runtime, which has no levels, its time with the file in f16 over ours.
Arenas are those of the case, of f32's. The last two columns are cosines to the model in float64. Runs with the Python of tools/test-env.
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import cases
import engines
import environment
import files
import turns

MODELS = {"minilm": ["b1s16", "b1s128"], "bert_base": ["b1s128"], "vit_tiny": ["b1"], "gpt2": ["prefill128"], "resnet50": ["b1"], "mobilenetv2": ["b1"],
          "superres": ["h64w64"]}
LEVELS = ["v2", "v3", "v4", "v4+bf16"]
FORMS = {"f32": "f32", "f16": "model_f16", "bf16": "model_bf16"}


def form_at(form, level):
    """What engines know the artifact by."""
    return f"{form}-{level}"


class Judge:
    def __init__(self, name, model, case, form, level, work):
        engine = engines.load(name)
        self.engine = engine(work, model, form_at(form, level) if name == "weft" else form, 1)
        self.call = self.engine.bind(cases.inputs(model, case, form)[0])
        self.judge = lambda got: cases.judge(got, cases.references(os.path.join(work, "models"), model, case)[0], model, form if form in cases.FLOATS else "half")

    def score(self):
        return self.judge(self.engine.first(self.call()))["cosine"]


def serve(name, *arguments):
    return [environment.python(engines.ENGINES[name]), os.path.abspath(__file__), "--serve", name, *arguments]


def compiled(work, model, form, level, weft):
    path = engines.artifact(work, "weft", model, form_at(form, level))
    subprocess.run([weft, "compile", "-q", engines.onnx_file(work, model, form), "-t", f"x86:{level}", "-o", path], check=True)
    return path


def arena(path, feed):
    """Bytes between kernels in the call."""
    from engines.weft_engine import say, sizes
    at = sizes(say("inspect", path)["functions"][0], feed)
    return say("inspect", path, *(["--at", at] if at else []))["functions"][0]["cost"]["arena"]


def row(work, model, case, level, rounds, weft):
    arenas = {name: arena(compiled(work, model, form, level, weft), cases.inputs(model, case)[0]) for name, form in FORMS.items()}
    commands = {name: serve("weft", model, case, form, level, work) for name, form in FORMS.items()}
    commands["ort"] = serve("onnxruntime", model, case, "model_f16", level, work)
    results = turns.judged(commands, rounds, "f32", files.environ(work))
    part = lambda name: f"{results[name]['ratio']:.2f}" if "ratio" in results[name] else results[name]["failed"]
    peer = f"{results['ort']['ratio'] / results['f16']['ratio']:.2f}" if "ratio" in results["ort"] else results["ort"]["failed"]
    return [f"{results['f32']['ms']:.2f}", part("f16"), part("bf16"), peer, *(f"{arenas[name] / arenas['f32']:.2f}" for name in ("f16", "bf16")),
            *(f"{results[name].get('score', float('nan')):.5f}" for name in ("f16", "bf16"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    work = files.folder()
    os.environ["WEFT_BENCH_BUILD"] = build = files.environ(work)["WEFT_BENCH_BUILD"]
    weft = os.path.join(build, "bin", "weft")
    print("| model | case | level | f32 ms | f16 | bf16 | ONNX Runtime f16 / f16 | arena f16 | arena bf16 | cosine f16 | bf16 |\n|---|---|---|" + "--:|" * 8)
    for model in options.models.split(","):
        files.make(work, model, "half", ["weft_f16", "weft_bf16"])
        for case in MODELS[model]:
            for level in options.levels.split(","):
                print("| " + " | ".join([model, case, level, *row(work, model, case, level, options.rounds, weft)]) + " |", flush=True)


if sys.argv[1:2] == ["--serve"]:
    turns.serve(lambda: Judge(*sys.argv[2:]))
elif __name__ == "__main__":
    main()
