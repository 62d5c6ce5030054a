"""Weft against its peers on the same models: interleaved, warm, medians with spread, every result checked against float64.

Every engine runs in a process of its own (worker.py) and stays loaded. In each round every engine gets its turn with the
same case, so that drift of the machine meets all. The figure is processor time with one thread and wall time with more.
A ratio is peer / Weft, the median over the rounds: above 1 means that Weft is faster. A wrong number voids the cell.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import cases
import engines
import environment
import files
import report

REST_SECONDS = 0.2  # until the threads of whoever came before have gone to sleep: they wait awake for a while


class Process:
    """A worker and the conversation with it."""

    def __init__(self, work, name, model, precision, threads):
        command = files.worker(work, name, model, precision, threads)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, env=files.environ(work, threads))
        self.loaded = self.read()

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line.strip() else dict(failed="the process ended")

    def ask(self, op, **question):
        if "failed" in self.loaded:
            return dict(self.loaded)
        try:
            self.process.stdin.write(json.dumps(dict(question, op=op)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return dict(failed="the process ended")
        return self.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def spread(samples):
    """Half the interquartile range over the median."""
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / 2 / middle


def measure(running, case, options, threads):
    """{engine: result} of one case; all of `running` take turns."""
    results = {name: process.ask("prepare", case=case) for name, process in running.items()}
    ready = [name for name in running if results[name].get("right")]
    rounds = {name: [] for name in ready}
    for name in ready:
        running[name].ask("time", case=case, ms=1)
    for turn in range(options.rounds):
        for name in ready if turn % 2 == 0 else reversed(ready):  # nobody always comes after the same one
            if threads > 1:
                time.sleep(REST_SECONDS)
            answer = running[name].ask("time", case=case, ms=options.budget_ms)
            if "failed" in answer:
                results[name] = answer
            else:
                rounds[name].append({kind: statistics.median(answer[kind]) for kind in ("cpu_ms", "wall_ms")})
    clock = "cpu_ms" if threads == 1 else "wall_ms"
    for name in ready:
        if "failed" in results[name]:
            continue
        again = running[name].ask("check", case=case)
        if not again.get("right"):
            results[name] = again
            continue
        mine = [each[clock] for each in rounds[name]]
        results[name].update(ms=statistics.median(mine), spread=spread(mine), clock=clock, rounds=len(mine),
                             **{kind: statistics.median(each[kind] for each in rounds[name]) for kind in ("cpu_ms", "wall_ms")})
    for name in ready:
        if name != "weft" and "ms" in results[name] and "ms" in results.get("weft", {}):
            pairs = zip(rounds[name], rounds["weft"])
            results[name]["ratio"] = statistics.median(a[clock] / b[clock] for a, b in pairs)
    for name in ready:
        running[name].ask("drop", case=case)
    return results


def tables(work, store, options, model, precision, threads):
    """All cases of a model; what is measured goes into the store as it comes."""
    names = [n for n in ["weft"] + options.peers if engines.supports(n, model, precision)]
    running, failed = {}, {}
    for name in names:
        ahead = files.compiled(work, name, model, precision, options.recompile and name == "weft")
        store.put("compile", (model, precision, name), ahead)
        if "failed" in ahead:
            failed[name] = ahead
        else:
            running[name] = Process(work, name, model, precision, threads)
    try:
        for case in [c for c in cases.CASES[model] if not options.cases or c in options.cases]:
            load = os.getloadavg()[0]
            results = dict({n: dict(why) for n, why in failed.items()}, **measure(running, case, options, threads))
            for name in names:
                results[name].update(date=time.strftime("%Y-%m-%d"), load=round(load, 1), commit=store.about["commit"])
                store.put("cell", (model, precision, threads, case, name), results[name])
            report.say_case(model, precision, threads, case, {n: results[n] for n in names})
            store.write()
    finally:
        for process in running.values():
            process.end()


def cold(work, store, options, model, precision):
    """Start of a process to its first answer, and its peak of memory; the median of three."""
    for name in [n for n in ["weft"] + options.peers if engines.supports(n, model, precision)]:
        if "failed" in files.compiled(work, name, model, precision):
            continue
        runs = []
        for _ in range(3):
            process = Process(work, name, model, precision, 1)
            answer = process.ask("prepare", case=cases.cold_case(model))
            runs.append(dict(process.loaded, **answer, **process.ask("memory")))
            process.end()
        if any("failed" in run for run in runs):
            continue
        keys = [key for key in runs[0] if key.endswith(("_s", "_mb"))]
        store.put("cold", (model, precision, name), {k: statistics.median(run[k] for run in runs) for k in keys})


def whole_numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(prog="tools/bench/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    add = parser.add_argument
    add("--models", type=words, default=list(cases.CASES), help="of " + ",".join(cases.CASES))
    add("--cases", type=words, help="such as b1s16,b1s128; all when left out")
    add("--peers", type=words, default=engines.DEFAULT, help="of " + ",".join(list(engines.ENGINES)[1:]) +
        " [" + ",".join(engines.DEFAULT) + "]")
    add("--threads", type=whole_numbers, default=[1], help="such as 1,2 [1]")
    add("--precision", type=words, default=["f32"], help="of f32,bf16,int8,int4 [f32]")
    add("--rounds", type=int, default=7, help="at least 7 [7]")
    add("--budget-ms", type=float, default=60, help="of each engine per round [60]")
    add("--recompile", action="store_true", help="compile Weft's artifacts again")
    add("--no-cold", action="store_true", help="leave out load time, first answer and memory")
    add("--out", default=os.path.join(environment.ROOT, "build", "bench"),
        help="folder of results.json, results.md and ratios.svg; cells that are not measured now stay [build/bench]")
    options = parser.parse_args()
    of_models = [case for model in options.models for case in cases.CASES.get(model, [])]
    for what, given, known in (("model", options.models, cases.CASES), ("case", options.cases or [], of_models),
                               ("peer", options.peers, list(engines.ENGINES)[1:]), ("precision", options.precision, cases.LIMITS)):
        for name in given:
            if name not in known:
                parser.error(f"no {what} is called '{name}'; there are {', '.join(known)}")
    if options.rounds < 7:
        parser.error("'--rounds' must be at least 7")
    return options


def main():
    options = parse()
    work, store = files.folder(), report.Store(options.out)
    store.note(options.peers)
    for model in options.models:
        for precision in options.precision:
            files.make(work, model, precision, options.peers)
            for threads in options.threads:
                tables(work, store, options, model, precision, threads)
            if not options.no_cold:
                cold(work, store, options, model, precision)
            store.write()
    return 3 if store.wrong("weft") else 0


if __name__ == "__main__":
    sys.exit(main())
