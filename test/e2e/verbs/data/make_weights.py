"""Writes FOLDER/model.onnx, whose weights lie in the file, in two beside it and, as numbers to be decoded, in none: make_weights.py FOLDER

y = x . v . w . u . t, where x is f32 [batch, 16]. v is decoded, of 8 bits; the file of t has the name by which programs call the bytes of v.
"""
import array
import pathlib
import sys

from make_onnx import field, varint

SIZE = 16
FLOAT, INT8 = 1, 3


def value(name):
    dims = field(1, field(2, "batch")) + field(1, field(1, SIZE))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def weight(name, element, data):
    return field(1, SIZE) + field(1, SIZE) + field(2, element) + field(8, name) + data


def beside(folder, name, data):
    """Behind bytes of something else."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(bytes(64) + data)
    entries = {"location": name, "offset": "64"}
    return b"".join(field(13, field(1, key) + field(2, text)) for key, text in entries.items()) + field(14, 1)


def product(left, right, name):
    return field(1, left) + field(1, right) + field(2, name) + field(3, f"to_{name}") + field(4, "MatMul")


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir()
    numbers = [(7 * i) % 19 - 9 for i in range(SIZE * SIZE)]
    data = {name: array.array("f", [number / scale for number in numbers]).tobytes() for name, scale in (("w", 8), ("u", 3), ("t", 5))}
    to_float = field(5, field(1, "to") + field(3, FLOAT) + field(20, 2))
    nodes = [field(1, "v") + field(2, "vf") + field(4, "Cast") + to_float,
             product("x", "vf", "xv"), product("xv", "w", "xvw"), product("xvw", "u", "xvwu"), product("xvwu", "t", "y")]
    weights = [weight("v", INT8, field(5, b"".join(varint(number % 2**64) for number in numbers))),
               weight("w", FLOAT, field(9, data["w"])),
               weight("u", FLOAT, beside(folder, "below/u.data", data["u"])),
               weight("t", FLOAT, beside(folder, "#v", data["t"]))]
    graph = b"".join(field(1, node) for node in nodes) + field(2, "graph") + b"".join(field(5, each) for each in weights)
    graph += field(11, value("x")) + field(12, value("y"))
    (folder / "model.onnx").write_bytes(field(1, 9) + field(7, graph) + field(8, field(2, 18)))


if __name__ == "__main__":
    main(*sys.argv[1:])
