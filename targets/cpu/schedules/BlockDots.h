//===- BlockDots.h - The schedule for rounded rows and weights of bytes or less --------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_BLOCKDOTS_H
#define WEFT_TARGETS_CPU_SCHEDULES_BLOCKDOTS_H

#include "targets/cpu/Schedule.h"

namespace weft {

const Schedule *blockDotsSchedule();

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_BLOCKDOTS_H
