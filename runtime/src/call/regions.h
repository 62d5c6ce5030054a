// Regions: kernels on the workers of a context, alone or several at the same time. What compiled code asks for while it runs.
#pragma once

#include "runtime/src/call/context.h"

/// The functions of the host table. They leave the call when it was cancelled.
void weft_run_parallel(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                       int64_t units, int64_t grain, int32_t kernel_id);
void weft_run_together(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count);

/// Ends the call at once. Compiled code has nothing to clean up, so nothing is lost by jumping over
/// it; letting it go on would make it read buffers that were never written.
[[noreturn]] void weft_jump_out(weft_context_t *context, weft_status_t status);
