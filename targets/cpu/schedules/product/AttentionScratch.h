//===- AttentionScratch.h - What attention lays into scratch, and how --------------------------===//
//
// In f32: keys [n / C][d][C], scores of a tile [n / C][rows][C], a number for each of its rows, then
// copies of V [n][e] and of a tile's Q [rows][d] where these cannot be read in place, rows padded to
// whole vectors. C are two vectors.
//
// Where the machine multiplies pairs of bf16, a pair takes the place of an f32: it has two depths
// of a key or query, two rows of V or two columns of the weights. So there are half as many, and
// the loops that multiply are the same. A unit for tiles takes them, too: depths, and rows of V, are
// whole tiles then, with zeros behind the last.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONSCRATCH_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONSCRATCH_H

#include "targets/common/match/AttentionShape.h"
#include "targets/cpu/machine/TileUnit.h"
#include "targets/cpu/schedules/tile/RowTile.h"

namespace weft {

class AttentionScratch {
public:
  /// `tiles`: for a unit that multiplies tiles of pairs.
  AttentionScratch(const AttentionShape &shape, const VectorMachine &machine, bool tiles = false);
  const bool tiles;

  const bool scorePairs, mixPairs; ///< whether Q K^T and weights * V are summed by pairs
  const int64_t rows;              ///< of a tile, at most
  const int64_t depth;             ///< of Q and K, in f32 or pairs
  const int64_t columns;           ///< of a panel
  SymExpr panels, size;            ///< of keys; of all, in elements of 4 bytes

  /// Keys of one unit. Columns beyond n repeat the last row.
  void packKeys(KernelContext &c, llvm::ArrayRef<mlir::Value> batch) const;
  /// V of one unit, if it is not read in place.
  void copyValues(KernelContext &c, llvm::ArrayRef<mlir::Value> batch) const;
  /// `count` rows of Q from `first` on, if they are not read in place.
  void copyQueries(KernelContext &c, llvm::ArrayRef<mlir::Value> batch, mlir::Value first,
                   mlir::Value count) const;
  /// The lines of the `count` rows behind these, if they are read in place.
  void fetchQueries(KernelContext &c, llvm::ArrayRef<mlir::Value> batch, mlir::Value first,
                    int64_t count) const;

  mlir::Value scoresAt(KernelContext &c) const;
  mlir::Value numbersAt(KernelContext &c) const;
  /// What sums the scores of a panel, for rows from `first` on.
  TileSource scoreSource(KernelContext &c, llvm::ArrayRef<mlir::Value> batch, mlir::Value first,
                         mlir::Value panel) const;
  /// Where column `column` of V begins, and how far its rows lie apart, in f32 or pairs.
  mlir::Value valuesAt(KernelContext &c, llvm::ArrayRef<mlir::Value> batch, int64_t column) const;
  mlir::Value valueStride(KernelContext &c) const;

  /// With pairs: weights of one vector of a panel, whose row begins at `row`. With tiles, those of
  /// columns that are not `inside` are zero.
  void storeWeights(KernelContext &c, llvm::ArrayRef<IndexValue> index, mlir::Value row,
                    int64_t vector, mlir::Value inside) const;
  /// With pairs: a weight that has no row of V beside the last one's becomes zero.
  void endWeights(KernelContext &c, llvm::function_ref<mlir::Value(mlir::Value panel)> rowAt) const;

  /// Whether a product's operands are bf16.
  static bool multipliesHalves(ContractOp op);

private:
  SymExpr valueLines() const;
  mlir::Value at(KernelContext &c, SymExpr offset) const;
  mlir::Value inPlace(KernelContext &c, const AttentionOperand &operand,
                      llvm::ArrayRef<mlir::Value> batch, mlir::Value row) const;
  mlir::Value wordsOf(KernelContext &c, llvm::ArrayRef<mlir::Value> batch, mlir::Value row,
                      mlir::Value column, bool whole) const;

  const AttentionShape &s;
  SymExpr scores, numbers, values, queries; ///< where they begin
  bool copiesValues, copiesQueries;
  int64_t copiedStride, queryStride; ///< of rows of V and Q
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONSCRATCH_H
