//===- Together.h - What ranks compute together of their parts ---------------------------------------===//
//
//   if (auto together = dyn_cast<TogetherOpInterface>(op))
//     for (const Cut &cut : together.cutsTogether())
//       SmallVector<Value> results = together.computeTogether(builder, cut, share);
//
// A table that is cut by rows gives rows or zeros, which are summed; a line that is cut gives an extremum each, of which one is the line's;
// windows take rows of neighbours. A cut's operand dimension without a stride need not be cut where the result is.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_RANKS_TOGETHER_H
#define WEFT_DIALECTS_WEFT_RANKS_TOGETHER_H

#include "dialects/weft/Mesh.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// What a rank may ask for while its share of an operator is built.
class Share {
public:
  explicit Share(MeshAttr group) : group(group) {}
  virtual ~Share() = default;

  /// Whether every rank has all of a value, so that nothing is exchanged for it.
  virtual bool hasWhole(mlir::Value value) = 0;
  virtual mlir::Value whole(mlir::Value value) = 0;
  virtual mlir::Value part(mlir::Value value, unsigned dim) = 0;
  virtual SymTensorType partType(mlir::Value value, unsigned dim) const = 0;
  virtual SymExpr partBegin(mlir::Value value, unsigned dim) const = 0;
  /// The longest part: that of the first rank.
  virtual SymExpr longestPart(mlir::Value value, unsigned dim) const = 0;

  const MeshAttr group;
};

/// Gives operators their cuts.
void registerTogether(mlir::MLIRContext *context);
void registerIndexTogether(mlir::MLIRContext *context);
void registerOrderTogether(mlir::MLIRContext *context);
void registerWindowTogether(mlir::MLIRContext *context);

//===-- For those who build shares -----------------------------------------------------------------===//

/// A cut through one dimension of operand 0, and through the result where `to` says so.
Cut cutOfFirst(mlir::Operation *op, Cut::Dim from, std::optional<Cut::Dim> to);
/// Whether a cut goes through this dimension of operand 0.
bool isThrough(const Cut &cut, unsigned dim);
/// Sums and extremes of these elements can be exchanged.
bool isExchanged(mlir::Type element);
/// The values of all ranks in the order of their places, along a new dimension.
mlir::Value besideEachOther(mlir::ImplicitLocOpBuilder &b, mlir::Value value, unsigned dim,
                            MeshAttr group);
mlir::Value withDimOfOne(mlir::ImplicitLocOpBuilder &b, mlir::Value value, unsigned dim);
mlir::Value reshaped(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                     llvm::ArrayRef<SymExpr> dims);
/// Elements [start, start + size) along a dimension.
mlir::Value range(mlir::ImplicitLocOpBuilder &b, mlir::Value value, unsigned dim, SymExpr start,
                  SymExpr size);
/// One value before and behind.
mlir::Value widened(mlir::ImplicitLocOpBuilder &b, mlir::Value value, unsigned dim, SymExpr low,
                    SymExpr high, mlir::Value with);
/// A scalar of 64 bits that sizes give, and one of an element type.
mlir::Value sizeValue(mlir::ImplicitLocOpBuilder &b, SymExpr value);
mlir::Value zeroOf(mlir::ImplicitLocOpBuilder &b, mlir::Type element);
/// The operation with other operands, results and attributes, or null when it does not give such results.
mlir::Operation *partOf(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                        mlir::ValueRange operands, mlir::Type result,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace weft

#include "dialects/weft/TogetherInterface.h.inc"

#endif // WEFT_DIALECTS_WEFT_RANKS_TOGETHER_H
