// Memory that a call asks for while it runs, because only then its size is known: late blocks, and outputs.
#pragma once

#include "runtime/src/call/context.h"

/// What the call asked for so far is forgotten; blocks are kept for the next one.
void weft_begin_late(weft_context_t *context);

/// Frees all blocks.
void weft_release_late(weft_context_t *context);

/// The functions of the host table. They leave the call when there is no memory.
void *weft_reserve_late(weft_frame_v1 *frame, int64_t block, int64_t bytes);
void weft_provide_output(weft_frame_v1 *frame, int64_t output, int64_t bytes);
