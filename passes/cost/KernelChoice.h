//===- KernelChoice.h - What passes ask of a target about a kernel ------------------------------------===//
//
//   std::optional<KernelChoice> choice = chooser.choose(specification);      // nothing: the target cannot compute it
//
// Declared below the targets, so that a pass can ask while it decides; targets, with the records of what was measured, answer.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_COST_KERNELCHOICE_H
#define WEFT_PASSES_COST_KERNELCHOICE_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace weft {

/// Of a specification: what a record picked.
constexpr llvm::StringLiteral kPicksAttr = "weft.picks";

/// How a kernel is started, and how it wants its operands; expressions over the specification's symbols.
struct KernelChoice {
  std::string schedule;
  SymExpr units, grain, scratch;
  llvm::SmallVector<std::string> layouts;    ///< of arguments; empty text for row-major
  std::map<std::string, int64_t> picks = {}; ///< sizes that a record chose, by name
};

class KernelChooser {
public:
  virtual ~KernelChooser() = default;
  /// What the target is called: the first word of every kernel's identity.
  virtual std::string target() const = 0;
  /// Sets the specification's picks where records have some, and says how it is computed; nothing when the target has no way.
  virtual std::optional<KernelChoice> choose(mlir::func::FuncOp specification) const = 0;
};

} // namespace weft

#endif // WEFT_PASSES_COST_KERNELCHOICE_H
