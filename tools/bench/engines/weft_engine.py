"""Weft: the file of `weft compile` in the runtime's shared library. WEFT_BENCH_BUILD names the build folder."""
import json
import os
import subprocess
import tempfile
import time

import numpy as np

import cases
from engines import artifact, onnx_file
from weft_runtime import Model

BUILD = os.environ["WEFT_BENCH_BUILD"]
WEFT = os.path.join(BUILD, "bin", "weft")
IN_PLACE = {"llama160m"}  # caches grow where they lie, as in llama.cpp
OPTIONS = {"bf16": ["--weights", "bf16"], "half": ["--compute", "bf16"],
           "half_stored": ["--compute", "bf16,storage"]}
QUANTISED = {"quantised": [], "small": ["--budget", "size<=0.29x"]}  # of `weft quantize`
PRODUCTS = "512x768x768,1x4096x4096"  # of `weft bench --kernels`: one is limited by each peak


def say(*arguments):
    return json.loads(subprocess.run([WEFT, *arguments, "--json", "-q"], stdout=subprocess.PIPE, check=True).stdout)


def sizes(function, feed):
    """What --at takes for a call: the symbols' sizes."""
    symbols = {symbol["name"] for symbol in function["symbols"]}
    found = {dim: size for value in function["inputs"] for dim, size in zip(value["dims"], feed[value["name"]].shape) if dim in symbols}
    return ",".join(f"{name}={size}" for name, size in found.items())


class Engine:
    NAMES = []

    @classmethod
    def compile(cls, work, model, precision):
        more = OPTIONS.get(precision, []) + (["--in-place"] if model in IN_PLACE else [])
        path = artifact(work, "weft", model, precision)
        verb = ["compile"]
        if precision in QUANTISED:
            verb = ["quantize", "--calibration", os.path.join(work, "models", model + ".calls"), "--budget", cases.BUDGETS.get(model, cases.BUDGET)]
            more = QUANTISED[precision] + cases.QUANTISE.get(model, [])
        done = subprocess.run([WEFT, *verb, onnx_file(work, model, precision), "-o", path, *more], capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error:" in line] or done.stderr.splitlines()
            raise RuntimeError(lines[0].split("error:")[-1].strip() if lines else f"exit {done.returncode}")
        return dict(code_mb=round(say("inspect", path)["image_bytes"] / 1e6, 2))

    @classmethod
    def start(cls, work, model, precision, case):
        """`weft run` from its start to its end: inputs come from a file, the answer goes to another."""
        with tempfile.TemporaryDirectory() as folder:
            given, made = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            feed = cases.inputs(model, case, precision)[0]
            np.savez(given, **{name: array.view("u2") if array.dtype.name == "bfloat16" else array for name, array in feed.items()})
            begin = time.perf_counter()
            process = subprocess.Popen([WEFT, "run", artifact(work, "weft", model, precision), "--input", "@" + given, "-o", made,
                                        "--threads", "1", "-q"])
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin
            if status:
                raise RuntimeError("'weft run' fails")
            with np.load(made) as file:
                got = file[file.files[0]].view(cases.FLOATS.get(precision, "float32"))
        if not cases.judge(got, cases.references(os.path.join(work, "models"), model, case)[0], model, precision)["right"]:
            raise RuntimeError("the answer of 'weft run' is wrong")
        return dict(start_s=round(seconds, 5), start_cpu_s=round(usage.ru_utime + usage.ru_stime, 5))

    def __init__(self, work, model, precision, threads):
        self.path = artifact(work, "weft", model, precision)
        self.model = Model(os.path.join(BUILD, "runtime", "libweft_runtime.so"), self.path, threads)

    def bind(self, feed):
        inputs = [np.ascontiguousarray(feed[name]) for name in self.model.inputs]
        if self.model.in_place:
            i, _, dim = self.model.in_place[0]
            inputs = self.model.with_room(inputs, inputs[i].shape[dim] + feed["input_ids"].shape[1])
        return self.model.bind(inputs, self.model.allocate(inputs))

    def first(self, outputs):
        return outputs[0]

    def peaks(self):
        """What one core can do now: operations, and bytes read, per second."""
        return {row["limit"]: row["peak"] for row in say("bench", "--kernels", PRODUCTS, "--rounds", "7")["rows"]}

    def cost(self, feeds):
        """What a pass over the feeds cannot do without, and the peak that limits it: for single tokens, reading the weights."""
        about = say("inspect", self.path)
        if all(feed.get("input_ids", np.empty(0)).size == 1 for feed in feeds):
            return dict(limit="read", amount=about["weight_bytes"] * len(feeds))
        at = [sizes(about["functions"][0], feed) for feed in feeds]
        flops = {text: say("inspect", self.path, "--at", text)["functions"][0]["cost"]["flops"] for text in dict.fromkeys(at)}
        return dict(limit="multiply", amount=sum(flops[text] for text in at))
