"""The cells of docs/performance/arm.json: what is counted beside peers, and the tables of arm.md.

    for asked in Asked.all(): ...      put(cell) writes both pages; several processes may
"""
import dataclasses
import fcntl
import json
import os

# What is published. Models that 8 bits or 16 bits are counted of stand behind those of f32, which theirs are compared with.
FLOATS = ["minilm:b1s16", "mobilenetv2:b1", "superres:h64w64", "minilm:b1s128", "mobilenetv2:b4", "superres:h91w67", "resnet50:b1",
          "minilm:b8s64", "bert_base:b1s64", "gpt2:prefill64", "splitsr:h48w48"]
OTHERS = ["minilm.int8:b1s128@arm:v8.2", "resnet50.int8:b1@arm:v8.2", "mobilenetv2.int8:b1@arm:v8.2",
          "minilm.int8:b1s128@arm:v8.6@max128", "resnet50.int8:b1@arm:v8.6@max128", "mobilenetv2.int8:b1@arm:v8.6@max128",
          "llama160m.int4:prefill64@arm:v8.6@max128", "minilm:b1s16@arm:v8.6 --compute bf16@max128", "minilm:b1s128@arm:v8.6 --compute bf16@max128",
          "minilm:b1s16@arm:sve256@max256", "minilm:b1s128@arm:sve256@max256"]
PEERS = ["onnxruntime", "openvino", "mnn", "llamacpp"]
PAGES = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../../../docs/performance")
BEGIN, END = "<!-- written by tools/bench/arm/compare.py -->\n", "<!-- until here -->\n"


@dataclasses.dataclass
class Asked:
    model: str  # a file of tools/bench, without .onnx
    case: str
    target: str = "arm:v8"  # and options
    cpu: str = "neoverse-n1"

    @staticmethod
    def parse(text):
        """MODEL:CASE[@TARGET[@PROCESSOR]]"""
        of_model, *where = text.split("@")
        return Asked(*of_model.split(":"), *where)

    @staticmethod
    def of(cell):
        return Asked(*(cell[field.name] for field in dataclasses.fields(Asked)))

    @staticmethod
    def all():
        return [Asked.parse(text) for text in FLOATS + [f"{text}@arm:v8@cortex-a53" for text in FLOATS] + OTHERS]

    def __str__(self):
        return f"{self.model}:{self.case}@{self.target}@{self.cpu}"

    def network(self):
        return self.model.split(".")[0]

    def precision(self):
        """As tools/bench judges answers."""
        stored = self.model.removeprefix(self.network())[1:]
        return stored or ("bf16" if "--compute bf16" in self.target else "f32")

    def plain(self):
        """What Weft's own count is compared with: f32 with NEON. None where peers are."""
        return Asked(self.model, self.case) if "--compute" in self.target or "sve" in self.target else None

    def peers(self):
        """OpenVINO computes quantised files in floats on ARM."""
        return {"f32": ["onnxruntime", "openvino", "mnn"], "int8": ["onnxruntime", "mnn"], "int4": ["llamacpp"]}[self.precision()]


def millions(number):
    return "-" if number is None else f"{number / 1e6:.1f}"


def row(cell):
    best_moved = cell.get("moved", {}).get(cell["peer"])
    moved = f"{(cell['loaded'] + cell['stored']) / best_moved:.2f}" if best_moved else "-"
    numbers = [cell["ours"]] + [cell["peers"].get(peer) for peer in PEERS]
    return (f"| {cell['model']} | {cell['case']} | `{cell['target']}` | {cell['cpu']} | " + " | ".join(map(millions, numbers)) +
            f" | {cell['ratio']:.2f} | {moved} |")


def tables(cells):
    """Millions, a row per cell: beside peers, and beside our own."""
    heads = ["model", "case", "target", "as", "Weft", *PEERS, "best / Weft", "bytes"]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    rows += [row(cell) for cell in cells if cell["peer"] != "weft"]
    own = [cell for cell in cells if cell["peer"] == "weft"]
    if own:
        rows += ["", "And beside itself, in f32 with NEON (`arm:v8`):", "", "| model | case | target | Weft | `arm:v8` | Weft / `arm:v8` |", "|---" * 6 + "|"]
    for cell in own:
        rows.append(f"| {cell['model']} | {cell['case']} | `{cell['target']}` | {millions(cell['ours'])} | {millions(cell['best'])} | "
                    f"{cell['ours'] / cell['best']:.2f} |")
    return "\n".join(rows) + "\n"


def known():
    if not os.path.exists(f"{PAGES}/arm.json"):
        return []
    with open(f"{PAGES}/arm.json", encoding="utf-8") as file:
        return json.load(file)["cells"]


def write(cells):
    with open(f"{PAGES}/arm.json", "w", encoding="utf-8") as file:
        file.write('{"cells": [\n' + ",\n".join(json.dumps(cell) for cell in cells) + "\n]}\n")
    with open(f"{PAGES}/arm.md", encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    with open(f"{PAGES}/arm.md", "w", encoding="utf-8") as file:
        file.write(before + BEGIN + tables(cells) + END + rest.split(END)[1])


def put(cell):
    """Into the pages, in the order of what is published."""
    with open(__file__, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cells = [other for other in known() if Asked.of(other) != Asked.of(cell)] + [cell]
        order = Asked.all()
        place = lambda one: order.index(Asked.of(one)) if Asked.of(one) in order else len(order)
        write(sorted(cells, key=place))
