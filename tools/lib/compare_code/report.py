"""The texts of tools/compare-code."""
import collections
import itertools
import sys

SHOWN = 8  # differences of a piece, unless all are asked for
COLUMNS = ("models", "compiled", "refused", "identical", "explained", "different")


def fail(text, hint=""):
    print(f"error: {text}", file=sys.stderr)
    if hint:
        print(f"  hint: {hint}", file=sys.stderr)
    return 1


def interrupted():
    print("interrupted", file=sys.stderr)
    return 130


def table(rows):
    """Columns as wide as they must be; the first one to the left."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)


def of_record(record):
    results = [(target, "file" in result) for model in record.models.values() for target, result in model["targets"].items()]
    counts = collections.Counter(results)
    rows = [("target", "compiled", "refused")]
    rows += [(target, counts[target, True], counts[target, False]) for target in sorted({target for target, _ in results})]
    return f"{table(rows)}\n{len(record.names())} models in {record.path}"


def of_differences(title, differences, everything):
    by_piece = itertools.groupby(sorted(differences), key=lambda difference: difference.piece)
    for piece, group in by_piece:
        group = list(group)
        yield f"\n{title}: {piece}, {len(group)}"
        shown = group if everything else group[:SHOWN]
        yield from (f"  {each.model}  {each.target}: {each.text}" for each in shown)
        if len(shown) < len(group):
            yield f"  and {len(group) - len(shown)} more (--all)"


def of_comparison(comparison, everything):
    rows = [("target", *COLUMNS)]
    rows += [(target, *(counts[column] for column in COLUMNS)) for target, counts in sorted(comparison.counts.items())]
    lines = [table(rows), *of_differences("explained", comparison.explained, everything),
             *of_differences("different", comparison.different, everything)]
    lines += [f"\nexplains nothing: {' '.join(row)}" for row in comparison.explanations.unused(comparison.models)]
    lines += [f"\nnothing is compiled for {target}: nothing is proved" for target in comparison.unproved()]
    if comparison.left_out:
        lines.append(f"\n{comparison.left_out} models of OLD are not compared")
    return "\n".join(lines)
