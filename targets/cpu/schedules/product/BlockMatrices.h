//===- BlockMatrices.h - Rows of bytes by a weight in blocks, small matrices at a time -------------------===//
//
// An instruction multiplies two rows of eight bytes by as many columns as fit into a vector. Rows lie in pairs, as it takes them, with what
// makes reals of their sums behind every block:
//
//   [block][8 k's][pair][row of the pair][8 bytes], [pair][step of the row, in two lanes], [pair][correction, likewise]
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKMATRICES_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKMATRICES_H

#include "targets/cpu/schedules/product/BlockTile.h"

namespace weft {

class BlockMatrices : public BlockTile {
public:
  /// Whether the machine multiplies blocks of such weights so.
  static bool takes(const PackedWeight &w, const VectorMachine &machine);
  /// Of a panel.
  static WeightLayout layout(const PackedWeight &w, WeightLayout::Order order,
                             const VectorMachine &machine);
  static int64_t bytesPerDepth(const PackedWeight &w, const VectorMachine &machine);
  /// What the numbers that are multiplied are more than those that are stored.
  static int64_t shiftOf(const PackedWeight &w);
  /// Rows of a tile at most, whose sums of a block and of all stay in registers, and bytes of that tile's.
  static constexpr int64_t kRows = 6;
  static int64_t regionBytes(const PackedContraction &s);

  /// Makes bytes of `count` rows from `first` on, which become a tile's. `zero`: the zero points of the weight where they are one number.
  static void place(KernelContext &c, const PackedContraction &s, mlir::Value region,
                    mlir::Value first, mlir::Value count, std::optional<int64_t> zero);
  BlockMatrices(KernelContext &c, const PackedContraction &s, int64_t rows, mlir::Value region,
                std::optional<int64_t> zero);

private:
  static constexpr int64_t kGroup = VectorMachine::kMatrixDepth;
  static constexpr int64_t kPairs = kRows / 2;
  static constexpr int64_t kVectors = 4; ///< of sums for each pair of rows
  static constexpr int64_t kPairBytes = 2 * kGroup;
  static int64_t blockBytes(const PackedWeight &w) {
    return kPairs * (w.block / kGroup + 2) * kPairBytes;
  }
  static int64_t fourOf(const PackedWeight &w, int64_t place);

  Values addBlock(mlir::Value nth, mlir::ValueRange totals) override;
  Values rowByRow(Values totals) override;
  void multiplyAdd(mlir::Value k, mlir::Value ofBlock, int64_t depth,
                   llvm::MutableArrayRef<mlir::Value> sums) override;
  Values pairsAt(mlir::Value bytes);
  void multiply(llvm::ArrayRef<mlir::Value> ofPairs, mlir::Value ofTwo, int64_t v,
                llvm::MutableArrayRef<mlir::Value> sums);
  Values ofRows(int64_t kind, mlir::Type element);
  mlir::Value unpacked(mlir::Value words, int64_t half);
  mlir::Value twice(mlir::Value columns, int64_t v);

  const int64_t pairs;
  const std::optional<int64_t> zero;
  mlir::Value region, block = {}; ///< of the tile's rows, and the block that is summed
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKMATRICES_H
