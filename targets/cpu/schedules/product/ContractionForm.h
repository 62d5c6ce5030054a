//===- ContractionForm.h - How rows and a packed weight are multiplied -------------------------------===//
//
// What `contraction` decides before it emits anything: panels, whether pairs of bf16 are multiplied as they lie, and what is widened where:
// rows in scratch, weights in registers, a chunk at a time or a panel once for all tiles of rows (WidenedPanels.h).
//
//   ContractionForm s = ContractionForm::of(spec, machine);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_CONTRACTIONFORM_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_CONTRACTIONFORM_H

#include "targets/cpu/schedules/product/PackedContraction.h"

namespace weft {

constexpr int64_t kPageBytes = 4096; ///< rows so far apart meet in one set of the first-level cache

struct ContractionForm : PackedContraction {
  bool pairs;               ///< of bf16 are multiplied as they lie, a row's and a weight's
  int64_t vectors, columns; ///< of a panel
  int64_t scaledChunk = 0;  ///< of weights that are scaled before they are multiplied

  static ContractionForm of(mlir::func::FuncOp spec, const VectorMachine &machine);
  /// Of the arguments that are packed.
  llvm::SmallVector<WeightLayout> layouts(mlir::func::FuncOp spec) const;
  /// Rows that the panels of such an argument have in memory, where it may have only some of them.
  int64_t storedDepth(mlir::func::FuncOp spec, unsigned argument) const;
  /// Bytes from one panel of the weight to the next.
  int64_t panelDistance(mlir::func::FuncOp spec) const;
  /// Times that something is multiplied along a row.
  int64_t steps() const { return pairs ? mostK / 2 : mostK; }
  /// Products of one chain of sums.
  int64_t chunk() const;

  /// Whether a tile's rows are multiplied in scratch, as f32.
  bool laysRows() const { return roundedBlock != 0 || (isHalf(element) && !pairs); }
  /// Between rows as they are multiplied, in elements. Those laid in scratch do not meet in the
  /// first-level cache. 0 where k is a symbol.
  int64_t rowStride() const;
  int64_t rowBytes() const { return rowStride() * (pairs ? 2 : 4); }
  /// Whether the next tile's rows may be widened beside the products of this one.
  bool mayLayAhead(const VectorMachine &machine) const;

  /// Whether panels may be widened once for many tiles; bytes take hardly longer than f32.
  bool widens() const;
  /// Whether a chunk of weights is decoded and scaled before so many rows are multiplied: their sums and what numbers of 4 bits are decoded with
  /// do not fit registers together, and a sum that waits in memory takes twice as long.
  bool widensFirst(const VectorMachine &machine, int64_t rows) const;
  /// Tiles of a block that meet in a call, from which the first leaves its panels; 0: never. All of them have enough rows then to be summed in
  /// the same way, whoever computes them.
  int64_t tilesToLeave(const VectorMachine &machine, int64_t mostRows) const;
  /// As weights are read that were widened, without zero points. The scales of those that were looked up wait for sums.
  ContractionForm asWidened(const VectorMachine &machine) const;

private:
  /// Whether numbers of 4 bits are, but not by looking them up.
  bool isDecoded(const VectorMachine &machine) const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_CONTRACTIONFORM_H
