#!/usr/bin/env python3
"""Counts the instructions that one call of a compiled model executes on 64-bit ARM, under an emulator: the same number in every run.

    count.py ARTIFACT --call PROGRAM --input x=1,3,64,64:f32 [--input ids=1,16:i64:1000] [--cpu neoverse-n1] [--json]

PROGRAM is build/arm64/bin/weft_call_artifact (cmake --preset arm64). Inputs are in the order of the artifact's: floats uniform in -1..1,
integers below the number behind the type (1 unless given). One call is the difference between processes with three calls and with
one, halved: start and loading cancel. One thread.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

# Codes of elements as runtime.h numbers them, and how Python packs one.
ELEMENTS = {"f32": (16, "f"), "i64": (10, "q"), "i32": (8, "i"), "u8": (5, "B")}
HERE = os.path.dirname(os.path.abspath(__file__))


def tensor(text, numbers):
    """The bytes of '[NAME=]DIMS:TYPE[:LIMIT]' as weft_call_artifact reads them."""
    dims, element, *limit = text.split("=")[-1].split(":")
    dims, (code, letter) = [int(dim) for dim in dims.split(",")], ELEMENTS[element]
    count, most = 1, int(limit[0]) if limit else 1
    for dim in dims:
        count *= dim
    values = [numbers.uniform(-1, 1) if letter == "f" else numbers.randrange(most) for _ in range(count)]
    data = struct.pack(f"<{count}{letter}", *values)
    return struct.pack(f"<{len(dims) + 3}q", code, len(dims), *dims, len(data)) + data


def counts(options, folder, calls):
    out = f"{folder}/{calls}.json"
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", options.cpu, "-plugin", f"{folder}/instructions.so,out={out}",
               options.call, options.artifact, f"{folder}/in", f"{folder}/out", "1", str(calls)]
    subprocess.run(command, check=True)
    with open(out, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact")
    parser.add_argument("--call", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--cpu", default="neoverse-n1")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    numbers = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", f"{folder}/instructions.so", f"{HERE}/instructions.c"], check=True)
        with open(f"{folder}/in", "wb") as file:
            file.write(struct.pack("<q", len(options.input)) + b"".join(tensor(text, numbers) for text in options.input))
        one, three = counts(options, folder, 1), counts(options, folder, 3)
    call = {kind: (three[kind] - one[kind]) // 2 for kind in one}
    if options.json:
        json.dump({"artifact": options.artifact, "cpu": options.cpu, "all": sum(call.values()), "kinds": call}, sys.stdout, indent=1)
        print()
        return
    print(f"{sum(call.values()) / 1e6:10.2f} M instructions")
    for kind, count in sorted(call.items(), key=lambda row: -row[1]):
        if count >= 1000:
            print(f"{count / 1e6:10.2f} M {kind}")


main()
