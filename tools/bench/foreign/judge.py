"""One engine with one file of a model, in a process of its own: turns.py asks. Weft compiles it first.

    python judge.py ENGINE MODEL FORM WORK
score: the least cosine of its answers to those of ONNX Runtime without optimisations; time: the first call.
"""
import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np
import onnxruntime

import accuracy
import engines
import turns

JUDGED = 4


def plain_answers(path, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    return [session.run(None, feed)[0] for feed in feeds]


class Judge:
    def __init__(self, name, model, form, work):
        engine = engines.load(name)
        if engine.compile:
            engine.compile(work, model, form)
        self.engine, self.model, self.path = engine(work, model, form, 1), model, engines.onnx_file(work, model, form)
        paths = sorted(glob.glob(os.path.join(work, "models", model + ".calls", "*.npz")))
        self.feeds = [dict(np.load(path)) for path in paths[:JUDGED]]
        self.call = self.engine.bind(self.feeds[0])

    def score(self):
        got = [self.engine.first(self.engine.bind(feed)()) for feed in self.feeds]
        lines = [[accuracy.line(self.model, answer) for answer in answers] for answers in (got, plain_answers(self.path, self.feeds))]
        return accuracy.of(self.model, *lines)["worst"]


if __name__ == "__main__":
    turns.serve(lambda: Judge(*sys.argv[1:]))
