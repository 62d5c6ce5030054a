"""A model compiled once by `weft compile`, and called at each size by `weft run`."""
import pathlib
import re
import resource
import signal
import subprocess

import numpy as np
import onnx

#: Of processor time for a command, so that a busy machine decides nothing; many times what it needs.
MOST_SECONDS = 120


class Refusal(Exception):
    """An error of Weft's, in one line that names a node."""

    def __init__(self, text, op):
        super().__init__(text)
        self.op = op


class Wrong(Exception):
    """A crash, a hang, or an error without a place."""


def call(weft, *arguments):
    command = [weft, *map(str, arguments)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Wrong(f"'weft {arguments[0]}' does not end")
    if done.returncode < 0 or done.returncode in (70, 139, 134, 136):
        raise Wrong(f"'weft {arguments[0]}' crashes with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.returncode, done.stderr.strip()


def operator_in(error, model):
    """The operator of the node that an error names, in whatever body it is."""
    named = re.search(r"node (?:that writes )?'([^']*)'", error)
    if not named:
        return None
    for node in all_nodes(model.graph):
        if named.group(1) in (node.name, *node.output):
            return node.op_type
    return None


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g)


def compile_model(weft, path, model, flags):
    artifact = pathlib.Path(path).with_suffix(".weft")
    code, said = call(weft, "compile", path, "-q", "-o", artifact, *flags)
    if code:
        errors = [line for line in said.splitlines() if line.startswith("error")]
        op = operator_in(said, model)
        if code != 1 or not errors or op is None:
            raise Wrong(f"'weft compile' ends with {code} and without a place: {said[-300:]}")
        raise Refusal(errors[0], op)
    return artifact


def run_model(weft, artifact, feeds, outputs):
    """The outputs as arrays, in the order of their names."""
    given, got = artifact.with_suffix(".in.npz"), artifact.with_suffix(".out.npz")
    np.savez(given, **feeds)
    code, said = call(weft, "run", artifact, "-q", *(["--input", f"@{given}"] if feeds else []), "-o", got)
    if code:
        raise Wrong(f"'weft run' ends with {code}: {said[-300:]}")
    with np.load(got) as arrays:
        return [arrays[name] for name in outputs]
