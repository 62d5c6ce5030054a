//===- Reducible.h - The kinds of model that can be made smaller ------------------------------===//
//
// A kind is read in a child first: what crashes or hangs a reader must not take the reducer along.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_REDUCE_REDUCIBLE_H
#define WEFT_TOOLS_WEFT_REDUCE_REDUCIBLE_H

#include "compiler/reduce/ReduceModule.h"
#include "compiler/reduce/ReduceOnnx.h"
#include "tools/weft/cli/Child.h"
#include "tools/weft/cli/Result.h"

#include <set>

namespace weft::cli {

/// What a search needs to know of a kind of model.
template <typename Model> struct Reducible {
  Model model;
  std::vector<Reduction<Model>> reductions;
  const char *extension; ///< ".onnx"
  const char *parts;     ///< "nodes"
  std::function<size_t(const Model &)> count;
  std::function<llvm::Error(const Model &, const std::string &path)> write;
  /// The inputs that --constant may speak of.
  std::function<std::set<std::string>(const Model &)> constants;
};

/// Runs work in a child, as runChild does.
using Isolate = std::function<ChildEnd(const std::function<int(int report)> &work)>;

/// `constants` as `weft verify` would import the model with.
Result<Reducible<OnnxDraft>> reducibleOnnx(const std::string &path, const ImportOptions &import,
                                           const Isolate &isolate);
/// Text, or a checkpoint folder as the program it imports to.
Result<Reducible<Module>> reducibleProgram(const std::string &path, const Limits &limits,
                                           const Isolate &isolate);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_REDUCE_REDUCIBLE_H
