"""Splits a small model in several ways and compares it with one rank: over_ranks.py WEFT COMPILE_MANY NAME WORK [MPIRUN]

Every layout runs on 1, 2, 3, 4 and 8 ranks, from one or two files with several meshes each. Ranks are threads, 2 and 4 also processes, and
those of MPI where MPIRUN is given: all have the same bits ('weft run' compares ranks), every time. Where parts are whole panels, kernels must be those
of one rank and weights must not take more of the file. Layouts that compute while rows travel also run at sizes of several pieces, and have the bits of
those that wait. Plans that are found cost no more than any with a name; they give what one rank gives where a model says so.
"""
import dataclasses
import json
import os
import re
import subprocess
import sys

import layouts_of_models
import models
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from processes import under_launcher  # noqa: E402

MOST_BYTES = 1.05  # of one rank's weights
MOST_OF_PLANS = 1e-5  # of the scale: found plans may sum what one rank sums in another order
TARGET = ["-t", "x86:v2"]  # a fourth of the time of AVX-512
NAMED = "tp", "sp", "dp", "2d", "3d", "fsdp"
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SKIPPED = 77


class Failure(Exception):
    pass


def said_by(words, environment=None, errors=False):
    """What the command prints, or says besides, or an exception with both."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, env=environment)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stderr if errors else done.stdout


def options(layout, worlds):
    return [word for world in worlds for word in ("--mesh", layout.meshes[world])] + [word for each in layout.places for word in ("--place", each)] + list(layout.words)


def schedules(text):
    """Of the products and windows that are named there."""
    return set(re.findall(r"@?weft_k_(\w*(?:product|contraction|convolution|dots|winograd)\w*)_[0-9a-f]+", text))


def difference(got, want):
    """Of the scale."""
    if got.shape != want.shape or not want.size:
        return 0 if got.shape == want.shape else float("inf")
    return float(np.abs(got.astype(np.float64) - want).max() / np.abs(want).max())


def is_same(results, others):
    return all(results[name].tobytes() == others[name].tobytes() for name in results)


class Compiler:
    """One for all ways in which a model is split, since these have kernels in common."""

    def __init__(self, program, model):
        self.process = subprocess.Popen([program, model, TARGET[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def compile(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer != "\n":
            raise Failure(f"{words}: {answer or 'the compiler has ended'}")


class Split:
    def __init__(self, weft, compiler, name, model, mpirun):
        self.weft, self.compiler, self.name, self.file, self.mpirun = weft, compiler, name, model, mpirun
        self.model = layouts_of_models.ALL[name]
        self.bytes_alone, _ = self.compiled("alone.weft")
        self.alone = self.planned(*TARGET)
        self.expected = [self.result("alone.weft", sizes) for sizes in self.model.sizes]

    def compiled(self, artifact, *words):
        """The bytes of all weights, and the numbers of ranks that exchange something."""
        self.compiler.compile("-o", artifact, *words)
        described = json.loads(said_by([self.weft, "inspect", artifact, "--json"]))
        programs = [{**described, "ranks": described["variants"][0]["ranks"]}, *described.get("meshes", [])]
        return described["weight_bytes"], {each["ranks"] for each in programs if any(function.get("sent") for function in each["functions"])}

    def planned(self, *words):
        return schedules(said_by([self.weft, "compile", self.file, "--stop-after", "plan", *words]))

    def result(self, artifact, sizes, *words, world=0):
        """Outputs by name; of as many ranks of MPI where `world` is given."""
        dims = [word for name, size in sizes.items() for word in ("--dim", f"{name}={size}")]
        command = [self.weft, "run", artifact, "-q", "--output", "out.npz", *dims, *words]
        if world:
            said_by([self.mpirun, "--oversubscribe", "-n", world, *command, "--transport", "mpi"], under_launcher())
        else:
            said_by(command)
        with np.load("out.npz") as file:
            return {name: file[name] for name in file.files}

    def compared(self, artifact, world, sizes, has_mpi=True):
        """What differs by a bit from threads, and what these gave."""
        run = lambda transport: self.result(artifact, sizes, "--ranks", world, "--transport", transport)
        got, others = run("threads"), {"threads once more": run("threads")}
        if world in (2, 4):
            others["shm"] = run("shm")
            if self.mpirun and has_mpi:
                others["mpi"] = self.result(artifact, sizes, world=world)
        return [name for name, each in others.items() if not is_same(got, each)], got

    def judged(self, artifact, world, number):
        """The difference to one rank at sizes `number`, and what bits differ from those of threads."""
        wanted = self.expected[number]
        unlike, got = self.compared(artifact, world, self.model.sizes[number], has_mpi=number == 0)
        return max(difference(got[name], wanted[name]) for name in wanted), unlike

    def findings_in_pieces(self, layout):
        """Steps of enough rows travel in pieces: they have the bits of those that wait."""
        for world in layout.meshes:
            self.compiled("split.weft", *options(layout, [world]))
            self.compiled("apart.weft", *options(dataclasses.replace(layout, words=("--fuse-comm", "never")), [world]))
            for sizes in self.model.pieces:
                unlike, got = self.compared("split.weft", world, sizes)
                waiting = self.result("apart.weft", sizes, "--ranks", world, "--transport", "threads")
                unlike += [] if is_same(got, waiting) else ["ranks that wait"]
                if unlike:
                    yield f"{layout.meshes[world]} in pieces at {sizes}: {' and '.join(unlike)} has other bits than threads"

    def price(self, world, plan):
        """Of a call in nanoseconds, as the compiler says it; nothing where there is no such plan."""
        try:
            said = said_by([self.weft, "compile", self.file, *TARGET, "--ranks", world, "--plan", plan, "--stop-after", "partition"], errors=True)
        except Failure as failure:
            if "W0315" not in str(failure):
                raise
            return None
        number, unit = re.search(r"\): ([0-9.]+) (ns|us|ms|s) a call", said).groups()
        return float(number) * UNITS[unit]

    def findings_of_plans(self):
        """Plans are priced for every model, and run where it says so."""
        for world in (2, 4, 8):
            found, named = self.price(world, "auto"), {plan: self.price(world, plan) for plan in NAMED}
            print(f"{self.name} on {world} ranks: {found:.3g} ns a call, {named}", flush=True)
            yield from (f"on {world} ranks plan {plan} costs {cost} ns, what is found {found}" for plan, cost in named.items() if cost and cost < found)
            if not self.model.runs_plans:
                continue
            self.compiled("split.weft", "--ranks", world)
            for number in range(len(self.model.sizes)):
                off, unlike = self.judged("split.weft", world, number)
                if unlike or not off <= MOST_OF_PLANS:
                    yield f"the plan for {world} ranks differs by {off:.1e} of the scale; {unlike}"

    def findings(self, layout):
        worst = {}
        for worlds in filter(None, (layout.once, tuple(each for each in layout.meshes if each not in layout.once))):
            stored, exchanging = self.compiled("split.weft", *options(layout, worlds))
            if worlds is layout.once and stored > MOST_BYTES * self.bytes_alone:
                yield f"{stored} bytes of weights on {worlds} ranks, one rank has {self.bytes_alone}"
            for world in worlds:
                each = [self.judged("split.weft", world, number) for number in range(len(self.model.sizes))]
                worst[world] = max(off for off, _ in each)
                if world > 1 and world not in exchanging:
                    yield f"{layout.meshes[world]} exchanges nothing, so nothing is split"
                if not worst[world] <= self.model.most:
                    yield f"{layout.meshes[world]} differs by {worst[world]:.1e} of the scale"
                for sizes, (_, unlike) in zip(self.model.sizes, each):
                    if unlike:
                        yield f"{layout.meshes[world]} at {sizes}: {' and '.join(unlike)} has other bits than threads"
        for world in layout.even:
            found = self.planned(*TARGET, *options(layout, [world]))
            if found - layout.others != self.alone:
                yield f"{layout.meshes[world]} has {sorted(found)}, one rank has {sorted(self.alone)}"
        print(f"{self.name} {layout.name}: {', '.join(f'{off:.1e} on {world}' for world, off in sorted(worst.items()))}", flush=True)

    def findings_of_targets(self):
        for target, schedule in self.model.targets:
            for words in ([], options(self.model.layouts[0], [2])):
                found = self.planned("-t", target, *words)
                if found != {schedule}:
                    yield f"{target} has {sorted(found)}"


def model_in(work, name):
    """The file of a model, made in a folder that is entered; nothing where there is none, which is said."""
    model = os.environ.get("WEFT_TEST_MODEL", "") if name == "minilm" else "model.onnx"
    if not model:
        print("SKIPPED: WEFT_TEST_MODEL is not set; tools/fetch-model prints a folder for it")
        return None
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    if name != "minilm":
        models.main(name, model)
    return model


def main(weft, compiler, name, work, mpirun=""):
    weft = os.path.abspath(weft)
    model = model_in(work, name)
    if not model:
        return SKIPPED
    split = Split(weft, Compiler(compiler, model), name, model, mpirun)
    found = list(split.findings_of_targets())
    for layout in split.model.layouts:
        found += [f"{layout.name}: {each}" for each in split.findings(layout)]
        if layout.words and split.model.pieces:
            found += [f"{layout.name}: {each}" for each in split.findings_in_pieces(layout)]
    found += split.findings_of_plans()
    for each in found:
        print(f"WRONG: {each}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
