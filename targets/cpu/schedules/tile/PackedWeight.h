//===- PackedWeight.h - The constant operand of a contraction as it lies in memory ----------------===//
//
// A weight may be stored narrower than it is computed with: as floats of 16 bits, behind weft.convert or not, or as integers with a scale per
// block behind weft.dequantize_blocks. It is packed into panels of columns, and registers are filled from it a unit of depth at a time:
//
//   auto stored = PackedWeight::find(contract.getRhs(), /*depthDim=*/1);
//   for (Value weights : stored->decode(context, pointer, zero)) // one vector per k of the unit
//     sum = fma(x, weights, sum);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_PACKEDWEIGHT_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_PACKEDWEIGHT_H

#include "targets/cpu/schedules/tile/BlockNumbers.h"

namespace weft {

struct PackedWeight {
  /// f32 and f16 one per lane; two bf16 or eight numbers of 4 bits that follow each other in depth, in one word per column
  /// (compiler/artifact/Panels.h); bytes one per column.
  enum Form { Words, Halves, Bytes, Nibbles } form = Words;
  unsigned data = 0;  ///< argument of the specification
  mlir::Type element; ///< that the values are rounded to
  /// With a scale: how many k share one, and where it and the zero point are.
  int64_t block = 0;
  BlockNumbers scale;
  std::optional<BlockNumbers> zero;
  double offset = 0; ///< the zero point where it is one number
  /// Of unsigned bytes in blocks: bits that all of them fit in, 8, 6 or 5. Where bytes are multiplied fewer may be stored.
  int64_t numberBits = 8;

  /// Nothing when `weight` is not stored in one of these forms. `depthDim` is its dimension that is summed over.
  static std::optional<PackedWeight> find(mlir::Value weight, unsigned depthDim);

  int64_t unit() const { return form == Nibbles ? 8 : isPaired() ? 2 : 1; } ///< k's
  int64_t unitBytes(int64_t columns) const {
    return form == Bytes ? columns : form == Halves && !isPaired() ? 2 * columns : 4 * columns;
  } ///< of one unit of a panel
  bool isPaired() const { return form == Halves && element.isBF16(); }
  int64_t panelBytes(int64_t depth, int64_t columns) const {
    return (depth + unit() - 1) / unit() * unitBytes(columns);
  }
  /// Products summed before a scale or a sum of chunks is due.
  int64_t chunk() const;
  /// What signed values of 4 bits are stored with, so that all are from 0 to 15.
  int64_t bias() const {
    return form == Nibbles && !isUnsigned(element) && !isFloat(element) ? 8 : 0;
  }
  /// Of panels.
  WeightLayout layout(WeightLayout::Order order, int64_t columns) const;
  /// Layouts of the arguments that hold scales and zero points: panels with a row for each block.
  void placeScales(WeightLayout::Order order, int64_t columns,
                   llvm::MutableArrayRef<WeightLayout> layouts) const;
  /// Fetches `size` bytes some way behind the pointer, which few rows soon reach: what a processor fetches by itself comes too late.
  static void fetchAhead(KernelContext &context, mlir::Value pointer, int64_t size);
  /// The same of scales, those beside what is fetched where block `nth` begins.
  void fetchScalesAhead(KernelContext &context, mlir::Value panel, mlir::Value nth,
                        int64_t columns) const;
  /// The reals of one unit, before they are scaled. `pointer`: the unit's first column of the vector; `zero`: the vector of zero points, or
  /// null.
  llvm::SmallVector<mlir::Value, 8> decode(KernelContext &context, mlir::Value pointer,
                                           mlir::Value zero) const;

private:
  llvm::SmallVector<mlir::Value, 8> decodeNibbles(KernelContext &context, mlir::Value words,
                                                  mlir::Value zero) const;
};

/// Where nibble i of eight lies in its word: the first four are the low halves of the bytes, the others the high ones.
inline int64_t nibbleShift(int64_t i) { return i < 4 ? 8 * i : 8 * (i - 4) + 4; }

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_PACKEDWEIGHT_H
