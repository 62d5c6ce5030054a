"""The models that are compared, from lists of tools/collect-models, folders and single files.

    for model in models.read(["~/.cache/weft/compared-models", "model.onnx"]): model.name, model.path, model.options
"""
import functools
import hashlib
import pathlib

from refusal import Refusal

SUFFIXES = (".onnx", ".mlir")
CHECKPOINT = "config.json"


@functools.cache
def digest_of(path):
    value = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            value.update(piece)
    return value.hexdigest()


class Model:
    def __init__(self, name, path, options=()):
        self.name, self.path, self.options = name, pathlib.Path(path), list(options)

    def files(self):
        return sorted(p for p in self.path.rglob("*") if p.is_file()) if self.path.is_dir() else [self.path]

    def identity(self):
        """Changes with a byte of the model or an option; options that name files count by these."""
        parts = [digest_of(path) for path in self.files()]
        for option in self.options:
            name, at, path = option.partition("=@")
            parts.append(name + at + digest_of(path) if at else name)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def bytes(self):
        return sum(path.stat().st_size for path in self.files())


def from_list(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split("\t")
        if len(fields) < 2:
            raise Refusal(f"{path}:{number}: a name and a path, separated by a tab, are needed")
        if not pathlib.Path(fields[1]).exists():
            raise Refusal(f"{path}:{number}: '{fields[1]}' does not exist")
        yield Model(fields[0], fields[1], fields[2:])


def from_folder(folder):
    """The lists directly in it, if any, else all models below it."""
    lists = sorted(folder.glob("*.txt"))
    if lists:
        for path in lists:
            yield from from_list(path)
    elif (folder / CHECKPOINT).exists():
        yield Model(folder.name, folder)
    else:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES or p.name == CHECKPOINT):
            path = path.parent if path.name == CHECKPOINT else path
            yield Model(str(path.relative_to(folder)), path)


def read(sources):
    """Each once, the smallest first: an interrupted record has many of them."""
    found = {}
    for source in map(pathlib.Path, sources):
        if not source.exists():
            raise Refusal(f"'{source}' does not exist")
        some = from_folder(source) if source.is_dir() else from_list(source) if source.suffix == ".txt" \
            else [Model(source.name, source)]
        for model in some:
            if model.name in found:
                raise Refusal(f"two models are called '{model.name}'")
            found[model.name] = model
    if not found:
        raise Refusal(f"there is no model in {', '.join(map(str, sources))}")
    return sorted(found.values(), key=lambda model: (model.bytes(), model.name))
