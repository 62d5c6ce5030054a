//===- AttentionShape.h - What the attention schedule knows of a kernel ------------------------------===//
//
//   out[b, m, e] = sum over n of after(softmax over n (before(sum over d of Q[b, m, d] * K[b, n, d]))) * V[b, n, e]
//
// `before` is whatever elementwise operators stand there: scale, mask, bias. `after` is mostly nothing.
//
//   if (auto shape = AttentionShape::match(spec)) … shape->k.index(batch, row, column) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_ATTENTIONSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_ATTENTIONSHAPE_H

#include "targets/common/ElementEmitter.h"
#include "targets/common/match/Match.h"

namespace weft {

/// Positions of a tensor's dimensions: batch factors, and the two others.
struct AttentionOperand {
  mlir::Value tensor;                ///< argument of the specification, or a view of arguments
  llvm::SmallVector<unsigned> batch; ///< dimension of each batch factor
  unsigned row, column;              ///< dimension of (m, d), (n, d), (n, e) or (m, e)

  SymTensorType type() const { return llvm::cast<SymTensorType>(tensor.getType()); }
  llvm::SmallVector<IndexValue> index(llvm::ArrayRef<mlir::Value> batch, IndexValue row,
                                      IndexValue column) const;
  /// What it is a contiguous slice of, or itself; and the place there of an index.
  mlir::Value stored() const;
  llvm::SmallVector<IndexValue> storedIndex(ElementEmitter &emitter,
                                            llvm::ArrayRef<IndexValue> index) const;
  /// Whether its rows can be read where they are: in memory, contiguous along `column`.
  bool isInPlace() const;
  /// Elements from one row to the next.
  SymExpr rowStride() const;
};

struct AttentionShape {
  mutable ContractOp scores, mix; ///< handles; their methods are not const
  mutable SoftmaxOp softmax;
  mlir::Value weights; ///< what `mix` reads: the softmax, or elements computed from its elements
  AttentionOperand q, k, v, out, line; ///< line: the softmax's (m, n)
  llvm::SmallVector<SymExpr> batch;
  SymExpr m, n;
  int64_t d, e;

  /// Combinations of the batch factors.
  SymExpr units() const;
  /// The combination of batch factors that a unit is; the last of the factors is innermost.
  llvm::SmallVector<mlir::Value> batchOf(ElementEmitter &emitter, mlir::Value unit) const;
  /// The operators of a specification, when they have the form above.
  static Match<AttentionShape> match(mlir::func::FuncOp spec);
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_ATTENTIONSHAPE_H
