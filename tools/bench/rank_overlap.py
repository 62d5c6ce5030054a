"""Products that send or receive their own rows, beside those that wait: `tools/bench/ranks overlap`.

Products of transformers as a rank of two has them: what is gathered times half of the columns, and half of the sum, whose result is scattered. A link
is set so that an exchange takes 0.25, 0.5 and 1 of the product's time, and told when compiling; without one an exchange is a copy in memory. Beside both forms stands the product
alone, on both ranks at once; every call ends when both are done. E = 1 - (fused - product) / (unfused - product) is the part of an exchange that is hidden, both differences within rounds. What docs/overlap.md says that the fused
step takes, of the product's time as it was measured and the link's numbers, stands beside it.
"Whole parts" is what a rank's part as one piece gives: the other's rows travel beside one half of the product, as blocks of a ring do; what is scattered
is then not added. It is measured where an exchange takes half of the product's time or more: a shorter one fits behind a half.
"""
import json
import os
import statistics
import tempfile

import alone
import rank_models

PEERS = ()
# What is exchanged, rows of the weight, columns of it; all as one rank has them.
CASES = {"BERT-base up": ("gather", 768, 1536), "BERT-base down": ("scatter", 1536, 768),
            "Llama-160M up": ("gather", 768, 1024), "Llama-160M down": ("scatter", 1024, 768)}
ROWS = (512, 1024)
PARTS = (None, 0.25, 0.5, 1)  # time of the exchange over time of the product; None: no link
LATENCY = 5e-6
MOST_PIECES, LEAST_ROWS, LEAST_ROWS_OF_SUM = 8, 16, 64  # of runtime/include/weft/artifact.h
WEIGHT_BYTES_OF_SECOND = 192e9  # that a run of tiles reads again
ATTEMPTS = 4  # to find a machine that stays as it is while a link is set and a cell measured
WAYS = {"product": "never", "unfused": "never", "fused": "always", "parts": "always"}
MARKS = "<!-- begin of tools/bench/ranks overlap -->\n", "<!-- end -->\n"


def tensor(*dims):
    return f"!weft.tensor<[{', '.join(map(str, dims))}], f32>"


def program(kind, rows, columns):
    """The text of one rank's program: m rows of its own, 2*m of all. `kind` None: without an exchange."""
    given, whole, weight, made = (tensor("m" if kind == "gather" else "2*m", rows), tensor("2*m", rows), tensor(rows, columns), tensor("2*m", columns))
    lines = [constant(rows, columns)]
    read, result = "x", "p"
    if kind == "gather":
        lines.append(f"%a = weft.all_gather %x dim 0 to [2*m] over<tp = 2> : ({given}) -> {whole}")
        read = "a"
    lines.append(f'%p = weft.contract "m k, k n -> m n" %{read}, %w accumulate f32 : ({whole}, {weight}) -> {made}')
    if kind == "scatter":
        result, of_all, made = "y", made, tensor("m", columns)
        lines.append(f"%y = weft.reduce_scatter sum %p dim 0 over<tp = 2> : ({of_all}) -> {made}")
    return until_both_are_done([("x", given)], lines, [result], made)


def program_of_parts(kind, rows, columns):
    """The same product, of which the half that the other rank's rows are for is computed when all of these have come, or before they are sent."""
    given, weight, made = tensor("m", rows), tensor(rows, columns), tensor("m", columns)
    multiply = lambda name, read: f'%{name} = weft.contract "m k, k n -> m n" %{read}, %w accumulate f32 : ({given}, {weight}) -> {made}'
    send = lambda name, what, of: f"%{name} = weft.permute %{what} by 1 over<tp = 2> : ({of}) -> {of}"
    lines = [constant(rows, columns)]
    if kind == "gather":
        lines += [send("o", "x", given), multiply("p", "x"), multiply("q", "o")]
        return until_both_are_done([("x", given)], lines, ["p", "q"], made)
    # Both are results: added by the second product, what comes would be waited for in front of it.
    lines += [multiply("o", "a"), send("q", "o", made), multiply("p", "x")]
    return until_both_are_done([("x", given), ("a", given)], lines, ["p", "q"], made)


def until_both_are_done(inputs, lines, results, type):
    """A sum of one number behind all else: a call takes as long as the later rank, whatever is exchanged in front. Without it a rank that is slower has its own rows
    later, and the other's sooner: where all wait for rows the step takes the mean of both ranks, and a product alone what its rank takes."""
    one, names = tensor(1), [f"%{result}" for result in results]
    lines = [*lines, f"%d = weft.all_reduce sum %done over<tp = 2> : ({one}) -> {one}", f"return {', '.join([*names, '%d'])} : {', '.join([type] * len(names) + [one])}"]
    return function([*inputs, ("done", one)], lines, [type] * len(names) + [one])


def constant(rows, columns):
    import numpy as np
    values = (np.random.default_rng(1).uniform(-1, 1, (rows, columns)) / rows ** 0.5).astype(np.float32)
    return f'%w = weft.constant dense<"0x{values.tobytes().hex().upper()}"> : tensor<{rows}x{columns}xf32> -> {tensor(rows, columns)}'


def function(inputs, lines, results):
    given = ", ".join(f'%{name}: {type} {{weft.name = "{name}"}}' for name, type in inputs)
    made = ", ".join(f'{type} {{weft.name = "y{i}"}}' for i, type in enumerate(results))
    body = "".join(f"  {line}\n" for line in lines)
    return (f"func.func @main({given}) -> ({made})\n"
            f'    attributes {{weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">}} {{\n{body}}}\n')


def written(product, folder):
    """The text of each way."""
    kind, rows, columns = CASES[product]
    made = {}
    for way in WAYS:
        made[way] = os.path.join(folder, way + ".mlir")
        with open(made[way], "w") as file:
            file.write(program_of_parts(kind, rows, columns) if way == "parts" else program(None if way == "product" else kind, rows, columns))
    return made


def compiled(text, way, told):
    made = text[:-4] + "weft"
    rank_models.weft("compile", "-q", text, "-o", made, "--fuse-comm", WAYS[way], *told)
    return made


def seconds(path, rows, link):
    told = ["--link", link] if link else []
    answer = rank_models.weft("bench", "-q", path, "--dim", f"m={rows // 2}", *rank_models.RANKS, "--rounds", "11", "--format", "json", *told)
    return json.loads(answer)["rows"][0]["median_seconds"]


def measure_cell(product, texts, rows, part, options):
    kind, inner, columns = CASES[product]
    ways = [way for way in WAYS if way != "parts" or (part and part >= 0.5)]
    made = {"product": compiled(texts["product"], "product", [])}

    def linked(reference):
        """The link over which an exchange takes its part of the product's time, and what that is."""
        if not part:
            return None, None
        received = rows // 2 * (inner if kind == "gather" else columns) * 4
        exchange = part * reference
        return f"{received / (exchange - LATENCY) / 1e6:.1f}MB/s,{LATENCY * 1e6:.0f}us", exchange

    def prepare(reference):
        link, _ = linked(reference)
        told = ["--link", link, "--at", f"m={rows // 2}"] if link else []
        made.update({way: compiled(texts[way], way, told) for way in ways[1:]})
        return lambda way: seconds(made[way], rows, link)

    reference, samples, steady = measure_steadily(ways, lambda: seconds(made["product"], rows, None), prepare, options.rounds)
    link, exchange = linked(reference)
    row = dict(product=product, exchange=kind, rows=rows, part=part, link=link, exchange_seconds=exchange, samples=samples, steady=steady, **summary(samples, "product"))
    print(line(row), flush=True)
    return row


def summary(samples, alone):
    """Medians of what the ways took, and of what they took beyond `alone` in the same round: from one round to another the machine changes by more than a short exchange takes."""
    beyond = lambda way: statistics.median(taken - own for taken, own in zip(samples[way], samples[alone]))
    made = {f"{way}_seconds": statistics.median(samples[way]) if way in samples else None for way in (alone, "unfused", "fused", "parts")}
    return dict(made, exposed_seconds=beyond("fused"), exchanging_seconds=beyond("unfused"))


def measure_steadily(ways, first_seconds, prepare, rounds):
    """What the first way takes without a link, samples of all ways (`prepare` sets the link by that and gives how they are timed), and whether there are as many
    rounds as are wanted that are like it."""
    for _ in range(ATTEMPTS):
        reference = statistics.median(alone.sample(first_seconds)[0] for _ in range(5))
        timed = prepare(reference)
        samples = alone.rounds(rounds, ways, lambda way: alone.sample(lambda: timed(way))[0], reference)
        if len(samples[ways[0]]) == rounds:
            return reference, samples, True
    if not samples[ways[0]]:
        raise SystemExit("error: the machine does not stay as it is for a round\n  hint: measure when its neighbours rest")
    return reference, samples, False


def measure(options, peers):
    """One row per product, number of rows and link."""
    rows = []
    for product in options.models.split(","):
        if product not in CASES:
            raise SystemExit(f"error: '{product}' is no product of these\n  hint: {', '.join(CASES)}")
        with tempfile.TemporaryDirectory() as folder:
            texts = written(product, folder)
            rows += [measure_cell(product, texts, count, part, options) for count in ROWS for part in PARTS]
    return rows


def step_seconds(kind, product, link, rows, weights):
    """A product of `rows` rows, which reads so many bytes of weights, and the exchange that it is fused with, by the lines of docs/overlap.md, of two ranks and in
    the best number of pieces; one after the other where rows are few."""
    part, others = rows // 2, product / 2
    most = min(MOST_PIECES, part // LEAST_ROWS)
    if kind == "scatter":
        most = min(most, max(2, part // LEAST_ROWS_OF_SUM))

    def together(pieces):
        behind = [link + LATENCY + others / pieces] if kind == "gather" else [others / pieces + link + LATENCY, others + link / pieces + LATENCY]
        return max(product, *behind) + (1 + pieces) * weights / WEIGHT_BYTES_OF_SECOND

    return min(map(together, range(2, most + 1)), default=product + link + LATENCY)


def predicted(row):
    kind, inner, columns = CASES[row["product"]]
    return step_seconds(kind, row["product_seconds"], row["exchange_seconds"] - LATENCY, row["rows"], inner * columns * 4)


def marked(name, row):
    """A cell on whose rounds the machine changed is called so where it is shown: on the terminal and in the page."""
    return name if row["steady"] else f"{name} (unsteady)"


def line(row):
    alone, unfused, fused, parts = (row.get(way + "_seconds") for way in WAYS)
    part, exposed, shares = row["part"], row["exposed_seconds"], ("-",) * 3
    if part:
        shares = (f"{value:.2f}" for value in (row["exchanging_seconds"] / row["exchange_seconds"], exposed / row["exchange_seconds"], 1 - exposed / row["exchanging_seconds"]))
    beyond, share, hidden = shares
    cells = [marked(row["product"], row), row["exchange"], row["rows"], part or "no link", f"{1e3 * alone:.2f}", f"{1e3 * unfused:.2f}", f"{1e3 * fused:.2f}",
             f"{1e3 * parts:.2f}" if parts else "-", f"{1e3 * predicted(row):.2f}" if part else "-", f"{fused / unfused:.2f}", beyond, f"{1e3 * exposed:.2f}", share, hidden]
    return "| " + " | ".join(map(str, cells)) + " |"


def table(rows):
    names = ["product", "exchange", "M", "exchange / product", "product ms", "unfused ms", "fused ms", "whole parts ms", "predicted ms", "fused / unfused", "unfused beyond / exchange", "exposed ms", "exposed / exchange", "E"]
    return "\n".join(["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *map(line, rows)]) + "\n"


def report(rows):
    print("\n" + table(rows))


def publish(rows, results):
    """Into the page beside the results, between its marks, where all were measured."""
    page = os.path.splitext(results)[0] + ".md"
    if not os.path.exists(page) or {row["product"] for row in rows} != set(CASES):
        return
    with open(page) as file:
        before, rest = file.read().split(MARKS[0])
    with open(page, "w") as file:
        file.write(before + MARKS[0] + "\n" + table(rows) + "\n" + MARKS[1] + rest.split(MARKS[1])[1])
