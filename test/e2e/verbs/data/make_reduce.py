"""Writes an ONNX model whose axes are an input, and axes: make_reduce.py FILE.onnx FILE.npy

ReduceSum of x, f32 [batch, 4], over the axes in an input 'axes', i64 [n], without keeping them. The .npy file has [0, 1].
"""

import struct
import sys

from make_onnx import field


def tensor(name, element, *dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def main(path, axes):
    header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }".ljust(117) + "\n"
    with open(axes, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<2q", 0, 1))
    keep = field(1, "keepdims") + field(3, 0) + field(20, 2)
    node = field(1, "x") + field(1, "axes") + field(2, "y") + field(3, "sum") + field(4, "ReduceSum") + field(5, keep)
    graph = field(1, node) + field(2, "graph") + field(11, tensor("x", 1, "batch", 4)) + field(11, tensor("axes", 7, "n"))
    graph += field(12, field(1, "y"))
    with open(path, "wb") as out:
        out.write(field(1, 9) + field(7, graph) + field(8, field(2, 18)))


main(*sys.argv[1:])
