#!/usr/bin/env python3
"""Counts the instructions that one call of a compiled model executes on 64-bit ARM, under an emulator: the same number in every run.

    count.py ARTIFACT --call PROGRAM --input x=1,3,64,64:f32 [--input ids=1,16:i64:1000] [--cpu neoverse-n1] [--kernels] [--json]
    count.py ARTIFACT INPUTS.npz --call PROGRAM --score      a number only: weft tune --remote … --score 'count.py --call PROGRAM --score'

PROGRAM is build/arm64/bin/weft_call_artifact (cmake --preset arm64), ARTIFACT is for one target. Inputs are in the order of the
artifact's, also in the .npz file: floats uniform in -1..1, integers below the number behind the type (1 unless given). One thread.
"""
import argparse
import dataclasses
import json
import sys

from counting import Counter, Tensor, given_in


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact")
    parser.add_argument("inputs", nargs="?", metavar="INPUTS.npz")
    parser.add_argument("--call", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--cpu", default="neoverse-n1")
    parser.add_argument("--kernels", action="store_true", help="by kernel, too, with the bytes that each loads and stores")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--score", action="store_true", help="instructions, and nothing else")
    options = parser.parse_args()
    inputs = given_in(options.inputs) if options.inputs else [Tensor.parse(text) for text in options.input]
    counted = Counter(options.call).count(options.artifact, inputs, options.cpu)
    if options.score:
        print(counted.instructions)
        return
    if options.json:
        json.dump({"artifact": options.artifact, "cpu": options.cpu, **dataclasses.asdict(counted)}, sys.stdout, indent=1)
        print()
        return
    print(f"{counted.instructions / 1e6:10.2f} M instructions, {counted.loaded / 1e6:.2f} MB loaded, {counted.stored / 1e6:.2f} MB stored")
    tables = [(counted.kinds, {})] + ([(counted.kernels, counted.moved)] if options.kernels else [])
    for table, moved in tables:
        print()
        for name, count in sorted(table.items(), key=lambda row: -row[1]):
            if count >= 1000:
                bytes_moved = f"{moved[name] / 1e6:10.2f} MB " if moved else ""
                print(f"{count / 1e6:10.2f} M {bytes_moved}{name}")


main()
