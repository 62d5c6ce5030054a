"""What is left of a model that fails: the model, its numbers, and a smaller one that fails the same way.

The folder holds model.onnx, numbers-0.npz … (every value at every size: a smaller model may have any as an input), leave.json
(how far each may be off), problem.txt and small.onnx. `random_models.py --again FOLDER MODEL` says how a model does with them.
"""
import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import onnx

import peer
from compiled import Refusal, Wrong, compile_model, run_model
from judge import Leave, judge

KINDS = ("different", "wrong", "refused must")


def general(text):
    """A refusal without what only this model has."""
    text = re.sub(r"^error\[\w+\]: (\S*model\.onnx: )?", "", text)
    text = re.sub(r"the node that writes '[^']*'", "node", text)
    return re.sub(r"'[a-z]\w*'|\d+", "N", text)[:150]


def write(case, folder, answer, options):
    """Makes a smaller one, too, unless told otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = case.graph
    onnx.save(case.model, folder / "model.onnx")
    for at in range(len(case.feeds)):
        np.savez(folder / f"numbers-{at}.npz", **{name: each.native[at] for name, each in graph.values.items()})
    leave = {name: Leave.of(each).fields() for name, each in graph.values.items()}
    (folder / "leave.json").write_text(json.dumps({"flags": case.flags, "values": leave}))
    again = f"{shlex.quote(sys.executable)} -W ignore {shlex.quote(__file__.replace('failure.py', 'random_models.py'))} " \
            f"--weft {shlex.quote(options.weft)} --again {shlex.quote(str(folder))}"
    small = folder / "model.onnx"
    if options.reduce:
        done = subprocess.run([options.weft, "reduce", folder / "model.onnx", "-o", folder / "small.onnx", "--command", again],
                              capture_output=True, text=True)
        if done.returncode == 0:
            small = folder / "small.onnx"
    answer["text"] += f"\n  again: {again} {small}"
    if small.name == "small.onnx":
        answer["text"] += "\n" + onnx.printer.to_text(onnx.load(small))
    (folder / "problem.txt").write_text(answer["text"] + "\n")


def remove(folder):
    shutil.rmtree(folder)


def again(weft, folder, path):
    """The exit code of a trial of one model with the numbers of a folder: 3 when it differs."""
    model = onnx.load(path)
    known = json.loads((folder / "leave.json").read_text())
    inputs, outputs = ([each.name for each in list_] for list_ in (model.graph.input, model.graph.output))
    try:
        session = peer.session_of(model)
        artifact = compile_model(weft, path, model, known["flags"])
        for place in sorted(folder.glob("numbers-*.npz")):
            with np.load(place) as numbers:
                feeds = {name: numbers[name] for name in inputs}
            expected = peer.run(session, feeds)
            for name, mine, theirs in zip(outputs, run_model(weft, artifact, feeds, outputs), expected):
                leave = known["values"].get(name)
                why = judge(mine, theirs, Leave(*leave) if leave else Leave.unknown(theirs))
                if why:
                    print(f"error: {place.stem}: output {name}: {why}", file=sys.stderr)
                    return 3
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 70
    except (KeyError, peer.Refused) as problem:  # no model for both
        print(f"the model cannot be compared: {problem}", file=sys.stderr)
    return 0
