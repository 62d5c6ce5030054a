#!/usr/bin/env python3
"""Ranks as launchers start them: launchers.py WEFT MPIRUN WORK small|kills|kills_long|minilm|torchrun

A program is split over 2 and 4 ranks and run by mpirun, by variables as torchrun and Slurm set them, and by WEFT_RANK. Every time the outputs are, byte for
byte, those of 'weft run --ranks', rank 0 alone prints, and nothing is left. Then what goes wrong: ranks that do not fit, a plug-in that is missing, a rank that
never comes; with 'kills' a rank under mpirun that is ended or stopped, with 'kills_long' at 40 moments.
With 'minilm' the program is the model in WEFT_TEST_MODEL, without failures; with
'torchrun' PyTorch's torchrun starts it. MPIRUN may be empty.
"""

import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from processes import children, is_there, under_launcher

PROGRAM = """
func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
    attributes {{weft.mesh = #weft.mesh<tp = {0}>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= {1}">}} {{
  %i = weft.dims_value [rank_tp] : !weft.tensor<[], i64>
  %p = weft.convert %i to f32 : (!weft.tensor<[], i64>) -> !weft.tensor<[], f32>
  %e = weft.expand %p to [n, 4] : (!weft.tensor<[], f32>) -> !weft.tensor<[n, 4], f32>
  %a = weft.add %x, %e : (!weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %b = weft.permute %a by 1 over<tp = {0}> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %c = weft.mul %b, %e : (!weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %d = weft.all_reduce sum %c over<tp = {0}> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> loc("last")
  return %d : !weft.tensor<[n, 4], f32>
}}
"""
ALONE = """
func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %0 : !weft.tensor<[n], f32>
}
"""
PATIENCE = 120
findings = []


def expect(is_good, text):
    if not is_good:
        findings.append(text)
        print("FAILED: " + text, flush=True)


def torchrun(rank, world):
    return {"RANK": rank, "WORLD_SIZE": world, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": world, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.getpid()}


def slurm(rank, world):
    return {"SLURM_PROCID": rank, "SLURM_NTASKS": world, "SLURM_LOCALID": rank, "SLURM_JOB_ID": os.getpid(), "SLURM_STEP_ID": 0, "SLURM_NNODES": 1}


def weft_rank(rank, world):
    return {"WEFT_RANK": rank, "WEFT_WORLD_SIZE": world, "WEFT_LOCAL_RANK": rank}


class Launchers:
    def __init__(self, weft, mpirun, work):
        self.weft, self.mpirun, self.work = weft, mpirun, work

    def run(self, words, own=None):
        done = subprocess.run(words, capture_output=True, text=True, env=under_launcher(own), timeout=PATIENCE, cwd=self.work)
        return done.returncode, done.stdout, done.stderr

    def by_mpirun(self, world, words, own=None):
        return self.run([self.mpirun, "--oversubscribe", "-n", str(world), self.weft, *words], own)

    def by_variables(self, of_launcher, world, words, last=None):
        """Exit code, stdout and stderr of every rank; the last one may be given other words."""
        ranks = []
        for rank in range(world):
            own = {name: str(value) for name, value in of_launcher(rank, world).items()}
            given = last if last and rank == world - 1 else words
            ranks.append(subprocess.Popen([self.weft, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=under_launcher(own), cwd=self.work))
        ends = [rank.communicate(timeout=PATIENCE) for rank in ranks]
        return [(rank.returncode, *end) for rank, end in zip(ranks, ends)]

    def outputs(self, folder):
        return {file.name: file.read_bytes() for file in (self.work / folder).iterdir()}

    def compare(self, artifact, world, sizes):
        """All ways to start the ranks against local ones."""
        words = ["run", artifact, *sizes, "--output-dir"]
        code, printed, said = self.run([self.weft, *words, "local", "--ranks", str(world)])
        expect(code == 0, f"{artifact}: local ranks: {said}")
        want = self.outputs("local")
        expect(len(want) > 0, f"{artifact}: no output")
        for of_launcher in (torchrun, slurm, weft_rank):
            where = f"{artifact} by {of_launcher.__name__}"
            ends = self.by_variables(of_launcher, world, [*words, where])
            expect(all(end[0] == 0 for end in ends), f"{where}: {ends}")
            expect(ends[0][1] == printed, f"{where}: rank 0 printed {ends[0][1]}")
            expect(all(end[1:] == ("", "") for end in ends[1:]), f"{where}: others spoke: {ends}")
            expect(self.outputs(where) == want, f"{where}: other bytes")
        for transport in [[], ["--transport", "shm"]] if self.mpirun else []:
            where = f"{artifact} by mpirun {' '.join(transport)}"
            code, out, said = self.by_mpirun(world, [*words, where, *transport])
            expect((code, out) == (0, printed), f"{where}: {code} {out} {said}")
            expect(self.outputs(where) == want, f"{where}: other bytes")

    def compile(self, text, name):
        (self.work / name).write_text(text, encoding="ascii")
        code, _, said = self.run([self.weft, "compile", "-q", name, "--target", "x86:v2"])
        expect(code == 0, f"{name}: {said}")


def refusals(launchers):
    """Ranks that do not fit."""
    ends = launchers.by_variables(weft_rank, 3, ["run", "two.weft", "--dim", "n=3"])
    expect(all(end[0] == 2 and "is for 2 ranks (tp = 2), but WEFT_RANK says that there are 3" in end[2] for end in ends), f"wrong world: {ends}")
    ends = launchers.by_variables(torchrun, 2, ["run", "alone.weft", "--dim", "n=3"])
    expect(all(end[0] == 2 and "is for one rank, but torchrun says that there are 2" in end[2] for end in ends), f"one rank: {ends}")
    own = {**weft_rank(0, 2), **slurm(1, 2)}
    code, _, said = launchers.run([launchers.weft, "run", "two.weft", "--dim", "n=3"], {name: str(value) for name, value in own.items()})
    expect(code == 2 and "WEFT_RANK = 0 of WEFT_WORLD_SIZE = 2, but SLURM_PROCID = 1 of SLURM_NTASKS = 2" in said, f"contradiction: {said}")
    # An option outweighs the variables.
    code, _, said = launchers.run([launchers.weft, "run", "two.weft", "--dim", "n=3", "--ranks", "2"], {"RANK": "1", "WORLD_SIZE": "4"})
    expect(code == 0 and "--ranks starts local ranks: rank 1 of 4 that torchrun gives is not used" in said, f"--ranks: {said}")
    code, _, said = launchers.run([launchers.weft, "run", "two.weft", "--dim", "n=3", "--timeout", "0.5s"], {"WEFT_RANK": "1", "WEFT_WORLD_SIZE": "2"})
    expect(code == 5 and "rank 0 of 2 did not come within 0.5 s" in said, f"a rank that never comes: {said}")
    for words, text in ((["--transport", "mpi"], "is for ranks that mpirun started"), (["--timeout", "1s"], "has no effect without '--ranks'")):
        code, _, said = launchers.run([launchers.weft, "run", "two.weft", "--dim", "n=3", *words])
        expect(code == 2 and text in said, f"{words}: {said}")
    ends = launchers.by_variables(torchrun, 2, ["run", "two.weft", "--dim", "n=3", "--transport", "threads"])
    expect(all(end[0] == 2 and "are processes, not threads" in end[2] for end in ends), f"threads: {ends}")
    several = lambda rank, world: {**torchrun(rank, world), "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1}
    ends = launchers.by_variables(several, 2, ["run", "two.weft", "--dim", "n=3"])
    expect(all(end[0] == 2 and "1 of 2 ranks are on this machine" in end[2] for end in ends), f"several machines: {ends}")


COMMON = ["--timeout", "1s", "-q"]
SIZES = ["--dim", "n=3"]
ODD = {  # what the second of two ranks is given, with exit codes of both and what each says
    "another file": (["run", "other.weft", *SIZES], (5, 5), [r"W0434]: (rank 1: )?ranks 0 and 1 have opened different files"] * 2),
    "a file for four": (["run", "four.weft", *SIZES], (5, 2), ["W0606]: rendezvous '.*': rank 1 of 2 did not come within 1 s", "is for 4 ranks"]),
    "another size": (["run", "two.weft", "--dim", "n=4"], (5, 5), [r"W0435]: (rank 1: )?rank 1 has n = 4, the others 3 \(input 'input0', dimension 0\)"] * 2),
    "no input": (["run", "two.weft", "--input", "x=@none.npy"], (5, 1), ["W0606]: rendezvous '.*': rank 1 of 2 did not come within 1 s", "none.npy: cannot be read"]),
}


def odd_ranks(launchers):
    """Two ranks of which the second was given something else: both say so in time."""
    for what, (words, codes, texts) in ODD.items():
        begin = time.monotonic()
        ends = launchers.by_variables(weft_rank, 2, ["run", "two.weft", *SIZES, *COMMON], [*words, *COMMON])
        is_right = all(end[0] == code and re.search(text, end[2]) for end, code, text in zip(ends, codes, texts))
        expect(is_right and time.monotonic() - begin < 4, f"{what}: {ends}")
    for transport, what in itertools.product(("mpi", "shm") if launchers.mpirun else (), ("another file", "another size")):
        words, _, texts = ODD[what]
        common, begin = [*COMMON, "--transport", transport], time.monotonic()
        code, _, said = launchers.by_mpirun(1, ["run", "two.weft", *SIZES, *common, ":", "-n", "1", launchers.weft, *words, *common])
        expect(code == 5 and re.search(texts[0], said) and time.monotonic() - begin < 6, f"{what} under mpirun over {transport}: {code} {said}")


def occupied(launchers):
    """Who comes to a rendezvous that another job has is refused, and that job goes on."""
    own = {name: str(value) for name, value in {**weft_rank(0, 2), "WEFT_RENDEZVOUS": f"occupied-{os.getpid()}"}.items()}
    words = [launchers.weft, "run", "two.weft", *SIZES, "--timeout", "20s", "-q"]
    first = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=under_launcher(own), cwd=launchers.work)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and own["WEFT_RENDEZVOUS"] not in pathlib.Path("/proc/net/unix").read_text(encoding="ascii"):
        time.sleep(0.01)
    code, _, said = launchers.run(words, own)
    expect(code == 5 and re.search("W0603]: rendezvous '.*' is in use", said), f"an occupied rendezvous: {code} {said}")
    code, _, said = launchers.run(words, {**own, "WEFT_RANK": "1", "WEFT_LOCAL_RANK": "1"})
    expect(code == 0 and first.wait(timeout=PATIENCE) == 0, f"the job that had the rendezvous: {code} {said} {first.communicate()}")


def full_memory(launchers):
    """Ranks need nothing of /dev/shm, which containers often have little of. A full one can be had where tests may mount."""
    words = ["run", "two.weft", *SIZES, "-q", "--output-dir", "full"]
    fill = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && { head -c 64k /dev/zero >/dev/shm/full; exec "$@"; }'
    full = ["unshare", "-m", "sh", "-c", fill, "sh"]
    if launchers.run([*full, "true"])[0]:
        return print("nothing may be mounted here, so no /dev/shm is full")
    commands = [[launchers.weft, *words, "--ranks", "2"]]
    if launchers.mpirun:
        commands.append([launchers.mpirun, "--oversubscribe", "-n", "2", launchers.weft, *words, "--transport", "shm"])
    for command in commands:
        code, _, said = launchers.run([*full, *command])
        expect(code == 0 and launchers.outputs("full"), f"a full /dev/shm: {' '.join(command)}: {code} {said}")


def mpi_failures(launchers):
    code, _, said = launchers.by_mpirun(4, ["run", "two.weft", "--dim", "n=3"])
    expect(code != 0 and "mpirun says that there are 4" in said and "mpirun -n 2 weft run two.weft" in said, f"wrong world: {said}")
    nowhere = {"WEFT_PLUGIN_DIR": str(launchers.work)}
    code, out, said = launchers.by_mpirun(2, ["run", "two.weft", "--dim", "n=3"], nowhere)
    expect(code == 0 and "outputs" in out, f"without the plug-in: {said}")
    code, _, said = launchers.by_mpirun(2, ["run", "two.weft", "--dim", "n=3", "--transport", "mpi"], nowhere)
    expect(code != 0 and "libweft_mpi.so was not found" in said, f"without the plug-in, asked for: {said}")
    code, out, said = launchers.by_mpirun(2, ["bench", "two.weft", "--dim", "n=3", "--rounds", "7"])
    expect(code == 0 and out.count("median") == 1, f"bench: {code} {out} {said}")


def struck(launchers, how, victim, transport, after=0.0):
    """One of two ranks under mpirun is ended or stopped: the other one is gone in time and says why, then mpirun, which gives a process that it ends a second
    or two, and the exit code is 5 unless mpirun was first."""
    wait, what = 1, f"{how.name} of rank {victim} over {transport}"
    command = subprocess.Popen([launchers.mpirun, "--oversubscribe", "-n", "2", launchers.weft, "bench", "two.weft", "--dim", "n=64", "--rounds", "1000000",
                                "--timeout", f"{wait}s", "--transport", transport], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=under_launcher(), cwd=launchers.work)
    # Rank 0 says that it measures when all have called the function. Before that mpirun may still start them, and then nobody waits by the rules that are tested.
    begun = ""
    while "interleaved" not in begun and (said := command.stderr.readline()):
        begun += said
    ranks = children(command.pid) if command.poll() is None else []
    if len(ranks) < 2:
        command.kill()
        return expect(False, f"{what}: mpirun started {ranks}: {begun} {command.communicate()}")
    time.sleep(after)
    begin, most = time.monotonic(), 2 + (wait if how == signal.SIGSTOP else 0)
    os.kill(ranks[victim], how)
    while is_there(ranks[1 - victim]) and time.monotonic() < begin + PATIENCE:
        time.sleep(0.01)
    other = time.monotonic() - begin
    said = command.communicate(timeout=PATIENCE)[1]
    took = time.monotonic() - begin
    print(f"{what}: the other rank ends after {other:.1f} s, mpirun after {took:.1f} s with exit code {command.returncode}", flush=True)
    expect(other < most, f"{what}: the other rank ends after {other:.1f} s")
    expect(took < most + 3, f"{what}: mpirun ends after {took:.1f} s")
    # mpirun does not wait for what it ended: a system that is busy takes a moment to take it apart.
    while any(is_there(each) for each in ranks) and time.monotonic() < begin + most + 3:
        time.sleep(0.01)
    expect(not any(is_there(each) for each in ranks), f"{what}: ranks are left")
    if how == signal.SIGSTOP:
        is_said = re.search(rf"^error\[W0606\]: .*: waited {wait} s for rank {victim}\b", said, re.MULTILINE)
        expect(command.returncode == 5 and is_said, f"{what}: exit {command.returncode}: {said}")
    else:  # mpirun may see that a process has died before its peer does, and then ends that without a word
        expect(command.returncode in (5, 128 + signal.SIGKILL), f"{what}: exit {command.returncode}: {said}")


def kills(launchers, is_long):
    if not launchers.mpirun:
        print("SKIPPED: there is no mpirun, or the plug-in was not built")
        return 77
    launchers.compile(PROGRAM.format(2, 1), "two.mlir")
    cases, chance = list(itertools.product((signal.SIGKILL, signal.SIGSTOP), (0, 1), ("mpi", "shm"))), random.Random(11)
    for case in cases * (5 if is_long else 1):  # calls take microseconds: a random moment is at any of their collectives
        struck(launchers, *case, after=chance.uniform(0, 0.2))
    return 1 if findings else 0


def minilm(launchers, model):
    places = [word for name in ("*.attention.self.*.weight", "*.intermediate.dense.weight") for word in ("--place", f"{name}=[tp, _]")]
    meshes = [word for world in (2, 4) for word in ("--mesh", f"tp={world}")]
    code, _, said = launchers.run([launchers.weft, "compile", "-q", model, "-o", "minilm.weft", "--target", "x86:v2", *meshes, *places])
    expect(code == 0, f"{model}: {said}")
    return ["run", "minilm.weft", "--dim", "batch=2", "--dim", "seq=7", "-q", "--output-dir"]


def by_torchrun(launchers, words):
    """PyTorch's own launcher, which starts programs that know nothing of Python."""
    program = os.path.join(os.path.dirname(os.environ["WEFT_TEST_PYTHON_TORCH"]), "torchrun")
    for world in (2, 4):
        code, printed, said = launchers.run([launchers.weft, *words, "local", "--ranks", str(world)])
        expect(code == 0, f"local ranks: {said}")
        code, out, said = launchers.run([program, "--no-python", "--standalone", "--nproc-per-node", str(world), launchers.weft, *words, "torchrun"])
        expect((code, out) == (0, printed), f"torchrun of {world}: exit {code} {out} {said}")
        expect(launchers.outputs("torchrun") == launchers.outputs("local"), f"torchrun of {world}: other bytes")


def of_model(launchers, with_torchrun):
    model = os.environ.get("WEFT_TEST_MODEL")
    if not model:
        print("SKIPPED: WEFT_TEST_MODEL is not set")
        return 77
    if with_torchrun and not os.access(os.environ.get("WEFT_TEST_PYTHON_TORCH", ""), os.X_OK):
        print("SKIPPED: WEFT_TEST_PYTHON_TORCH does not name a Python with PyTorch and torchrun; 'tools/test-env torch' makes one and prints it")
        return 77
    words = minilm(launchers, model)
    if with_torchrun:
        by_torchrun(launchers, words)
    else:
        for world in (2, 4):
            launchers.compare("minilm.weft", world, words[2:-1])
    return 1 if findings else 0


def main():
    weft, mpirun, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    launchers = Launchers(weft, mpirun, work)
    if sys.argv[4] in ("kills", "kills_long"):
        return kills(launchers, sys.argv[4] == "kills_long")
    if sys.argv[4] != "small":
        return of_model(launchers, sys.argv[4] == "torchrun")
    for name, world in (("two", 2), ("four", 4)):
        launchers.compile(PROGRAM.format(world, world - 1), name + ".mlir")
        launchers.compare(name + ".weft", world, ["--dim", "n=5"])
    launchers.compile(ALONE, "alone.mlir")
    refusals(launchers)
    launchers.compile(PROGRAM.format(2, 1).replace("last", "end"), "other.mlir")
    odd_ranks(launchers)
    occupied(launchers)
    full_memory(launchers)
    if mpirun:
        mpi_failures(launchers)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
