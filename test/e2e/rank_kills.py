#!/usr/bin/env python3
"""Ends or stops a random rank of many commands, one after the other: rank_kills.py WEFT COUNT [FUSED.mlir]

Each time the command ends in time with exit code 5 and one line that names the rank, and no process and no shared memory is left. FUSED.mlir is a program of two
ranks that compute while exchanges go on, by turns over a link that takes most of the time and without one; then lines name the piece of the exchange, too.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from processes import children, is_there

WAIT, MARGIN = 1, 2  # seconds that ranks wait for each other, and that the command may take beyond
FUSED = re.compile(r"\b(all_gather after 'in'|reduce_scatter after 'out')(, piece \d of \d)?")
PROGRAM = """
func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
    attributes {weft.mesh = #weft.mesh<tp = 3>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 2">} {
  %a = weft.all_reduce max %x over<tp = 3> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> loc("first")
  %b = weft.tanh %a : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %c = weft.permute %b by 1 over<tp = 3> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> loc("second")
  %d = weft.all_reduce sum %c over<tp = 3> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> loc("third")
  return %d : !weft.tensor<[n, 4], f32>
}
"""


class Case:
    """What is called: with 3 ranks the program above, with 2 one that computes beside exchanges."""

    def __init__(self, program, artifact, ranks):
        self.program, self.artifact, self.ranks = program, artifact, ranks
        self.named = 0  # lines that name a piece

    def command(self, turn):
        words = [self.program, "bench", self.artifact, "--ranks", str(self.ranks), "--rounds", "1000000", "--timeout", f"{WAIT}s", "-q"]
        if self.ranks == 3:
            words += ["--dim", "n=64"]
        else:
            words += ["--dim", "m=20000"] if turn % 2 else ["--dim", "m=1000", "--link", "1MB/s,1ms"]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lacks_piece(self, said):
        places = FUSED.findall(said)
        self.named += any(piece for _, piece in places)
        return any(not piece for _, piece in places)


def ranks_of(command, ranks):
    """The processes of the other ranks, once all are there."""
    end = time.monotonic() + 60
    while time.monotonic() < end and command.poll() is None:
        if len(found := children(command.pid)) == ranks - 1:
            return found
        time.sleep(0.001)
    return []


def problem_of(case, turn, chance):
    """What goes wrong with one command, or nothing."""
    command = case.command(turn)
    others = ranks_of(command, case.ranks)
    if not others:
        return f"no ranks were started: {command.communicate()[1]}"
    if turn % 4:  # every fourth is struck before it met the others
        time.sleep(chance.uniform(0, 0.2 if case.ranks == 3 else 0.6))
    rank, how = chance.randrange(case.ranks), chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGSTOP])
    if rank == 0 and how != signal.SIGKILL:
        rank = 1
    begin = time.monotonic()
    os.kill(command.pid if rank == 0 else others[rank - 1], how)
    most = MARGIN + (WAIT if how == signal.SIGSTOP else 0)
    what = f"{how.name} of rank {rank}"
    try:
        said = command.communicate(timeout=most)[1]
    except subprocess.TimeoutExpired:
        command.kill()
        return f"{what}: nothing within {most} s"
    while any(map(is_there, others)) and time.monotonic() < begin + most:
        time.sleep(0.01)
    if any(map(is_there, others)):
        return f"{what}: a rank is left behind"
    if rank == 0:
        return ""
    if command.returncode != 5 or not re.fullmatch(rf"error\[W060[56]\]: .*\branks? (\d(, | and ))*{rank}\b.*\n(  hint: .*\n)?", said):
        return f"{what}: exit {command.returncode}: {said}"
    return f"{what}: no piece is named: {said}" if case.lacks_piece(said) else ""


def main(program, count, fused=None):
    shared, chance = set(os.listdir("/dev/shm")), random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.weft")
        with open(model, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run([program, "compile", "-q", fused or model, "-o", artifact, "--fuse-comm", "always"], check=True)
        case = Case(program, artifact, 2 if fused else 3)
        problems = [problem for turn in range(count) if (problem := problem_of(case, turn, chance))]
    if fused and not case.named:
        problems.append("no rank was struck while it waited for a piece")
    left = sorted(set(os.listdir("/dev/shm")) - shared)
    ended = f"{count} commands ended" + (f", {case.named} lines name a piece" if fused else "")
    print("\n".join(problems + [f"/dev/shm has '{name}'" for name in left if "weft" in name]) or ended)
    sys.exit(1 if problems or any("weft" in name for name in left) else 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
