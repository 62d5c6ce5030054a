// A context: memory, workers and the state of one call at a time.
#pragma once

#include <setjmp.h>

#include <atomic>

#include "runtime/src/group/started.h"
#include "runtime/src/open/module.h"

/// Bit 0 is what stops the launches of the context's queue (weft_queue_options_t.stop).
enum weft_context_state_t { WEFT_IDLE = 0, WEFT_RUNNING = 2, WEFT_CANCELLING = 3 };

/// Memory that calls ask for while they run: kept between them, as the block is.
struct weft_late_block_t {
  uint8_t *memory;
  size_t bytes;
  int64_t asked; ///< by the running call
};

/// An exchange that goes on beside kernels.
struct weft_beside_t {
  int64_t row; ///< and one more; 0: none
  weft_started_t started;
};

/// What functions of the host table know of the running call.
struct weft_call_t {
  const weft_function_v1 *function;
  const weft_tensor_t *in; ///< the caller's
  weft_tensor_t *out;
  int64_t entry_bytes; ///< of the block
  int64_t scratch;     ///< of each worker, by now
  weft_error_t *err;
  const weft_part_v1
      *whole; ///< of which the queue launches some units at a time; NULL: what it launches is whole
  weft_beside_t beside[WEFT_MOST_BESIDE];
};

struct weft_accelerated;

/// One allocation holds the context, values[] and its late blocks.
struct weft_context {
  weft_module_t *module;
  size_t bytes;
  std::atomic<uint32_t> state; ///< weft_context_state_t
  int64_t memory_limit;
  int32_t exchanges_apart;         ///< as the options say
  weft_queue_t *queue;             ///< on the module's device
  const weft_host_queue_v1 *calls; ///< of the queue
  weft_host_v1 host;               ///< what compiled code calls: the queue's launches among it
  int32_t worker_count;
  weft_worker_t *workers; ///< the queue's
  int64_t *values;
  uint8_t *block; ///< arena, then the scratch of all workers
  size_t block_bytes;
  weft_late_block_t *late; ///< as many as any function of the module has
  uint32_t late_count;
  int32_t rank;    ///< of options.group; 0 without
  weft_group *all; ///< of all ranks, one of `groups`; NULL when there is one
  void *call_keys; ///< WEFT_CALL_KEY_BYTES of each rank, or NULL
  size_t call_keys_bytes;
  weft_group **groups; ///< as many as the module needs
  uint32_t group_count;
  weft_trace_fn trace; ///< NULL: nobody looks
  void *trace_user;

  weft_accelerated *accelerated; ///< on the module's device beside the host; NULL without one

  bool waits; ///< for that device, when a call ends
  weft_call_t call;
  jmp_buf leave; ///< where a region goes when the call must end early; set while run is active
  weft_status_t leave_status;
  int32_t failed_check; ///< what run returned
};

/// Bytes of arena and scratch for these values[], each rounded up to 64.
struct weft_needs_t {
  int64_t arena, scratch_per_worker, total;
};

/// The context is the caller's until its state is WEFT_IDLE again. Fails with BUSY.
weft_status_t weft_enter_context(weft_context_t *context, weft_error_t *err);

/// Ends the call at once, from a function of the host table that has said why. Compiled code has nothing to clean up, so nothing is
/// lost by jumping over it; letting it go on would make it read buffers that were never written.
[[noreturn]] void weft_leave_call(weft_context_t *context, weft_status_t status);

/// Refuses a call of `total` bytes above the context's limit; -1 stands for more than there are numbers.
weft_status_t weft_check_limit(const weft_context_t *context, const weft_function_v1 &function,
                               const int64_t *symbols, int64_t total, weft_error_t *err);
