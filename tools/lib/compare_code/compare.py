"""What differs between two results of pieces.py, and which differences a list explains.

A list of explanations has lines PIECE MODEL REASON: MODEL is a pattern such as `suite/*`, the reason is the rest. Lines that start
with # are comments. Pieces are those of pieces.py, and `larger` for code of the host that grew.
"""
import collections
import fnmatch

from pieces import NOT_COMPARED
from refusal import Refusal

PIECES = ("manifest", "kernels", "code", "work", "weights", "formulas", "host", "answers")
BY_KERNEL = ("code", "work")  # kernels that only one side has are listed once, as `kernels`
Difference = collections.namedtuple("Difference", "piece model target text")


def shown(value):
    """Sizes and hashes of a part, or its text."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int):
        return f"{value[0]} B {value[1]}"
    return str(value)


def of_piece(piece, old, new):
    """Sentences about the parts that differ."""
    for part in sorted({**old, **new}):
        if old.get(part) == new.get(part):
            continue
        name = f"{part}: " if part else ""
        if part in old and part in new:
            yield f"{name}{shown(old[part])} -> {shown(new[part])}"
        elif piece not in BY_KERNEL:
            yield f"{name}only in {'OLD' if part in old else 'NEW'}"


def of_results(old, new):
    """(piece, sentence) of all that differs."""
    before, after = old["outcome"][""], new["outcome"][""]
    if before != after or before.startswith(NOT_COMPARED):
        yield "outcome", f"{before} -> {after}"
        return
    found = [(piece, text) for piece in PIECES if piece in old and piece in new for text in of_piece(piece, old[piece], new[piece])]
    yield from found
    if any(piece == "host" for piece, _ in found):
        (small, _), (large, _) = old["host"][""], new["host"][""]
        if large > small:
            yield "larger", f"code of the host: {small} -> {large} B"
        if "answers" not in old or "answers" not in new:
            yield "answers", "not compared: both sides need --answers"
    if not found and old.get("file") != new.get("file"):
        yield "file", "differs, though no other piece does"


class Explanations:
    def __init__(self, path=None):
        self.path, self.rows, self.used = path, [], collections.Counter()
        if path:
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    self.add(number, line.split(maxsplit=2))

    def add(self, number, words):
        if not words or words[0].startswith("#"):
            return
        if len(words) < 3:
            raise Refusal(f"{self.path}:{number}: a piece, a pattern of models and a reason are needed")
        if words[0] not in ("outcome", *PIECES, "larger", "file"):
            raise Refusal(f"{self.path}:{number}: there is no piece '{words[0]}'")
        self.rows.append((words[0], words[1], words[2].strip()))

    def explains(self, difference):
        row = next((r for r in self.rows if r[0] == difference.piece and fnmatch.fnmatchcase(difference.model, r[1])), None)
        if row:
            self.used[row] += 1
        return row is not None

    def unused(self, models):
        """Rows that could have explained something about these models."""
        return [row for row in self.rows if not self.used[row] and fnmatch.filter(models, row[1])]


class Comparison:
    """OLD and NEW, each a record.Record, over what NEW has."""

    def __init__(self, old, new, explanations):
        self.explanations, self.different, self.explained = explanations, [], []
        self.counts = collections.defaultdict(collections.Counter)
        self.models = new.names()
        for name in self.models:
            for target, result in new.models[name]["targets"].items():
                self.judge(name, target, self.found(old, new, name, target, result), result)
        self.left_out = len(set(old.names()) - set(self.models))

    @staticmethod
    def found(old, new, name, target, result):
        before = old.models.get(name)
        if not before or target not in before["targets"]:
            return [("outcome", "OLD has no result")]
        if before["identity"] != new.models[name]["identity"]:
            return [("outcome", "the model or its options are not the same")]
        return list(of_results(before["targets"][target], result))

    def judge(self, name, target, found, result):
        differences = [Difference(piece, name, target, text) for piece, text in found]
        different = [each for each in differences if not self.explanations.explains(each)]
        self.different += different
        self.explained += [each for each in differences if each not in different]
        counts = self.counts[target]
        counts["models"] += 1
        counts["compiled" if "file" in result else "refused"] += 1
        counts["different" if different else "explained" if differences else "identical"] += 1

    def unproved(self):
        """Targets for which nothing is compiled: all refusals may have the same reason, which says nothing about code."""
        return [target for target, counts in self.counts.items() if not counts["compiled"]]

    def is_good(self):
        return not (self.different or self.unproved() or self.explanations.unused(self.models)) and bool(self.models)
