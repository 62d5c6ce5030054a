"""Plans over two ranks in turns: `tools/bench/ranks plans`.

Every case is planned at its own sizes. The cheapest plan, as `weft compile --ranks 2` finds it, takes turns with those that are asked for by name. One of these that
is the plan that was found gives the same file, which is not measured against itself.
"""
import filecmp
import statistics
import subprocess
import tempfile

import files
import rank_models

PEERS = ()
# What plans are made for: the sizes that are planned for by themselves, and others.
CASES = {"minilm": {"b1s128": [], "b8s128": ["--at", "batch=8"]}, "bert_base": {"b1s128": []}, "gpt2": {"prefill128": ["--at", "past=0"]}, "llama160m": {"prefill128": ["--at", "past=0"], "decode128": ["--at", "seq=1"]}}
NAMED = ("tp", "sp", "dp")


def split(plan, at):
    return ["--ranks", "2", "--plan", plan, *at], rank_models.RANKS


def measure(options, peers):
    """One row per model and case: {"model", "case", "samples": {plan: seconds by round}}; a plan that is refused has none."""
    work, rows = files.folder(), []
    for model in options.models.split(","):
        files.make(work, model, "f32", [])
        for case, at in CASES[model].items():
            with tempfile.TemporaryDirectory() as folder:
                ways = []
                for plan in ("auto", *NAMED):
                    try:
                        ways.append(rank_models.File(plan, split(plan, at), model, folder, work))
                    except subprocess.CalledProcessError:
                        print(f"{model} {case}: no plan {plan}", flush=True)
                found = [way.way for way in ways[1:] if filecmp.cmp(way.path, ways[0].path, shallow=False)]
                others = [way for way in ways if way.way not in found]
                rows.append(dict(rank_models.measure_case(model, case, others, None, options, folder, work), found=found))
    return rows


def line(row):
    auto, samples = row["samples"]["auto"], row["samples"]

    def cell(plan):
        if plan in row["found"]:
            return "found"
        return f"{statistics.median(x / y for x, y in zip(auto, samples[plan])):.2f}" if plan in samples else "-"

    return f"| {row['model']} | {row['case']} | {1e3 * statistics.median(auto):.2f} | " + " | ".join(map(cell, NAMED)) + " |"


def report(rows):
    print("\n| model | case | auto ms | " + " | ".join(f"/ {plan}" for plan in NAMED) + " |\n" + "|---" * (3 + len(NAMED)) + "|\n" + "\n".join(map(line, rows)))
