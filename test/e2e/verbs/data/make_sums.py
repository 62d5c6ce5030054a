"""Prints sums around products, each of another width, with products between them: make_sums.py WIDTH…"""
import sys


def tensor(rows, columns):
    return f"!weft.tensor<[{rows}, {columns}], f32>"


def product(name, given, rows, columns):
    weight, reads, gives = tensor(rows, columns), tensor("s", rows), tensor("s", columns)
    return [f"  %{name}w = weft.constant dense<0.01> : tensor<{rows}x{columns}xf32> -> {weight}",
            f'  %{name} = weft.contract "m k, k n -> m n" {given}, %{name}w accumulate f32 : ({reads}, {weight}) -> {gives} loc("{name}")']


widths = [int(width) for width in sys.argv[1:]]
print(f'func.func @main(%x: {tensor("s", widths[0])} {{weft.name = "x"}}) -> ({tensor("s", widths[-1])} {{weft.name = "y"}}) attributes {{weft.symbols = #weft.symbols<s>}} {{')
value = "%x"
for i, width in enumerate(widths):
    whole = tensor("s", width)
    lines = product(f"wide{i}", value, width, width) + [f"  %sum{i} = weft.add {value}, %wide{i} : ({whole}, {whole}) -> {whole}"]
    value = f"%sum{i}"
    if i + 1 < len(widths):
        wider = tensor("s", widths[i + 1])
        lines += product(f"next{i}", value, width, widths[i + 1]) + [f"  %active{i} = weft.activation relu %next{i} : ({wider}) -> {wider}"]
        value = f"%active{i}"
    print("\n".join(lines))
print(f"  return {value} : {tensor('s', widths[-1])}\n}}")
