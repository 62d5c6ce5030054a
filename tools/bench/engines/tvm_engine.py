"""TVM: Relax through its ONNX importer, its CPU pipeline with the default CPU schedules of dlight, nothing tuned.

One program with symbolic dimensions where that compiles and answers, else one per case. Nothing is tuned because tuning takes
hours per model and set of sizes; TVM's CPU code without it is far from what TVM can do.
"""
import os
import shutil

import numpy as np

import cases
from engines import artifact, onnx_file, per_shape, why

ANY = "any.so"  # the program with symbolic dimensions


def build(source, target):
    import onnx
    import tvm
    from tvm.relax.backend.cpu_generic import pipeline
    from tvm.relax.frontend.onnx import from_onnx
    from tvm.s_tir import dlight
    module = from_onnx(onnx.load(source), keep_params_in_input=False)
    machine = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
    schedules = dlight.ApplyDefaultSchedule(dlight.cpu.GEMV(), dlight.cpu.Reduction())
    with machine:
        module = tvm.transform.Sequential([*pipeline.library_dispatch_passes(machine), *pipeline.legalize_passes(machine), schedules,
                                           *pipeline.dataflow_lower_passes(machine), *pipeline.finalize_passes(machine)])(module)
    tvm.compile(module, target=machine, relax_pipeline=tvm.transform.Sequential([])).export_library(target)


def load(path):
    import tvm
    from tvm import relax
    return relax.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())["main"]


def call(function, feed):
    import tvm
    values = [tvm.runtime.tensor(np.ascontiguousarray(v)) for v in feed.values()]
    return lambda: function(*values)


class Engine:
    NAMES = ["tvm"]

    @classmethod
    def compile(cls, work, model, precision):
        folder = artifact(work, "tvm", model, precision)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        program = os.path.join(folder, ANY)
        try:
            build(onnx_file(work, model, precision), program)
            call(load(program), cases.inputs(model, cases.CASES[model][0])[0])()  # some programs compile and then refuse
        except Exception as error:  # of any kind
            per_shape.build_each(folder, work, model, precision, build)
            return dict(symbolic=why(error))

    def __init__(self, work, model, precision, threads):
        self.folder = artifact(work, "tvm", model, precision)
        program = os.path.join(self.folder, ANY)
        self.STATIC = not os.path.exists(program)
        self.any = None if self.STATIC else load(program)

    def bind(self, feed):
        return call(self.any or load(per_shape.program(self.folder, feed)), feed)

    def first(self, result):
        return (result if hasattr(result, "numpy") else result[0]).numpy()
