"""Writes FOLDER/000.npz, … with x: f32 [rows, 64], rows different in each: make_calls.py FOLDER COUNT [KIND]

KIND: wide (65 rows, which the model refuses), nan, zero (some channels are always 0), double (f64), name (z instead of x), extra (z, too), padded (the last third of the rows is huge, and mask [rows] is 0 there), spikes (one number of some calls is far from all others), kept (past [rows from 0 on, 64], too)
"""
import array
import io
import pathlib
import random
import sys
import zipfile


def npy(kind, rows, columns, numbers):
    code = {"f": "<f4", "d": "<f8", "q": "<i8"}[kind]
    shape = "(%d, %d)" % (rows, columns) if columns else "(%d,)" % rows
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + array.array(kind, numbers).tobytes()


def main(folder, count, kind=""):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    chance = random.Random(3)
    for index in range(int(count)):
        rows = 65 if kind == "wide" else 1 + index * 7 % 23
        numbers = [chance.gauss(0, 1) * (1 + 20 * (i % 64 == 5)) * (kind != "zero" or i % 64 > 3) for i in range(rows * 64)]
        if kind == "spikes" and index % 5 == 0:
            numbers[3] = 1000
        if kind == "nan" and index == 2:
            numbers[7] = float("nan")
        counted = rows - rows // 3 if kind == "padded" else rows
        numbers[counted * 64:] = [1e6] * ((rows - counted) * 64)
        data = npy("d" if kind == "double" else "f", rows, 64, numbers)
        with zipfile.ZipFile(folder / f"{index:03}.npz", "w") as archive:
            archive.writestr("z.npy" if kind == "name" else "x.npy", data)
            if kind == "extra":
                archive.writestr("z.npy", data)
            if kind == "kept":
                past = index * 5 % 31
                archive.writestr("past.npy", npy("f", past, 64, [chance.gauss(0, 1) for _ in range(past * 64)]))
            if kind == "padded":
                archive.writestr("mask.npy", npy("q", rows, 0, [int(row < counted) for row in range(rows)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
