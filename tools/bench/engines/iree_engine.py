"""IREE's llvm-cpu for this machine, one program with symbolic dimensions, at the highest level that compiles the model."""
import os
import subprocess
import sys

import numpy as np

from engines import artifact, onnx_file

BASE = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host"]
LEVELS = [["--iree-opt-level=O3", "--iree-opt-data-tiling"],
          ["--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=524288"], []]


def tool(name, *arguments):
    """Runs one of the package's programs; what it complains of first becomes the error."""
    done = subprocess.run([os.path.join(os.path.dirname(sys.executable), name), *arguments], capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        told = [line.split("error:", 1)[1].strip() for line in lines if "error:" in line] or lines[-1:]
        raise RuntimeError(told[0] if told else f"{name} ends with {done.returncode}")


def build(source, target):
    """Compiles an ONNX file; returns the flags that it took."""
    program, reasons = target + ".mlir", []
    try:
        tool("iree-import-onnx", source, "-o", program)
        for level in LEVELS:
            try:
                tool("iree-compile", program, "-o", target, *BASE, *level)
                return dict(flags=" ".join(BASE + level))
            except RuntimeError as error:
                reasons.append(str(error))
    finally:
        if os.path.exists(program):
            os.remove(program)
    raise RuntimeError("; ".join(dict.fromkeys(reasons)))


class Engine:
    NAMES = ["iree.runtime"]

    @classmethod
    def compile(cls, work, model, precision):
        return build(onnx_file(work, model, precision), artifact(work, "iree", model, precision))

    def __init__(self, work, model, precision, threads):
        import iree.runtime
        self.library = iree.runtime
        if threads > 1:
            iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
        self.open(work, model, precision)

    def open(self, work, model, precision):
        self.function = self.load(artifact(work, "iree", model, precision))

    def load(self, path):
        module = self.library.VmModule.mmap(self.config.vm_instance, path)
        context = self.library.SystemContext(vm_modules=[module], config=self.config)
        name = next(n for n in module.function_names if not n.startswith("__") and not n.endswith("$async"))
        return getattr(getattr(context.modules, module.name), name)

    def bind(self, feed):
        values = [self.library.asdevicearray(self.config.device, np.ascontiguousarray(v)) for v in feed.values()]
        function = self.function
        return lambda: function(*values)

    def first(self, result):
        return (result[0] if isinstance(result, (tuple, list)) else result).to_host()
