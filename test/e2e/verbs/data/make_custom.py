"""Writes an ONNX model with operators of com.acme: make_custom.py FILE.onnx NODE...

A node is OP, OP+bias or OP,ATTRIBUTE=NUMBER,... and reads the value before it; the input x is f32 [batch, 4], bias is f32 [4].
A number with a point is a float attribute, one without an int, anything else a string.
"""

import struct
import sys

from make_onnx import field, tensor, varint


def attribute(text):
    name, _, value = text.partition("=")
    if "." in value:
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", float(value)) + field(20, 1)
    if value.isdigit():
        return field(1, name) + field(3, int(value)) + field(20, 2)
    return field(1, name) + field(4, value) + field(20, 3)


def node(index, text):
    kind, *attributes = text.split(",")
    op, *more = kind.split("+")
    inputs = [f"v{index}" if index else "x"] + more
    return (b"".join(field(1, each) for each in inputs) + field(2, f"v{index + 1}") + field(3, f"n{index}") + field(4, op)
            + b"".join(field(5, attribute(each)) for each in attributes) + (b"" if op == "Relu" else field(7, "com.acme")))


def main(path, *nodes):
    graph = b"".join(field(1, node(i, text)) for i, text in enumerate(nodes))
    bias = field(1, "bias") + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))))
    graph += field(2, "graph") + field(11, tensor("x")) + field(11, bias) + field(12, tensor(f"v{len(nodes)}"))
    with open(path, "wb") as out:
        out.write(field(1, 9) + field(7, graph) + field(8, field(2, 18)) + field(8, field(1, "com.acme") + field(2, 1)))


main(*sys.argv[1:])
