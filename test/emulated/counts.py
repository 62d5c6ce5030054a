"""What calls of small models execute on ARM is at most 2 % more than counts.json says, in kernels and outside of them.

    counts.py WEFT CALL TABLE FOLDER     WEFT compiles, CALL is weft_call_artifact for ARM; with WEFT_BLESS=1 TABLE is written

The counts of kernels are the same everywhere, so what differs was changed. Where more are executed, the kernels that grew are named. What
the runtime and the C library execute, 2,500 to 6,300 instructions, depends on where memory and names lie as well (up to 126 were seen).
"""
import json
import os
import sys

import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench/arm"))

import small_models
from counting import Counter, Given
from subprocess import run

MORE = 0.02
MORE_OUTSIDE = 200  # instructions, besides
ELEMENTS = {"float32": "f32", "int64": "i64"}
NEWEST = "max,sme=off,sve128=on,sve256=off,sve512=off"  # without the long vectors that make the emulator slow
PROCESSORS = {"v8": "cortex-a72", "v8.2": "neoverse-n1", "v8.6": NEWEST, "sve256": "max,sme=off,sve256=on,sve512=off"}
LEVELS = {"quantized": ["v8", "v8.2", "v8.6", "sve256"], "four_bits": ["v8", "v8.2", "v8.6", "sve256"]}  # floats are computed alike on all without SVE


def case_of(feeds):
    return ", ".join("x".join(str(dim) for dim in array.shape) for array in feeds.values())


def count_model(name, make, weft, counter, folder):
    """Cells of the table."""
    model, calls = make()
    path = f"{folder}/{name}.onnx"
    onnx.save(model, path)
    for level in LEVELS.get(name, ["v8", "sve256"]):
        artifact = f"{folder}/{name}.{level}.weft"
        run([weft, "compile", "-q", path, "-t", f"arm:{level}", "-o", artifact], check=True)
        for feeds in calls[:2]:
            inputs = [Given(array.shape, ELEMENTS[str(array.dtype)], array.tobytes()) for array in feeds.values()]
            counted = counter.count(artifact, inputs, PROCESSORS[level])
            yield {"model": name, "case": case_of(feeds), "target": f"arm:{level}", "cpu": PROCESSORS[level].split(",")[0],
                   "ours": counted.instructions, "loaded": counted.loaded, "stored": counted.stored,
                   "kernels": {kernel: count for kernel, count in sorted(counted.kernels.items()) if count}}


def key(cell):
    return cell["model"], cell["case"], cell["target"]


def grown(cell, known):
    """Lines about kernels that execute more than they did, the worst first; those that there were not are among them."""
    more = {kernel: count - known["kernels"].get(kernel, 0) for kernel, count in cell["kernels"].items()}
    for kernel, by in sorted(more.items(), key=lambda row: -row[1]):
        if by > 0:
            yield f"  {kernel}: {cell['kernels'][kernel]} instructions, were {known['kernels'].get(kernel, 'none')}"


def parts(cell):
    """Instructions in kernels, and outside of them."""
    inside = sum(cell["kernels"].values())
    return inside, cell["ours"] - inside


def complaints(cells, table):
    known = {key(cell): cell for cell in table["cells"]}
    for cell in cells:
        before = known.get(key(cell))
        if not before:
            yield f"{key(cell)} is not in the table"
            continue
        (inside, outside), (was_inside, was_outside) = parts(cell), parts(before)
        if inside > was_inside * (1 + MORE):
            yield f"{key(cell)}: {inside} instructions in kernels, {100 * (inside / was_inside - 1):.1f} % more than {was_inside}"
            yield from grown(cell, before)
        if outside > was_outside * (1 + MORE) + MORE_OUTSIDE:
            yield f"{key(cell)}: {outside} instructions outside of kernels, were {was_outside}"


def main():
    weft, call, path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    counter = Counter(call)
    cells = [cell for name, make in small_models.MODELS for cell in count_model(name, make, weft, counter, folder)]
    if os.environ.get("WEFT_BLESS"):
        with open(path, "w", encoding="utf-8") as file:
            file.write("{\"cells\": [\n" + ",\n".join(json.dumps(cell) for cell in cells) + "\n]}\n")
        return
    with open(path, encoding="utf-8") as file:
        wrong = list(complaints(cells, json.load(file)))
    if wrong:
        sys.exit("\n".join(wrong + ["if that is meant: WEFT_BLESS=1 writes the table anew"]))
    print(f"{len(cells)} counts are those of the table, or less")


main()
