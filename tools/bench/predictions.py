#!/usr/bin/env python3
"""Compares what `weft inspect --machine` predicts with what was measured: every cell of Weft in f32 of docs/performance/results.json
whose model is there.

    tools/bench/predictions.py --weft build/release/bin/weft                 models that tools/bench/run made, in the cache
    tools/bench/predictions.py --weft weft --models DIR --machine zen5 --results FILE.json

Exits with 1 when a prediction is off by more than a quarter, or the median by more than a tenth, and with 77 when no model is there.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IN_PLACE = ("llama160m",)  # as engines/weft_engine.py compiles it
WORST, MEDIAN = 0.25, 0.10


def calls_of(model, case):
    """{symbols of a call: how many calls have them}"""
    names = {"input_ids": ("batch", "seq"), "image": ("batch", None, "height", "width"), "past_key_0": (None, None, "past", None)}
    fixed = {"height", "width"} if model != "superres" else set()
    counts = collections.Counter()
    for feed in cases.feeds_of(model, case):
        sizes = {}
        for name, array in feed.items():
            for symbol, size in zip(names.get(name, ()), array.shape):
                if symbol and symbol not in fixed:
                    sizes[symbol] = size
        counts[tuple(sorted(sizes.items()))] += 1
    return counts


def predict(weft, path, model, sizes, machine, threads):
    """Seconds of a call."""
    command = [weft, "inspect", path, "--machine", machine, "--threads", str(threads), "--json",
               "--at", ",".join(f"{name}={size}" for name, size in sizes)]
    if model in IN_PLACE:
        command.append("--in-place")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["seconds"]


def measured(path):
    with open(path, encoding="utf-8") as file:
        return {(c["model"], c["threads"], c["case"]): c["ms"] for c in json.load(file)["cell"]
                if c["engine"] == "weft" and c["precision"] == "f32"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = os.environ.get("WEFT_CACHE_DIR", os.path.expanduser("~/.cache/weft"))
    parser.add_argument("--weft", required=True)
    parser.add_argument("--models", default=os.path.join(cache, "bench", "models"))
    parser.add_argument("--results", default=os.path.join(ROOT, "docs", "performance", "results.json"))
    parser.add_argument("--machine", default="zen5")
    options = parser.parse_args()
    known, errors = {}, []
    for (model, threads, case), ms in sorted(measured(options.results).items(), key=lambda row: (row[0][1], row[0])):
        path = os.path.join(options.models, model + ".onnx")
        if not os.path.exists(path):
            continue
        seconds = 0
        for sizes, count in calls_of(model, case).items():
            key = (model, sizes, threads)
            if key not in known:
                known[key] = predict(options.weft, path, model, sizes, options.machine, threads)
            seconds += count * known[key]
        error = seconds * 1e3 / ms - 1
        errors.append(abs(error))
        print(f"{model:12} {case:10} {threads} thread{'s' if threads > 1 else ' '}  measured {ms:9.3f} ms  predicted {seconds * 1e3:9.3f} ms"
              f"  {100 * error:+6.1f} %")
    if not errors:
        print(f"SKIPPED: {options.models} has no model that was measured; tools/bench/run makes them")
        return 77
    median, worst = statistics.median(errors), max(errors)
    print(f"{len(errors)} cells: median {100 * median:.1f} %, worst {100 * worst:.1f} %")
    return int(worst > WORST or median > MEDIAN)


if __name__ == "__main__":
    sys.exit(main())
