"""The loops of register tiles that carry small models keep the multipliers of LLVM's model of a core busy, and no vector waits on the stack
there.

    loops.py WEFT CALL FOLDER     WEFT compiles, CALL is weft_call_artifact for ARM
"""
import os
import sys

import numpy as np
import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/bench/arm"))

import small_models
from counting import Counter, Given
from loops import Rates, largest, loops_of
from subprocess import run

ELEMENTS = {"float32": "f32", "int64": "i64"}
NEWEST = "max,sme=off,sve128=on,sve256=off,sve512=off"  # without the long vectors that make the emulator slow
SVE = "max,sme=off,sve256=on,sve512=off"
# Level, what is emulated, core, and the least share of its multiply-adds. What pairs or shifts rows of bytes, which needs the same units, is done before.
# Cortex-A55 takes two instructions in a cycle, in order, and as many multiply-adds: 81 % of a tile's instructions are products. Weights of four
# bits are not here: a third of their loop's instructions are products, the others unpack, load and scale.
CASES = {"encoder": [("v8", "cortex-a72", "neoverse-n1", 0.9), ("sve256", SVE, "neoverse-v1", 0.9), ("cortex-a55", "neoverse-n1", "cortex-a55", 0.8)],
         "super_resolution": [("v8", "cortex-a72", "neoverse-n1", 0.9)],
         "mobile": [("v8", "cortex-a72", "neoverse-n1", 0.9)],
         "quantized": [("v8.2", "neoverse-n1", "neoverse-n1", 0.9), ("v8.6", NEWEST, "neoverse-v1", 0.9)]}
# Depthwise convolutions have nine products for half a store of two vectors, for which both models take one unit that multiplies, and two
# clamps: 75 % of Neoverse N1's is what is left where nothing waits. With strides of two, loads are as many as fit beside them.
DEPTHWISE_LEAST = {"neoverse-n1": 0.71, "neoverse-v1": 0.71}
# An image of which most is not at the border.
LARGE = {"mobile": {"x": np.random.default_rng(7).normal(size=(1, 3, 97, 97)).astype(np.float32)}}


def is_tile(loop):
    """Others load, move or transform as much as they multiply."""
    return sum(loop.products().values()) >= len(loop.lines) / 2 and not is_depthwise(loop)


def is_depthwise(loop):
    return "_depthwise" in loop.kernel


def limits_of(loop, core, least):
    """{core: share of the multiply-adds}"""
    return DEPTHWISE_LEAST if is_depthwise(loop) else {core: least}


def check(name, make, tools):
    """Lines about loops that are slower than they may be, or spill."""
    weft, counter, rates, folder = tools
    model, calls = make()
    path = f"{folder}/{name}.onnx"
    onnx.save(model, path)
    for level, cpu, core, least in CASES[name]:
        artifact = f"{folder}/{name}.{level}.weft"
        run([weft, "compile", "-q", path, "-t", f"arm:{level}", "-o", artifact], check=True)
        inputs = [Given(array.shape, ELEMENTS[str(array.dtype)], array.tobytes()) for array in LARGE.get(name, calls[1]).values()]
        loops = loops_of(artifact, counter.blocks(artifact, inputs, cpu))
        tiles = [loop for loop in loops if is_tile(loop)]
        # Not the last columns of a row, which fill no tile.
        depthwise = [loop for loop in loops if is_depthwise(loop) and not loop.kernel.endswith("_end")]
        if not tiles:
            yield f"{name}, arm:{level}: no loop multiplies"
        if name in LARGE and not depthwise:
            yield f"{name}, arm:{level}: no loop multiplies single channels"
        for loop in [*largest(tiles), *depthwise]:
            for on, at_least in limits_of(loop, core, least).items():
                rate = rates.of(loop, on)
                print(f"{name} {level} {on}: {100 * rate:5.1f} %, {len(loop.lines)} instructions, {loop.spills()} spills: {loop.kernel}")
                if rate < at_least or loop.spills():
                    yield f"{loop.kernel} of {name}, arm:{level} on {on}: {100 * rate:.1f} % of its multiply-adds, {loop.spills()} spills"


def main():
    weft, call, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    tools = weft, Counter(call), Rates(), folder
    wrong = [line for name, make in small_models.MODELS if name in CASES for line in check(name, make, tools)]
    if wrong:
        sys.exit("\n".join(wrong))


main()
