// A queue of the CPU: workers, and the threads they are on. What is given to it is done when the call returns, so that nothing is ever
// waited for.
#pragma once

#include "runtime/src/cpu/threads.h"
#include "weft/device.h"

struct weft_cpu_device_t {
  weft_device_t base;
  weft_env_t env;
};

/// One allocation holds the queue, its workers, its pool's slots and shares.
struct weft_cpu_queue_t {
  const weft_env_t *env; ///< the device's
  size_t bytes;
  const uint32_t *stop; ///< of weft_queue_options_t; never NULL
  int32_t worker_count;
  weft_worker_t *workers;
  weft_shares_t shares; ///< of the region that runs
  weft_pool_t pool;
  uint64_t float_mode;       ///< of the thread that began the call
  weft_launched_fn launched; ///< NULL: nobody looks
  void *launched_user;
};

inline weft_cpu_queue_t *weft_cpu_queue(weft_queue_t *queue) { return (weft_cpu_queue_t *)queue; }

/// The functions of the device's table that concern queues and events.
weft_status_t weft_cpu_open_queue(weft_device_t *device, const weft_queue_options_t *options,
                                  weft_queue_t **out_queue, weft_error_t *err);
void weft_cpu_close_queue(weft_queue_t *queue);
weft_status_t weft_cpu_launch(weft_queue_t *queue, const weft_launch_t *launch, weft_error_t *err);
extern const weft_host_queue_v1 weft_cpu_host_queue;
