"""Engines that take turns with one call, each in a process of its own, which `serve` makes of a script.

    turns.judged({"Weft, f32": [python, "judge.py", …], …}, rounds=9, base="weft quantize", environ=…)
gives by label {"score", "ms", "ratio"}, the ratio to `base` or to itself where that is not among them, and of what failed {"failed"}. `base` may be a dictionary by label. Where a process's
code and data lie makes a percent of its time: each of several `sittings` has its own processes, and so many rounds.

    turns.serve(lambda: Judge(…))      a Judge has score(), a number, and call(), which is what is timed
"""
import json
import os
import statistics
import sys
import time

import engines
import processes

MS, LIMIT = 60, 900


def judged(commands, rounds, base, environ, sittings=1):
    results, times = {}, {label: [] for label in commands}
    for _ in range(sittings):
        running = {label: processes.Process(command, LIMIT, environ) for label, command in commands.items()}
        results = results or {label: process.ask("score") for label, process in running.items()}
        right = [label for label, result in results.items() if "failed" not in result]
        for _ in range(rounds):
            for label in right:
                times[label].append(running[label].ask("time", ms=MS)["ms"])
        for process in running.values():
            process.end()
    for label in right:
        own = times.get(base.get(label) if isinstance(base, dict) else base) or times[label]
        results[label].update(ms=statistics.median(times[label]), ratio=statistics.median(a / b for a, b in zip(times[label], own)))
    return results


def milliseconds(call, ms):
    """Of processor time that one call takes."""
    call()
    end, spent = time.process_time() + ms / 1e3, []
    while not spent or time.process_time() < end:
        begin = time.process_time()
        call()
        spent.append((time.process_time() - begin) * 1e3)
    return statistics.median(spent)


def serve(make):
    out = os.dup(1)
    os.dup2(2, 1)  # libraries print; the answers keep the real stdout
    say = lambda answer: os.write(out, (json.dumps(answer) + "\n").encode())
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        judge = make()
    except Exception as error:
        return say(dict(failed=engines.why(error)))
    say({})
    for line in sys.stdin:
        question = json.loads(line)
        say(dict(score=judge.score()) if question["op"] == "score" else dict(ms=milliseconds(judge.call, question["ms"])))
    os._exit(0)  # some engines crash in their destructors
