"""Whole models over two ranks: `tools/bench/ranks models`.

Two ranks of one thread, as `weft compile --ranks 2` splits the model, take turns with one process of two threads, and with PyTorch's tensor
parallelism where it knows the model. Every result is compared with float64. Weft's samples are taken again while others compute (alone.py).
"""
import json
import os
import statistics
import subprocess
import tempfile

import alone
import cases
import environment
import files
from rank_collectives import free_port
from rank_peer import Peer

PEERS = ("torch",)
CASES = {"minilm": ["b1s16", "b8s128"], "bert_base": ["b1s128"], "llama160m": ["prefill128", "decode128"]}
RANKS = ["--ranks", "2", "--threads", "1"]
# What compiling and running are told.
WAYS = {"weft_ranks": (["--ranks", "2"], RANKS), "weft_threads": ([], ["--threads", "2"])}
CALLS = 7


def weft(*arguments):
    """What the command prints."""
    tool = os.path.join(os.environ.get("WEFT_BENCH_BUILD", os.path.join(environment.ROOT, "build", "release")), "bin", "weft")
    return subprocess.run([tool, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


class File:
    """The model in one of the ways, and calls of it."""

    def __init__(self, way, told, model, folder, work):
        split, self.run = told
        self.way, self.path = way, os.path.join(folder, f"{model}.{way}.weft")
        weft("compile", "-q", os.path.join(work, "models", model + ".onnx"), "-o", self.path, *split)

    def judge(self, model, case, feed, work):
        import numpy as np
        made = self.path + ".npz"
        weft("run", "-q", self.path, "--input", "@" + feed, "--output", made, *self.run)
        name = "logits" if model in cases.DECODERS else "last_hidden_state"
        with np.load(made) as got:
            return cases.judge(got[name], cases.references(os.path.join(work, "models"), model, case)[0], model, "f32")

    def seconds(self, feed):
        rows = weft("bench", self.path, "--input", "@" + feed, "--rounds", str(CALLS), "--format", "json", *self.run)
        return json.loads(rows)["rows"][0]["median_seconds"]


def start_torch(model, folder, work):
    def start(pipes):
        script, port = os.path.join(environment.HERE, "rank_torch.py"), free_port()
        variables = dict(files.environ(work), WEFT_BENCH_MODELS=os.path.join(work, "models"))
        return [[environment.python("torch"), script, pipes, model, str(rank), "2", port] for rank in range(2)], variables
    return Peer(f"torch.{model}", folder, 2, start)


def measure_case(model, case, ways, peer, options, folder, work):
    import numpy as np
    feed = os.path.join(folder, f"{model}.{case}.npz")
    np.savez(feed, **cases.inputs(model, case)[0])
    row = dict(model=model, case=case, samples={}, disturbed=[])
    for way in ways:
        if not (judged := way.judge(model, case, feed, work))["right"]:
            raise SystemExit(f"error: {way.way}: a wrong answer to {model} {case}: error {judged['error']:.1e}")

    def sampled(way):
        seconds, was_alone = alone.sample(lambda: way.seconds(feed))
        row["disturbed"].extend([] if was_alone else [way.way])
        return seconds

    turns = [(way.way, lambda way=way: sampled(way)) for way in ways]
    if peer:
        turns.append(("torch", lambda: peer.ask(f"{case} {CALLS}")))
    for turn in range(options.rounds):
        for name, seconds in turns[::-1] if turn % 2 else turns:
            row["samples"].setdefault(name, []).append(seconds())
    if any(value < 0 for value in row["samples"].get("torch", [])):
        row["samples"].pop("torch")
        print(f"torch: a wrong answer to {model} {case}", flush=True)
    if row["disturbed"]:
        print(f"{model} {case}: others computed beside {len(row['disturbed'])} samples", flush=True)
    return row


def measure(options, peers):
    """One row per model and case: {"model", "case", "samples": {way: seconds by round}}."""
    work, rows = files.folder(), []
    for model in options.models.split(","):
        if model not in CASES:
            raise SystemExit(f"error: '{model}' is not split here\n  hint: {', '.join(CASES)}")
        files.make(work, model, "f32", [])
        with tempfile.TemporaryDirectory() as folder:
            ways = [File(way, told, model, folder, work) for way, told in WAYS.items()]
            peer = start_torch(model, folder, work) if "torch" in peers and model in cases.ENCODERS else None
            rows += [measure_case(model, case, ways, peer, options, folder, work) for case in CASES[model]]
            if peer:
                peer.end()
    return rows


def report(rows):
    print("\n| model | case | 2 ranks ms | / 2 threads | torch / 2 ranks |\n|---|---|---|---|---|")
    for row in rows:
        ours, threads, torch = (row["samples"].get(name) for name in ("weft_ranks", "weft_threads", "torch"))
        middle = lambda a, b: f"{statistics.median(x / y for x, y in zip(a, b)):.2f}" if a and b else "-"
        print(f"| {row['model']} | {row['case']} | {1e3 * statistics.median(ours):.2f} | {middle(ours, threads)} | {middle(torch, ours)} |")
