//===- RunTile.h - Some rows by a panel of weights, summed in registers run by run ----------------------===//
//
// A row of a tile is summed in runs that lie apart, such as the rows of a window:
//
//   IntegerTile tile(c, dot, rows);                                       // or FloatTile tile(c, rows)
//   sums = tile.accumulate({pointer, bytesBetweenRows, k}, panel);        // row by row
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_RUNTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_RUNTILE_H

#include "targets/cpu/schedules/tile/RowTile.h"

namespace weft {

/// What is done while a tile is summed, with one row after the other.
struct Beside {
  int64_t rows = 0;       ///< none: nothing
  mlir::Value isDue = {}; ///< 1, or 0 when there is nothing to do this time
  mlir::Value some = {};  ///< so many of the rows, where a tile may have fewer
  std::function<void(mlir::Value row)> body = {};
};

/// Where the rows of a tile lie, as they are multiplied: floats, bytes, or numbers of 16 bits.
struct RowRuns {
  mlir::Value first;
  int64_t rowBytes; ///< between rows
  int64_t run;      ///< products of a run
  struct Steps {
    int64_t count = 1;
    mlir::Value bytes;           ///< to the next run
    int64_t planes = 1;          ///< the first so many runs lie in planes of their own,
    mlir::Value planeBytes = {}; ///< so far apart, and so do the next, each behind the one before
    mlir::Value at(KernelContext &c, mlir::Value run) const;
  };
  Steps outer, inner;
  bool readsBeyond = true;    ///< whether up to 3 bytes behind a run may be read
  Ahead ahead = {};           ///< a step for every product of floats or group of bytes
  NextRows nextRows = {};     ///< for the turns of all runs
  mlir::Value lineBytes = {}; ///< from the rows of a tile's first line to those of its second
  Beside beside = {};         ///< of tiles that leave registers for it
  mlir::Value isFirst = {};   ///< 1 in the first run of a tile, else 0
  mlir::Value kept = {};      ///< where these keep their sums, row by row
};

class RunTile {
public:
  virtual ~RunTile() = default;
  /// Bytes of one run of a panel.
  virtual int64_t runBytes(int64_t run) const = 0;
  /// Steps of one run, in which its sums advance.
  virtual int64_t steps(int64_t run) const = 0;
  /// Turns of the loop that sums a run.
  virtual int64_t turns(const RowRuns &source) const = 0;
  /// The rows of a tile where they are summed, which may be `scratch`: once, before any panel.
  virtual RowRuns placed(const RowRuns &rows, mlir::Value /*scratch*/) { return rows; }
  /// Sums row by row; none where the tile has put them where they are to be kept.
  virtual llvm::SmallVector<mlir::Value> accumulate(const RowRuns &rows, mlir::Value panel) = 0;
  /// Whether accumulate does what RowRuns::beside says.
  virtual bool leavesRegisters() const { return false; }
  /// Whether sums take so many registers that what follows from them is better computed from memory, row by row.
  virtual bool fillsRegisters() const { return false; }
  /// Which of the rows that are kept is the tile's row `row`: there may be others between them.
  virtual mlir::Value keptRow(mlir::Value row) { return row; }
  /// Behind the last sums of a function.
  virtual void finish() {}

  KernelContext &c;
  const int64_t rows, vectors, columns;

protected:
  using Sums = llvm::SmallVector<mlir::Value>;
  RunTile(KernelContext &c, int64_t rows, int64_t vectors)
      : c(c), rows(rows), vectors(vectors), columns(vectors * c.machine.lanes()) {}
  virtual Sums addRun(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums sums) = 0;
  Sums addRuns(const RowRuns &source, mlir::Value panel, Sums sums);
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_RUNTILE_H
