//===- Picks.h - What a kernel's code leaves to be chosen, and what was -----------------------------===//
//
//   int64_t rows = pick(spec, "rows", 14);       // a schedule: 14, unless the specification says otherwise
//
// Sizes of tiles and blocks that are right for every shape, and best for none in particular, are choices. A specification carries picks as
// an attribute, `weft.picks = {rows = 7}`: they are part of its text, and so of the kernel's identity. Without it everything is as
// the schedules estimate.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_PICKS_H
#define WEFT_TARGETS_COMMON_PICKS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace mlir {
class Operation;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace weft {

/// Results are the same with every candidate, but for the rounding of their own sums.
struct Choice {
  std::string name;                ///< lower-case letters
  std::vector<int64_t> candidates; ///< the estimate first
  int64_t estimate;                ///< what is taken when nobody picks
};

/// Adds a choice between the estimate and others to the list, unless there is nothing to choose: candidates for which `effect` gives one
/// number lead to the same code, and the first of them stays.
void offer(std::vector<Choice> &list, llvm::StringRef name, llvm::ArrayRef<int64_t> others,
           int64_t estimate, llvm::function_ref<int64_t(int64_t candidate)> effect);

struct Picks {
  std::string schedule; ///< empty: the first that takes the kernel
  std::map<std::string, int64_t> values;
  bool empty() const { return schedule.empty() && values.empty(); }
  bool operator==(const Picks &other) const {
    return schedule == other.schedule && values == other.values;
  }
};

/// The pick of the specification that `op` is, or lies in.
int64_t pick(mlir::Operation *op, llvm::StringRef choice, int64_t estimate);

Picks picksOf(mlir::func::FuncOp specification);
/// Empty picks leave nothing behind.
void setPicks(mlir::func::FuncOp specification, const Picks &picks);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_PICKS_H
