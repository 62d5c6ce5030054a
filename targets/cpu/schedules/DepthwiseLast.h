//===- DepthwiseLast.h - Convolutions with one channel per filter, channels last ------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_DEPTHWISELAST_H
#define WEFT_TARGETS_CPU_SCHEDULES_DEPTHWISELAST_H

#include "targets/cpu/Schedule.h"

namespace weft {

const Schedule *depthwiseLastSchedule();

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_DEPTHWISELAST_H
