"""The list of architectures: what each is called, its inputs, and the sizes at which it is compared.

    @architecture({"x": floats("batch", 3, "height", "width")}, ["y"], sizes("batch height width", (1, 32, 32), (3, 33, 47)))
    def resnet():                          # returns a torch module with float32 weights
        ...

    import registry; registry.load(); registry.ALL["resnet"].build()

A dimension is a number or the name of a symbol. The first sizes are those that the model is exported with.
"""

import dataclasses
import hashlib
import importlib
import inspect
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILES = ("transformers_models", "transformers_media", "transformers_more", "vision", "sequences", "indexing", "experts",
         "pyramids")
EXPORTERS = ("dynamo", "torchscript")
FIXED = "fixed"  # by the second of these, for the first sizes only
ALL = {}


@dataclasses.dataclass(frozen=True)
class Input:
    kind: str  # floats, integers, mask
    dims: tuple
    below: object = 0  # of integers: a number or a symbol

    def shape(self, at):
        return tuple(at[d] if isinstance(d, str) else d for d in self.dims)

    def make(self, at, random):
        import numpy

        shape = self.shape(at)
        if self.kind == "floats":
            return random.standard_normal(shape).astype(numpy.float32)
        if self.kind == "integers":
            below = at[self.below] if isinstance(self.below, str) else self.below
            return random.integers(0, max(below, 1), size=shape).astype(numpy.int64)
        mask = (random.random(shape) < 0.7).astype(numpy.int64)
        mask[..., :1] = 1  # no line is masked out entirely
        return mask


def floats(*dims):
    return Input("floats", dims)


def integers(below, *dims):
    return Input("integers", dims, below)


def mask(*dims):
    return Input("mask", dims)


def sizes(names, *rows):
    return [dict(zip(names.split(), row)) for row in rows]


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str
    build: object
    inputs: dict
    outputs: list
    sizes: list
    exporters: tuple
    opset: int
    file: str

    def arrays(self, index):
        """The inputs at sizes number `index`."""
        import numpy

        random = numpy.random.default_rng(17 + index)
        return {name: spec.make(self.sizes[index], random) for name, spec in self.inputs.items()}

    def key(self):
        """Changes when a file does that decides what is exported."""
        digest = hashlib.sha256()
        for name in (self.file, __file__, os.path.join(FOLDER, "export.py")):
            with open(name, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()[:12]


def architecture(inputs, outputs, at, exporters=EXPORTERS, opset=18):
    def register(build):
        name = build.__name__
        assert name not in ALL, name
        ALL[name] = Architecture(name, build, inputs, outputs, at, exporters, opset, inspect.getfile(build))
        return build

    return register


def load():
    for file in FILES:
        importlib.import_module(file)
    return ALL

