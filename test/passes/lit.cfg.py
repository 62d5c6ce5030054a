# Text tests of passes: RUN lines with weft-opt and FileCheck. The build writes lit.site.cfg.py, which names the tools and loads this.
import lit.formats

config.name = "weft-passes"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = config.weft_source_root
config.test_exec_root = config.weft_build_root
config.substitutions.append(("weft-opt", config.weft_bin + "/weft-opt"))
config.substitutions.append(("FileCheck", config.llvm_bin + "/FileCheck"))
