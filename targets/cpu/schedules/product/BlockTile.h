//===- BlockTile.h - Some rows of bytes by panels of a weight whose blocks have scales -----------------===//
//
// Blocks of a row and of a column are summed in integers, which become reals with the scale of the column's block and the step of the row's:
//
//   DotTile(c, shape, bytes, rows, first).emit(first, from, to);            // panels [from, to)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKTILE_H

#include "targets/cpu/schedules/product/PackedContraction.h"
#include "targets/cpu/schedules/tile/RowTile.h"

namespace weft {

class BlockTile {
public:
  virtual ~BlockTile() = default;
  /// Rows from `first` on.
  void emit(mlir::Value first, mlir::Value from, mlir::Value to);

protected:
  static constexpr int64_t kUnroll = 32; ///< k's of a block that are written out
  using Values = llvm::SmallVector<mlir::Value>;

  /// `sums` vectors are summed for `rows` rows, `bytesPerDepth` bytes of a panel for every k.
  BlockTile(KernelContext &c, const PackedContraction &s, int64_t rows, int64_t sums,
            int64_t bytesPerDepth)
      : c(c), s(s), w(s.weight), rows(rows), columns(tileColumns(c.machine)), blocks(s.k / w.block),
        perDepth(bytesPerDepth), count(sums) {}

  /// The sums with the products of block `nth` of all rows.
  virtual Values addBlock(mlir::Value nth, mlir::ValueRange totals) = 0;
  /// The sums row by row.
  virtual Values rowByRow(Values totals) { return totals; }
  /// Adds products of `depth` k's from the panel's k-th on, which are the block's `ofBlock`-th on.
  virtual void multiplyAdd(mlir::Value k, mlir::Value ofBlock, int64_t depth,
                           llvm::MutableArrayRef<mlir::Value> sums) = 0;
  /// The products of a block's k's, some of them in each step, beside `sums`.
  Values sumBlock(mlir::Value nth, Values sums);
  /// Of block `nth`, in the panel's vector `v` of columns; zero points with `shift` added.
  mlir::Value scalesOf(mlir::Value nth, int64_t v);
  mlir::Value zerosOf(mlir::Value nth, int64_t v, int64_t shift);

  mlir::Value number(int64_t value) { return constantI64(c.b, value); }
  mlir::Type f32() { return c.b.getF32Type(); }
  mlir::VectorType reals() { return mlir::VectorType::get({c.machine.lanes()}, f32()); }
  mlir::VectorType integers() {
    return mlir::VectorType::get({c.machine.lanes()}, c.b.getI32Type());
  }
  mlir::Value pointer(mlir::Value base, mlir::Value offset) {
    return elementPointer(c.b, base, c.b.getI8Type(), offset);
  }
  mlir::Value at(mlir::Value base, int64_t offset);
  mlir::Value bits(int64_t value);
  mlir::Value constant(double value);

  KernelContext &c;
  const PackedContraction &s;
  const PackedWeight &w;
  const int64_t rows, columns, blocks, perDepth;
  mlir::Value weights, scales, zeros = {}; ///< of the panel

private:
  Values accumulate(mlir::Value panel);
  mlir::Value panelOf(const BlockNumbers &numbers, mlir::Value panel);

  const int64_t count; ///< sums
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BLOCKTILE_H
