"""Random ONNX models: what Weft compiles against ONNX Runtime, at several sizes.

    random_models.py --weft build/dev/bin/weft --from 1 --count 50           what the tests run
    random_models.py --weft build/dev/bin/weft --seconds 3600                from a fresh seed
    random_models.py --weft build/dev/bin/weft --from 1234 --count 1 --print
    random_models.py --missing made-*.txt                                    operators that no run with --made had

Every seed makes one model, in a process of its own. It is compiled once and called at four sizes of its symbols. A model that
fails is made smaller with `weft reduce` and written to --output-dir, as seed-N/. Exit code 3 when one failed.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import sys
import time

import onnx

import failure
import makers
import peer
from compiled import Refusal, Wrong, compile_model, run_model
from differences import ABSENT, TIERS, refusal_is_known
from graph import Graph, Unfit
from judge import Leave, judge

MAKERS = makers.load()
#: Nodes that are asked for; some bring others along.
NODES = (2, 3, 4, 5, 6, 8)


def name_in_model(op):
    """'com.microsoft::Gelu' and 'Cast:short' as a node has them."""
    return op.rsplit("::", 1)[-1].split(":")[0]


def own_operators(seed):
    """Two that this model is about, so that a range of seeds has them all."""
    names = sorted(MAKERS)
    turn, at = divmod(2 * seed, len(names))
    random.Random(turn).shuffle(names)
    return [names[at], names[(at + 1) % len(names)]]


def grow(seed):
    """A model's graph; another one when its own operators do not fit."""
    own = own_operators(seed)
    for attempt in range(5):
        graph, done = grow_once(seed + (attempt << 24), own)
        if done >= set(own):
            break
    return graph


def grow_once(seed, own):
    """Pieces of the model's own and of random operators, as many as asked for, and what was made."""
    graph = Graph(seed, [op.split(":")[0] for op in own if "::" not in op])
    names, wanted = sorted(MAKERS), graph.random.choice(NODES)
    done = set()
    for op in [op for op in own for _ in range(10)] + graph.random.choices(names, k=20 * wanted):
        if op in done and op in own:
            continue
        if len(done) == wanted:
            break
        try:
            MAKERS[op](graph, name_in_model(op))
            done.add(op)
        except Unfit:
            continue
    return graph, done


class Case:
    """A model with its data and what ONNX Runtime makes of them."""

    def __init__(self, seed):
        self.graph = grow(seed)
        self.model, self.results = self.graph.model()
        onnx.checker.check_model(self.model, full_check=True)
        self.outputs = [value.name for value in self.results]
        self.flags = [] if self.graph.fast else ["--accuracy", "exact"]
        self.feeds = [{value.name: value.native[at] for value, _ in self.graph.inputs}
                      for at in range(len(self.results[0].native) if self.results else 0)]
        session = peer.session_of(self.model)
        self.expected = [peer.run(session, feeds) for feeds in self.feeds]

    def sizes(self, at):
        return " ".join(f"{name}={sizes[at]}" for name, sizes in self.graph.symbols.items())


def compare(case, weft, folder):
    """What is wrong, or an empty text."""
    path = folder / "model.onnx"
    onnx.save(case.model, path)
    artifact = compile_model(weft, path, case.model, case.flags)
    for at, feeds in enumerate(case.feeds):
        got = run_model(weft, artifact, feeds, case.outputs)
        for value, mine, theirs in zip(case.results, got, case.expected[at]):
            why = judge(mine, theirs, Leave.of(value))
            if why:
                return f"{case.sizes(at)}: output {value.name}: {why}"
    return ""


def trial(seed, options):
    """One seed's answer for the parent: how it ended, what was said, and the operators."""
    folder = pathlib.Path(options.output_dir) / f"seed-{seed}"
    answer = {"outcome": "good", "text": "", "operators": []}
    try:
        case = Case(seed)
        if not case.results:
            return {**answer, "outcome": "empty"}
        answer["operators"] = sorted(set(case.graph.made))
        if options.print:
            print(onnx.printer.to_text(case.model))
        folder.mkdir(parents=True, exist_ok=True)
        answer["text"] = compare(case, options.weft, folder)
        answer["outcome"] = "different" if answer["text"] else "good"
    except Refusal as refusal:
        known = refusal_is_known(refusal)
        answer.update(outcome="refused" if known else "refused must", text=str(refusal), op=refusal.op)
    except Wrong as wrong:
        answer.update(outcome="wrong", text=str(wrong))
    except peer.Refused as refusal:
        answer.update(outcome="peer", text=str(refusal))
    if answer["outcome"] in failure.KINDS:
        failure.write(case, folder, answer, options)
    elif folder.exists():
        failure.remove(folder)
    return answer


def in_a_process(seed, options):
    """ONNX Runtime may end a process, too; then there is no model."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answer = json.dumps(trial(seed, options)).encode()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(answer)
            code = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"outcome": "peer", "text": f"the process ends with signal {os.WTERMSIG(status)}"}
    if status:
        return {"outcome": "broken", "text": "the test itself fails"}
    return json.loads(text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft", help="the command to test")
    parser.add_argument("--from", dest="first", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--count", type=int, help="so many seeds; without it, until the time is over")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--made", type=pathlib.Path, metavar="FILE", help="write which operators the models had")
    parser.add_argument("--missing", nargs="+", metavar="FILE", type=pathlib.Path,
                        help="files of --made: every operator that matters has to be in one")
    parser.add_argument("--output-dir", default="random-models")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false")
    parser.add_argument("--again", type=pathlib.Path, metavar="FOLDER", help="try MODEL with a failure's numbers")
    parser.add_argument("model", nargs="?", help="with --again")
    parser.add_argument("--print", action="store_true", help="the models as text")
    return parser.parse_args()


def missing(files):
    """1 when an operator of the tiers must and should is in none of the files."""
    made = {line for file in files for line in file.read_text().split()}
    absent = [op for op, tier in TIERS.items() if tier in ("must", "should") and op not in made]
    wrong = [op for op in absent if op not in ABSENT] + [op for op in ABSENT if op in made]
    for op in wrong:
        print(f"{op} is in {'some model, though differences.py says otherwise' if op in made else 'no model'}")
    print(f"{len(made)} operators in the models, {len(absent)} not, {len(wrong)} of them without a reason")
    return 1 if wrong else 0


def main():
    options = parse()
    if options.again:
        return failure.again(options.weft, options.again, options.model)
    if options.missing:
        return missing(options.missing)
    start, seed = time.time(), options.first
    outcomes, reasons, made = collections.Counter(), collections.Counter(), collections.Counter()
    while seed < options.first + options.count if options.count else time.time() - start < options.seconds:
        answer = in_a_process(seed, options)
        outcomes[answer["outcome"]] += 1
        made.update(answer.get("operators", []))
        if answer["outcome"] in (*failure.KINDS, "broken"):
            print(f"seed {seed}: {answer['outcome']}: {answer['text']}", flush=True)
        elif answer["outcome"] in ("refused", "peer"):
            reasons[f"{answer['outcome']}: {failure.general(answer['text'])}"] += 1
        seed += 1
    if options.made:
        options.made.write_text("\n".join(sorted(made)))
    for reason, count in reasons.most_common():
        print(f"{count:4}  {reason}")
    counts = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    print(f"{seed - options.first} models from seed {options.first}, {len(made)} operators: {counts}; {time.time() - start:.0f} s")
    if any(outcomes[kind] for kind in (*failure.KINDS, "broken")):
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
