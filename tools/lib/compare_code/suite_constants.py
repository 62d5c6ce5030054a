"""Cases of ONNX's suite in the form of test/onnx_suite/export_cases.py, and which of their inputs models have as constants.

The suite passes axes, shapes and scales as inputs; Weft compiles many cases only when it knows their contents. As in
test/onnx_suite/RunCase.cpp they are what the first data set has for inputs of rank 0 or 1 with few elements.
"""
import ast
import math
import zipfile

MOST_ELEMENTS = 16


def is_small(header):
    shape, most = header["shape"], 1 if header["descr"].endswith("b1") else MOST_ELEMENTS
    return len(shape) <= 1 and math.prod(shape) <= most


def header_of(member):
    """What an open .npy file says of its array."""
    member.read(8)  # magic and version
    return ast.literal_eval(member.read(int.from_bytes(member.read(2), "little")).decode())


class Case:
    def __init__(self, name, folder):
        self.name, self.folder, self.inputs, self.has_data = name, folder, [], False

    def constants(self, into):
        """Options of `weft compile`; the arrays are written to the folder `into`."""
        options = []
        if not self.has_data:
            return options
        with zipfile.ZipFile(self.folder / "set_0.npz") as data:
            for i, name in enumerate(self.inputs):
                with data.open(f"i{i}.npy") as member:
                    small = is_small(header_of(member))
                if small:
                    data.extract(f"i{i}.npy", into)
                    options += ["--constant", f"{name}=@{into}/i{i}.npy"]
        return options if len(options) < 2 * len(self.inputs) else []


def read(manifest):
    found = []
    for line in manifest.read_text(encoding="utf-8").splitlines():
        field, *values = line.split("\t")
        if field == "case":
            found.append(Case(values[0], manifest.parent / values[1]))
        elif field == "input":
            found[-1].inputs.append(values[0])
        elif field == "sets":
            found[-1].has_data = values[0] != "0"
    return found
