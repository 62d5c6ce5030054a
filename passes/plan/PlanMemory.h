//===- PlanMemory.h - An order of placement for buffers of symbolic size ---------------------------===//
//
// Two storage classes conflict when their lifetimes overlap. A plan is an order: each class lies above every conflicting class placed before
// it, offset(i) = max(offset(j) + size(j)). That is right for every value of the symbols; which order is good is found with numbers.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_PLANMEMORY_H
#define WEFT_PASSES_PLAN_PLANMEMORY_H

#include "dialects/symbolic/SymFacts.h"

namespace weft {

struct StorageClass {
  SymExpr bytes;         ///< a multiple of 64, never negative
  unsigned birth, death; ///< steps, both included
  unsigned block = 0;    ///< of memory; offsets count from its begin
};

struct MemoryPlan {
  llvm::SmallVector<unsigned> order; ///< classes, first placed first
  /// For each class the conflicting classes placed before it.
  llvm::SmallVector<llvm::SmallVector<unsigned>> below;
  /// The peak is the maximum of these; none dominates another as far as it can be proved.
  llvm::SmallVector<SymExpr> peaks;
  /// Whether the maximum is what the order takes. Else there were too many sums, and it is more: what a call asks for all the same, so
  /// that the formula tells the truth.
  bool isExact = true;
};

/// Small and large values of the symbols, within the facts, at which orders are compared.
llvm::SmallVector<SymValues> sizesToTry(llvm::ArrayRef<mlir::StringAttr> symbols,
                                        const SymFacts &facts);

/// Of the classes in `block`. `symbols`: names the sizes speak of. Deterministic.
MemoryPlan planMemory(llvm::ArrayRef<StorageClass> classes, unsigned block,
                      llvm::ArrayRef<mlir::StringAttr> symbols, const SymFacts &facts,
                      mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_PASSES_PLAN_PLANMEMORY_H
