//===- RankVariance.h - What may differ between ranks ---------------------------------------------===//
//
//   RankVariance variance(function, axis);
//   if (variance.mayDiffer(condition)) …                     // ranks along the axis may go other ways
//
// Everything follows from where a rank stands: sizes and offsets that name it, and parts that collectives give. What is computed of
// such values may differ, too, until a collective gives all ranks the same.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_RANKVARIANCE_H
#define WEFT_DIALECTS_WEFT_RANKVARIANCE_H

#include "dialects/weft/Mesh.h"

namespace weft {

class RankVariance {
public:
  /// `inside`: an operation of the function.
  RankVariance(mlir::Operation *inside, mlir::StringAttr axis);

  bool mayDiffer(mlir::Value value);
  bool mayDiffer(SymExpr expr);
  /// Whether ranks may enter the regions of an operation in other ways: a branch, or how often a loop turns.
  bool mayEnterDifferently(mlir::Operation *op);

private:
  mlir::Operation *binderOf(mlir::StringAttr name);
  bool ofOperation(mlir::Operation *op);
  bool ofRegions(mlir::Operation *op);

  mlir::StringAttr axis, symbol;
  mlir::Operation *function;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> binders; ///< of symbols that data decide
  llvm::DenseSet<mlir::Value> visited; ///< what led to no difference, or is being asked
  llvm::DenseSet<mlir::StringAttr> visitedSymbols;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_RANKVARIANCE_H
