#!/usr/bin/env python3
"""A rank under mpirun ends or stops at every kind of collective: strikes.py MPIRUN RANKS [all]

RANKS is mpi_ranks. The other rank is told who, in time, and nothing is left. Each kind is met before or inside by rank 0 or 1; with 'all' in all four ways.
"""
import itertools
import os
import re
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "e2e"))
from processes import children, is_there, under_launcher  # noqa: E402

KINDS = "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "permute"
WAIT, MARGIN = 1, 2  # seconds that ranks wait for each other, and that a rank may take beyond
PATIENCE = 60


def problems_of(mpirun, program, victim, kind, where, how):
    what = f"rank {victim} {where} {KINDS[kind]}, {how}"
    command = subprocess.Popen([mpirun, "--oversubscribe", "-n", "2", program, str(victim), str(kind), where, how], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, env=under_launcher({"WEFT_PLUGIN_DIR": os.environ.get("WEFT_PLUGIN_DIR", "")}))
    begin, ranks = time.monotonic(), []
    while command.poll() is None and time.monotonic() < begin + PATIENCE:
        ranks = children(command.pid) if len(ranks) < 2 else ranks
        time.sleep(0.005)
    took = time.monotonic() - begin
    if command.poll() is None:
        command.kill()
        return [f"{what}: nothing within {PATIENCE} s"]
    said = command.stderr.read()
    found = [f"{what}: a rank is left"] if any(map(is_there, ranks)) else []
    # mpirun itself takes a second or two to start, and to end a process.
    if took > 2 * MARGIN + 3 + (WAIT if how == "stop" else 0):
        found.append(f"{what}: takes {took:.1f} s")
    if how == "stop":
        is_said = re.search(rf"^error\[W0606\]: \w+ after 'layer\.\d': waited {WAIT} s for rank {victim}, which ", said, re.MULTILINE)
        if command.returncode != 5 or not is_said:
            found.append(f"{what}: exit {command.returncode}: {said}")
    elif command.returncode not in (5, 137):  # mpirun may see that a process has died before its peer does, and then ends that without a word
        found.append(f"{what}: exit {command.returncode}: {said}")
    print(f"{what}: exit {command.returncode} after {took:.1f} s", flush=True)
    return found


def main(mpirun, program, everything=""):
    wheres, hows, found = ("before", "inside"), ("kill", "stop"), []
    for kind, how in itertools.product(range(len(KINDS)), hows):
        ways = itertools.product((0, 1), wheres) if everything else [(kind % 2, wheres[(kind // 2 + (how == "stop")) % 2])]
        for victim, where in ways:
            found += problems_of(mpirun, program, victim, kind, where, how)
    for each in found:
        print(f"WRONG: {each}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
