"""TVM: Relax through its ONNX importer, the default LLVM pipeline without tuning, symbolic dimensions."""
import os

import numpy as np

from engines import artifact, onnx_file


class Engine:
    NAMES = ["tvm"]

    @classmethod
    def compile(cls, work, model, precision):
        import onnx
        import tvm
        from tvm.relax.frontend.onnx import from_onnx
        module = from_onnx(onnx.load(onnx_file(work, model, precision)), keep_params_in_input=False)
        target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
        tvm.compile(module, target=target).export_library(artifact(work, "tvm", model, precision))

    def __init__(self, work, model, precision, threads):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import tvm
        from tvm import relax
        self.tvm = tvm
        module = tvm.runtime.load_module(artifact(work, "tvm", model, precision))
        self.machine = relax.VirtualMachine(module, tvm.cpu())

    def bind(self, feed):
        values = [self.tvm.runtime.tensor(np.ascontiguousarray(v)) for v in feed.values()]
        main = self.machine["main"]
        return lambda: main(*values)

    def first(self, result):
        return (result if hasattr(result, "numpy") else result[0]).numpy()
