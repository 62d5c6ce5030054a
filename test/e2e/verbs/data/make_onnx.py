"""Writes an ONNX model of a chain of operators, without the onnx package: make_onnx.py FILE [DOMAIN:]OP...

Every operator reads the value before it; nodes are called n0, n1, and so on. The input x is f32 [batch, 4].
"""

import sys


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name):
    dims = field(1, field(2, "batch")) + field(1, field(1, 4))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def node(index, kind):
    domain, _, op = kind.rpartition(":")
    return (field(1, f"v{index}" if index else "x") + field(2, f"v{index + 1}") + field(3, f"n{index}") + field(4, op)
            + (field(7, domain) if domain else b""))


def main(path, *kinds):
    graph = b"".join(field(1, node(i, kind)) for i, kind in enumerate(kinds))
    graph += field(2, "graph") + field(11, tensor("x")) + field(12, tensor(f"v{len(kinds)}"))
    opsets = b"".join(field(8, (field(1, domain) if domain else b"") + field(2, 18 if not domain else 1))
                      for domain in sorted({""} | {kind.rpartition(":")[0] for kind in kinds}))
    with open(path, "wb") as out:
        out.write(field(1, 9) + field(7, graph) + opsets)


if __name__ == "__main__":
    main(*sys.argv[1:])
