"""Objects and headers of 'weft compile --emit', linked into programs without the runtime: what these answer is what the artifact answers,
bit for bit, and a refusal names the node.

    embedded_test.py WEFT TARGET FOLDER EMULATOR COMPILER...     EMULATOR: words with ; between them, or nothing
"""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "emulated"), os.path.join(HERE, "..", "..", "examples", "firmware")]
import keywords  # noqa: E402
import small_models  # noqa: E402
from harness import Function, program  # noqa: E402

WEFT, TARGET, FOLDER, EMULATOR = sys.argv[1:5]
COMPILER, EMULATOR = sys.argv[5:], [word for word in EMULATOR.split(";") if word]
ALLOWED = {"memcpy", "memset"}


def run(command, expected=0, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != expected:
        sys.exit(f"{' '.join(command)}: exit {done.returncode} instead of {expected}\n{done.stdout}{done.stderr}")
    return done


def small(nodes, inputs, outputs, weights=()):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "model", [info(*each) for each in inputs], [info(*each) for each in outputs], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def found():
    """As many positions as data have that are not zero: at most all."""
    model = small([helper.make_node("NonZero", ["x"], ["where"])], [("x", TensorProto.FLOAT, ["n", 3])],
                  [("where", TensorProto.INT64, [2, None])])
    return model, [{"x": np.array([[0, 1, 2], [0, 0, 3]], np.float32)}, {"x": np.zeros((4, 3), np.float32)}]


def branches():
    """A branch and a loop that data decide, and names that are words of C."""
    def graph(name, nodes, outputs, inputs=()):
        return helper.make_graph(nodes, name, [helper.make_tensor_value_info(*each) for each in inputs],
                                 [helper.make_tensor_value_info(*each) for each in outputs])
    real = TensorProto.FLOAT
    yes = graph("yes", [helper.make_node("Mul", ["int", "two"], ["a"])], [("a", real, ["n"])])
    no = graph("no", [helper.make_node("Neg", ["int"], ["b"])], [("b", real, ["n"])])
    turn = graph("turn", [helper.make_node("Add", ["sum", "int"], ["more"]), helper.make_node("Identity", ["on"], ["still"])],
                 [("still", TensorProto.BOOL, []), ("more", real, ["n"])],
                 [("i", TensorProto.INT64, []), ("on", TensorProto.BOOL, []), ("sum", real, ["n"])])
    nodes = [helper.make_node("ReduceSum", ["int"], ["all"], keepdims=0), helper.make_node("Greater", ["all", "two"], ["large"]),
             helper.make_node("If", ["large"], ["scaled"], then_branch=yes, else_branch=no),
             helper.make_node("Loop", ["turns", "", "scaled"], ["for"], body=turn)]
    weights = [onnx.numpy_helper.from_array(np.float32(2), "two"), onnx.numpy_helper.from_array(np.int64(5), "turns")]
    model = small(nodes, [("int", real, ["n"])], [("for", real, ["n"])], weights)
    return model, [{"int": np.arange(4, dtype=np.float32)}, {"int": -np.ones(7, np.float32)}]


def spotter():
    model = keywords.network()
    return model, [{"mfcc": np.random.default_rng(3).normal(size=(1, 1, 49, 10)).astype(np.float32)}]


class Model:
    """An artifact, an object and a program of one model."""

    def __init__(self, name, made, *options):
        self.folder, (model, self.calls) = os.path.join(FOLDER, name), made
        os.makedirs(self.folder, exist_ok=True)
        path = self.file("model.onnx")
        onnx.save(model, path)
        self.names = [each.name for each in model.graph.output]
        run([WEFT, "compile", "-q", path, "-t", TARGET, "-o", self.file("model.weft")])
        run([WEFT, "compile", "-q", path, "-t", TARGET, "--emit", "object,header", "-o", self.folder, *options])
        with open(self.file("model.h"), encoding="utf-8") as file:
            self.header = file.read()
        with open(self.file("main.c"), "w", encoding="utf-8") as file:
            file.write(program("model.h", self.header, "model_main"))
        run([*COMPILER, "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", self.file("main.c"), self.file("model.o"), "-pthread", "-o",
             self.file("main")])

    def file(self, name):
        return os.path.join(self.folder, name)

    def check_symbols(self):
        undefined = set(run(["llvm-nm-19", "--undefined-only", "--format=just-symbols", self.file("model.o")]).stdout.split())
        visible = set(run(["llvm-nm-19", "--defined-only", "--extern-only", "--format=just-symbols", self.file("model.o")]).stdout.split())
        if undefined - ALLOWED or visible != {"model_main"}:
            sys.exit(f"{self.folder}: undefined {undefined}, visible {visible}")
        writable = [line for line in run(["llvm-readelf-19", "-SW", self.file("model.o")]).stdout.splitlines() if " WA " in line
                    and " 000000 00 " not in line]
        if writable:
            sys.exit(f"{self.folder}: something can be written:\n" + "\n".join(writable))

    def sizes(self, feeds):
        """Of symbols, by the dimensions that the model names so."""
        model = onnx.load(self.file("model.onnx"))
        values = {}
        for each in model.graph.input:
            for dim, size in zip(each.type.tensor_type.shape.dim, feeds[each.name].shape):
                values[dim.dim_param] = size
        return [str(values[name]) for _, _, name in Function(self.header, "model_main").of("size")]

    def check_call(self, feeds):
        np.savez(self.file("in.npz"), **feeds)
        run([*EMULATOR, *WEFT_RUN, "run", self.file("model.weft"), "-i", "@" + self.file("in.npz"), "-o", self.file("out.npz"), "-q"])
        with open(self.file("in.bin"), "wb") as file:
            for value in feeds.values():
                file.write(np.ascontiguousarray(value).tobytes())
        run([*EMULATOR, self.file("main"), self.file("in.bin"), self.file("out.bin"), *self.sizes(feeds), self.file("model.weights")])
        expected = np.load(self.file("out.npz"))
        with open(self.file("out.bin"), "rb") as file:
            if file.read() != b"".join(expected[name].tobytes() for name in self.names):
                sys.exit(f"{self.folder}: the embedded function answers otherwise than the artifact")


def check_all(name, made, *options):
    model = Model(name, made, *options)
    model.check_symbols()
    for feeds in model.calls:
        model.check_call(feeds)
    print(f"{name}: {len(model.calls)} calls agree bit for bit")
    return model


def check_answers(model):
    """Sizes and positions that the contract does not allow are answers in words, and nothing is computed."""
    np.zeros(64, np.int64).tofile(model.file("in.bin"))
    call = [*EMULATOR, model.file("main"), model.file("in.bin"), model.file("out.bin")]
    np.full(64, 200, np.int64).tofile(model.file("far.bin"))
    done = run([*EMULATOR, model.file("main"), model.file("far.bin"), model.file("out.bin"), "1", "4"], expected=2)
    if "index" not in done.stderr or "outside" not in done.stderr:
        sys.exit("a position outside: " + done.stderr)
    np.full(64, -200, np.int64).tofile(model.file("far.bin"))
    run([*EMULATOR, model.file("main"), model.file("far.bin"), model.file("out.bin"), "1", "4"])
    run([*call, "1", "4"])


def refused(name, model, *words):
    """By its name, in one line and a hint, with nothing left."""
    path, folder = os.path.join(FOLDER, name + ".onnx"), os.path.join(FOLDER, "refused")
    onnx.save(model, path)
    done = run([WEFT, "compile", "-q", path, "-t", TARGET, "--emit", "object,header", "-o", folder], expected=1)
    if not all(word in done.stderr for word in words) or len(done.stderr.splitlines()) > 2:
        sys.exit(f"{name}: {done.stderr}")
    if os.path.exists(folder):
        sys.exit(f"{name}: a refusal leaves a folder")


def check_refusals():
    whole, real, info = TensorProto.INT64, TensorProto.FLOAT, helper.make_tensor_value_info
    late = small([helper.make_node("ConstantOfShape", ["sizes"], ["zeros"], name="makes_zeros"), helper.make_node("Exp", ["zeros"], ["y"], name="makes_y")],
                 [("sizes", whole, [1])], [("y", real, [None])])
    refused("late", late, "makes_", "nothing limits")
    turn = helper.make_graph([helper.make_node("Add", ["sum", "x"], ["more"], name="adds"), helper.make_node("Less", ["more", "x"], ["still"], name="compares")],
                             "turn", [info("i", whole, []), info("on", TensorProto.BOOL, []), info("sum", real, [])],
                             [info("still", TensorProto.BOOL, []), info("more", real, [])])
    begin = [onnx.numpy_helper.from_array(np.bool_(True), "true")]
    endless = small([helper.make_node("Loop", ["", "true", "x"], ["y"], body=turn)], [("x", real, [])], [("y", real, [])], begin)
    refused("endless", endless, "adds", "how often the loop")
    several = run([WEFT, "compile", "-q", os.path.join(FOLDER, "keywords", "model.onnx"), "-t", "arm:v8,v8.2", "--emit", "object", "-o",
                   os.path.join(FOLDER, "refused")], expected=1)
    if "one target" not in several.stderr:
        sys.exit("two targets: " + several.stderr)
    print("refusals name node and reason")


WEFT_RUN = os.environ.get("WEFT_TEST_RUN", WEFT).split(";")
os.makedirs(FOLDER, exist_ok=True)
check_all("keywords", spotter())
check_answers(check_all("encoder", small_models.encoder(), "--weights-in", "object"))
check_all("encoder_file", small_models.encoder(), "--weights-in", "file")
check_all("mobile", small_models.mobile())
check_all("quantized", small_models.quantized(), "--weights-in", "file")
check_all("found", found())
check_all("branches", branches())
check_refusals()
