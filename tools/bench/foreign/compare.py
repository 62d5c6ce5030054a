"""Compiles files that other quantisers made as they come, and says what a call takes beside Weft in f32 and ONNX Runtime with the same file.

    python3 tools/bench/foreign/compare.py [--models unet_nearest,…] [--rounds 9] [--again]
Files are kept in the benchmark's folder, `foreign`. One thread; all files of a model take turns. Two cells belong to a file: Weft's time as a part of its own in
f32, and ONNX Runtime's over it. The last two are least cosines over all files: of Weft's answers, and of ONNX Runtime's, to ONNX Runtime's without optimisations
of the same file. Where both are low, the network makes much of a rounding.
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import engines
import environment
import files
import turns
from trained.compare import last_line

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = {
    "unet_nearest": "U-Net, resized to nearest",
    "unet_linear": "U-Net, resized linearly",
    "unet_transposed": "U-Net, transposed convolutions",
    "pyramid": "feature pyramid",
    "dilated": "dilated convolutions",
    "efficientnet": "EfficientNet-like",
    "resnext": "ResNeXt-like",
    "wav2vec2": "wav2vec2-like, 8,000 samples",
    "clip": "CLIP-like image encoder",
}
STATIC = {"QDQ": "qdq", "QOperator": "qoperator", "unsigned": "unsigned"}
TRANSFORMERS, MIXED = ("wav2vec2", "clip"), ("unet_nearest", "efficientnet")
COLUMNS = (*STATIC, "NNCF", "NNCF, mixed")
turns.LIMIT = 120  # seconds, of a compilation too


def forms(model):
    """By column the form of a file."""
    wanted = STATIC | {"NNCF": "nncf_onnx_transformer" if model in TRANSFORMERS else "nncf_onnx"}
    return wanted | ({"NNCF, mixed": "nncf_onnx_mixed"} if model in MIXED else {})


def make(work, tool, script, model, form, again):
    """Why the file cannot be made, or None."""
    if os.path.exists(engines.onnx_file(work, model, form)) and not again:
        return None
    command = [environment.python(tool), os.path.join(HERE, script), os.path.join(work, "models"), model, *([form] if form != "f32" else [])]
    done = subprocess.run(command, capture_output=True, text=True, env=files.environ(work))
    return last_line(done) if done.returncode else None


def judged(work, model, wanted, rounds):
    commands = {(engine, form): [environment.python(engines.ENGINES[engine]), os.path.join(HERE, "judge.py"), engine, model, form, work]
                for form in wanted for engine in ("weft", "onnxruntime")}
    return turns.judged(commands, rounds, ("weft", "f32"), files.environ(work))


def cells(results, form):
    """Weft's time over its own in f32, and ONNX Runtime's over Weft's; or why there is none."""
    weft, other = (results[engine, form] for engine in ("weft", "onnxruntime"))
    part, times = weft.get("ratio"), other.get("ratio")
    return [weft.get("failed") or f"{part:.2f}", other.get("failed") or (f"{times / part:.2f}" if part else "")]


def row(model, results, why):
    made = {form: [why[form], ""] if why.get(form) else cells(results, form) for form in ("f32", *forms(model).values())}
    rest = [cell for column in COLUMNS for cell in made.get(forms(model).get(column), ["", ""])]
    worst = [min((result["score"] for key, result in results.items() if key[0] == engine and "score" in result), default=float("nan"))
             for engine in ("weft", "onnxruntime")]
    f32 = results["weft", "f32"].get("ms", float("nan"))
    return "| " + " | ".join([MODELS[model], f"{f32:.3f}", made["f32"][1], *rest, *(f"{each:.5f}" for each in worst)]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--again", action="store_true", help="makes all files anew")
    options = parser.parse_args()
    work = os.path.join(files.folder(), "foreign")
    for part in ("models", "artifacts"):
        os.makedirs(os.path.join(work, part), exist_ok=True)
    print("| model | f32 ms | ONNX Runtime f32 |", *(f"{column} | |" for column in COLUMNS), "least cosine | ONNX Runtime's |")
    print("|---" + "|--:" * (2 * len(COLUMNS) + 4) + "|")
    for model in options.models.split(","):
        if reason := make(work, "torch", "make.py", model, "f32", options.again):
            raise SystemExit(f"error: {model} cannot be made: {reason}")
        why = {form: make(work, *(("onnxruntime", "static.py") if form in STATIC.values() else ("nncf", "nncf_onnx.py")), model, form, options.again)
               for form in forms(model).values()}
        results = judged(work, model, ["f32", *(form for form in why if not why[form])], options.rounds)
        print(row(model, results, why), flush=True)


if __name__ == "__main__":
    main()
