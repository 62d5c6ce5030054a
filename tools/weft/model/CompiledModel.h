//===- CompiledModel.h - A model compiled aside and called ------------------------------------===//
//
//   Result<TemporaryFolder> folder = TemporaryFolder::create();
//   Result<std::string> path = compileAside(module, compileOptions, *folder);
//   Result<CalledModel> called = callArtifact(*path, "main", inputs, guard, {});
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H
#define WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H

#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/TemporaryFolder.h"
#include "tools/weft/cli/TensorFile.h"
#include "weft/compiler.hpp"

namespace weft::cli {

/// Who computes.
struct Caller {
  std::string device = {};       ///< empty: where the artifact's kernels run by themselves
  LocalRanks ranks = {"shm", 0}; ///< of a file for several numbers of them; 0: the fewest
  bool ranksMustAgree = true;    ///< else what is not in parts is rank 0's
};

struct CalledModel {
  std::string target; ///< "x86:v4"
  std::string mesh;   ///< "tp = 2"; empty: one rank called
  std::vector<NamedTensor> outputs;
};

/// Compiles into the folder, whatever the options' output path, and gives the artifact's. Ctrl-C ends it.
Result<std::string> compileAside(const Module &module, CompileOptions options,
                                 const TemporaryFolder &folder);

/// One call, by as many local ranks as the function is for; `guard` cancels it. Inputs and outputs are whole. The outputs keep what they need alive.
Result<CalledModel> callArtifact(const std::string &path, const std::string &function,
                                 const Inputs &inputs, InterruptGuard &guard, const Caller &caller);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_MODEL_COMPILEDMODEL_H
