"""Writes FOLDER/000.npz, … with i: i64 [rows], positions below 96: make_ids.py FOLDER COUNT"""
import array
import pathlib
import random
import sys
import zipfile


def main(folder, count):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    chance = random.Random(4)
    for index in range(int(count)):
        rows = 1 + index * 7 % 23
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % rows
        header += " " * (-(len(header) + 11) % 64) + "\n"
        numbers = array.array("q", [chance.randrange(96) for _ in range(rows)])
        with zipfile.ZipFile(folder / f"{index:03}.npz", "w") as archive:
            archive.writestr("i.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + numbers.tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
