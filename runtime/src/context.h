// A context: memory, workers and the state of one call at a time.
#pragma once

#include <setjmp.h>

#include <atomic>

#include "runtime/src/module.h"
#include "runtime/src/threads.h"

enum weft_context_state_t { WEFT_IDLE, WEFT_RUNNING, WEFT_CANCELLING };

/// One allocation holds the context, its workers, its pool's slots and values[].
struct weft_context {
  weft_module_t *module;
  size_t bytes;
  std::atomic<uint32_t> state; ///< weft_context_state_t
  int64_t memory_limit;
  int32_t worker_count;
  weft_worker_t *workers;
  int64_t *values;
  uint8_t *block; ///< arena, then the scratch of all workers
  size_t block_bytes;
  weft_pool_t pool;
  void (*trace)(void *user, const weft_trace_event_t *event); ///< NULL: nobody looks
  void *trace_user;

  jmp_buf leave; ///< where a region goes when the call must end early; set while run is active
  weft_status_t leave_status;
  int32_t failed_check; ///< what run returned
};

/// Bytes of arena and scratch for these values[], each rounded up to 64.
struct weft_needs_t {
  int64_t arena, scratch_per_worker, total;
};
