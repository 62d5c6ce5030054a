"""Weft against its peers on the same models: interleaved, warm, medians with spread, every result checked against float64.

Every engine runs in a process of its own (worker.py) and stays loaded. In each round every engine gets its turn with the
same case, so that drift of the machine meets all. The figure is processor time with one thread and wall time with more.
A ratio is peer / Weft, the median over the rounds: above 1 means that Weft is faster. A wrong number voids the cell.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import cases
import engines
import environment
import files
import processes
import report

LONG_MS, LONG_ROUNDS = 2000, 3  # who takes longer for a call has fewer turns
STARTS = 5  # of a process, for its time to the first answer
REST_SECONDS = 0.2  # until the threads of whoever came before have gone to sleep: they wait awake for a while


def spread(samples):
    """Half the interquartile range over the median."""
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / 2 / middle


def take_turns(running, ready, case, options, threads, results):
    """{engine: [milliseconds of a round]}; who fails leaves, and his result says why."""
    rounds = {name: [] for name in ready}
    for turn in range(options.rounds):
        for name in ready if turn % 2 == 0 else reversed(ready):  # nobody always comes after the same one
            if "failed" in results[name] or (turn >= LONG_ROUNDS and rounds[name][0]["wall_ms"] > LONG_MS):
                continue
            if threads > 1:
                time.sleep(REST_SECONDS)
            answer = running[name].ask("time", case=case, ms=options.budget_ms)
            if "failed" in answer:
                results[name] = answer
            else:
                rounds[name].append({kind: statistics.median(answer[kind]) for kind in ("cpu_ms", "wall_ms")})
    return rounds


def figures(mine, weft, clock):
    """What the rounds of an engine say, and the ratio to those of Weft."""
    samples = [each[clock] for each in mine]
    found = {kind: statistics.median(each[kind] for each in mine) for kind in ("cpu_ms", "wall_ms")}
    found.update(ms=statistics.median(samples), spread=spread(samples), clock=clock, rounds=len(mine))
    if weft:
        found["ratio"] = statistics.median(a[clock] / b[clock] for a, b in zip(mine, weft))
    return found


def measure(running, case, options, threads):
    """{engine: result} of one case; all of `running` take turns."""
    results = {name: process.ask("prepare", case=case) for name, process in running.items()}
    ready = [name for name in running if results[name].get("right")]
    for name in ready:
        if results[name].get("first_s", 0) * 1e3 < LONG_MS:
            running[name].ask("time", case=case, ms=1)
    rounds = take_turns(running, ready, case, options, threads, results)
    for name in [name for name in ready if "failed" not in results[name]]:
        again = running[name].ask("check", case=case)
        results[name] = dict(results[name], **again) if again.get("right") else again
    clock, right = "cpu_ms" if threads == 1 else "wall_ms", [name for name in ready if results[name].get("right")]
    for name in right:
        results[name].update(figures(rounds[name], rounds["weft"] if name != "weft" and "weft" in right else None, clock))
    for name in ready:
        running[name].ask("drop", case=case)
    return results


def add_shares(weft, case, threads, results, peaks):
    """How much of the peak of as many cores each engine reached."""
    cost = weft.ask("cost", case=case)
    if "failed" in cost or "failed" in peaks:
        return
    for result in results.values():
        if "ms" in result:
            rate = cost["amount"] / result["ms"] * 1e3
            result.update(of_peak=round(rate / peaks[cost["limit"]] / threads, 4), limit=cost["limit"])


def names_of(options, model, precision):
    return [n for n in ["weft"] + options.peers if engines.supports(n, model, precision)]


def start_all(work, store, options, model, precision, threads):
    """The loaded engines, and why others are not. Nothing is loaded while anything compiles: some compilers need gigabytes."""
    ahead = {}
    for name in names_of(options, model, precision):
        ahead[name] = files.compiled(work, name, model, precision, options.limit, options.recompile and engines.base(name) == "weft")
        store.put("compile", (model, precision, name), ahead[name])
    failed = {name: answer for name, answer in ahead.items() if "failed" in answer}
    env = files.environ(work, threads)
    running = {name: processes.Process(files.worker(work, name, model, precision, threads), options.limit, env)
               for name in ahead if name not in failed}
    return running, failed


def store_accuracy(work, store, running, model, precision):
    """What each quantised file is worth, on calls that nobody was calibrated with."""
    for name, process in running.items():
        made = files.made_seconds(work, name, model, precision)
        store.put("accuracy", (model, precision, name), dict(process.ask("accuracy"), **({} if made is None else {"made_s": made})))


def tables(work, store, options, model, precision, threads):
    """All cases of a model; what is measured goes into the store as it comes."""
    names, flags = names_of(options, model, precision), environment.flags()
    running, failed = start_all(work, store, options, model, precision, threads)
    try:
        peaks = running["weft"].ask("peaks") if precision == "f32" and "weft" in running else None
        if precision == "quantised":
            store_accuracy(work, store, running, model, precision)
        for case in [c for c in cases.CASES[model] if not options.cases or c in options.cases]:
            load = os.getloadavg()[0]
            results = dict({n: dict(why) for n, why in failed.items()}, **measure(running, case, options, threads))
            if peaks:
                add_shares(running["weft"], case, threads, results, peaks)
            for name in names:
                results[name].update(date=time.strftime("%Y-%m-%d"), load=round(load, 1), commit=store.about["commit"])
                if lacks := engines.missing_unit(name, precision, flags):
                    results[name]["lacks"] = lacks
                store.put("cell", (model, precision, threads, case, name), results[name])
            report.say_case(model, precision, threads, case, {n: results[n] for n in names})
            store.write()
    finally:
        for process in running.values():
            process.end()


def in_new_process(work, options, name, model, precision, case):
    """What a fresh process says of its first case."""
    process = processes.Process(files.worker(work, name, model, precision, 1), options.limit, files.environ(work))
    try:
        return process.ask("prepare", case=case)
    finally:
        process.end()


def first_answer(work, options, name, model, precision, case, starts):
    """From the start of a process to the first answer of one, seconds: the median, after a start that fills the page cache."""
    answers = []
    for _ in range(1 + starts):
        begin = time.perf_counter()
        answer = processes.one_answer(files.worker(work, name, model, precision, 1, "first", case), options.limit, files.environ(work))
        answers.append(dict(dict(start_s=time.perf_counter() - begin), **answer))
        if "failed" in answer:
            return answer
    return {key: statistics.median(answer[key] for answer in answers[1:]) for key in ("start_s", "start_cpu_s")}


def python_start():
    """Seconds from the start of Python to numpy, which are in every peer's first answer."""
    times = []
    for _ in range(1 + STARTS):
        begin = time.perf_counter()
        subprocess.run([environment.python("base"), "-c", "import numpy"], check=True)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def cold(work, store, options, model, precision):
    """Of fresh processes with one thread: load time, first answer, peak of memory, start to first answer.

    The first three are medians of three processes; of one where the first call compiles.
    """
    case, largest = cases.cold_case(model), report.largest_case(model)
    for name in names_of(options, model, precision):
        if "failed" in files.compiled(work, name, model, precision, options.limit):
            continue
        runs = [in_new_process(work, options, name, model, precision, case)]
        compiles = runs[0].get("first_s", 0) * 1e3 > LONG_MS  # at its first call: seconds, each time
        runs += [in_new_process(work, options, name, model, precision, case) for _ in range(0 if compiles else 2)]
        if any("failed" in run for run in runs):
            continue
        keys = [key for key in runs[0] if key.endswith(("_s", "_mb"))]
        row = {key: statistics.median(run[key] for run in runs) for key in keys}
        most = runs[0] if largest == case else in_new_process(work, options, name, model, precision, largest)
        if "peak_mb" in most:
            row["largest_mb"] = most["peak_mb"]
        row.update(first_answer(work, options, name, model, precision, case, 1 if compiles else STARTS))
        store.put("cold", (model, precision, name), row)
        report.say_cold(model, precision, name, store.get("cold", model, precision, name))


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
    add("--precision", type=words, default=["f32"], help="of " + ",".join(cases.LIMITS) + " [f32]")
    add("--rounds", type=int, default=7, help="at least 7 [7]")
    add("--budget-ms", type=float, default=60, help="of each engine per round [60]")
    add("--limit", type=float, default=900, help="seconds that an engine has for compiling a model or for an answer [900]")
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


def measure_all(options, store):
    work = files.folder()
    store.note(options.peers)
    if not options.no_cold:
        store.about["python_s"] = round(python_start(), 4)
    for model in options.models:
        for precision in options.precision:
            files.make(work, model, precision, options.peers)
            for threads in options.threads:
                tables(work, store, options, model, precision, threads)
            if not options.no_cold:
                cold(work, store, options, model, precision)
            store.write()


def main():
    options = parse()
    store = report.Store(options.out)
    try:
        measure_all(options, store)
    except environment.Missing as missing:  # what makes a file that others read
        raise SystemExit(f"error: {missing}\n  hint: --peers without it measures the others")
    return 3 if store.wrong("weft") else 0


if __name__ == "__main__":
    sys.exit(main())
