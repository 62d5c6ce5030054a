// Positions that come from data: a call with one outside ends.
#pragma once

#include "runtime/src/call/context.h"

/// The function of the host table.
void weft_check_positions(weft_frame_v1 *frame, int64_t row, const int64_t *words);
