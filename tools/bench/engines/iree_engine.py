"""IREE's llvm-cpu for this machine, one artifact with dynamic dimensions, at the highest level that compiles the model."""
import os
import subprocess
import sys

import numpy as np

from engines import artifact, onnx_file

BASE = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host"]
LEVELS = [["--iree-opt-level=O3", "--iree-opt-data-tiling"],
          ["--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=524288"], []]


class Engine:
    NAMES = ["iree.runtime"]

    @classmethod
    def compile(cls, work, model, precision):
        tools, path, errors = os.path.dirname(sys.executable), artifact(work, "iree", model, precision), []
        program = path + ".mlir"
        subprocess.run([os.path.join(tools, "iree-import-onnx"), onnx_file(work, model, precision), "-o", program],
                       check=True, capture_output=True)
        for level in LEVELS:
            done = subprocess.run([os.path.join(tools, "iree-compile"), program, "-o", path, *BASE, *level],
                                  capture_output=True, text=True, errors="replace")
            if not done.returncode:
                return os.remove(program)
            errors += [line.split("error:")[1].strip() for line in done.stderr.splitlines() if "error:" in line][:1]
        raise RuntimeError("; ".join(errors))

    def __init__(self, work, model, precision, threads):
        import iree.runtime
        self.library = iree.runtime
        if threads > 1:
            iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
        module = iree.runtime.VmModule.mmap(self.config.vm_instance, artifact(work, "iree", model, precision))
        self.context = iree.runtime.SystemContext(vm_modules=[module], config=self.config)
        name = next(n for n in module.function_names if not n.startswith("__") and not n.endswith("$async"))
        self.function = getattr(getattr(self.context.modules, module.name), name)

    def bind(self, feed):
        values = [self.library.asdevicearray(self.config.device, np.ascontiguousarray(v)) for v in feed.values()]
        return lambda: self.function(*values)

    def first(self, result):
        return (result[0] if isinstance(result, (tuple, list)) else result).to_host()
