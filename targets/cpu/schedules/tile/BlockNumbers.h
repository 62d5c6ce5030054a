//===- BlockNumbers.h - Scales and zero points of a weight in blocks as they lie in memory ---------===//
//
// A weight in blocks has a scale, and may have a zero point, for every block and column. Both are packed into panels like the weight, blocks
// instead of k's, as narrow as the model has them, and become f32 when a block is reached:
//
//   Value scales = weight.scale.load(c, panel, block, columns, /*column=*/0, lanes);
//
// With a scale of f16 and a zero point of 4 bits, a block of 32 numbers of 4 bits takes 4.63 bits per number.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_BLOCKNUMBERS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_BLOCKNUMBERS_H

#include "targets/cpu/Schedule.h"

namespace weft {

struct BlockNumbers {
  unsigned argument = 0; ///< of the specification
  mlir::Type element;    ///< as they are stored

  WeightLayout layout(WeightLayout::Order order, int64_t columns) const {
    return WeightLayout::panels(columns, order, form());
  }
  /// Of one column, in a panel of so many blocks.
  int64_t columnBytes(int64_t blocks) const {
    return (blocks + perWord() - 1) / perWord() * wordBytes();
  }
  /// Where block `nth` begins in the panel.
  mlir::Value row(KernelContext &context, mlir::Value panel, mlir::Value nth,
                  int64_t columns) const;
  /// f32 of `count` columns from `column` on.
  mlir::Value load(KernelContext &context, mlir::Value panel, mlir::Value nth, int64_t columns,
                   int64_t column, int64_t count) const;

private:
  WeightLayout::Form form() const;
  /// Blocks of a column that share a word, and the bytes of one.
  int64_t perWord() const { return WeightLayout::panels(1, {}, form()).perWord(); }
  int64_t wordBytes() const { return WeightLayout::panels(1, {}, form()).wordBytes(); }
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_BLOCKNUMBERS_H
