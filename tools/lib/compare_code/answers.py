"""What an artifact answers: `weft run` with inputs from a seed, at a few sizes, each answer as the hash of all outputs' bytes."""
import hashlib
import os
import zipfile

SIZES = (1, 19)  # of every symbol, as far as it may be that; `weft run` chooses one more by itself
UNBOUND = 0xffffffff  # no input's dimension is the symbol


def allowed(symbol, size):
    """The nearest multiple between the symbol's least and greatest value."""
    multiple = symbol["multiple"]
    size = min(max(size, symbol["min"]), symbol["max"])
    rounded = -(-size // multiple) * multiple
    return rounded if rounded <= symbol["max"] else size // multiple * multiple


def requests(functions):
    """{what is asked: options of `weft run`}"""
    bound = [symbol for symbol in functions[0]["symbols"] if symbol["bound_by_input"] != UNBOUND]
    asked = {"": []}
    for size in SIZES if bound else ():
        values = [f"{symbol['name']}={allowed(symbol, size)}" for symbol in bound]
        asked[" ".join(values)] = [word for value in values for word in ("--dim", value)]
    return asked


def digest_of(outputs):
    value = hashlib.sha256()
    with zipfile.ZipFile(outputs) as file:
        for name in file.namelist():
            value.update(name.encode() + file.read(name))
    return value.hexdigest()[:16]


def ask(weft, artifact, functions, folder):
    """{sizes: the hash of what the first function answers, or why it does not}; `weft` is a pieces.Compiler."""
    outputs, answered = os.path.join(folder, "outputs.npz"), {}
    for sizes, options in requests(functions).items():
        said = weft.call(["run", artifact, "-o", outputs, "--threads", "1", "--seed", "7", "-q",
                         "--function", functions[0]["name"], *options])
        answered[sizes] = said.replace(folder, "FOLDER") or digest_of(outputs)
    return answered
