//===- Assignment.h - Along which factor every operation is cut ---------------------------------------===//
//
//   Assignment assignment(function, axis);
//   if (const Cut *cut = assignment.cutOf(op)) …      // null: every rank computes all of it
//
// A cut by a factor is one by a dimension of each operand and result. Placements and what is cut already vote with their bytes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_ASSIGNMENT_H
#define WEFT_PASSES_PARALLEL_ASSIGNMENT_H

#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// What was said of a value; null for nothing.
PlacementAttr placementOf(mlir::Value value);

/// Of a value, for comparing it with others: symbols are taken for one number.
double guessedBytes(mlir::Value value);

/// A dimension of the result that no operand has: every rank can have as much of it as it likes.
bool isRepeated(mlir::Operation *op, unsigned dim);

/// What a placement says of one axis.
struct Wish {
  bool isOpen = true;          ///< nothing
  std::optional<unsigned> dim; ///< which is split; else none is
};
Wish wishFor(mlir::Value value, mlir::StringAttr axis);

class Assignment {
public:
  Assignment(mlir::func::FuncOp function, mlir::StringAttr axis);

  const Cut *cutOf(mlir::Operation *op) const;
  /// All that it could be.
  llvm::ArrayRef<Cut> cutsOf(mlir::Operation *op) const;
  /// How many neighbours along a dimension stay together, as heads do that lie behind each other.
  SymExpr unitOf(mlir::Value value, unsigned dim) const;
  /// The dimension of which all who read a value want the rank's part.
  std::optional<unsigned> wantedBy(mlir::Value value) const;

private:
  using Choices = llvm::SmallVector<Cut, 4>;

  bool leavesRanksIdle(mlir::Operation *op, const Cut &cut) const;
  void findUnits();
  bool join(mlir::Operation *op, const Cut &cut);
  SymExpr stepOf(mlir::Operation *op, const Cut &cut) const;
  bool isUsable(mlir::Operation *op, const Cut &cut) const;
  void spreadForward();
  void spreadBackward();
  double scoreOf(mlir::Operation *op, const Cut &cut) const;
  void choose(mlir::Operation *op, const Cut &cut);

  mlir::StringAttr axis;
  int64_t ranks;
  std::vector<std::pair<mlir::Operation *, Choices>> choices;
  llvm::DenseMap<mlir::Operation *, unsigned> places; ///< in `choices`
  llvm::DenseMap<mlir::Operation *, Cut> chosen;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, SymExpr> units;
  llvm::DenseMap<mlir::Value, unsigned> split; ///< values, and the dimension that they are cut by
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_ASSIGNMENT_H
