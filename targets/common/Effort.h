//===- Effort.h - What a kernel makes a machine do --------------------------------------------------===//
//
// Two numbers over the specification's symbols, and the kind of loop that most of it is spent in: a machine's data say how many of each
// a core does in a cycle, and which share of that such loops reach.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_EFFORT_H
#define WEFT_TARGETS_COMMON_EFFORT_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/ErrorHandling.h"

namespace weft {

/// What kind of loop a schedule is.
enum class LoopKind {
  General,     ///< no products in registers
  Products,    ///< tiles of sums in registers, operands that lie packed
  Windows,     ///< the same for convolutions
  Transformed, ///< convolutions by products of transformed tiles
  Depthwise,   ///< convolutions of every channel by itself
  Attention
};
constexpr LoopKind kLoopsOfProducts[] = {LoopKind::Products, LoopKind::Windows,
                                         LoopKind::Transformed, LoopKind::Depthwise,
                                         LoopKind::Attention};

/// As data of machines name it.
inline llvm::StringRef nameOf(LoopKind kind) {
  switch (kind) {
  case LoopKind::General:
    return "general";
  case LoopKind::Products:
    return "products";
  case LoopKind::Windows:
    return "windows";
  case LoopKind::Transformed:
    return "transformed";
  case LoopKind::Depthwise:
    return "depthwise";
  case LoopKind::Attention:
    return "attention";
  }
  llvm_unreachable("all kinds are above");
}

struct KernelEffort {
  SymExpr multiplyAdds; ///< of numbers, that are carried out
  SymExpr operations;   ///< the arithmetic besides, as operators count it
};

/// By the operators' rules: what sums products of two operands multiplies and adds once per point.
KernelEffort effortByRules(mlir::func::FuncOp specification);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_EFFORT_H
