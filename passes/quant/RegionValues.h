//===- RegionValues.h - Values of branches and loops, as values of the function -------------------===//
//
//   SmallVector<Value> whole = ofWholeCall({{least, CombinerKind::Min}, …});   // least: of each time that a loop's body runs
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_REGIONVALUES_H
#define WEFT_PASSES_QUANT_REGIONVALUES_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Of constant sizes.
struct CombinedValue {
  mlir::Value value;
  CombinerKind kind; ///< of what it is at several times
};

/// Whether an operation stands in its function, or in branches and loops of it, and in nothing else.
bool isOutsideKernels(mlir::Operation *op);

/// Each value combined over all times that a call computes it, in its function's own block: what a branch does not compute, or a loop that
/// never runs, changes nothing. What stands in none is itself.
llvm::SmallVector<mlir::Value> ofWholeCall(llvm::ArrayRef<CombinedValue> values);

} // namespace weft

#endif // WEFT_PASSES_QUANT_REGIONVALUES_H
