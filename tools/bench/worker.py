"""One engine with one model in a process of its own. It answers the questions of bench.py, one line of JSON each.

    python worker.py ENGINE MODEL PRECISION THREADS WORK [compile | first CASE]
    > {"op": "prepare", "case": "b1s16"}             binds, runs once, compares with float64
    > {"op": "time", "case": "b1s16", "ms": 60}      milliseconds of passes that take about this much processor time
    > {"op": "check", "case": "b1s16"}               runs once more and compares again
    > {"op": "drop", "case": "b1s16"}
    > {"op": "accuracy"}                             how near answers to calls.py's calls are to those in f32
    > {"op": "peaks"}  {"op": "cost", "case": "b1s16"}     of Weft: what one core can do, what the case costs

`compile` does what is done ahead of time, `first` ends after the first answer to a case; both say one line.
"""
import importlib
import json
import os
import resource
import sys
import time

sys.dont_write_bytecode = True
LONG_SECONDS = 1  # a call that takes longer needs nobody to be woken before it


def spent():
    """Processor seconds of this process, all threads, and of its finished children."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def megabytes(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def forget_peak():
    """From now on VmHWM is the peak since this call."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def size(path):
    """Bytes of a file or of all files in a folder; weights beside OpenVINO's form count."""
    if path.endswith(".xml"):
        return os.path.getsize(path) + os.path.getsize(path[:-4] + ".bin")
    return sum(entry.stat().st_size for entry in os.scandir(path)) if os.path.isdir(path) else os.path.getsize(path)


def libraries(name):
    """Megabytes of the shared libraries that are mapped and belong to the engine, not to Python or numpy."""
    with open("/proc/self/maps") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if ".so" in line}
    mine = lambda p: "libweft_runtime" in p if name.startswith("weft") else "site-packages" in p and "/numpy" not in p
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
        self.kind = engines.kind(name, precision)
        self.bound, self.took, self.before = {}, {}, megabytes("VmRSS")
        engine = engines.load(name)
        clock = Clock()
        for module in engine.NAMES:
            importlib.import_module(module)
        self.report, clock = clock.read("import"), Clock()
        self.engine = engine(work, model, self.kind, threads)
        self.report.update(clock.read("load"))
        self.loading = megabytes("VmHWM")

    def bind(self, case):
        """The calls of a case."""
        feeds = self.cases.inputs(self.model, case, self.kind)
        if len(feeds) > 1 and getattr(self.engine, "STATIC", False):
            raise RuntimeError("it has programs for known sizes, and none for each of a stream")
        return [self.engine.bind(feed) for feed in feeds]

    def prepare(self, case):
        forget_peak()
        calls = self.bind(case)
        clock = Clock()
        handle = calls[0]()
        answer = clock.read("first")
        for call in calls[1:]:
            handle = call()
        peak = max(self.loading, megabytes("VmHWM")) - self.before  # before references and comparisons take memory
        kind = getattr(self.engine, "REFERENCE", "reference")
        self.bound[case] = calls, self.cases.references(os.path.join(self.work, "models"), self.model, case, kind)
        answer.update(self.report, peak_mb=round(peak, 1), libraries_mb=round(libraries(self.name), 1))
        if getattr(self.engine, "STATIC", False):
            answer["static"] = True
        return dict(answer, **(self.check(case) if len(calls) > 1 else self.judge(case, [handle])))

    def check(self, case):
        return self.judge(case, (call() for call in self.bound[case][0]))

    def judge(self, case, handles):
        """The worst of the calls whose handles these are; each is read before the next call."""
        return self.worst([self.cases.judge(self.engine.first(handle), want, self.model, self.precision)
                           for handle, want in zip(handles, self.bound[case][1])])

    def worst(self, steps):
        return dict(error=max(s["error"] for s in steps), cosine=min(s["cosine"] for s in steps),
                    right=all(s["right"] for s in steps))

    def time(self, case, ms):
        calls, wall, cpu = self.bound[case][0], [], []
        if self.took.get(case, 0) < LONG_SECONDS:  # wakes our own threads
            for call in calls:
                call()
        end, stop = time.process_time() + ms / 1e3, time.perf_counter() + ms / 50
        while not wall or (time.process_time() < end and time.perf_counter() < stop):
            w, c = time.perf_counter(), time.process_time()
            for call in calls:
                call()
            cpu.append((time.process_time() - c) * 1e3)
            wall.append((time.perf_counter() - w) * 1e3)
        self.took[case] = wall[-1] / 1e3
        return dict(wall_ms=wall, cpu_ms=cpu)

    def drop(self, case):
        self.bound.pop(case, None)
        return {}

    def accuracy(self):
        import accuracy
        got, expected = [], []
        for feed, answer in accuracy.judged(os.path.join(self.work, "models", self.model + ".judged.npz")):
            got.append(accuracy.line(self.model, self.engine.first(self.engine.bind(feed)())))
            expected.append(accuracy.line(self.model, answer))
        return accuracy.of(self.model, got, expected)

    def peaks(self):
        return self.engine.peaks()

    def cost(self, case):
        return self.engine.cost(self.cases.inputs(self.model, case, self.kind))


def reason(error):
    import engines
    return dict(failed=engines.why(error))


def compile_ahead(name, model, precision, work):
    import engines
    engine, clock, answer = engines.load(name), Clock(), {}
    if engine.compile:
        answer = engine.compile(work, model, engines.kind(name, precision)) or {}
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
        answer.update(clock.read("compile"), compile_peak_mb=round(peak))
    return dict(answer, file_mb=round(size(engines.read_by(work, name, model, precision)) / 1e6, 1))


def first_answer(name, model, precision, threads, work, case):
    """Processor seconds of this process until the answer is an array; of an engine that starts by itself what it says."""
    import engines
    if start := getattr(engines.load(name), "start", None):
        return start(work, model, engines.kind(name, precision), case)
    worker = Worker(name, model, precision, threads, work)
    worker.engine.first(worker.bind(case)[0]())
    return dict(start_cpu_s=round(spent(), 4))


def main(name, model, precision, threads, work, *more):
    out = os.dup(1)
    os.dup2(2, 1)  # libraries print; the answers keep the real stdout
    say = lambda answer: os.write(out, (json.dumps(answer) + "\n").encode())
    try:
        if more == ("compile",):
            return say(compile_ahead(name, model, precision, work))
        if threads == "1":  # a hard limit: libraries differ in how they honour a number of threads
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        if more:
            say(first_answer(name, model, precision, int(threads), work, more[1]))
            os._exit(0)
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
