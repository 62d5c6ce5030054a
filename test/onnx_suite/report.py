"""Writes not-yet.txt and docs/onnx-support.md from what onnx_suite_test found.

    report.py SUITE RESULTS...            SUITE is the folder that tools/onnx-suite prints
    report.py --check SUITE RESULTS...    only say whether docs/onnx-support.md is stale

Only refusals are listed in not-yet.txt, under their reason, the most frequent first. Wrong numbers, crashes, time-outs
and unclear refusals cannot be: they are named, and the exit code is 1.
"""
import argparse
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "onnx-support.md"
TIERS = ["must", "should", "exotic"]
NARROW = re.compile(r"float8|float6|float4|int2$|complex")
STATUSES = ["pass", "pass-constant", "refused", "failed"]

PAGE_HEAD = """# ONNX operators

What Weft makes of [ONNX's backend tests](https://github.com/onnx/onnx/tree/main/onnx/backend/test): all tests of onnx 1.23.2
and the node tests of onnx 1.16.2 that are not among those, compiled for the CPU and compared with ONNX's numbers. A case counts for the operator under test, also where its graph is that operator written with others.

- **passed**: as the file is.
- **with constants**: only when the contents of small operands (axes, shapes, scales) were given with
  [`--constant`](cli.md#--constant), because these tests pass as inputs what models have as constants.
- **refused**: compiling ends with one line that names the node; the reasons are in the last column, the most frequent first.
- **failed**: anything else: wrong numbers, a crash, a message without a place.

Tiers: *must* is what exporters write for common models, *should* what models have now and then, *exotic* the rest
(training, strings, sequences, randomness, other domains).

A compiled model is a function of its inputs, so random operators (`RandomUniform`, `RandomNormal`, their `Like` forms, `Bernoulli`,
`Multinomial`, `Dropout` in training) give the same numbers in every call and on every machine: those that follow from `seed`, by the generator
of numpy's `RandomState` ([`weft.random_uniform`](reference/ops.md#weftrandom_uniform)). A node without a seed takes the CRC-32 of the name of
its first output. ONNX leaves the numbers of `Bernoulli` open; its cases show element types, shapes and possible values.

Sequences and optionals are lists that must be known while compiling: they cannot be inputs or outputs. A loop may carry a sequence that
is empty before it and to which every turn appends as many tensors, as scripted loops do.

After a change of operators: `tools/check -L onnx`, then `python3 test/onnx_suite/report.py $(tools/onnx-suite | tail -n 1)
build/dev/test/onnx_suite/results-*.tsv`, which also rewrites `test/onnx_suite/not-yet.txt`. A test says when this page is stale.
"""


class Case:
    def __init__(self, name):
        self.name, self.operator, self.opset, self.types, self.edge = name, "", 0, [], ""
        self.status, self.message = "", ""

    @property
    def outcome(self):
        return self.status if self.status in STATUSES else "failed"

    def tier(self, tiers):
        tier = tiers[self.operator]
        if self.edge and self.edge != "complex":
            return "exotic"
        narrow = self.edge == "complex" or any(NARROW.search(each) for each in self.types)
        return "should" if narrow and tier == "must" else tier


def read_cases(suite):
    cases = {}
    for manifest in sorted(suite.glob("*/manifest.txt")):
        for line in manifest.read_text().splitlines():
            keyword, *fields = line.split("\t")
            if keyword == "case":
                case = cases[fields[0]] = Case(fields[0])
            elif keyword in ("operator", "edge"):
                setattr(case, keyword, fields[0])
            elif keyword == "opset":
                case.opset = int(fields[0])
            elif keyword in ("input", "output"):
                case.types.append(fields[1])
    return cases


def read_tiers():
    lines = (HERE / "operators.txt").read_text().splitlines()
    return {name: tier for tier, name in (line.split("\t") for line in lines if not line.startswith("#"))}


def read_results(paths, cases):
    for path in paths:
        for line in path.read_text().splitlines():
            name, status, message = line.split("\t", 2)
            cases[name].status, cases[name].message = status, message
    missing = [case.name for case in cases.values() if not case.status]
    if missing:
        sys.exit(f"error: the results lack {len(missing)} cases, the first is {missing[0]}")


def reason(message):
    """The message without its place and without what differs from case to case."""
    text = re.sub(r"^.*? \(([\w.:]+)\): ", r"\1: ", message)
    text = re.sub(r"^([\w.:]+): (?=operator \1\b)", "", text)
    text = re.sub(r" \(opset \d+\)", "", text)
    text = re.sub(r"input \d+ \('[^']*'\)|input '[^']*'", "an input", text)
    text = re.sub(r"output '[^']*'", "an output", text)
    text = re.sub(r"^node '[^']*': |^the node that writes '[^']*': ", "", text)
    return re.sub(r"\[[-\d, ]+\]|'[-\d, ]+'", "…", text)


def not_yet(cases):
    groups = collections.defaultdict(list)
    for case in cases:
        if case.status == "refused":
            groups[reason(case.message)].append(case.name)
    lines = []
    for text, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines += [f"# {text}", *sorted(names)]
    return "\n".join(lines) + "\n"


def counts(cases):
    found = collections.Counter(case.outcome for case in cases)
    return [found[status] for status in STATUSES]


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def reasons_cell(operator, cases):
    found = collections.Counter(reason(case.message) for case in cases if case.outcome == "refused")
    texts = [text.removeprefix(f"{operator}: ").replace(f"operator {operator} is", "is").replace("|", "\\|")
             for text, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))]
    return "; ".join(texts[:2]) + ("; …" if len(texts) > 2 else "")


def page(cases, tiers):
    head = ["cases", "passed", "with constants", "refused", "failed"]
    lines = [PAGE_HEAD, row("tier", *head), row("---", *["--:"] * 5)]
    for tier in TIERS:
        of_tier = [case for case in cases if case.tier(tiers) == tier]
        lines.append(row(tier, len(of_tier), *counts(of_tier)))
    lines.append(row("all", len(cases), *counts(cases)))
    lines += ["", row("operator", "tier", "opsets tested", *head, "why refused"),
              row("---", "---", "---", *["--:"] * 5, "---")]
    by_operator = collections.defaultdict(list)
    for case in cases:
        by_operator[case.operator].append(case)
    for name in sorted(by_operator, key=lambda name: (TIERS.index(tiers[name]), name)):
        own = by_operator[name]
        opsets = ", ".join(map(str, sorted({case.opset for case in own})))
        lines.append(row(name, tiers[name], opsets, len(own), *counts(own), reasons_cell(name, own)))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    by_name, tiers = read_cases(options.suite), read_tiers()
    read_results(options.results, by_name)
    cases = list(by_name.values())
    text = page(cases, tiers)
    if options.check:
        stale = not PAGE.exists() or PAGE.read_text() != text
        if stale:
            print(f"error: docs/onnx-support.md is stale\n  hint: the page says how to make it again")
        return 1 if stale else 0
    PAGE.write_text(text)
    (HERE / "not-yet.txt").write_text(not_yet(cases))
    for case in cases:
        if case.outcome == "failed":
            print(f"{case.name}: {case.status}: {case.message}")
    return 1 if any(case.outcome == "failed" for case in cases) else 0


sys.exit(main())
