"""Trains three small models, quantises each by Weft and by others with the same calls, and says what each file is worth and what a call takes.

    python3 tools/bench/trained/compare.py [--models digits,bytes,photos] [--rounds 9] [--again]
Files are kept in the benchmark's folder, `trained`. One thread; all files of a model take turns; the call is the first that is judged.
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

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGETS = {"digits": "top1>=0.99", "bytes": "kl<=0.005", "photos": "sqnr>=55"}
FOUR_BITS = "size<=0.25x"  # which no weight in 8 bits keeps
UNITS = {"digits": "% right", "bytes": "bits per byte", "photos": "dB"}
# label: the engine and the kind of file it runs
FILES = {
    "Weft, f32": ("weft", "f32"),
    "weft quantize": ("weft", "quantised"),
    "ONNX Runtime, f32": ("onnxruntime", "f32"),
    "ONNX Runtime, static": ("onnxruntime", "int8"),
    "static, entropy": ("onnxruntime", "int8_entropy"),
    "static, percentile": ("onnxruntime", "int8_percentile"),
    "ONNX Runtime, dynamic": ("onnxruntime", "dynamic"),
    "OpenVINO, f32": ("openvino", "f32"),
    "NNCF": ("openvino", "nncf"),
    "NNCF, transformer": ("openvino", "nncf_transformer"),
}
# Weights alone, of models that are made of products.
NARROW = {
    "bytes": {"weft quantize, 4 bits": ("weft", "four_bits"), "ONNX Runtime, 4 bits": ("onnxruntime", "int4"),
              "NNCF, 4 bits": ("openvino", "nncf_int4")},
}


def run(tool, script, *arguments, threads=1):
    return subprocess.run([environment.python(tool), script, *arguments], capture_output=True, text=True, env=files.environ("", threads))


def last_line(done):
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[-1][:160] if lines else f"it ends with {done.returncode}"


def make_model(work, model, again):
    folder = os.path.join(work, "models")
    if again or not os.path.exists(os.path.join(folder, model + ".judged.npz")):
        for tool, script, rest in (("scikit_learn", "data.py", []), ("torch", "train.py", [model])):
            done = run(tool, os.path.join(HERE, script), folder, *rest, threads=os.cpu_count())
            if done.returncode:
                raise SystemExit(f"error: {model} cannot be made: {last_line(done)}")
            print(done.stdout, end="", flush=True)


def make_file(work, model, engine, kind, again):
    """Why the file cannot be made, or None."""
    folder = os.path.join(work, "models")
    if engine == "weft":
        path, verb = engines.artifact(work, "weft", model, kind), ["compile"]
        if kind != "f32":
            budget = BUDGETS[model] if kind == "quantised" else FOUR_BITS
            verb = ["quantize", "--calibration", os.path.join(folder, model + ".calls"), "--budget", budget]
        weft = os.path.join(files.environ("")["WEFT_BENCH_BUILD"], "bin", "weft")
        command = lambda: subprocess.run([weft, *verb, os.path.join(folder, model + ".onnx"), "-o", path, "-q"], capture_output=True, text=True)
    elif kind == "f32":
        return None
    else:
        path = engines.onnx_file(work, model, kind)
        tool, script = ("nncf", "nncf_file.py") if kind in engines.NNCF else ("onnxruntime", "quantise.py")
        command = lambda: run(tool, os.path.join(environment.HERE, script), folder, model, kind)
    if os.path.exists(path) and not again and engine != "weft":
        return None
    done = command()
    return last_line(done) if done.returncode else None


def judged(work, model, wanted, rounds):
    commands = {label: [environment.python(engines.ENGINES[engine]), os.path.join(HERE, "judge.py"), engine, model, kind, work]
                for label, (engine, kind) in wanted.items()}
    return turns.judged(commands, rounds, "weft quantize", files.environ(work))


def table(model, results):
    plain = results["Weft, f32"].get("score", float("nan"))
    yield f"| {model}, {BUDGETS[model]} | {UNITS[model]} | of f32 | ms | / Weft quantised |"
    yield "|---|--:|--:|--:|--:|"
    for label, result in results.items():
        if "failed" in result:
            yield f"| {label} | {result['failed']} | | | |"
        else:
            yield f"| {label} | {result['score']:.4f} | {result['score'] - plain:+.4f} | {result['ms']:.3f} | {result['ratio']:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(BUDGETS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--again", action="store_true", help="makes all files anew")
    options = parser.parse_args()
    work = os.path.join(files.folder(), "trained")
    for part in ("models", "artifacts"):
        os.makedirs(os.path.join(work, part), exist_ok=True)
    for model in options.models.split(","):
        make_model(work, model, options.again)
        wanted = FILES | NARROW.get(model, {})
        why = {label: make_file(work, model, *file, options.again) for label, file in wanted.items()}
        results = judged(work, model, {label: wanted[label] for label in wanted if not why[label]}, options.rounds)
        results.update({label: dict(failed=reason) for label, reason in why.items() if reason})
        print("\n".join(table(model, results)), flush=True)


if __name__ == "__main__":
    main()
