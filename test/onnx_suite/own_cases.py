"""Writes cases of our own for operators that ONNX's backend tests say little about, in the form of export_cases.py.

    python own_cases.py FOLDER

What random operators give is computed with numpy from the seeds; the rest with onnx's reference evaluator. Sizes are
symbols, and each case has a data set per size: 0, 1 and larger ones.
"""
import pathlib
import sys

from own import (attention, found_by_random_models, fused, loops_and_sequences, matrices_and_sets, narrow_elements, quantized,
                 random_numbers, sizes_from_data, transforms)
from own.cases import CASES


def main():
    folder = pathlib.Path(sys.argv[1]) / "own"
    lines = []
    for name, make in CASES:
        make().write(folder, name, lines)
    (folder / "manifest.txt").write_text("\n".join(lines) + "\n")


main()
