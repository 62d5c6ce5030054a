"""Results: kept as results.json, shown as results.md and ratios.svg, and one line per case while measuring."""
import json
import math
import os
import platform
import subprocess
import time

import cases
import engines
import environment
import plot

KEYS = {"accuracy": ("model", "precision", "engine"), "compile": ("model", "precision", "engine"), "cold": ("model", "precision", "engine"),
        "cell": ("model", "precision", "threads", "case", "engine")}
HEADINGS = {"half": "half precision", "quantised": "quantisers"}
STATIC = "†"  # behind a figure: the program is for these sizes alone
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


def largest_case(model):
    """The call with the largest sizes, which needs most memory."""
    single = [case for case in cases.CASES[model] if case not in cases.STREAMS]
    return max(single, key=lambda case: math.prod(cases.numbers(case)))


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
                for row in old.get(kind, []):
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
        return any("ms" not in row for row in self.rows["cell"].values() if engines.base(row["engine"]) == name)

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
            parts.append(f"{name} {peer_cell(r)}" + (f" ({r['lacks']})" if "lacks" in r else ""))
    print(f"{model:11} {precision} {threads} thread{'s' * (threads > 1)} {case:10} " + "   ".join(parts), flush=True)


def say_cold(model, precision, name, row):
    figures = [f"load {row['import_cpu_s'] + row['load_cpu_s']:.3f} s", f"first answer {row['first_cpu_s']:.3f} s",
               f"peak {row['peak_mb']:.0f} MB"]
    if "largest_mb" in row:
        figures.append(f"{row['largest_mb']:.0f} MB at {largest_case(model)}")
    if "start_s" in row:
        figures.append(f"start to first answer {1e3 * row['start_s']:.1f} ms, {1e3 * row['start_cpu_s']:.1f} ms of processor time")
    elif "failed" in row:
        figures.append(f"first answer of a process fails: {row['failed']}")
    print(f"{model:11} {precision} {name}: " + ", ".join(figures), flush=True)


def peer_cell(row):
    """A peer's ratio, or why there is none; a dagger where its program is for the sizes of the case alone."""
    if not row:
        return ""
    figure = f"{row['ratio']:.2f}" if "ratio" in row else f"{milliseconds(row['ms'])} ms" if "ms" in row else verdict(row)
    return figure + STATIC * bool("ms" in row and row.get("static"))


def case_lines(group):
    names = [n for n in engines.ENGINES if n != "weft" and any(n in row for row in group.values())]
    shares = any("of_peak" in row.get("weft", {}) for row in group.values())
    yield "| case | Weft ms | spread | " + "of peak | " * shares + " | ".join(names) + " | best peer | error |"
    yield "|---|--:|--:|" + "--:|" * (len(names) + shares) + "---|--:|"
    for case, row in group.items():
        weft = row.get("weft", {})
        cells = [f"{milliseconds(weft['ms'])}", f"{100 * weft['spread']:.1f} %"] if "ms" in weft else [verdict(weft), ""]
        if shares:
            cells.append(f"{100 * weft['of_peak']:.0f} %{' (read)' * (weft['limit'] == 'read')}" if "of_peak" in weft else "")
        cells += [peer_cell(row.get(name)) for name in names]
        fastest = best(row)
        cells.append(f"{fastest} {row[fastest]['ratio']:.2f}" if fastest else "")
        cells.append(f"{weft['error']:.0e}" if "error" in weft and weft["error"] is not None else "")
        note = f" ({cases.STREAMS[case]})" if case in cases.STREAMS else ""
        yield f"| {case}{note} | " + " | ".join(cells) + " |"


def engine_lines(group):
    """A line per engine, Weft first: what the engines lose by rounding stands beside their time."""
    yield "| case | engine | ms | spread | ratio | largest error | 1 - cosine | |"
    yield "|---|---|--:|--:|--:|--:|--:|---|"
    for case, row in group.items():
        for name in [name for name in engines.ENGINES if name in row]:
            r = row[name]
            cells = [milliseconds(r["ms"]), f"{100 * r['spread']:.1f} %"] if "ms" in r else [verdict(r), ""]
            cells += [figure(r, "ratio", "{:.2f}"), figure(r, "error", "{:.0e}")]
            cells.append(f"{1 - r['cosine']:.0e}" if "cosine" in r else "")
            yield f"| {case} | {name} | " + " | ".join(cells) + f" | {r.get('lacks', '')} |"


def quantiser_lines(store, model, group):
    """A line per file: accuracy, size and seconds that it took to make, beside the time of every case."""
    same = "same neighbour" if model in cases.ENCODERS else "same largest"
    yield f"| file | cosine | worst | {same} | MB | made in s | " + " | ".join(f"{case} ms | ratio" for case in group) + " |"
    yield "|---|" + "--:|" * (5 + 2 * len(group))
    for name in [n for n in engines.ENGINES if any(n in row for row in group.values())]:
        near, ahead = (store.get(kind, model, "quantised", name) or {} for kind in ("accuracy", "compile"))
        cells = [figure(near, "cosine", "{:.5f}"), figure(near, "worst", "{:.4f}"), figure(near, "same", "{:.1%}"),
                 figure(ahead, "file_mb", "{:.1f}"), figure(near if "made_s" in near else ahead, "made_s" if "made_s" in near else "compile_s", "{:.0f}")]
        for row in group.values():
            r = row.get(name, {})
            known = "ms" in r and "cosine" in near  # no time without accuracy
            cells += [milliseconds(r["ms"]) if known else "no accuracy" if "ms" in r else verdict(r), figure(r, "ratio", "{:.2f}") if known else ""]
        yield f"| {name} | " + " | ".join(cells) + " |"


def figure(row, key, form):
    return form.format(row[key]) if row and key in row else ""


def cold_line(label, name, ahead, cold):
    code = cold["libraries_mb"] + ahead.get("code_mb", 0)
    start = f"{1e3 * cold['start_s']:.0f} ({1e3 * cold['start_cpu_s']:.0f})" if "start_s" in cold else ""
    return (f"| {label} | {name} | {figure(ahead, 'compile_cpu_s', '{:.1f}')} | {figure(ahead, 'file_mb', '{:.0f}')} | "
            f"{cold['import_cpu_s'] + cold['load_cpu_s']:.3f} | {cold['first_cpu_s']:.3f} | {start} | "
            f"{cold['peak_mb']:.0f} | {figure(cold, 'largest_mb', '{:.0f}')} | {code:.1f} |")


def cold_lines(store):
    yield ("| model | engine | compile s | file MB | load s | first answer s | start to first answer ms | "
           "peak MB | peak MB at the largest case | code MB |")
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for model in cases.CASES:
        for precision in cases.LIMITS:
            for name in engines.ENGINES:
                if cold := store.get("cold", model, precision, name):
                    label = TITLES[model] + ("" if precision == "f32" else f", {precision}")
                    yield cold_line(label, name, store.get("compile", model, precision, name) or {}, cold)


def reasons(store):
    """Why engines have no number, each thing said once: (engine, model and precision, cases, text)."""
    found = {}
    for row in store.rows["cell"].values():
        if "ms" not in row:
            text = row.get("failed") or f"wrong: error {row.get('error', 0):.0e} of the largest magnitude"
            key = row["engine"], f"{TITLES[row['model']]}, {row['precision']}", text
            found.setdefault(key, {})[row["case"]] = None
    for (engine, label, text), which in sorted(found.items()):
        yield f"- {engine}, {label}, {', '.join(which)}: {text.rstrip('.')}"


def markdown(store):
    about, lines = store.about, ["# Measured", ""]
    method = os.path.relpath(os.path.join(environment.ROOT, "docs", "performance", "index.md"), store.folder)
    peers = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    mine = [row for row in store.rows["cell"].values() if row["engine"] == "weft" and "commit" in row]
    commits = ", ".join(sorted({row["commit"] for row in mine}))
    loads = [row["load"] for row in mine]
    lines += [f"Written by `tools/bench/run` on {about['date']}; Weft at {commits}. {about['machine']}; load of the machine "
              f"{min(loads, default=0):.0f} to {max(loads, default=0):.0f}.", f"Peers: {peers}.", "",
              "Columns of peers are ratios, peer / Weft: above 1, Weft is faster. One thread: processor time; more: wall time. "
              f"{STATIC} marks a program for the sizes of that case alone. [How it is measured]({method}).", "",
              "![Every peer against Weft](ratios.svg)"]
    for model, precision, threads, group in store.groups():
        table = engine_lines(group) if precision == "half" else quantiser_lines(store, model, group) if precision == "quantised" else case_lines(group)
        lines += ["", f"## {TITLES[model]}, {HEADINGS.get(precision, precision)}, {threads} thread{'s' * (threads > 1)}", "", *table]
    python = f", of which {1e3 * about['python_s']:.0f} ms are Python and numpy" if "python_s" in about else ""
    lines += ["", "## Compile, load, memory and size", "", "Seconds of processor time; load includes importing the engine. Start to "
              "first answer is wall time from the start of a process, and in brackets its processor time: of Weft `weft run`, of a peer "
              f"a Python program{python}. Peak is what the process needs beyond Python and numpy; the largest case is the call with the "
              "largest sizes. Code: the engine's shared libraries that are mapped, and the code in Weft's artifact.", "",
              *cold_lines(store)]
    if why := list(reasons(store)):
        lines += ["", "## What has no number", "", *why]
    return "\n".join(lines) + "\n"
