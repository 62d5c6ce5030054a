#!/usr/bin/env python3
"""Whole models, one file each for a processor and two GPUs: whole_models.py WEFT WORK NAME

The file answers on the processor and, with the emulated GPU as sm_80 and as sm_90a, on both variants for GPUs, under three seeds of
schedules, orders of blocks, and early or late copies. Numbers are compared with the evaluator's, which computes in doubles; where sums are
exact, with the processor's bits. What the emulated GPU finds fails the call.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e" / "split"), str(HERE.parent / "e2e" / "minilm")]

import numpy as np
import onnx
from onnx import TensorProto, helper

import decoder
import minilm
import models

TARGETS = "x86:v3,cuda:sm_80,sm_90a"
SCHEDULES = ("seed=1,lazy,blocks=random", "seed=2,eager,blocks=random", "seed=3,blocks=random")
DEVICES = {"sm_80": "sm=80", "sm_90a": "sm=90a"}
SKIPPED = 77


class Case:
    """How a model is made, compiled, and called."""

    def __init__(self, make, sizes, words=(), most=2e-5, cosine=None, exact=False, reference=None):
        self.make, self.sizes, self.words = make, sizes, words
        self.most, self.cosine, self.exact = most, cosine, exact
        self.reference = reference or make  # what is evaluated


def sentence_model(_):
    return minilm.directory()


def split_model(name):
    def make(work):
        path = os.path.join(work, "model.onnx")
        models.main(name, path)
        return path
    return make


def exact_model(work):
    """A network of bytes from its first convolution to what it gives: sums of integers, each rounded to a byte again."""
    graph, path = models.Graph(5), os.path.join(work, "model.onnx")
    x = graph.convolution("cnn_qdq", "x", 32, 3, 3, "first", pads=[1, 1, 1, 1])
    x = graph.convolution("cnn_qdq", x, 48, 32, 1, "second")
    x = graph.node("Transpose", graph.rounded(x), perm=[0, 2, 3, 1])
    x = graph.node("Add", graph.node("MatMul", x, graph.weight8(graph.reals(48, 40), 1, "third")), graph.constant(graph.reals(40)))
    result = graph.rounded(x, step=1 / 32, zero=128)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", ["n", 3, "h", "w"]), (result, None))]
    made = helper.make_graph(graph.nodes, "bytes", ends[:1], ends[1:], graph.tensors)
    onnx.save(helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20)]), path)
    return path


def decoder_model(element):
    def make(work):
        path = os.path.join(work, f"{element}.onnx")
        decoder.main(path, element)
        return path
    return make


SENTENCES = ({"batch": 1, "seq": 1}, {"batch": 2, "seq": 3}, {"batch": 1, "seq": 16})
IMAGES = ({"n": 1, "h": 8, "w": 8}, {"n": 2, "h": 9, "w": 15}, {"n": 1, "h": 33, "w": 32})
ROWS = ({"n": 1, "s": 1}, {"n": 2, "s": 5}, {"n": 3, "s": 17})
CALLS = ({"n": 1, "s": 5, "p": 0}, {"n": 2, "s": 1, "p": 5}, {"n": 1, "s": 1, "p": 128}, {"n": 1, "s": 17, "p": 128})
HALVES = 0.9995
CASES = {
    "minilm": Case(sentence_model, SENTENCES),
    "minilm_weights": Case(sentence_model, SENTENCES[:2], ["--weights", "bf16"], most=None, cosine=HALVES),
    "minilm_compute": Case(sentence_model, SENTENCES, ["--compute", "bf16"], most=None, cosine=HALVES),
    "resnet": Case(split_model("cnn"), IMAGES),
    "decoder": Case(decoder_model("f16"), CALLS, ["--in-place"], most=None, cosine=HALVES, reference=decoder_model("f32")),
    "int4": Case(split_model("int4"), ROWS),
    "qdq": Case(split_model("qdq"), ROWS, most=None, cosine=HALVES),
    "qdq_images": Case(split_model("cnn_qdq"), IMAGES, most=None, cosine=HALVES),
    "qdq_exact": Case(exact_model, IMAGES, most=None, cosine=HALVES, exact=True),
}


def weft(program, *words, options=""):
    done = subprocess.run(list(map(str, [program, *words])), capture_output=True, text=True, check=False,
                          env={**os.environ, "WEFT_EMULATED": options})
    if done.returncode:
        raise RuntimeError(f"{options} {' '.join(map(str, words))}: {done.returncode}\n{done.stderr}")


class Trial:
    def __init__(self, program, work, case, targets=TARGETS):
        self.program, self.work, self.case = program, work, case
        self.worst = {}
        self.model = case.make(work)
        self.artifact, self.out = os.path.join(work, "model.weft"), os.path.join(work, "out.npz")
        weft(program, "compile", "-q", self.model, "-t", targets, *case.words, "-o", self.artifact)

    def arrays(self, *words, options=""):
        weft(self.program, *words, "-q", "-o", self.out, options=options)
        with np.load(self.out) as file:
            return {name: file[name].astype(np.float64) for name in file.files}

    def inputs(self, sizes, kind=np.float32):
        """A file of inputs; words and masks are those of the model's tests."""
        path, random = os.path.join(self.work, "in.npz"), np.random.default_rng(sum(sizes.values()))
        if "seq" in sizes:
            ids, mask = minilm.inputs(sizes["batch"], sizes["seq"])
            feeds = {"input_ids": ids, "attention_mask": mask}
        elif "h" in sizes:
            feeds = {"x": random.standard_normal((sizes["n"], 3, sizes["h"], sizes["w"])).astype(np.float32)}
        elif "p" in sizes:
            cache = (sizes["n"], decoder.KEYS, sizes["p"], decoder.HEAD)
            feeds = {"ids": random.integers(0, decoder.TOKENS, (sizes["n"], sizes["s"]))}
            for i in range(decoder.LAYERS):
                for part in ("key", "value"):
                    feeds[f"past_{part}{i}"] = random.standard_normal(cache).astype(np.float16).astype(kind)
        else:
            feeds = {"x": random.standard_normal((sizes["n"], sizes["s"], models.WIDTH)).astype(np.float32)}
        np.savez(path, **feeds)
        return "@" + path

    def findings(self, sizes, latest):
        """Sentences about calls of these sizes; `latest`: under all schedules."""
        expected = self.arrays("eval", self.case.reference(self.work), "-i", self.inputs(sizes))
        given = self.inputs(sizes, np.float16)
        own = self.arrays("run", self.artifact, "-i", given)
        yield from self.compared("the processor", own, expected)
        for number, (device, variant) in enumerate(DEVICES.items()):
            for schedule in SCHEDULES if latest else SCHEDULES[number:number + 1]:
                got = self.arrays("run", self.artifact, "-i", given, "--device", "emulated", options=f"{variant},{schedule}")
                yield from self.compared(f"{device} with {schedule}", got, expected)
                if self.case.exact and any(got[name].tobytes() != own[name].tobytes() for name in own):
                    yield f"{device} with {schedule} has other bits than the processor"

    def compared(self, where, got, expected):
        if list(got) != list(expected):
            yield f"{where} has outputs {list(got)}"
            return
        for name, want in expected.items():
            if got[name].shape != want.shape or not np.isfinite(got[name]).all():
                yield f"{where}: {name} has shape {got[name].shape}, or is not finite"
                continue
            apart = np.abs(got[name] - want).max() / np.abs(want).max()
            cosine = (got[name] * want).sum() / np.sqrt((got[name] ** 2).sum() * (want ** 2).sum())
            kind = "the processor" if where == "the processor" else where.split()[0]
            self.worst[kind] = max(self.worst.get(kind, (0, 0)), (apart, 1 - cosine))
            if self.case.most and not apart <= self.case.most or self.case.cosine and not cosine >= self.case.cosine:
                yield f"{where}: {name} differs by {apart:.2g} of its scale, cosine {cosine:.6f}"


def main(program, work, name):
    case = CASES[name]
    os.makedirs(work, exist_ok=True)
    trial = Trial(os.path.abspath(program), work, case)
    wrong = []
    for number, sizes in enumerate(case.sizes):
        wrong += [f"{sizes}: {each}" for each in trial.findings(sizes, latest=number < 2)]
    for where, (apart, angle) in trial.worst.items():
        print(f"{name} on {where}: {apart:.1e} of the scale, 1 - cosine {angle:.1e}")
    for each in wrong:
        print(f"WRONG: {each}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
