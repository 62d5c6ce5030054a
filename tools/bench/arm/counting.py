"""What one call of a compiled model executes on 64-bit ARM, under an emulator: the same number in every run.

    counted = Counter(CALL).count("model.weft", [Tensor.parse("x=1,3,64,64:f32")], cpu="neoverse-n1")
    counted.instructions, counted.kinds, counted.kernels, counted.moved, counted.loaded, counted.stored

CALL is build/arm64/bin/weft_call_artifact (cmake --preset arm64). It marks where a call ends, and what is counted
is the last one of some: the first brings memory, the second tidies up (700 instructions). One thread.
"""
import ast
import collections
import dataclasses
import functools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

# Codes of elements as runtime.h numbers them, and how Python packs one.
ELEMENTS = {"f32": (16, "f"), "i64": (10, "q"), "i32": (8, "i"), "u8": (5, "B")}
NUMPY = {"<f4": "f32", "<i8": "i64", "<i4": "i32", "|u1": "u8"}
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
# Names of ours, and what the emulator is told: longer vectors than code has cost it most of its time, and SME's kernels are no peers of ours.
PROCESSORS = {"neoverse-n1": "neoverse-n1", "cortex-a53": "cortex-a53", "max128": "max,sme=off,sve128=on,sve256=off,sve512=off",
              "max256": "max,sme=off,sve256=on,sve512=off"}
HERE = os.path.dirname(os.path.abspath(__file__))


def plugin(path, out, cpu, artifact=None):
    """How the emulator is told to count for processor `cpu`: with the longest scalable vectors that it is told to have."""
    bits = {"a64fx": 512}.get(cpu) or max((int(each) for each in re.findall(r"sve(\d+)=on", cpu)), default=128)
    return ",".join([path, f"out={out}", f"vector={bits // 8}", *([f"artifact={os.path.realpath(artifact)}"] if artifact else [])])


@dataclasses.dataclass
class Given:
    """An input whose numbers are there, packed."""
    dims: list
    element: str
    packed: bytes

    def bytes(self, _):
        head = [ELEMENTS[self.element][0], len(self.dims), *self.dims, len(self.packed)]
        return struct.pack(f"<{len(head)}q", *head) + self.packed


def given_in(path):
    """The inputs in a .npz file, in its order."""
    given = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            begin = 10 if data[6] == 1 else 12  # where the header is, behind its length
            end = begin + int.from_bytes(data[8:begin], "little")
            header = ast.literal_eval(data[begin:end].decode())
            if header["fortran_order"] or header["descr"] not in NUMPY:
                sys.exit(f"{path}: {name} is {header['descr']}, or in another order: of no use here")
            given.append(Given(list(header["shape"]), NUMPY[header["descr"]], data[end:]))
    return given


@dataclasses.dataclass
class Tensor:
    """An input: floats are uniform in -1..1, integers below `limit`, the same ones in every run."""
    dims: list
    element: str
    limit: int = 1

    @staticmethod
    def parse(text):
        """'[NAME=]DIMS:TYPE[:LIMIT]': x=1,3,64,64:f32."""
        dims, element, *limit = text.split("=")[-1].split(":")
        return Tensor([int(dim) for dim in dims.split(",")], element, int(limit[0]) if limit else 1)

    def data(self, numbers):
        count = functools.reduce(lambda a, b: a * b, self.dims, 1)
        letter = ELEMENTS[self.element][1]
        values = [numbers.uniform(-1, 1) if letter == "f" else numbers.randrange(self.limit) for _ in range(count)]
        return struct.pack(f"<{count}{letter}", *values)

    def bytes(self, numbers):
        """As weft_call_artifact reads it."""
        return Given(self.dims, self.element, self.data(numbers)).bytes(numbers)


@dataclasses.dataclass
class Counted:
    instructions: int
    kinds: dict
    kernels: dict  # instructions of the artifact's functions, variants by rows of one kernel together
    moved: dict  # bytes that these load and store
    loaded: int  # bytes
    stored: int


def functions_of(artifact):
    """[(place in the file, bytes, name)] of the code of a file for one target, which is the ELF image at its front."""
    with open(artifact, "rb") as file:
        header = file.read(64)
        at, size, count = struct.unpack_from("<Q", header, 40)[0], *struct.unpack_from("<2H", header, 58)
        file.seek(at)
        sections = [struct.unpack("<2I4Q2I2Q", file.read(size)[:64]) for _ in range(count)]
        read = lambda section: (file.seek(section[4]), file.read(section[5]))[1]
        symbols = next(s for s in sections if s[1] == 2)
        names, table = read(sections[symbols[6]]), read(symbols)
    found = []
    for at in range(0, len(table), 24):
        name, kind, _, section, address, length = struct.unpack_from("<I2BH2Q", table, at)
        if kind & 15 == 2 and section:
            place = address - sections[section][3] + sections[section][4]
            found.append((place, length, names[name:names.index(b"\0", name)].decode()))
    return sorted(found)


def by_kernel(artifact, blocks):
    """Instructions, and bytes loaded and stored. A kernel's functions are named after it, with what they are for behind:
    weft_k_contraction_5a4bb2409465_rows4."""
    functions, executed, moved = functions_of(artifact), collections.Counter(), collections.Counter()
    for place, count, *loaded_and_stored in blocks:
        name = next((name for begin, length, name in functions if begin <= place < begin + length), "elsewhere")
        parts = name.split("_")
        kernel = "_".join(parts[:next((i for i, part in enumerate(parts) if len(part) == 12), len(parts)) + 1])
        executed[kernel] += count
        moved[kernel] += sum(loaded_and_stored)
    return executed, moved


class Counter:
    """Counts calls; the plug-in of the emulator is built once."""

    def __init__(self, call):
        self.call = call
        self.folder = tempfile.TemporaryDirectory()
        self.plugin = f"{self.folder.name}/instructions.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.plugin, f"{HERE}/instructions.c"], check=True)

    def process(self, artifact, cpu, calls=3):
        out = f"{self.folder.name}/counts.json"
        subprocess.run([*EMULATOR, "-cpu", cpu, "-plugin", plugin(self.plugin, out, cpu, artifact), self.call, artifact, f"{self.folder.name}/in",
                        f"{self.folder.name}/out", "1", str(calls)], check=True)
        with open(out, encoding="utf-8") as file:
            return json.load(file)

    def give(self, tensors):
        numbers = random.Random(1)
        with open(f"{self.folder.name}/in", "wb") as file:
            file.write(struct.pack("<q", len(tensors)) + b"".join(tensor.bytes(numbers) for tensor in tensors))

    def blocks(self, artifact, tensors, cpu="neoverse-n1"):
        """[(place in the file, instructions executed)] of the artifact's code, of a single call."""
        self.give(tensors)
        return [(place, count) for place, count, *_ in self.process(artifact, cpu)["blocks"]]

    def count(self, artifact, tensors, cpu="neoverse-n1", calls=3):
        self.give(tensors)
        call = self.process(artifact, cpu, calls)
        return Counted(sum(call["kinds"].values()), call["kinds"], *by_kernel(artifact, call["blocks"]), call["loaded"], call["stored"])

    def answer(self):
        """The bytes of the first output of the last call counted."""
        with open(f"{self.folder.name}/out", "rb") as file:
            _, _, rank = struct.unpack("<3q", file.read(24))
            file.read(8 * rank)
            return file.read(struct.unpack("<q", file.read(8))[0])
