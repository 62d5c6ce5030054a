//===- WidenedPanels.h - Panels of narrow weights as f32 in scratch ----------------------------===//
//
// Narrow weights are widened in registers for every tile of rows. Where several tiles meet the
// same panels, these are widened into scratch first, and tiles read them as if they were f32:
//
//   WidenedPanels widened{weight, depth, columns};
//   widened.emit(c, stored, distance, scratch, panels);       // scratch: widened.bytes(panels)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDPANELS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDPANELS_H

#include "targets/cpu/schedules/tile/PackedWeight.h"

namespace weft {

struct WidenedPanels {
  const PackedWeight &weight; ///< no Words
  int64_t depth, columns;

  /// Of one panel, as f32.
  int64_t panelBytes() const { return depth * columns * 4; }
  /// Of scratch. A last unit that is only partly there is written as a whole.
  int64_t bytes(int64_t panels) const {
    return panels * panelBytes() + (weight.unit() - 1) * columns * 4;
  }
  /// Widens `panels` panels, which begin `distance` bytes apart from `from` on, and come to lie one
  /// behind the other at `to`.
  void emit(KernelContext &c, mlir::Value from, int64_t distance, mlir::Value to,
            mlir::Value panels) const;
  /// Widens so many units of one panel: less the zero points of its columns and times their scales, if these are given.
  void emitUnits(KernelContext &c, mlir::Value from, mlir::Value to, int64_t units,
                 mlir::ArrayRef<mlir::Value> zeros = {},
                 mlir::ArrayRef<mlir::Value> scales = {}) const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDPANELS_H
