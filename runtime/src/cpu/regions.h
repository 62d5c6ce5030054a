// Launches on a queue of the CPU: kernels on its workers, alone or several at the same time.
#pragma once

#include "runtime/src/cpu/queue.h"

/// The launches of weft_host_queue_v1. They leave the call when it was stopped.
void weft_run_parallel(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                       int64_t units, int64_t grain, int32_t kernel_id);
void weft_run_together(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count);

/// Why a launch was not done. NULL as its message: it was.
struct weft_launch_failure_t {
  weft_status_t status;
  const char *code, *message;
};

/// Runs one kernel with units > 0 and returns when it has ended, unless the queue is stopped.
weft_launch_failure_t weft_run_kernel(weft_cpu_queue_t *queue, const weft_part_v1 &part);
