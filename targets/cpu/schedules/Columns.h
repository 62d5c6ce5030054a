//===- Columns.h - Reductions that keep the last dimension ---------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_COLUMNS_H
#define WEFT_TARGETS_CPU_SCHEDULES_COLUMNS_H

#include "targets/cpu/Schedule.h"

namespace weft {

const Schedule *columnsSchedule();

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_COLUMNS_H
