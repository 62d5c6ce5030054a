//===- IntegerTile.h - Rows of bytes by a panel of bytes ------------------------------------------------===//
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERTILE_H

#include "targets/cpu/schedules/tile/IntegerDot.h"
#include "targets/cpu/schedules/tile/RunTile.h"
#include "targets/cpu/schedules/tile/SpreadRun.h"

namespace weft {

/// Weights packed by IntegerDot::layout with the columns of two vectors, or of one where there are no more.
class IntegerTile : public RunTile {
public:
  /// `shiftsBefore`: rows are placed as they are multiplied.
  IntegerTile(KernelContext &c, const IntegerDot &dot, int64_t rows, int64_t vectors = 2,
              bool shiftsBefore = false);
  /// Whether rows are better shifted once than for each panel: then they cost a load and a store as well.
  static bool paysToShift(int64_t panels) { return panels > 4; }
  static int64_t shiftedBytes(int64_t rows, int64_t run, const VectorMachine &machine) {
    return rows * llvm::alignTo(run, 4 * machine.lanes());
  }
  /// Vectors of a panel of a weight with so many columns: half of a panel of two would multiply nothing.
  static int64_t vectorsFor(int64_t columns, const VectorMachine &machine) {
    return columns <= int64_t(machine.lanes()) ? 1 : 2;
  }
  /// Rows of a tile, at most: fewer than fit into registers, for what is done beside, and one fewer than that where few registers hold
  /// products, too, before they are sums.
  static int64_t mostRows(const VectorMachine &machine) {
    int64_t most = std::min<int64_t>(8, tileRows(machine));
    bool holdsProducts =
        !machine.addsByteProducts({/*isLeftSigned=*/false, /*isRightSigned=*/true});
    return holdsProducts && !machine.holds(2 * most + kBeside) ? most - 1 : most;
  }
  int64_t runBytes(int64_t run) const override { return steps(run) * columns * dot.weightBytes(); }
  int64_t steps(int64_t run) const override { return llvm::divideCeil(run, dot.group()); }
  RowRuns placed(const RowRuns &rows, mlir::Value scratch) override;
  llvm::SmallVector<mlir::Value> accumulate(const RowRuns &rows, mlir::Value panel) override;
  bool leavesRegisters() const override {
    // Where products take lanes, what a load brings of each row stays, too.
    int64_t runs = c.machine.laneRun() ? mostRows(c.machine) : 0;
    return c.machine.holds(2 * mostRows(c.machine) + runs + dot.isShifted() + kBeside);
  }
  int64_t turns(const RowRuns &source) const override {
    return wholeGroups(source) / unroll(source);
  }

private:
  static constexpr int64_t kBeside = 8; ///< vectors that follow from a row, and those of weights
  Sums begin(const RowRuns &source, mlir::Value panel);
  llvm::MutableArrayRef<mlir::Value> chain(Sums &sums, int64_t group);
  int64_t unroll(const RowRuns &source) const;
  bool isRagged(const RowRuns &source) const;
  int64_t wholeGroups(const RowRuns &source) const;
  int64_t turnsBeside(const RowRuns &source) const;
  Sums addGroups(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums sums);
  Sums addRun(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums sums) override;
  /// The groups of each row that are summed in one turn.
  using Groups = llvm::SmallVector<SpreadRun>;
  Groups groups(int64_t together);
  /// Groups behind one of a run that are added at once; the last has so many bytes.
  struct Step {
    int64_t ahead, count, lastBytes;
  };
  void step(const RowRuns &source, mlir::Value from, mlir::Value panel, mlir::Value group,
            Step some, Groups &groups, llvm::MutableArrayRef<mlir::Value> sums);
  mlir::Value groupOf(const RowRuns &source, mlir::Value at, int64_t row, int64_t nth,
                      int64_t bytes, Groups &groups);
  mlir::Value byteAt(mlir::Value base, int64_t offset);
  mlir::Value raggedGroup(mlir::Value at, int64_t offset, int64_t bytes);

  const IntegerDot &dot;
  bool shiftsBefore;
  int64_t chains;
  int64_t perChain; ///< sums
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERTILE_H
