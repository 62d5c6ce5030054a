//===- Schedules.h - The list of all schedules ---------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_SCHEDULES_H
#define WEFT_TARGETS_CPU_SCHEDULES_SCHEDULES_H

#include "targets/cpu/Schedule.h"

namespace weft {

/// All schedules, most specific first; the last accepts everything.
llvm::ArrayRef<const Schedule *> cpuSchedules();

const Schedule *blockDotsSchedule();
const Schedule *tileContractionSchedule();
const Schedule *contractionSchedule();
const Schedule *integerTileContractionSchedule();
const Schedule *integerContractionSchedule();
const Schedule *depthwiseSchedule();
const Schedule *depthwiseLastSchedule();
const Schedule *winogradSchedule();
const Schedule *winogradLastSchedule();
const Schedule *winogradBytesSchedule();
const Schedule *convolutionSchedule();
const Schedule *windowConvolutionSchedule();
const Schedule *poolSchedule();
const Schedule *productSchedule();
const Schedule *tileAttentionSchedule();
const Schedule *attentionSchedule();
const Schedule *serialSchedule();
const Schedule *rowSchedule();
const Schedule *columnsSchedule();
const Schedule *loopSchedule();

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_SCHEDULES_H
