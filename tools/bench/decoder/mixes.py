"""Whether other mixes of forms of 4 to 8 bits, of the size of what `weft quantize` found at 6 bits a weight, are as near to f32: behind compare.py.

    python3 tools/bench/decoder/mixes.py [--count 20]
Each layer gets a form by chance, and then others more or fewer bits until the file has the size. `first and last wide`: bytes for the layers of the first and the
last block and the output, 4 bits for all others, whatever size that makes. Embeddings are bytes, as in what was found.
"""
import argparse
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import compare
import engines
import files

FORMS = {"blocks4x8": 4.63, "blocks5x8": 5.75, "blocks6x8": 6.75, "rows": 8.03}  # bits for a number
BLOCK = [768 * 768, 768 * 256, 768 * 256, 768 * 768, 768 * 3072, 768 * 3072, 768 * 3072]  # weights of a block's layers
WEIGHTS = BLOCK * 12 + [768 * 32000]


def chosen(found, forms):
    """Lines of a strategy, by layer; what is no layer with a weight stays as it was found."""
    lines = []
    for line in found:
        fields = line.split(" | ")
        place = int(fields[1])
        lines.append(" | ".join(fields[:4] + [forms[place], "-"]) if place < len(forms) else line)
    return "\n".join(lines) + "\n"


def judged(work, found, name, forms):
    path = compare.strategy(work, "mix")
    with open(path, "w") as file:
        file.write(chosen(found, forms))
    compare.weft(work, "quantize", engines.onnx_file(work, compare.MODEL, "f32"), "mix", "--strategy", path, "--apply")
    result = compare.judged(work, {name: ("weft", "mix")}, 1)[name]
    artifact = engines.artifact(work, "weft", compare.MODEL, "mix")
    print(f"| {name} | {os.path.getsize(artifact) / 1e6:.1f} | {result['score']:.4f} |", flush=True)


def by_chance(draw, most):
    names, bits = list(FORMS), list(FORMS.values())
    picks = [draw.randrange(len(names)) for _ in WEIGHTS]
    size = lambda: sum(count * bits[pick] / 8 for count, pick in zip(WEIGHTS, picks))
    while size() > most:
        i = draw.randrange(len(picks))
        picks[i] = max(picks[i] - 1, 0)
    for i in draw.sample(range(len(picks)), len(picks)):
        if picks[i] + 1 < len(names):
            picks[i] += 1
            picks[i] -= size() > most
    return [names[pick] for pick in picks]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    work = os.path.join(files.folder(), "decoder")
    with open(compare.strategy(work, "six_bits")) as file:
        found = file.read().splitlines()
    print("| mix | MB | KL to f32 |\n|---|--:|--:|")
    best = os.path.getsize(engines.artifact(work, "weft", compare.MODEL, "six_bits"))
    wide = range(len(BLOCK)), range(len(WEIGHTS) - len(BLOCK) - 1, len(WEIGHTS))
    judged(work, found, "first and last wide", ["rows" if any(i in part for part in wide) else "blocks4x8" for i in range(len(WEIGHTS))])
    others = os.path.getsize(engines.artifact(work, "weft", compare.MODEL, "mix")) - sum(
        count * FORMS["rows" if any(i in part for part in wide) else "blocks4x8"] / 8 for i, count in enumerate(WEIGHTS))
    draw = random.Random(1)
    for i in range(options.count):
        judged(work, found, f"by chance, {i + 1}", by_chance(draw, best - others))


if __name__ == "__main__":
    main()
