"""The ratios as a picture: one row per case, one dot per peer on a logarithmic axis; right of the line Weft is faster."""
import math
from xml.sax.saxutils import escape

COLOURS = {"onnxruntime": "#1f77b4", "onnxruntime_int8": "#aec7e8", "openvino": "#d62728", "torch": "#ff7f0e", "aotinductor": "#2ca02c", "iree": "#9467bd",
           "tvm": "#8c564b", "llamacpp": "#17becf"}
LEFT, WIDTH, ROW, TOP = 250, 520, 18, 56
TICKS = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50]


def rows_of(store):
    """(label, {peer: ratio}) per case, and a heading (label, None) per group."""
    for model, precision, threads, group in store.groups():
        yield f"{model} {precision}, {threads} thread{'s' * (threads > 1)}", None
        for case, row in group.items():
            yield case, {name: r["ratio"] for name, r in row.items() if "ratio" in r}


def text(x, y, words, **style):
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(words)}</text>'


def axis(ratios, height):
    """Elements of the axis and the function from a ratio to x."""
    low, high = min([0.8, *ratios]) / 1.05, max([1.25, *ratios]) * 1.05
    scale = lambda ratio: LEFT + WIDTH * math.log(ratio / low) / math.log(high / low)
    parts = []
    for tick in [t for t in TICKS if low <= t <= high]:
        x, colour = scale(tick), "#444" if tick == 1 else "#ddd"
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height - 8}" stroke="{colour}"/>')
        parts.append(text(x, TOP - 5, f"{tick:g}", text_anchor="middle"))
    return parts, scale


def legend(names):
    parts, x = [], 10
    for name in names:
        parts.append(f'<circle cx="{x}" cy="12" r="5" fill="{COLOURS[name]}"/>')
        parts.append(text(x + 9, 16, name))
        x += 26 + 7 * len(name)
    return parts + [text(LEFT, 34, "time of the peer / time of Weft (logarithmic); right of 1: Weft is faster", fill="#444")]


def svg(store):
    rows = list(rows_of(store))
    ratios = [ratio for _, row in rows if row for ratio in row.values()]
    height = TOP + ROW * len(rows) + 16
    grid, scale = axis(ratios, height)
    parts = legend([n for n in COLOURS if any(row and n in row for _, row in rows)]) + grid
    for i, (label, row) in enumerate(rows):
        y = TOP + ROW * i + 14
        parts.append(text(10 if row is None else 30, y, label, **({"font_weight": "bold"} if row is None else {})))
        for name, ratio in (row or {}).items():
            parts.append(f'<circle cx="{scale(ratio):.1f}" cy="{y - 4}" r="5" fill="{COLOURS[name]}" fill-opacity="0.8">'
                         f"<title>{escape(f'{label}: {name} {ratio:.2f}')}</title></circle>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")
