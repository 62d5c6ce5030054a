// An exchange in pieces, and kernels that compute meanwhile.
#pragma once

#include "runtime/src/call/context.h"

/// The functions of the host table.
void weft_overlap_whole(weft_frame_v1 *frame, const weft_overlap_v1 *overlap);
void weft_overlap_ranks(weft_frame_v1 *frame, const weft_overlap_v1 *overlap);
