"""Collectives of several libraries in turns: `tools/bench/ranks collectives`."""
import math
import os
import shutil
import socket
import statistics
import subprocess
import tempfile

import environment
from rank_peer import Peer

PEERS = ("openmpi", "impi", "gloo")
WEFT = ("weft", "weft_own")  # sends from memory that others read, as compiled programs do; from memory of its own
KINDS = ("all_reduce", "all_gather", "reduce_scatter")
SIZES = [1 << shift for shift in range(10, 24)]
SAMPLE_SECONDS, MOST_CALLS = 2e-3, 1000
SOURCES = os.path.join(environment.HERE, "collectives")


def build(folder, name, compiler, *more):
    made = os.path.join(folder, name)
    backend = "weft.c" if name == "weft" else "mpi.c"
    subprocess.run([*compiler, "-O2", os.path.join(SOURCES, "main.c"), os.path.join(SOURCES, backend), "-o", made, *more], check=True)
    return made


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def start_weft(name, ranks, folder, pipes):
    tree = os.environ.get("WEFT_BENCH_BUILD", os.path.join(environment.ROOT, "build", "release"))
    library = os.path.join(tree, "runtime", "libweft_runtime.so")
    program = os.path.join(folder, "weft")
    if not os.path.exists(program):
        build(folder, "weft", ["cc"], "-I", os.path.join(environment.ROOT, "runtime", "include"), library,
              "-Wl,-rpath," + os.path.dirname(library), "-lpthread")
    memory = "own" if name == "weft_own" else "share"
    return [[program, pipes, str(SIZES[-1]), str(rank), str(ranks), f"weft-bench-{os.getpid()}-{name}", memory]
            for rank in range(ranks)], {}


def start_openmpi(name, ranks, folder, pipes):
    if not shutil.which("mpicc.openmpi"):
        raise environment.Missing("openmpi: no mpicc.openmpi (Debian: libopenmpi-dev)")
    program = build(folder, "openmpi", ["mpicc.openmpi"])
    allowed = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    crowd = ["--oversubscribe"] if ranks > os.cpu_count() else []  # which makes ranks yield while they wait
    return [["mpirun.openmpi", *crowd, "-n", str(ranks), program, pipes, str(SIZES[-1])]], allowed


def start_impi(name, ranks, folder, pipes):
    tree = os.path.dirname(os.path.dirname(environment.python("impi")))
    library = os.path.join(tree, "lib")
    program = build(folder, "impi", ["cc"], "-I", os.path.join(tree, "include"), "-L", library, "-lmpi", "-Wl,-rpath," + library)
    return [[os.path.join(tree, "bin", "mpiexec.hydra"), "-n", str(ranks), program, pipes, str(SIZES[-1])]], dict(I_MPI_FABRICS="shm")


def start_gloo(name, ranks, folder, pipes):
    port, script = free_port(), os.path.join(SOURCES, "gloo.py")
    python = environment.python("torch")
    return [[python, script, pipes, str(SIZES[-1]), str(rank), str(ranks), port] for rank in range(ranks)], {}


def started(names, ranks, folder):
    found = []
    for name in names:
        try:
            start = globals()["start_" + name.split("_")[0]]
            found.append(Peer(name, folder, ranks, lambda pipes: start(name, ranks, folder, pipes)))
        except (environment.Missing, subprocess.CalledProcessError) as missing:
            print(f"left out: {missing}", flush=True)
    return found


def measure(options, peers):
    """One row per kind and size: {"kind", "bytes", "samples": {peer: seconds by round}}."""
    with tempfile.TemporaryDirectory() as folder:
        running = started([*WEFT, *peers], options.ranks, folder)
        rows = [dict(kind=kind, bytes=size, samples={}) for kind in KINDS for size in SIZES]
        for row in rows:
            row["calls"] = {peer.name: calls_of(peer, row) for peer in running}
        for turn in range(options.rounds):
            for row in rows:
                for peer in running[::-1] if turn % 2 else running:
                    sample(peer, row)
        for peer in running:
            peer.end()
        return rows


def seconds_of(peer, row, calls):
    """Of a call; below 0: a wrong result."""
    return peer.ask(f"{KINDS.index(row['kind'])} {row['bytes']} {calls}")


def calls_of(peer, row):
    """How many make a sample; 0 for what a peer does not do, or does wrongly."""
    seconds = seconds_of(peer, row, 3)
    if seconds < 0:
        print(f"{peer.name}: no right {row['kind']} of {row['bytes']} bytes", flush=True)
        return 0
    return max(1, min(MOST_CALLS, round(SAMPLE_SECONDS / seconds)))


def sample(peer, row):
    if calls := row["calls"][peer.name]:
        seconds = seconds_of(peer, row, calls)
        if seconds < 0:
            raise SystemExit(f"error: {peer.name}: a wrong {row['kind']} of {row['bytes']} bytes")
        row["samples"].setdefault(peer.name, []).append(seconds)


def ratio(row, name, *peers):
    """Weft's time over that of the fastest of some peers, in the middle of the rounds."""
    turns = zip(row["samples"].get(name, []), *(row["samples"].get(peer, []) for peer in peers))
    ratios = [ours / min(theirs) for ours, *theirs in turns]
    return statistics.median(ratios) if ratios else None


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def report(rows):
    peers = [peer for peer in PEERS if any(peer in row["samples"] for row in rows)]
    shown = lambda value, form: "-" if value is None else form.format(value)
    for name in [name for name in WEFT if any(name in row["samples"] for row in rows)]:
        print("\n| " + " | ".join([name, "bytes", "us", *(f"/ {peer}" for peer in peers)]) + " |\n" + "|---" * (3 + len(peers)) + "|")
        for row in rows:
            cells = [f"{1e6 * statistics.median(row['samples'][name]):.1f}", *(shown(ratio(row, name, peer), "{:.2f}") for peer in peers)]
            print(f"| {row['kind']} | {row['bytes']} | " + " | ".join(cells) + " |")
        large = [row for row in rows if row["bytes"] >= 64 << 10]
        mpis = [peer for peer in peers if peer != "gloo"]
        for compared in [*([peer] for peer in peers), *([mpis] if len(mpis) > 1 else [])]:
            ratios = [value for row in large if (value := ratio(row, name, *compared))]
            print(f"from 64 KiB on, {name} / {' or '.join(compared)}: geometric mean {shown(mean(ratios), '{:.2f}')}, worst {shown(max(ratios, default=None), '{:.2f}')}")
