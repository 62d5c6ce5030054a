//===- WidenedElements.h - Floats of 16 bits in memory, as f32 ----------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDELEMENTS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDELEMENTS_H

#include "targets/cpu/Schedule.h"

namespace weft {

/// A vector of elements that lie side by side, floats of 16 bits as f32. Those outside `mask` are not read: they are `outside`, zeros when
/// null.
mlir::Value loadReals(KernelContext &context, mlir::Type element, mlir::Value pointer,
                      mlir::Value mask = {}, mlir::Value outside = {});

/// Writes `count` elements of 16 bits that follow each other to `to`, as f32.
void widen(KernelContext &context, mlir::Type element, mlir::Value from, mlir::Value to,
           mlir::Value count);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_WIDENEDELEMENTS_H
