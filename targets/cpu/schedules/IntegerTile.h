//===- IntegerTile.h - Some rows of bytes by a panel of weights, summed in registers --------------------===//
//
//   IntegerTile tile(c, dot, rows);
//   sums = tile.accumulate({pointer, bytesBetweenRows, k}, panel);        // row by row, two vectors each
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_INTEGERTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_INTEGERTILE_H

#include "targets/cpu/schedules/IntegerDot.h"

namespace weft {

/// Where the rows of a tile lie, as they are multiplied: bytes, or numbers of 16 bits. A row is summed in runs that lie apart.
struct IntegerRows {
  mlir::Value first;
  int64_t rowBytes; ///< between rows
  int64_t run;      ///< products of a run
  struct Steps {
    int64_t count = 1;
    mlir::Value bytes; ///< to the next run
  };
  Steps outer, inner;
  bool readsBeyond = true; ///< whether up to 3 bytes behind a run may be read
};

/// Weights packed by IntegerDot::layout with tileColumns columns.
class IntegerTile {
public:
  IntegerTile(KernelContext &c, const IntegerDot &dot, int64_t rows);
  /// Bytes of one run of a panel.
  int64_t runBytes(int64_t run) const { return groups(run) * columns * dot.group(); }
  llvm::SmallVector<mlir::Value> accumulate(const IntegerRows &rows, mlir::Value panel);

private:
  using Sums = llvm::SmallVector<mlir::Value>;
  int64_t groups(int64_t run) const { return llvm::divideCeil(run, dot.group()); }
  Sums addRuns(const IntegerRows &source, mlir::Value panel, Sums sums);
  Sums addRun(const IntegerRows &source, mlir::Value from, mlir::Value panel, Sums sums);
  void step(const IntegerRows &source, mlir::Value from, mlir::Value panel, mlir::Value group,
            int64_t ahead, int64_t bytes, llvm::MutableArrayRef<mlir::Value> sums);
  mlir::Value rowGroup(mlir::Value at, int64_t offset, int64_t bytes);

  KernelContext &c;
  const IntegerDot &dot;
  int64_t rows, columns, chains;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_INTEGERTILE_H
