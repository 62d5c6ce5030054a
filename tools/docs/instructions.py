"""Instructions in the innermost loops of products, counted in the machine code that 'weft compile' writes. Nothing is run."""
import glob
import os
import re
import subprocess
import tempfile

#: Title, elements of both operands and of their sums, levels that have a way of their own, and what each byte of the weight is.
KINDS = [
    ("f32", "f32", "f32", "f32", ["v2", "v3", "v4"], 0),
    ("bf16", "bf16", "bf16", "f32", ["v3", "v4+bf16", "v4+amx"], 0),
    ("bytes", "ui8", "i8", "i32", ["v3", "v3+vnni", "v4+vnni", "v4+amx"], 127),
    ("bytes by weights of up to 64, of which no pair saturates", "ui8", "i8", "i32", ["v3"], 64),
]
SIZES = [(384, 384), (512, 48)] # depth and columns; rows are a symbol
PRODUCT = re.compile(r"v?fn?m(add|sub)\d*ps|v?mulps|tdp\w+|vdpbf16ps|vpdpbusds?|v?pmadd(wd|ubsw)")
BYTES = {"f32": 4, "bf16": 2, "i8": 1, "ui8": 1}


def program(kind, depth, columns):
    _, rows, weight, sums, _, _ = kind
    x, w, y = (f"!weft.tensor<[{dims}], {element}>" for dims, element in
               [(f"m, {depth}", rows), (f"{depth}, {columns}", weight), (f"m, {columns}", sums)])
    return f"""weft.weight @w from "w.bin" at 0 bytes {depth * columns * BYTES[weight]} : {w}
func.func @main(%x: {x}) -> {y} attributes {{weft.symbols = #weft.symbols<m>}} {{
  %w = weft.constant @w -> {w}
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate {sums} : ({x}, {w}) -> {y}
  return %y : {y}
}}
"""


def disassemble(weft, objdump, level, text, content):
    """The schedule of the only kernel and its instructions: (address, function, mnemonic, operands)."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/p.mlir", "w", encoding="utf-8") as file:
            file.write(text)
        with open(f"{folder}/w.bin", "wb") as file:
            file.write(content)
        subprocess.run([weft, "compile", "-q", f"{folder}/p.mlir", "-t", f"x86:{level}", "-o", f"{folder}/p.weft",
                        "--save-temps", f"{folder}/temps"], check=True, stderr=subprocess.DEVNULL)
        (code,) = glob.glob(f"{folder}/temps/*weft_k_*.o")
        listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", "--x86-asm-syntax=intel", code], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
    schedule = re.search(r"weft_k_([a-z_]+?)_[0-9a-f]{8,}", os.path.basename(code)).group(1)
    code, function = [], ""
    for line in listing.splitlines():
        if label := re.match(r"[0-9a-f]+ <(\S+)>:", line):
            function = label.group(1)
        if m := re.match(r"\s*([0-9a-f]+):\s+(?:\{vex\}\s+)?(\S+)\s*(.*)", line):
            code.append((int(m.group(1), 16), function, m.group(2), m.group(3)))
    return schedule, code


def inner_loops(code):
    """Bodies of loops without loops in them: from where a jump goes back to, up to the jump."""
    loops = []
    for address, _, name, operands in code:
        target = re.match(r"0x([0-9a-f]+)", operands)
        if name.startswith("j") and target and int(target.group(1), 16) <= address:
            loops.append((int(target.group(1), 16), address))
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [[line for line in code if first <= line[0] <= last] for first, last in inner]


def count(body):
    """Rows that the function is for, products, loads, stores and the unit."""
    products = [name for _, _, name, _ in body if PRODUCT.fullmatch(name)]
    loads = stores = 0
    for _, _, name, operands in body:
        before, bracket, _ = operands.partition("[")
        if not bracket or not re.search(r"\b[xyzt]mm\d", operands):
            continue
        is_stored = name == "tilestored" or (name.startswith(("mov", "vmov", "vextract")) and "," not in before)
        stores += is_stored
        loads += not is_stored
    rows = re.search(r"_rows(\d+)", body[0][1])
    unit = max(sorted(set(products)), key=products.count, default="")
    return int(rows.group(1)) if rows else 0, len(products), loads, stores, re.sub(r"\d\d\dps", "ps", unit)


def hot_loops(code):
    """Counts of the loops over most rows and with most products among them: there may be several, of which sizes and positions choose."""
    counts = {count(body) for body in inner_loops(code)}
    counts = {each for each in counts if each[1]}
    rows = max(each[0] for each in counts)
    products = max(each[1] for each in counts if each[0] == rows)
    return sorted(each for each in counts if each[:2] == (rows, products))


def page(notice, weft, objdump):
    out = [notice, "# Instructions of products\n",
           "What the innermost loops of a product with a constant matrix consist of, over as many rows as the schedule takes at once, counted in the machine code\n"
           "that `weft compile` writes for each level: on any machine, as nothing is run. *Products* are instructions of the unit; *loads* and *stores* are those of\n"
           "vectors and tiles, where an operand that a product takes from memory is a load. Fewer loads per product are better; sums stay in registers or tiles, so\n"
           "stores are of what found none. A kernel has several such loops where sizes or the order of work choose between them. The test `docs_reference` fails where\n"
           "code differs from this page.\n"]
    for kind in KINDS:
        out += [f"## {kind[0]}\n",
                "| level | depth x columns | schedule | unit | products | loads | stores | loads per product |", "|---|---|---|---|---|---|---|---|"]
        for level in kind[4]:
            for depth, columns in SIZES:
                schedule, code = disassemble(weft, objdump, level, program(kind, depth, columns), bytes([kind[5]]) * (depth * columns * 4))
                for _, products, loads, stores, unit in hot_loops(code):
                    out.append(f"| `{level}` | {depth} x {columns} | `{schedule}` | `{unit}` | {products} | {loads} | {stores} "
                               f"| {loads / products:.2f} |")
        out.append("")
    return "\n".join(out)
