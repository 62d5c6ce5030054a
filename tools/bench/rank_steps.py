"""Whole programs whose exchanges travel beside what ranks compute: `tools/bench/ranks steps`.

A ring of attention at 2,048 tokens, and encoders with tokens split between column and row pairs, on two ranks of one thread. A link is set so that exchanges
take a share of the program's time without one ("product": exchanges are then copies in memory), or of the step in which they are waited for. What the lines of
docs/overlap.md predict, of that time, the operations of each part and the link's numbers, stands beside it.
"""
import json
import os
import re
import statistics
import tempfile

import cases
import files
import rank_models
from rank_overlap import LATENCY, marked, measure_steadily, step_seconds, summary, tensor

PEERS = ()
HEADS, HEAD, TOKENS = 12, 64, 2048
RING, PARTS = "ring attention", (0.25, 0.5, 1)
# Model, case, tokens, tokens of a sequence, layers, width, inner width.
ENCODERS = {"MiniLM": ("minilm", "b8s128", 1024, 128, 6, 384, 1536), "BERT-base": ("bert_base", "b1s128", 128, 128, 12, 768, 3072)}
SHARES = 4  # of heads, in which keys and values go around (passes/parallel/RingShares.cpp)
SHARE = 0.3  # of the unfused step of an encoder
WAYS = {"product": "never", "unfused": "never", "fused": "always"}


def ring():
    """Queries, keys and values of tokens, attention, and a maximum, so that nothing large is exchanged behind it."""
    import numpy as np
    chance, width = np.random.default_rng(1), HEADS * HEAD
    tokens, heads, scores = tensor("s", width), tensor(HEADS, "s", HEAD), tensor(HEADS, "s", "s")
    lines = []
    for each in "qkv":
        values = (chance.uniform(-1, 1, (width, width)) / width ** 0.5).astype(np.float32)
        weight = tensor(width, width)
        lines += [f'%w{each} = weft.constant dense<"0x{values.tobytes().hex().upper()}"> : tensor<{width}x{width}xf32> -> {weight}',
                  f'%p{each} = weft.contract "s e, e n -> s n" %x, %w{each} accumulate f32 : ({tokens}, {weight}) -> {tokens}',
                  f'%r{each} = weft.reshape %p{each} to [s, {HEADS}, {HEAD}] : ({tokens}) -> {tensor("s", HEADS, HEAD)}',
                  f'%{each} = weft.transpose %r{each} [1, 0, 2] : ({tensor("s", HEADS, HEAD)}) -> {heads}']
    lines += [f'%a = weft.contract "h s d, h t d -> h s t" %q, %k accumulate f32 : ({heads}, {heads}) -> {scores}',
              f'%b = weft.softmax %a : ({scores}) -> {scores}',
              f'%c = weft.contract "h s t, h t d -> h s d" %b, %v accumulate f32 : ({scores}, {heads}) -> {heads}',
              f'%y = weft.reduce max %c [1] : ({heads}) -> {tensor(HEADS, HEAD)}', f'return %y : {tensor(HEADS, HEAD)}']
    return (f'func.func @main(%x: {tokens} {{weft.name = "x"}}) -> ({tensor(HEADS, HEAD)} {{weft.name = "y"}})\n'
            "    attributes {weft.symbols = #weft.symbols<s>} {\n" + "".join(f"  {line}\n" for line in lines) + "}\n")


def pairs_of_tokens(source, inputs, folder):
    """Column and row pairs as `--plan tp` places them, and tokens split between them."""
    plan, told = os.path.join(folder, "plan"), ["--mesh", "tp=2"]
    rank_models.weft("compile", "-q", source, "--mesh", "tp=2", "--plan", "tp", "--plan-out", plan, "-o", os.path.join(folder, "plan.weft"))
    with open(plan) as file:
        places = [line[len("place "):].strip() for line in file if line.startswith("place ")]
    for place in [f"{name}=[_, tp]" for name in inputs] + places:
        told += ["--place", place]
    return told


class Program:
    """A program in both forms, and what is known of it."""

    def __init__(self, name, folder, work):
        self.name, self.files = name, {}
        if name == RING:
            source, told, self.call = os.path.join(folder, "ring.mlir"), ["--mesh", "tp=2", "--place", "x=[tp, _]"], ["--dim", f"s={TOKENS}"]
            with open(source, "w") as file:
                file.write(ring())
            self.sizes = f"s={TOKENS}"
        else:
            import numpy as np
            model, case = ENCODERS[name][:2]
            source, feed = os.path.join(work, "models", model + ".onnx"), os.path.join(folder, "feed.npz")
            inputs = cases.inputs(model, case)[0]
            told = pairs_of_tokens(source, inputs, folder)
            np.savez(feed, **inputs)
            self.call, (batch, seq) = ["--input", "@" + feed], next(iter(inputs.values())).shape
            self.sizes = f"batch={batch},seq={seq}"
        for fuse in set(WAYS.values()):
            self.files[fuse] = os.path.join(folder, fuse + ".weft")
            rank_models.weft("compile", "-q", source, "-o", self.files[fuse], "--fuse-comm", fuse, *told)
        sent = re.search(r"^sent .*?: (\d+) B .*in (\d+) messages", rank_models.weft("inspect", self.files["never"], "--at", self.sizes), re.M)
        self.sent = dict(bytes=int(sent[1]), messages=int(sent[2]))

    def seconds(self, way, link):
        told = ["--link", link] if link and way != "product" else []
        answer = rank_models.weft("bench", "-q", self.files[WAYS[way]], *self.call, *rank_models.RANKS, "--rounds", "7", "--format", "json", *told)
        return json.loads(answer)["rows"][0]["median_seconds"]


def measure_cell(program, part, options):
    messages = program.sent["messages"]

    def linked(reference):
        return f"{program.sent['bytes'] / (part * reference - messages * LATENCY) / 1e6:.1f}MB/s,{LATENCY * 1e6:.0f}us"

    def prepare(reference):
        return lambda way: program.seconds(way, linked(reference))

    reference, samples, steady = measure_steadily(list(WAYS), lambda: program.seconds("product", None), prepare, options.rounds)
    row = dict(program=program.name, part=part, link=linked(reference), exchange_seconds=part * reference, sent=program.sent, samples=samples, steady=steady, **summary(samples, "product"))
    print(line(row), flush=True)
    return row


def measure(options, peers):
    work, rows = files.folder(), []
    for name in (RING, *ENCODERS):
        if name != RING:
            files.make(work, ENCODERS[name][0], "f32", [])
        with tempfile.TemporaryDirectory() as folder:
            program = Program(name, folder, work)
            parts = PARTS if name == RING else (SHARE / (1 - SHARE),)
            rows += [measure_cell(program, part, options) for part in parts]
    return rows


#--- What docs/overlap.md says ----------------------------------------------------------------------------------------------------------


def predicted_ring(row):
    """Keys are projected and sent first, then values, in shares of heads; queries and the own block come while they travel. Then scores wait for a share of keys,
    sums for one of values."""
    part, width = TOKENS / 2, HEADS * HEAD
    project, step = 2 * part * width * width, 2 * 2 * part * part * width
    second = row["product_seconds"] / (3 * project + 2 * step)
    share = row["exchange_seconds"] / (2 * SHARES)
    link, now = 0, (3 * project + step) * second
    for made in (1, 2):
        link = max(link, made * project * second)
        for _ in range(SHARES):
            link += share
            now = max(now, link) + step * second / (2 * SHARES)
    return now


def predicted_encoder(row):
    _, _, tokens, sequence, layers, width, inner = ENCODERS[row["program"]]
    # What is exchanged beside a product, and the elements of its weight; per layer, by one rank.
    products = [("gather", 3 * width * width / 2), ("scatter", width * width / 2), ("gather", width * inner / 2), ("scatter", width * inner / 2)]
    operations = sum(2 * tokens * elements for _, elements in products) + 4 * tokens * sequence * width / 2
    second, messages = row["product_seconds"] / (layers * operations), row["sent"]["messages"]
    link = (row["exchange_seconds"] - messages * LATENCY) / row["sent"]["bytes"] * (tokens / 2 * width * 4)
    beside = sum(step_seconds(kind, 2 * tokens * elements * second, link, tokens, 4 * elements) - 2 * tokens * elements * second for kind, elements in products)
    others = row["exchange_seconds"] - layers * len(products) * (link + LATENCY)  # exchanges of no product wait
    return row["product_seconds"] + layers * beside + max(others, 0)


def predicted(row):
    return predicted_ring(row) if row["program"] == RING else predicted_encoder(row)


def line(row):
    alone, unfused, fused = (row[way + "_seconds"] for way in WAYS)
    exposed = row["exposed_seconds"]
    cells = [marked(row["program"], row), f"{row['part']:.2f}", row["link"], *(f"{1e3 * each:.2f}" for each in (alone, unfused, fused, predicted(row))), f"{unfused / fused:.2f}",
             f"{predicted(row) / fused:.2f}", f"{1e3 * exposed:.2f}", f"{exposed / row['exchange_seconds']:.2f}", f"{1 - exposed / row['exchanging_seconds']:.2f}"]
    return "| " + " | ".join(cells) + " |"


def report(rows):
    names = ["program", "exchange / product", "link", "product ms", "unfused ms", "fused ms", "predicted ms", "unfused / fused", "predicted / fused", "exposed ms", "exposed / exchange", "E"]
    print("\n| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|\n" + "\n".join(map(line, rows)))
