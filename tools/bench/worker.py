"""One engine with one model in a process of its own. It answers the questions of bench.py, one line of JSON each.

    python worker.py ENGINE MODEL PRECISION THREADS WORK [compile]
    > {"op": "prepare", "case": "b1s16"}             binds, runs once, compares with float64
    > {"op": "time", "case": "b1s16", "ms": 60}      milliseconds of passes that take about this much processor time
    > {"op": "check", "case": "b1s16"}               runs once more and compares again
    > {"op": "drop", "case": "b1s16"}
    > {"op": "memory"}
"""
import importlib
import json
import os
import resource
import sys
import time

sys.dont_write_bytecode = True


def spent():
    """Processor seconds of this process, all threads, and of its finished children."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def megabytes(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def libraries(name):
    """Megabytes of the shared libraries that are mapped and belong to the engine, not to Python or numpy."""
    with open("/proc/self/maps") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if ".so" in line}
    mine = lambda p: "libweft_runtime" in p if name == "weft" else "site-packages" in p and "/numpy" not in p
    return sum(os.path.getsize(p) for p in paths if mine(p) and os.path.exists(p)) / 1e6


class Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), spent()

    def read(self, name):
        return {f"{name}_s": round(time.perf_counter() - self.wall, 4), f"{name}_cpu_s": round(spent() - self.cpu, 4)}


class Worker:
    def __init__(self, name, model, precision, threads, work):
        import cases
        import engines
        import numpy  # not the engine's time
        self.cases, self.name, self.model, self.precision, self.work = cases, name, model, precision, work
        self.bound, self.before = {}, megabytes("VmRSS")
        engine = engines.load(name)
        clock = Clock()
        for module in engine.NAMES:
            importlib.import_module(module)
        self.report, clock = clock.read("import"), Clock()
        self.engine = engine(work, model, precision, threads)
        self.report.update(clock.read("load"))

    def prepare(self, case):
        calls, steps, folder = [], [], os.path.join(self.work, "models")
        kind = getattr(self.engine, "REFERENCE", "reference")
        expected = self.cases.references(folder, self.model, case, kind)
        for feed in self.cases.inputs(self.model, case):
            calls.append(self.engine.bind(feed))
        clock = Clock()
        handle = calls[0]()
        first = clock.read("first")
        for i, call in enumerate(calls):
            got = self.engine.first(handle if i == 0 else call())
            steps.append(self.cases.judge(got, expected[i], self.model, self.precision))
        self.bound[case] = calls, expected
        return dict(first, libraries_mb=round(libraries(self.name), 1), **self.worst(steps))

    def check(self, case):
        calls, expected = self.bound[case]
        return self.worst([self.cases.judge(self.engine.first(call()), want, self.model, self.precision)
                           for call, want in zip(calls, expected)])

    def worst(self, steps):
        return dict(error=max(s["error"] for s in steps), cosine=min(s["cosine"] for s in steps),
                    right=all(s["right"] for s in steps))

    def time(self, case, ms):
        calls, wall, cpu = self.bound[case][0], [], []
        for call in calls:  # wakes our own threads
            call()
        end, stop = time.process_time() + ms / 1e3, time.perf_counter() + ms / 50
        while not wall or (time.process_time() < end and time.perf_counter() < stop):
            w, c = time.perf_counter(), time.process_time()
            for call in calls:
                call()
            cpu.append((time.process_time() - c) * 1e3)
            wall.append((time.perf_counter() - w) * 1e3)
        return dict(wall_ms=wall, cpu_ms=cpu)

    def drop(self, case):
        del self.bound[case]
        return {}

    def memory(self):
        return dict(peak_mb=round(megabytes("VmHWM") - self.before, 1))


def reason(error):
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return dict(failed=f"{type(error).__name__}: {line[:300]}".removeprefix("RuntimeError: "))


def compile_ahead(name, model, precision, work):
    import engines
    engine, clock, answer = engines.load(name), Clock(), {}
    if engine.compile:
        engine.compile(work, model, precision)
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
        answer = dict(clock.read("compile"), compile_peak_mb=round(peak))
    return dict(answer, file_mb=round(os.path.getsize(engines.read_by(work, name, model, precision)) / 1e6, 1))


def main(name, model, precision, threads, work, *more):
    out = os.dup(1)
    os.dup2(2, 1)  # libraries print; the answers keep the real stdout
    say = lambda answer: os.write(out, (json.dumps(answer) + "\n").encode())
    try:
        if more == ("compile",):
            return say(compile_ahead(name, model, precision, work))
        if threads == "1":  # a hard limit: libraries differ in how they honour a number of threads
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        worker = Worker(name, model, precision, int(threads), work)
    except Exception as error:
        return say(reason(error))
    say(worker.report)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            say(getattr(worker, question.pop("op"))(**question))
        except Exception as error:
            say(reason(error))
    os._exit(0)  # some engines crash in their destructors


if __name__ == "__main__":
    main(*sys.argv[1:])
