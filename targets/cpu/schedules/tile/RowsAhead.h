//===- RowsAhead.h - Rows of 16 bits become f32 beside the products of others -------------------===//
//
// Widening a tile's rows takes as long as a part of its products, and other parts of the processor.
// So the loop that multiplies one tile widens the rows of the next, some in each turn:
//
//   RowsAhead next({element, rows, k, stride}, from, to, turns);
//   next.behind(c, turnsOfEarlierPanels).widen(c, turn);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWSAHEAD_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWSAHEAD_H

#include "targets/cpu/Schedule.h"

namespace weft {

class RowsAhead {
public:
  struct Rows {
    mlir::Type element;
    int64_t count, k; ///< which follow each other in memory, at least a vector in all
    int64_t stride;   ///< between them as f32, in elements
  };

  RowsAhead() = default;
  /// All are there after `turns`.
  RowsAhead(const Rows &rows, mlir::Value from, mlir::Value to, int64_t turns)
      : rows(rows), from(from), to(to), turns(turns) {}
  /// The same, of which so many turns are done.
  RowsAhead behind(KernelContext &c, mlir::Value turns) const;
  /// Turns beyond the last do nothing.
  void widen(KernelContext &c, mlir::Value turn) const;

private:
  void widenVector(KernelContext &c, mlir::Value nth) const;

  Rows rows = {};
  mlir::Value from, to, done;
  int64_t turns = 0;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWSAHEAD_H
