"""Results: kept as results.json, shown as results.md and ratios.svg, and one line per case while measuring."""
import json
import os
import platform
import subprocess
import time

import cases
import engines
import environment
import plot

KEYS = {"compile": ("model", "precision", "engine"), "cold": ("model", "precision", "engine"),
        "cell": ("model", "precision", "threads", "case", "engine")}
TITLES = {"minilm": "all-MiniLM-L6-v2", "bert_base": "BERT-base", "vit_tiny": "ViT-tiny", "gpt2": "GPT-2 (124 M)",
          "llama160m": "Llama, 160 M", "resnet50": "ResNet-50", "mobilenetv2": "MobileNetV2", "superres": "super-resolution x2"}


def processor():
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 2**20
    return f"{name}, {len(os.sched_getaffinity(0))} CPUs, {memory:.0f} GiB"


def commit():
    done = subprocess.run(["git", "-C", environment.ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


class Store:
    """All results of a folder; a new one replaces the old one with the same key."""

    def __init__(self, folder):
        self.folder, self.rows = folder, {kind: {} for kind in KEYS}
        self.about = dict(versions={})
        path = os.path.join(folder, "results.json")
        if os.path.exists(path):
            with open(path) as file:
                old = json.load(file)
            self.about = old["about"]
            for kind, names in KEYS.items():
                for row in old[kind]:
                    self.rows[kind][tuple(row[name] for name in names)] = row

    def note(self, peers):
        self.about.update(machine=processor(), date=time.strftime("%Y-%m-%d"), commit=commit())
        self.about["versions"].update(environment.versions(peers))

    def put(self, kind, key, result):
        self.rows[kind][key] = dict(zip(KEYS[kind], key), **result)

    def get(self, kind, *key):
        return self.rows[kind].get(key)

    def wrong(self, name):
        """Whether a cell of this engine has no number."""
        return any("ms" not in row for row in self.rows["cell"].values() if row["engine"] == name)

    def group(self, model, precision, threads):
        """{case: {engine: row}} in the order of cases.py."""
        rows = [row for row in self.rows["cell"].values()
                if (row["model"], row["precision"], row["threads"]) == (model, precision, threads)]
        found = {case: {row["engine"]: row for row in rows if row["case"] == case} for case in cases.CASES[model]}
        return {case: row for case, row in found.items() if row}

    def groups(self):
        for precision in cases.LIMITS:
            for threads in sorted({key[2] for key in self.rows["cell"]}):
                for model in cases.CASES:
                    if group := self.group(model, precision, threads):
                        yield model, precision, threads, group

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        kinds = {kind: [self.rows[kind][key] for key in sorted(self.rows[kind], key=str)] for kind in KEYS}
        with open(os.path.join(self.folder, "results.json"), "w") as file:
            json.dump(dict(about=self.about, **kinds), file, indent=1)
            file.write("\n")
        with open(os.path.join(self.folder, "results.md"), "w") as file:
            file.write(markdown(self))
        with open(os.path.join(self.folder, "ratios.svg"), "w") as file:
            file.write(plot.svg(self))


def best(row):
    """The fastest peer of a case, or None."""
    ratios = {name: r["ratio"] for name, r in row.items() if "ratio" in r}
    return min(ratios, key=ratios.get) if ratios else None


def milliseconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def verdict(row):
    """What stands in a cell that has no number."""
    return "wrong" if row.get("right") is False else "fails"


def say_case(model, precision, threads, case, row):
    weft = row["weft"]
    parts = [f"weft {milliseconds(weft['ms'])} ms ±{100 * weft['spread']:.0f} %" if "ms" in weft else
             f"weft {verdict(weft)}: {weft.get('failed', weft.get('error'))}"]
    for name, r in row.items():
        if name != "weft":
            figure = f"{r['ratio']:.2f}" if "ratio" in r else f"{milliseconds(r['ms'])} ms" if "ms" in r else verdict(r)
            parts.append(f"{name} {figure}")
    print(f"{model:11} {precision} {threads} thread{'s' * (threads > 1)} {case:10} " + "   ".join(parts), flush=True)


def case_lines(group):
    names = [n for n in engines.ENGINES if n != "weft" and any(n in row for row in group.values())]
    yield "| case | Weft ms | spread | " + " | ".join(names) + " | best peer | error |"
    yield "|---|--:|--:|" + "--:|" * len(names) + "---|--:|"
    for case, row in group.items():
        weft = row.get("weft", {})
        cells = [f"{milliseconds(weft['ms'])}", f"{100 * weft['spread']:.1f} %"] if "ms" in weft else [verdict(weft), ""]
        for name in names:
            r = row.get(name, {})
            cells.append("" if not r else f"{r['ratio']:.2f}" if "ratio" in r else
                         f"{milliseconds(r['ms'])} ms" if "ms" in r else verdict(r))
        fastest = best(row)
        cells.append(f"{fastest} {row[fastest]['ratio']:.2f}" if fastest else "")
        cells.append(f"{weft['error']:.0e}" if "error" in weft and weft["error"] is not None else "")
        note = f" ({cases.STREAMS[case]})" if case in cases.STREAMS else ""
        yield f"| {case}{note} | " + " | ".join(cells) + " |"


def cold_lines(store):
    yield "| model | engine | compile s | file MB | load s | first answer s | peak MB | libraries MB |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for model in cases.CASES:
        for precision in cases.LIMITS:
            for name in engines.ENGINES:
                ahead, cold = store.get("compile", model, precision, name), store.get("cold", model, precision, name)
                if not cold:
                    continue
                label = TITLES[model] + ("" if precision == "f32" else f", {precision}")
                built = f"{ahead['compile_cpu_s']:.1f}" if ahead and "compile_cpu_s" in ahead else ""
                yield (f"| {label} | {name} | {built} | {ahead['file_mb']:.0f} | "
                       f"{cold['import_cpu_s'] + cold['load_cpu_s']:.3f} | {cold['first_cpu_s']:.3f} | "
                       f"{cold['peak_mb']:.0f} | {cold['libraries_mb']:.1f} |")


def markdown(store):
    about, lines = store.about, ["# Measured", ""]
    peers = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    mine = [row for row in store.rows["cell"].values() if row["engine"] == "weft" and "commit" in row]
    commits = ", ".join(sorted({row["commit"] for row in mine}))
    loads = [row["load"] for row in mine]
    lines += [f"Written by `tools/bench/run` on {about['date']}; Weft at {commits}. {about['machine']}; load of the machine "
              f"{min(loads, default=0):.0f} to {max(loads, default=0):.0f}.", f"Peers: {peers}.", "", "Columns of peers are ratios, peer / Weft: above 1, Weft is faster. One thread: processor time; "
              "more: wall time. [How it is measured](index.md).", "", "![Every peer against Weft](ratios.svg)"]
    for model, precision, threads, group in store.groups():
        lines += ["", f"## {TITLES[model]}, {precision}, {threads} thread{'s' * (threads > 1)}", "", *case_lines(group)]
    lines += ["", "## Compile, load, memory and size", "", "Seconds of processor time; load includes importing the engine. "
              "Peak is what the process needs beyond Python and numpy.", "", *cold_lines(store)]
    refusals = [(key, row["failed"]) for key, row in store.rows["compile"].items() if "failed" in row]
    if refusals:
        lines += ["", "## What does not compile", ""]
        lines += [f"- {engine}, {TITLES[model]}, {precision}: {text}" for (model, precision, engine), text in refusals]
    return "\n".join(lines) + "\n"
