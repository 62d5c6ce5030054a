//===- ByteMatrixTile.h - Rows of bytes by a panel of bytes, small matrices at a time --------------------===//
//
// An instruction multiplies two rows of eight bytes by as many columns as fit into a vector: twice what it multiplies of single rows.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_BYTEMATRIXTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_BYTEMATRIXTILE_H

#include "targets/cpu/schedules/tile/RunTile.h"

namespace weft {

/// Weights packed as WeightLayout::dots with the tile's columns and groups of kGroup. Of an odd number of rows the last is multiplied twice.
class ByteMatrixTile : public RunTile {
public:
  using Sums = RunTile::Sums;
  static constexpr int64_t kGroup = VectorMachine::kMatrixDepth;
  /// `arePaired`: rows are placed in pairs.
  ByteMatrixTile(KernelContext &c, ByteSigns signs, int64_t rows, int64_t vectors, bool arePaired)
      : RunTile(c, rows, vectors), signs(signs), pairs(llvm::divideCeil(rows, 2)),
        perPair(2 * vectors), arePaired(arePaired) {}
  /// Whether runs of `run` products are whole groups that the machine multiplies.
  static bool takes(const VectorMachine &machine, ByteSigns signs, int64_t run) {
    return machine.multipliesByteMatrices(signs) && run % kGroup == 0;
  }

  /// Vectors of a panel of a weight with so many columns, which are sums of `run` products: with three a sixth fewer bytes are loaded, and sums go
  /// through memory; that pays for long runs, as instructions of MiniLM and ResNet-50 say.
  static int64_t vectorsFor(int64_t columns, int64_t run, const VectorMachine &machine) {
    return run < kLongRun ? 2 : panelVectors(columns, machine);
  }
  bool fillsRegisters() const override { return !c.machine.holds(rows * vectors + kFollow); }
  /// Whether the instructions that pair rows, as many for a pair as half a panel has products, are better done once before than for each panel:
  /// then they cost loads and stores as well.
  static bool paysToPair(int64_t panels) { return panels > 2; }
  static int64_t pairedBytes(int64_t rows, int64_t run) {
    return llvm::divideCeil(rows, 2) * 2 * run;
  }
  /// Of sums of pairs of rows, two columns of a row beside two of the next: so many vectors of each row.
  static Sums partRows(KernelContext &c, llvm::ArrayRef<mlir::Value> both, int64_t rows,
                       int64_t vectors);
  int64_t runBytes(int64_t run) const override { return run * columns; }
  int64_t steps(int64_t run) const override { return run / kGroup; }
  RowRuns placed(const RowRuns &rows, mlir::Value scratch) override;
  int64_t turns(const RowRuns &source) const override { return steps(source.run) / kUnroll; }
  llvm::SmallVector<mlir::Value> accumulate(const RowRuns &rows, mlir::Value panel) override;

private:
  static constexpr int64_t kLongRun = 384;
  static constexpr int64_t kFollow = 12; ///< vectors of what follows from a sum
  static constexpr int64_t kUnroll = 2;  ///< groups of a turn, whose bytes of a row one load brings
  Sums addRun(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums sums) override;
  Sums addGroups(const RowRuns &source, mlir::Value from, mlir::Value panel, mlir::Value group,
                 int64_t together, Sums sums);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> pairsAt(const RowRuns &source, mlir::Value from,
                                                            mlir::Value group, int64_t together);
  llvm::SmallVector<mlir::Value> pairOfRows(const RowRuns &source, mlir::Value at, int64_t pair,
                                            int64_t together);
  mlir::Value byteAt(mlir::Value base, int64_t offset);

  const ByteSigns signs;
  const int64_t pairs, perPair; ///< of rows; vectors of a group's weights and of sums for each
  const bool arePaired;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_BYTEMATRIXTILE_H
