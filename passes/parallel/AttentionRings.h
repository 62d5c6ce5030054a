//===- AttentionRings.h - Attention over tokens that ranks have parts of, without gathering keys ----------===//
//
//   AttentionRings rings(function, group, assignment, parts);
//   if (rings.owns(op)) …                              // nobody else needs it: it is computed block by block
//   if (Value made = rings.buildAt(op)) …              // the rank's rows of what the last product gives
//
// Softmax over lines of keys between a product that gives scores and one that sums values. Every rank has some rows of queries and a
// block of keys and values; blocks go once around, and of each a rank computes the largest score, the sum of powers and the product, and
// merges them with those it has. Where that hides more of what is on its way, heads are computed in shares (RingShares.h).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_ATTENTIONRINGS_H
#define WEFT_PASSES_PARALLEL_ATTENTIONRINGS_H

#include "dialects/weft/Weft.h"
#include "passes/parallel/Blocks.h"
#include "passes/parallel/RingShares.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

/// What stands around a softmax.
struct Attention {
  mlir::Value scores; ///< that the softmax reads
  mlir::Value result; ///< of the product that sums values
  unsigned powers;    ///< the product's operand that the softmax gives
  mlir::Type element; ///< of that operand
  bool isGuarded;     ///< lines that are not numbers count as zeros
  unsigned row;       ///< the dimension of the scores that ranks have parts of
  Spans valueSpans;   ///< of the product's other operand
  /// By dimension of the scores: where the values have it.
  llvm::SmallVector<std::optional<unsigned>> valueDims;
  std::optional<unsigned> shared; ///< the dimension of the scores along which heads are shared
  llvm::SmallVector<unsigned>
      rowDims; ///< where dimensions of the scores but the last are in the result
  llvm::SmallVector<mlir::Operation *> between; ///< from the softmax to the product
};

class AttentionRings {
public:
  AttentionRings(mlir::func::FuncOp function, MeshAttr group, const Assignment &assignment,
                 Parts &parts, const RingShares &shares);

  bool owns(mlir::Operation *op) const { return owned.contains(op); }
  /// Null where no attention ends.
  mlir::Value buildAt(mlir::Operation *op);

private:
  std::optional<Attention> attentionOf(SoftmaxOp softmax) const;
  bool bindProduct(Attention &found) const;
  bool isWanted(const Attention &found, const Blocks &blocks) const;
  void findOwned(mlir::Block &body);
  bool areWanted(const Attention &found, Blocks &blocks) const;
  RingShape shapeOf(const Attention &found, const Blocks &blocks) const;
  void share(Attention &found, std::unique_ptr<Blocks> &blocks) const;

  struct Ring {
    Attention attention;
    std::unique_ptr<Blocks> blocks;
  };
  mlir::func::FuncOp function;
  MeshAttr group;
  const Assignment &assignment;
  Parts &parts;
  const RingShares &shares;
  llvm::MapVector<mlir::Operation *, Ring> rings; ///< by the product
  llvm::DenseSet<mlir::Operation *> owned;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_ATTENTIONRINGS_H
