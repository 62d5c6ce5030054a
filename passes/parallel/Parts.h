//===- Parts.h - The whole of a value and a rank's parts of it ------------------------------------------===//
//
//   Parts parts(group, assignment);
//   parts.holdPart(made, 1, op->getResult(0));        // `made` in place of the rank's part along dimension 1
//   Value whole = parts.whole(value, reader);         // gathered behind where the part is made, once
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_PARTS_H
#define WEFT_PASSES_PARALLEL_PARTS_H

#include "passes/parallel/Assignment.h"

namespace weft {

/// An operation as the user knows it.
std::string nameOf(mlir::Operation *op);

class Parts {
public:
  /// `group`: the ranks along one axis.
  Parts(MeshAttr group, const Assignment &assignment) : group(group), assignment(assignment) {}

  /// What a reader needs of a value of the program before it was split.
  mlir::Value whole(mlir::Value value, mlir::Operation *reader);
  mlir::Value part(mlir::Value value, unsigned dim, mlir::Operation *reader);
  /// The type of that part, where it begins, and how long the first rank's is.
  SymTensorType partType(mlir::Value value, unsigned dim) const;
  SymExpr beginOf(mlir::Value value, unsigned dim) const;
  SymExpr longestOf(mlir::Value value, unsigned dim) const;
  /// How long parts are that are cut into some pieces of one length, each.
  SymExpr pieceOf(mlir::Value value, unsigned dim, int64_t pieces) const;
  bool hasWhole(mlir::Value value) { return bool(heldFor(value).whole); }

  /// What stands for a value from now on.
  void holdWhole(mlir::Value value, mlir::Value made);
  void holdPart(mlir::Value value, unsigned dim, mlir::Value made);
  /// Who needs the whole of a value takes it from where it was, besides parts that there are.
  void keepWhole(mlir::Value value) { heldFor(value).whole = value; }
  /// `made` and that of all ranks combine to the value.
  void holdPartial(mlir::Value value, Combiner combiner, mlir::Value made);
  /// The rank has a part and nothing else, or the whole, as a placement says.
  void holdAs(mlir::Value value, Wish wish);

  /// Why there is a collective.
  void explain(mlir::Operation *exchange, const llvm::Twine &reason);
  unsigned exchanges = 0; ///< that were made

private:
  struct Held {
    mlir::Value whole;
    std::optional<unsigned> made; ///< the dimension of the part that was made first
    llvm::DenseMap<unsigned, mlir::Value> parts;
  };
  Held &heldFor(mlir::Value value);
  /// What a dimension is cut into.
  struct Units {
    SymExpr count, unit; ///< how many, and the elements of one
  };
  Units unitsOf(mlir::Value value, unsigned dim) const;
  mlir::Value slice(mlir::Value value, unsigned dim, mlir::Value whole);
  mlir::Value apart(mlir::OpBuilder &builder, mlir::Value value, mlir::Value made,
                    llvm::ArrayRef<unsigned> dims);
  mlir::Value together(mlir::OpBuilder &builder, mlir::Value exchanged, SymTensorType type);
  unsigned apartDim(mlir::Value value, unsigned dim, llvm::ArrayRef<unsigned> dims) const;
  MeshAttr group;
  const Assignment &assignment;
  llvm::DenseMap<mlir::Value, Held> held;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_PARTS_H
