#include "runtime/src/cpu/queue.h"

#include <string.h>

#include <new>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/regions.h"

static const uint32_t nobody_stops = 0;

static weft_status_t read_options(const weft_queue_options_t *options,
                                  weft_queue_options_t *out_options, weft_error_t *err) {
  *out_options = {sizeof *out_options, 0, -1, 0, nullptr};
  if (options)
    if (weft_status_t status = weft_read_sized(options, "options", out_options, err))
      return status;
  if (out_options->workers < 0 || out_options->workers > WEFT_MAX_WORKERS)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.workers is %d, but 0 to %d are possible",
                     out_options->workers, WEFT_MAX_WORKERS);
  if (!out_options->stop)
    out_options->stop = &nobody_stops;
  return WEFT_OK;
}

static size_t round_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

weft_status_t weft_cpu_open_queue(weft_device_t *device, const weft_queue_options_t *options,
                                  weft_queue_t **out_queue, weft_error_t *err) {
  *out_queue = nullptr;
  const weft_env_t &env = ((weft_cpu_device_t *)device)->env;
  weft_queue_options_t wanted;
  if (weft_status_t status = read_options(options, &wanted, err))
    return status;
  int32_t cpus = weft_cpus_allowed();
  int32_t workers = env.parallel ? env.workers : wanted.workers ? wanted.workers : cpus;
  int32_t spin_us = wanted.spin_us >= 0 ? wanted.spin_us : workers > cpus ? 0 : WEFT_SPIN_US;
  size_t slots = env.parallel ? 0 : (size_t)workers * sizeof(weft_pool_slot_t);
  size_t workers_at = round_up(sizeof(weft_cpu_queue_t));
  size_t slots_at = workers_at + round_up((size_t)workers * sizeof(weft_worker_t));
  size_t shares_at = slots_at + slots;
  size_t bytes = shares_at + weft_shares_bytes(workers);
  uint8_t *memory = (uint8_t *)weft_allocate(&env, bytes, 64);
  if (!memory)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a queue of %d workers",
                     workers);
  memset(memory, 0, bytes);
  weft_cpu_queue_t *queue = new (memory) weft_cpu_queue_t;
  queue->env = &env;
  queue->bytes = bytes;
  queue->stop = wanted.stop;
  queue->worker_count = workers;
  queue->workers = (weft_worker_t *)(memory + workers_at);
  for (int32_t i = 0; i < workers; ++i)
    queue->workers[i].index = i;
  queue->shares = weft_shares_in(memory + shares_at, workers);
  weft_pool_init(&queue->pool, (weft_pool_slot_t *)(memory + slots_at), env.parallel ? 1 : workers,
                 spin_us);
  *out_queue = (weft_queue_t *)queue;
  return WEFT_OK;
}

void weft_cpu_close_queue(weft_queue_t *closed) {
  if (!closed)
    return;
  weft_cpu_queue_t *queue = weft_cpu_queue(closed);
  weft_pool_stop(&queue->pool);
  weft_free(queue->env, queue, queue->bytes);
}

weft_status_t weft_cpu_launch(weft_queue_t *queue, const weft_launch_t *given, weft_error_t *err) {
  weft_launch_t launch = {};
  if (weft_status_t status = weft_read_sized(given, "launch", &launch, err))
    return status;
  if (!launch.kernel || launch.grain < 1)
    return weft_fail(err, WEFT_INVALID, "W0425",
                     launch.kernel ? "a launch has a grain of %lld" : "a launch has no kernel",
                     (long long)launch.grain);
  if (launch.block_threads || launch.block_bytes)
    return weft_fail(err, WEFT_INVALID, "W0425", "a launch on the CPU has no blocks");
  if (launch.units <= 0)
    return WEFT_OK;
  weft_part_v1 part = {
      (weft_kernel_fn)(uintptr_t)launch.kernel, launch.words, launch.units, launch.grain, 0, -1, 0};
  uint64_t mode = weft_float_mode_enter();
  weft_launch_failure_t failure = weft_run_kernel(weft_cpu_queue(queue), part);
  weft_float_mode_leave(mode);
  return failure.message ? weft_fail(err, failure.status, failure.code, "%s", failure.message)
                         : WEFT_OK;
}

//===----------------------------------------------------------------------===//
// Calls of compiled host code
//===----------------------------------------------------------------------===//

static weft_worker_t *workers(weft_queue_t *queue, int32_t *out_count) {
  *out_count = weft_cpu_queue(queue)->worker_count;
  return weft_cpu_queue(queue)->workers;
}

static void begin(weft_queue_t *begun) {
  weft_cpu_queue_t *queue = weft_cpu_queue(begun);
  weft_pool_begin_call(&queue->pool);
  queue->float_mode = weft_float_mode_enter();
}

static void end(weft_queue_t *ended) {
  weft_cpu_queue_t *queue = weft_cpu_queue(ended);
  weft_float_mode_leave(queue->float_mode);
  weft_pool_end_call(&queue->pool);
}

static void trace(weft_queue_t *queue, weft_launched_fn launched, void *user) {
  weft_cpu_queue(queue)->launched = launched;
  weft_cpu_queue(queue)->launched_user = user;
}

const weft_host_queue_v1 weft_cpu_host_queue = {
    sizeof(weft_host_queue_v1), 0, workers, begin, end, trace, weft_run_parallel,
    weft_run_together};
