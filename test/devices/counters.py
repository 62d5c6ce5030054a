#!/usr/bin/env python3
"""Kernels read what they must and little more, by the counts of the emulated GPU: counters.py WEFT WORK NAME

rows      one row by f16 or f32 weights: these are read once, by blocks that have 16 columns each
product   f16 by f16, and bytes by bytes whose steps are neighbours, or lie apart: global memory is read at most 1.1 times as much as the tiles
          need, and shared memory without a bank conflict
attention 16 bits, with a mask of bytes or of f32: shared memory without a bank conflict, and at most 1.05 times the sectors
reductions  of f16: sums of lines, columns and all elements, and places of extremes, read these once, by as many blocks as sizes call for
ragged    lines of f16 that are no whole chunks of 16 bytes: a warp each where they are short, in several blocks, without a barrier
minilm, and the other models of whole_models.py: kernels of lines, of elements, of what lies in another order, and products touch at most 1.05 times the
          sectors that their bytes could lie in; they and attention use shared memory without a bank conflict. Those of elements that
          convolve are bounded by MOST_OF_WINDOWS
"""
import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
PRODUCT = """
func.func @main(%x: !weft.tensor<[SIZE, SIZE], LEFT> {weft.name = "x"}, %y: !weft.tensor<[SIZE, SIZE], RIGHT> {weft.name = "y"})
    -> (!weft.tensor<[SIZE, SIZE], f16> {weft.name = "z"}) {
  %0 = weft.contract "m k, COLUMNS -> m n" %x, %y accumulate SUM : (!weft.tensor<[SIZE, SIZE], LEFT>, !weft.tensor<[SIZE, SIZE], RIGHT>) -> !weft.tensor<[SIZE, SIZE], SUM>
  %1 = weft.convert %0 to f16 : (!weft.tensor<[SIZE, SIZE], SUM>) -> !weft.tensor<[SIZE, SIZE], f16>
  return %1 : !weft.tensor<[SIZE, SIZE], f16>
}
"""
# Sizes, elements, how the right ones lie, sums; and bytes of an element.
PRODUCTS = {"halves": ("1024", "f16", "f16", "k n", "f32", 2), "bytes": ("512", "ui8", "i8", "n k", "i32", 1), "bytes_apart": ("256", "i8", "ui8", "k n", "i32", 1)}
COLUMNS, STEPS = 512, 384
ROWS = f"""
func.func @main(%x: !weft.tensor<[m, {STEPS}], ELEMENT> {{weft.name = "x"}}, %w: !weft.tensor<[{STEPS}, {COLUMNS}], ELEMENT> {{weft.name = "w"}})
    -> (!weft.tensor<[m, {COLUMNS}], f32> {{weft.name = "y"}}) attributes {{weft.symbols = #weft.symbols<m>}} {{
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, {STEPS}], ELEMENT>, !weft.tensor<[{STEPS}, {COLUMNS}], ELEMENT>) -> !weft.tensor<[m, {COLUMNS}], f32>
  return %0 : !weft.tensor<[m, {COLUMNS}], f32>
}}
"""
QUERIES, DEPTH = 128, 64
HEADS, SCORES, MASK = (f"!weft.tensor<[{dims}], ELEMENT>".replace("ELEMENT", element) for dims, element in (
    (f"2, {QUERIES}, {DEPTH}", "f16"), (f"2, {QUERIES}, {QUERIES}", "f32"), (f"{QUERIES}, {QUERIES}", "MASKS")))
ATTENTION = f"""
func.func @main(%q: {HEADS} {{weft.name = "q"}}, %k: {HEADS} {{weft.name = "k"}}, %v: {HEADS} {{weft.name = "v"}}, %mask: {MASK} {{weft.name = "mask"}})
    -> ({HEADS} {{weft.name = "y"}}) {{
  %s = weft.contract "b m d, b n d -> b m n" %q, %k accumulate f32 : ({HEADS}, {HEADS}) -> {SCORES}
  MASKED
  %p = weft.softmax %x : ({SCORES}) -> {SCORES}
  %w = weft.convert %p to f16 : ({SCORES}) -> !weft.tensor<[2, {QUERIES}, {QUERIES}], f16>
  %m = weft.contract "b m n, b n e -> b m e" %w, %v accumulate f32 : (!weft.tensor<[2, {QUERIES}, {QUERIES}], f16>, {HEADS}) -> !weft.tensor<[2, {QUERIES}, {DEPTH}], f32>
  %y = weft.convert %m to f16 : (!weft.tensor<[2, {QUERIES}, {DEPTH}], f32>) -> {HEADS}
  return %y : {HEADS}
}}
"""
MASKED = {"f32": f"%x = weft.add %s, %mask : ({SCORES}, {MASK}) -> {SCORES}",
          "i1": f"%none = weft.fill -9.0 : f32 -> <[], f32>\n  %x = weft.select %mask, %s, %none : ({MASK}, {SCORES}, !weft.tensor<[], f32>) -> {SCORES}"}
MOST_READ, MOST_SECTORS = 1.1, 1.05
# Of REDUCED lines and columns: the operator, its result, and how many blocks read elements.
REDUCED = (512, 1024)
REDUCTIONS = {
    "all": ("weft.reduce sum %x [0, 1]", "[], f16", 30), "columns": ("weft.reduce sum %x [0]", f"[{REDUCED[1]}], f16", 24),
    "lines": ("weft.reduce max %x [1]", f"[{REDUCED[0]}], f16", 512), "places": ("weft.arg_reduce max %x axis 1", f"[{REDUCED[0]}], i64", 512),
}
MOST_OF_RAGGED = 2.5  # instructions for lines that are taken element by element, by those for chunks
STREAMS = {"row", "loop", "turn", "reduce", "scan"}  # the schedules whose accesses follow each other
TILES = {"tile", "product"}  # those that multiply, and attention
FEW = 64  # sectors, of which ends of rows are a large part
IMAGES = {"resnet", "qdq_images"}
MOST_TURNS_OF_ATTENTION = 1.05  # behind the loop, sums that become pairs of bf16 are read pair by pair
MOST_OF_FEW_CHANNELS = 2.7  # of pictures whose channels do not fill 16 bytes, where a warp reads every second pixel of a few lines
MOST_OF_WINDOWS = 1.45  # sectors of convolutions in `loop`: each channel of a picture of odd size begins within a sector, and a warp reads four or less of it


def counted(weft, work, model, *words, sizes=()):
    """Counters by kernel, of one call; of each also "nodes", the model's."""
    artifact = os.path.join(work, "model.weft")
    for call in (["compile", "-q", model, "-t", "cuda:sm_80", *words, "-o", artifact],
                 ["profile", artifact, *sizes, "--device", "emulated", "--rounds", "7", "--json", "-q"]):
        done = subprocess.run([weft, *call], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(call)}: {done.returncode}\n{done.stderr}")
    return {kernel["name"]: {**kernel["counters"], "nodes": kernel["nodes"]} for kernel in json.loads(done.stdout)["kernels"]}


def schedule_of(kernel):
    return kernel.split("_")[2]


def ratio(count, name):
    return count[name] / max(1, count[f"ideal_{name}"])


def rows(weft, work):
    """Each block also reads the row, which is as long as a column."""
    for element, size in (("f16", 2), ("f32", 4)):
        model = os.path.join(work, f"{element}.mlir")
        pathlib.Path(model).write_text(ROWS.replace("ELEMENT", element), encoding="utf-8")
        count = next(iter(counted(weft, work, model, sizes=("--dim", "m=1")).values()))
        read = count["bytes_read"] / (STEPS * COLUMNS * size)
        print(f"a row of {element}: {count['blocks']} blocks read {count['bytes_read']:,} bytes, {read:.3f} of the weights; "
              f"{ratio(count, 'shared_turns'):.3f} of the ideal turns of shared memory; sectors {ratio(count, 'sectors'):.3f}")
        if read > MOST_READ or ratio(count, "sectors") > MOST_SECTORS:
            yield f"a row of {element} reads {read:.3f} of the weights"
        if count["blocks"] != COLUMNS // 16:
            yield f"a row of {element} has {count['blocks']} blocks"


def product(weft, work):
    """Of so many blocks square tiles need the least: other tiles that stay below the bound are nearly square."""
    for name, (size, left, right, columns, total, width) in PRODUCTS.items():
        model, text = os.path.join(work, f"{name}.mlir"), PRODUCT
        for word, by in (("SIZE", size), ("LEFT", left), ("RIGHT", right), ("COLUMNS", columns), ("SUM", total)):
            text = text.replace(word, by)
        pathlib.Path(model).write_text(text, encoding="utf-8")
        kernels = counted(weft, work, model)
        if len(kernels) != 1 or schedule_of(next(iter(kernels))) != "product":
            yield f"a product of {name} is computed by {list(kernels)}"
            continue
        count, size = next(iter(kernels.values())), int(size)
        side = size / math.sqrt(count["blocks"])
        read = count["bytes_read"] / (count["blocks"] * 2 * side * size * width)
        print(f"product of {name}: {count['blocks']} blocks read {count['bytes_read']:,} bytes, {read:.3f} of what square tiles need; "
              f"{count['instructions']:,} instructions; {count['shared_turns']:,} turns of shared memory, {ratio(count, 'shared_turns'):.3f} of the ideal; "
              f"sectors {ratio(count, 'sectors'):.3f}")
        if read > MOST_READ:
            yield f"{name}: it reads {read:.3f} of what its tiles need, at most {MOST_READ}"
        if count["shared_turns"] != count["ideal_shared_turns"]:
            yield f"{name}: it waits for banks: {count['shared_turns']:,} turns instead of {count['ideal_shared_turns']:,}"
        if count["tensor_products"] != size**3:
            yield f"{name}: tensor cores do {count['tensor_products']:,} of {size**3:,} multiply-adds"


def attention(weft, work):
    for element, masked in MASKED.items():
        model = os.path.join(work, f"{element}.mlir")
        pathlib.Path(model).write_text(ATTENTION.replace("MASKED", masked).replace("MASKS", element), encoding="utf-8")
        kernels = counted(weft, work, model)
        if len(kernels) != 1 or schedule_of(next(iter(kernels))) != "attention":
            yield f"an attention is computed by {list(kernels)}"
            continue
        count = next(iter(kernels.values()))
        print(f"attention with a mask of {element}: {count['bytes_read']:,} bytes read, sectors {ratio(count, 'sectors'):.3f}; "
              f"{count['shared_turns']:,} turns of shared memory, {ratio(count, 'shared_turns'):.3f} of the ideal")
        if count["shared_turns"] != count["ideal_shared_turns"]:
            yield f"it waits for banks: {count['shared_turns']:,} turns instead of {count['ideal_shared_turns']:,}"
        if ratio(count, "sectors") > MOST_SECTORS:
            yield f"it touches {ratio(count, 'sectors'):.3f} of the ideal sectors"


def reductions(weft, work):
    """Also what blocks leave for the last of them, and that reads, is little."""
    x = f"!weft.tensor<[{REDUCED[0]}, {REDUCED[1]}], f16>"
    for name, (operator, result, blocks) in REDUCTIONS.items():
        model = os.path.join(work, f"{name}.mlir")
        y = f"!weft.tensor<{result}>"
        pathlib.Path(model).write_text(f"""
func.func @main(%x: {x} {{weft.name = "x"}}) -> ({y} {{weft.name = "y"}}) {{
  %0 = {operator} : ({x}) -> {y}
  return %0 : {y}
}}
""", encoding="utf-8")
        kernels = counted(weft, work, model)
        if len(kernels) != 1 or schedule_of(next(iter(kernels))) != "reduce":
            yield f"{name} is computed by {list(kernels)}"
            continue
        count = next(iter(kernels.values()))
        read = count["bytes_read"] / (2 * REDUCED[0] * REDUCED[1])
        print(f"{name}: {count['blocks']} blocks, {read:.3f} of the elements' bytes read; sectors {ratio(count, 'sectors'):.3f}; "
              f"{ratio(count, 'shared_turns'):.3f} of the ideal turns of shared memory")
        if count["blocks"] != blocks:
            yield f"{name} has {count['blocks']} blocks, not {blocks}"
        if read > MOST_READ or ratio(count, "sectors") > MOST_SECTORS:
            yield f"{name} reads {read:.3f} of its elements' bytes"
        if count["shared_turns"] != count["ideal_shared_turns"]:
            yield f"{name} waits for banks"


def ragged(weft, work):
    """A block of 512 threads with a barrier for each step of 64 lines would take 150,000 instructions."""
    x = "!weft.tensor<[m, n], f16>"
    for name, operator, result in (("softmax", "weft.softmax %x", x), ("sum", "weft.reduce sum %x [1]", "!weft.tensor<[m], f16>")):
        model = os.path.join(work, f"ragged_{name}.mlir")
        pathlib.Path(model).write_text(f"""
func.func @main(%x: {x} {{weft.name = "x"}}) -> ({result} {{weft.name = "y"}}) attributes {{weft.symbols = #weft.symbols<m, n>}} {{
  %0 = {operator} : ({x}) -> {result}
  return %0 : {result}
}}
""", encoding="utf-8")
        whole, odd = (next(iter(counted(weft, work, model, sizes=("--dim", "m=64", "--dim", f"n={n}")).values())) for n in (104, 100))
        print(f"{name} of 64 lines of 104: {whole['blocks']} blocks, {whole['instructions']:,} instructions; "
              f"of 100: {odd['blocks']} blocks, {odd['instructions']:,} instructions, {odd['shared_turns']} turns of shared memory")
        if odd["blocks"] < 4 or odd["shared_turns"] or odd["instructions"] > MOST_OF_RAGGED * whole["instructions"]:
            yield f"{name} of 64 lines of 100 takes {odd['instructions']:,} instructions in {odd['blocks']} blocks"


def most_sectors(schedule, nodes, narrow):
    """The most sectors, by the ideal, of a model's kernels. A mask's odd rows are no fault of attention's."""
    if schedule == "attention":
        return math.inf
    if not any("(Conv)" in node for node in nodes):
        return MOST_SECTORS
    return MOST_OF_WINDOWS if schedule == "loop" else MOST_OF_FEW_CHANNELS if narrow else MOST_SECTORS


def model(weft, work, name):
    import whole_models

    case = whole_models.CASES[name]
    sizes = [word for symbol, size in case.sizes[-1].items() for word in ("--dim", f"{symbol}={size}")]
    kernels = {kernel: count for kernel, count in counted(weft, work, case.make(work), *case.words, sizes=sizes).items() if count["launches"]}
    for kernel, count in kernels.items():
        schedule = schedule_of(kernel)
        if schedule not in STREAMS | TILES | {"attention"}:
            continue
        print(f"{kernel}: {count['sectors']:,} sectors, {ratio(count, 'sectors'):.3f} of the ideal, {ratio(count, 'shared_turns'):.3f} of the turns of shared "
              f"memory, {count['narrow_accesses']:,} of {count['of_global_memory']:,} accesses narrow")
        most = most_sectors(schedule, count["nodes"], count["narrow_accesses"])
        if ratio(count, "shared_turns") > (MOST_TURNS_OF_ATTENTION if schedule == "attention" else 1):
            yield f"{kernel} waits for banks: {count['shared_turns']:,} turns instead of {count['ideal_shared_turns']:,}"
        if ratio(count, "sectors") > most and not (schedule in TILES and count["sectors"] < FEW):
            yield f"{kernel} touches {ratio(count, 'sectors'):.3f} of the ideal sectors, at most {most}"
    schedules = {schedule_of(kernel) for kernel in kernels}
    if not ({"loop"} if name in IMAGES else {"row", "reduce"}) & schedules:
        yield f"kernels are {list(kernels)}"


def main(weft, work, name):
    os.makedirs(work, exist_ok=True)
    own = {"rows": rows, "product": product, "attention": attention, "reductions": reductions, "ragged": ragged}
    wrong = list(own[name](os.path.abspath(weft), work) if name in own else model(os.path.abspath(weft), work, name))
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
