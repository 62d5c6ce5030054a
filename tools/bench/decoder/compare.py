"""Weights of a decoder in few bits, by Weft and by others: what a token takes, and how far the next token's distribution is from f32's.

    python3 tools/bench/decoder/compare.py [--rounds 11] [--again]
One thread, all files take turns with one token behind 128. `weft quantize` is asked for the time that ONNX Runtime's file in 4 bits takes in Weft, and then for
that of llama.cpp's Q4_K_M, and for 6 bits a weight (mixes.py asks whether other files of that size are as good); llama.cpp's files are those of its own quantiser. Files are kept in the benchmark's folder, `decoder`.
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
MODEL = "llama160m"
COLDER = 1.05  # small files take so much longer where another program is called between, as `weft quantize` times them
F32, UNIFORM, FOUR, BEST = "Weft, f32", "Weft on ONNX Runtime's 4 bits", "llama.cpp, Q4_K_M", "weft quantize, as fast as 4 bits"
# label: the engine and the kind of file it runs
FILES = {
    F32: ("weft", "walked"),
    UNIFORM: ("weft", "int4"),
    "llama.cpp, Q4_0": ("llamacpp_native", "q4_0"),
    FOUR: ("llamacpp_native", "q4_k_m"),
    "llama.cpp, Q6_K": ("llamacpp_native", "q6_k"),
    "llama.cpp, Q8_0": ("llamacpp_native", "q8_0"),
    "llama.cpp for AVX2, Q4_0": ("llamacpp", "q4_0"),
}
SEARCHED = {BEST: ("weft", "as_uniform"), "weft quantize, as fast as Q4_K_M": ("weft", "as_q4_k_m"), "weft quantize, 6 bits a weight": ("weft", "six_bits")}


def run(command, work, threads=1):
    done = subprocess.run(command, env=files.environ(work, threads))
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command[:3])} … ends with {done.returncode}")


def weft(work, verb, source, kind, *more):
    tool = os.path.join(files.environ(work)["WEFT_BENCH_BUILD"], "bin", "weft")
    run([tool, verb, "-q", source, "-o", engines.artifact(work, "weft", MODEL, kind), *more], work)


def make_files(work):
    """All but those that are searched."""
    models = os.path.join(work, "models")
    files.make(work, MODEL, "int4", ["weft", "onnxruntime", "llamacpp"])
    weft(work, "compile", engines.onnx_file(work, MODEL, "f32"), "walked")
    weft(work, "compile", engines.onnx_file(work, MODEL, "int4"), "int4")
    run([environment.python("base"), os.path.join(HERE, "judge.py"), "calls", work], work)
    run([environment.python("llamacpp_native"), os.path.join(HERE, "narrow_gguf.py"), models], work)


def judged(work, wanted, rounds):
    commands = {label: [environment.python(engines.ENGINES[engine]), os.path.join(HERE, "judge.py"), engine, kind, work]
                for label, (engine, kind) in wanted.items()}
    return turns.judged(commands, rounds, BEST if BEST in wanted else F32, files.environ(work))


def strategy(work, kind):
    return engines.artifact(work, "weft", MODEL, kind) + ".strategy"


def search(work, rounds):
    """As fast as two of the files, and as small as asked for. Prices are shared by the three."""
    prices = os.path.join(work, "artifacts", "prices")
    if os.path.exists(prices):
        os.remove(prices)
    ratios = judged(work, {label: FILES[label] for label in (F32, UNIFORM, FOUR)}, rounds)
    budgets = [f"latency<={COLDER * ratios[label]['ratio']:.3f}x" for label in (UNIFORM, FOUR)] + ["size<=0.1875x"]
    for (_, kind), budget in zip(SEARCHED.values(), budgets):
        weft(work, "quantize", engines.onnx_file(work, MODEL, "f32"), kind, "--calibration", os.path.join(work, "models", MODEL + ".calls"),
             "--at", "batch=1,seq=1,past=128", "--budget", budget, "--prices", prices,
             "--strategy", strategy(work, kind))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--again", action="store_true", help="makes all files anew")
    options = parser.parse_args()
    work = os.path.join(files.folder(), "decoder")
    for part in ("models", "artifacts"):
        os.makedirs(os.path.join(work, part), exist_ok=True)
    if options.again or not os.path.exists(engines.artifact(work, "weft", MODEL, SEARCHED[BEST][1])):
        make_files(work)
        search(work, options.rounds)
    print(f"| {MODEL}, a token behind 128 | MB | KL to f32 | ms | / {BEST} |\n|---|--:|--:|--:|--:|")
    wanted = FILES | SEARCHED
    for label, result in judged(work, wanted, options.rounds).items():
        size = os.path.getsize(engines.read_by(work, wanted[label][0], MODEL, wanted[label][1])) / 1e6
        print(f"| {label} | {size:.0f} | " + (result["failed"] if "failed" in result else f"{result['score']:.4f} | {result['ms']:.2f} | {result['ratio']:.2f} |"))


if __name__ == "__main__":
    main()
