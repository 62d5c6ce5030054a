"""Weft: the file of `weft compile` in the runtime's shared library. WEFT_BENCH_BUILD names the build folder."""
import os
import subprocess

import numpy as np

from engines import artifact, onnx_file
from weft_runtime import Model

BUILD = os.environ["WEFT_BENCH_BUILD"]


class Engine:
    NAMES = []

    @classmethod
    def compile(cls, work, model, precision):
        weft = os.path.join(BUILD, "bin", "weft")
        more = ["--weights", "bf16"] if precision == "bf16" else []
        done = subprocess.run([weft, "compile", onnx_file(work, model, precision), "-o",
                               artifact(work, "weft", model, precision), *more], capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error:" in line] or done.stderr.splitlines()
            raise RuntimeError(lines[0].split("error:")[-1].strip() if lines else f"exit {done.returncode}")

    def __init__(self, work, model, precision, threads):
        library = os.path.join(BUILD, "runtime", "libweft_runtime.so")
        self.model = Model(library, artifact(work, "weft", model, precision), threads)

    def bind(self, feed):
        inputs = [np.ascontiguousarray(feed[name]) for name in self.model.inputs]
        return self.model.bind(inputs, self.model.allocate(inputs))

    def first(self, outputs):
        return outputs[0]
