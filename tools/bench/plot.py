"""The ratios as a picture: one row per case, one dot per peer on a logarithmic axis; right of the line Weft is faster.

The axis ends at MOST: peers beyond it are arrows at the edge with their ratio, so that the dots near 1 stay apart.
"""
import math
from xml.sax.saxutils import escape

COLOURS = {"onnxruntime": "#1f77b4", "onnxruntime_int8": "#aec7e8", "openvino": "#d62728", "torch": "#ff7f0e", "aotinductor": "#2ca02c",
           "inductor_dynamic": "#bcbd22", "inductor_static": "#7f7f7f", "iree": "#9467bd", "iree_static": "#e377c2", "tvm": "#8c564b",
           "llamacpp": "#17becf", "llamacpp_f32": "#9edae5",
           "llamacpp_f16": "#5bd0dd", "llamacpp_bf16": "#0e8f9c", "llamacpp_native": "#08519c", "llamacpp_native_f16": "#6baed6",
           "llamacpp_native_bf16": "#3182bd", "onnxruntime_f32": "#08306b", "onnxruntime_f16": "#6a8fc0", "onnxruntime_bf16": "#c6dbef",
           "openvino_f32": "#ff9896", "weft_f32": "#000000", "weft_small": "#525252", "onnxruntime_dynamic": "#c5b0d5", "openvino_nncf": "#ff9f4a",
           "openvino_nncf_transformer": "#a50f15", "weft_stored": "#bdbdbd", "weft_f16": "#636363", "weft_bf16": "#969696"}
LEFT, WIDTH, ROW, EDGE = 250, 520, 18, 190  # EDGE: room for what lies beyond the axis
LEGEND_ROW, LEGEND_COLUMN, LEGEND_COLUMNS = 18, 150, 6
TICKS = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 8]
MOST = 8


def rows_of(store):
    """(label, {peer: ratio}) per case, and a heading (label, None) per group."""
    for model, precision, threads, group in store.groups():
        yield f"{model} {precision}, {threads} thread{'s' * (threads > 1)}", None
        for case, row in group.items():
            yield case, {name: r["ratio"] for name, r in row.items() if "ratio" in r}


def text(x, y, words, **style):
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(words)}</text>'


def axis(ratios, top, height):
    """Elements of the axis and the function from a ratio to x."""
    low, high = min([0.8, *ratios]) / 1.05, max([1.25, *(ratio for ratio in ratios if ratio <= MOST)]) * 1.05
    scale = lambda ratio: LEFT + WIDTH * math.log(ratio / low) / math.log(high / low)
    parts = []
    for tick in [t for t in TICKS if low <= t <= high]:
        x, colour = scale(tick), "#444" if tick == 1 else "#ddd"
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 8}" stroke="{colour}"/>')
        parts.append(text(x, top - 5, f"{tick:g}", text_anchor="middle"))
    return parts, scale


def legend(names):
    """Elements and the height they take."""
    parts = []
    for i, name in enumerate(names):
        x, y = 10 + LEGEND_COLUMN * (i % LEGEND_COLUMNS), 12 + LEGEND_ROW * (i // LEGEND_COLUMNS)
        parts += [f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS[name]}"/>', text(x + 9, y + 4, name)]
    below = LEGEND_ROW * (1 + (max(len(names), 1) - 1) // LEGEND_COLUMNS)
    says = f"time of the peer / time of Weft (logarithmic); right of 1: Weft is faster; arrows: beyond {MOST}"
    return parts + [text(LEFT, below + 16, says, fill="#444")], below + 38


def mark(label, name, ratio, x, y):
    """A dot with its ratio as a tooltip."""
    return (f'<circle cx="{x:.1f}" cy="{y - 4}" r="5" fill="{COLOURS[name]}" fill-opacity="0.8">'
            f"<title>{escape(f'{label}: {name} {ratio:.2f}')}</title></circle>")


def beyond(label, far, y):
    """Arrows with ratios, nearest first, right of the axis."""
    parts, x = [], LEFT + WIDTH + 14
    for name, ratio in sorted(far.items(), key=lambda item: item[1]):
        parts.append(f'<path d="M{x - 5:.1f} {y - 9} l9 5 l-9 5 z" fill="{COLOURS[name]}">'
                     f"<title>{escape(f'{label}: {name} {ratio:.2f}')}</title></path>")
        parts.append(text(x + 6, y, f"{ratio:.0f}", fill=COLOURS[name]))
        x += 24 + 7 * len(f"{ratio:.0f}")
    return parts


def svg(store):
    rows = list(rows_of(store))
    ratios = [ratio for _, row in rows if row for ratio in row.values()]
    parts, top = legend([n for n in COLOURS if any(row and n in row for _, row in rows)])
    height = top + ROW * len(rows) + 16
    grid, scale = axis(ratios, top, height)
    parts += grid
    for i, (label, row) in enumerate(rows):
        y = top + ROW * i + 14
        parts.append(text(10, y, label, font_weight="bold") if row is None else text(30, y, label))
        row = row or {}
        parts += [mark(label, name, ratio, scale(ratio), y) for name, ratio in row.items() if ratio <= MOST]
        parts += beyond(label, {name: ratio for name, ratio in row.items() if ratio > MOST}, y)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + EDGE}" height="{height}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")
