//===- CompiledModel.h - A model compiled aside and called ------------------------------------===//
//
//   Result<TemporaryFolder> folder = TemporaryFolder::create();
//   Result<std::string> path = compileAside(module, compileOptions, *folder);
//   Result<CalledModel> called = callArtifact(*path, "main", inputs, guard);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H
#define WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H

#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/TemporaryFolder.h"
#include "tools/weft/cli/TensorFile.h"
#include "weft/compiler.hpp"

namespace weft::cli {

struct CalledModel {
  std::string target; ///< "x86:v4"
  std::vector<NamedTensor> outputs;
};

/// Compiles into the folder, whatever the options' output path, and gives the artifact's. Ctrl-C ends it.
Result<std::string> compileAside(const Module &module, CompileOptions options,
                                 const TemporaryFolder &folder);

/// One call; `guard` cancels it. Kernels run on `device`; empty: where the artifact's do by themselves. The outputs keep what they need alive.
Result<CalledModel> callArtifact(const std::string &path, const std::string &function,
                                 const Inputs &inputs, InterruptGuard &guard,
                                 const std::string &device = "");

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H
