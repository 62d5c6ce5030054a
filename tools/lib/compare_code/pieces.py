"""One model compiled for one target, taken apart: a dictionary that is kept in records and compared.

    {"outcome": {"": "exit 1: error: …"}}      refused, crashed or out of time
    {"outcome": {"": "compiled"}, PIECE: {PART: what it is}, …}

What a part is, is a text, or its size and a hash. The pieces:

    manifest    the manifest's fields, and what else names the artifact and what it needs
    kernels     the hash of the specification by kernel
    code        the machine code by kernel
    work        what the descriptor says of a kernel: its nodes, calls and formulas
    weights     the bytes by weight and layout, with type and place
    formulas    what the descriptor says of a function, by field: inputs, checks, memory, regions, …
    host        the machine code of all bind and run
    answers     what comes out, by size of the inputs
    file        all bytes of the artifact but descriptor and weights; compared when nothing else differs
"""
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile

import answers
from artifact import Artifact
from elf import Malformed, code_of
from plan_text import PlanText

COMPILED = "compiled"
TOO_LATE, UNREADABLE, UNSTABLE = "not done within", "made what cannot be read", "its plan prints differently"
NOT_COMPARED = (TOO_LATE, UNREADABLE, UNSTABLE)  # as these begin, outcomes say nothing of the code
INTERRUPTED = (130, -2)  # exit codes of a command that got SIGINT, as an interrupted tool passes it on
DESCRIPTOR = "weft_descriptor"  # compiled into the host program's object; compared by its fields


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


class Interrupted(Exception):
    pass


class Compiler:
    """A command `weft`, with the options that every model gets. `through_plan`: what is compiled is a model's plan, printed and read."""

    def __init__(self, weft, seconds, wants_answers, through_plan=False):
        self.weft, self.seconds, self.wants_answers = pathlib.Path(weft).resolve(), seconds, wants_answers
        self.through_plan = through_plan
        # A copied folder uses its own libraries, not those of the tree where it was built.
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(self.weft.parent))

    def identity(self):
        """Of the command and the libraries beside it, and of the way that models take."""
        value = hashlib.sha256(b"through the plan" if self.through_plan else b"")
        for path in [self.weft, *sorted(self.weft.parent.glob("libweft*.so"))]:
            value.update(path.read_bytes())
        return value.hexdigest()[:16]

    def take_apart(self, model, target):
        with tempfile.TemporaryDirectory(prefix="weft-compare-") as folder:
            path, objects = os.path.join(folder, "model.weft"), os.path.join(folder, "objects")
            made = ["-o", path, "--save-temps", objects, "-j", "1"]
            said = self.compile_plan(model, target, made, folder) if self.through_plan else \
                self.compile(model.path, target, model.options, made)
            if said:
                return {"outcome": {"": said.replace(folder, "FOLDER")}}
            try:
                artifact = Artifact(pathlib.Path(path).read_bytes())
                module, = artifact.modules()  # one target was asked for
                pieces = pieces_of(artifact, module, pathlib.Path(objects))
            except (Malformed, FileNotFoundError) as why:
                return {"outcome": {"": f"{UNREADABLE}: {why}"}}
            if self.wants_answers:
                pieces["answers"] = answers.ask(self, path, module["functions"], folder)
            return pieces

    def compile(self, path, target, options, made, printed=subprocess.DEVNULL):
        return self.call(["compile", path, "-t", target, "-q", *options, *made], printed).replace(str(path), "MODEL")

    def compile_plan(self, model, target, made, folder):
        """Says what is wrong with the plan's text, too."""
        text = PlanText(model, pathlib.Path(folder) / "plan")
        text.folder.mkdir()
        with open(text.path, "wb") as printed:
            said = self.compile(model.path, target, model.options, ["--stop-after", "plan"], printed)
        if said:
            return said
        text.bring_files()
        said = self.compile(text.path, target, text.options, [*made, "--dump-ir", text.printed])
        if said:
            return said
        difference = text.difference()
        return f"{UNSTABLE}: {difference}" if difference else ""

    def call(self, arguments, printed=subprocess.DEVNULL):
        """Nothing when all went well, else how it ended and what it said."""
        try:
            done = subprocess.run([self.weft, *map(str, arguments)], stdout=printed, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=self.seconds, env=self.environment)
        except subprocess.TimeoutExpired:
            return f"{TOO_LATE} {self.seconds:g} s"
        if done.returncode in INTERRUPTED:
            raise Interrupted
        return f"exit {done.returncode}: {done.stderr.strip()}" if done.returncode else ""


def pieces_of(artifact, module, objects):
    functions, kernels, weights = module["functions"], module["kernels"], module["weights"]
    names = {field: module[field] for field in ("name", "producer", "target", "cpu_features", "host_table_size")}
    return {
        "outcome": {"": COMPILED},
        "manifest": dict(json.loads(artifact.manifest_text()), **names),
        "kernels": {kernel["name"]: kernel["key"] for kernel in kernels},
        "code": {kernel["name"]: code_of((objects / f"{kernel['name']}.o").read_bytes()) for kernel in kernels},
        "work": {kernel["name"]: digest(kernel) for kernel in kernels},
        "weights": {f"{row} {weight['name']} {weight['layout']}": (weight["bytes"], digest([weight, artifact.weight_digest(weight)]))
                    for row, weight in enumerate(weights)},
        "formulas": {f"{function['name']}.{field}": digest(value) for function in functions for field, value in function.items()},
        "host": {"": code_of((objects / "weft_host.o").read_bytes(), DESCRIPTOR)},
        "file": {"": (len(artifact.data), artifact.rest_digest())},
    }
