#!/usr/bin/env python3
"""Quantises MiniLM with sentences and compares with f32 on others: quantize.py WEFT SENTENCES WORK

SENTENCES is tools/bench/sentences.py, which turns text of Python's own documentation into tokens. Nearly all products become
bytes (prices are measured, so a cheaper form elsewhere may leave one in f32), the artifact is as near to the one in f32 as the
report says, and much faster.
"""

import json
import os
import resource
import shutil
import subprocess
import sys

import minilm

LEAST_COSINE, CALIBRATED, HELD_OUT = 0.998, 48, 16
LEAST_BLOCKS = 0.9  # of the layers, that few bits take
# Seconds for a search, and how often what compiling the model takes may come on top: programs that observe, simulate and are measured are
# compiled whole, however slow the machine is.
LITTLE_TIME, MOST_ON_TOP = 8, 6
MOST_SIZE = 0.27  # of the file in f32
FEW_BITS_SIZE, FEW_BITS_COSINE = 0.213, 0.985  # that only 4 bits keep (0.212 with the code of AVX-512), and of the embeddings then


def multiplies_four_bytes():
    with open("/proc/cpuinfo") as file:
        flags = set(next((line.split() for line in file if line.startswith(("flags", "Features"))), []))
    return bool(flags & {"avx512_vnni", "avx_vnni", "asimddp"})


# Part of the layers that become bytes at least, that do in little time, and of the time in f32 that they may take. Where the processor
# multiplies no four bytes at once they save so little that prices of a busy machine choose f32 for some: there only "never slower" holds
# everywhere.
LEAST_LAYERS, LEAST_HASTY, MOST_TIME = (0.9, 0.5, 0.6) if multiplies_four_bytes() else (0.5, 0.25, 1.0)


def run(*arguments):
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if result.returncode == 0:
        return result.stdout
    sys.exit(f"FAILED with {result.returncode}: {' '.join(map(str, arguments))}\n{result.stderr}")


def write_calls(sentences, work):
    """Two folders of calls, of different lengths."""
    import numpy

    with numpy.load(sentences) as file:
        rows = [ids[ids > 0] for ids in file["ids"]]
    folders = [os.path.join(work, name) for name in ("calls", "others")]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    for folder, part in zip(folders, (rows[:CALIBRATED], rows[-HELD_OUT:])):
        for i, ids in enumerate(part):
            numpy.savez(os.path.join(folder, f"{i:03}.npz"), input_ids=ids[None], attention_mask=numpy.ones_like(ids)[None])
    return folders


def cosine(program, artifacts, call, work):
    """Between the embeddings of two artifacts."""
    import numpy

    answers = []
    for artifact in artifacts:
        out = os.path.join(work, "out.npz")
        run(program, "run", "-q", artifact, "--input", f"@{call}", "-o", out)
        with numpy.load(out) as file:
            answers.append(file["sentence_embedding"][0].astype(numpy.float64))
    a, b = answers
    return float(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))


def processor_seconds(call):
    """Of a call's processes; with what it gives."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    given = call()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, given


def deciding(report):
    """The layers that could have become integers: not attention's products, which become bf16 where that is multiplied faster."""
    return [layer for layer in report["layers"] if any(choice["form"] != "bf16" for choice in layer.get("choices", []))]


def small_and_hasty(program, model, calls, others, work, prices, compiling):
    """A size that only the embeddings in bytes keep, with the prices of a search before, and a search with hardly any time: what is wrong
    with them, where compiling takes so many seconds of a processor."""
    common = ["quantize", model, "--calibration", calls, "--evaluate", others, "--budget", f"cosine>={LEAST_COSINE}", "--json"]
    small = json.loads(run(program, *common, "--prices", prices, "--budget", f"size<={MOST_SIZE}x", "-o", os.path.join(work, "small.weft")))
    print(f"{small['bytes'] / small['f32_bytes']:.3f} of the bytes with cosine {small['cosine']:.5f}, {small['latency']:.2f} of the time")
    seconds, hasty = processor_seconds(lambda: json.loads(run(program, *common, "--time", f"{LITTLE_TIME}s", "-o", os.path.join(work, "hasty.weft"))))
    most = LITTLE_TIME * len(os.sched_getaffinity(0)) + MOST_ON_TOP * compiling
    integers = sum(layer["form"] not in ("f32", "bf16") for layer in deciding(hasty))
    print(f"in {LITTLE_TIME} s, which took {seconds:.1f} s of a processor ({most:.1f} at most): {integers} layers in integers, {hasty['latency']:.2f} of the time in f32")
    wrong = []
    if small["bytes"] > MOST_SIZE * small["f32_bytes"] or all(layer["form"] != "bytes" for layer in small["layers"]):
        wrong.append("the embeddings should be bytes")
    if seconds > most:
        wrong.append("it took much longer than it was given")
    if integers < LEAST_HASTY * len(deciding(hasty)) or hasty["latency"] >= MOST_TIME or hasty["cosine"] < LEAST_COSINE:
        wrong.append("a search with little time found little")
    return wrong


def in_few_bits(program, model, calls, others, work, prices):
    """All layers in blocks of few bits, most of them rounded by second moments, and the same again from the strategy: what is wrong."""
    first, again, strategy = (os.path.join(work, name) for name in ("few.weft", "again.weft", "few.strategy"))
    report = json.loads(run(program, "quantize", model, "--calibration", calls, "--evaluate", others, "--budget", f"size<={FEW_BITS_SIZE}x",
                            "--prices", prices, "--strategy", strategy, "-o", first, "--json"))
    run(program, "quantize", "-q", model, "--strategy", strategy, "--apply", "-o", again)
    blocks = [layer.get("rounded") for layer in report["layers"] if layer["form"].startswith("blocks")]
    cosine = next(output["cosine"] for output in report["outputs"] if output["name"] == "sentence_embedding")
    print(f"{len(blocks)} layers in blocks, {blocks.count('moments')} by second moments: {report['bytes'] / report['f32_bytes']:.3f} of the bytes, "
          f"embeddings {cosine:.5f}")
    wrong = []
    could = [layer for layer in deciding(report) if any(choice["form"] == "blocks4" for choice in layer["choices"])]
    if len(blocks) < LEAST_BLOCKS * len(could) or blocks.count("moments") < LEAST_BLOCKS * len(blocks):
        wrong.append("nearly all layers should be blocks rounded by second moments")
    if cosine < FEW_BITS_COSINE:
        wrong.append(f"in 4 bits embeddings should have a cosine of {FEW_BITS_COSINE}")
    if open(first, "rb").read() != open(again, "rb").read():
        wrong.append("the strategy and its numbers should give the same artifact")
    return wrong


def main(program, sentences, work):
    model = minilm.directory()
    os.makedirs(work, exist_ok=True)
    tokens = os.path.join(work, "sentences.npz")
    run(sys.executable, sentences, model, tokens)
    calls, others = write_calls(tokens, work)
    small, plain = os.path.join(work, "bytes.weft"), os.path.join(work, "plain.weft")
    prices = os.path.join(work, "prices")
    if os.path.exists(prices):
        os.remove(prices)
    report = json.loads(run(program, "quantize", model, "--calibration", calls, "--evaluate", others, "--prices", prices,
                            "--budget", f"cosine>={LEAST_COSINE}", "-o", small, "--json"))
    compiling, _ = processor_seconds(lambda: run(program, "compile", "-q", model, "-o", plain))
    layers = deciding(report)
    stayed = [layer["name"] for layer in layers if layer["form"] in ("f32", "bf16")]
    files = sorted(os.listdir(others))[::3]
    cosines = [cosine(program, (plain, small), os.path.join(others, name), work) for name in files]
    mean, promised = sum(cosines) / len(cosines), report["promised_cosine"]
    print(f"{len(layers) - len(stayed)} of {len(layers)} layers in bytes, cosine {report['cosine']:.5f} (promised {promised:.5f}), "
          f"embeddings {mean:.5f}, {report['latency']:.2f} of the time in f32")
    wrong = []
    if len(stayed) > (1 - LEAST_LAYERS) * len(layers):
        wrong.append(f"these became no integers: {', '.join(stayed)}")
    if report["cosine"] < LEAST_COSINE or mean < LEAST_COSINE:
        wrong.append(f"the budget was {LEAST_COSINE}")
    if abs(report["cosine"] - promised) > 0.1 * (1 - promised):
        wrong.append("the simulation promised something else")
    if report["latency"] >= MOST_TIME:
        wrong.append("it is hardly faster than f32")
    wrong += small_and_hasty(program, model, calls, others, work, prices, compiling)
    wrong += in_few_bits(program, model, calls, others, work, prices)
    for line in wrong:
        print(f"WRONG: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
