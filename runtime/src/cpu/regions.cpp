#include "runtime/src/cpu/regions.h"

static const weft_launch_failure_t is_done = {WEFT_OK, nullptr, nullptr};
static const weft_launch_failure_t was_stopped = {WEFT_CANCELLED, "W0432",
                                                  "the call was cancelled"};
static const weft_launch_failure_t is_broken = {
    WEFT_INVALID, "W0401",
    "env.parallel did not run every piece once, or named a worker that is not there"};

//===----------------------------------------------------------------------===//
// Through the embedder's `parallel`
//===----------------------------------------------------------------------===//

namespace {
/// A region on its way through the embedder's `parallel`, which sees chunks of the only part, or else the pieces of all parts.
struct external_region {
  const weft_region_t *region;
  int64_t count; ///< of chunks or pieces
  int32_t worker_count;
  std::atomic<int64_t> done;
  std::atomic<uint32_t> is_wrong;
};
} // namespace

static void run_chunks(const weft_part_v1 &part, int64_t begin, int64_t end, int64_t chunks,
                       weft_worker_t *worker) {
  int64_t last = end == chunks ? part.units : end * part.grain;
  weft_call_kernel(part, begin * part.grain, last, worker);
}

static void run_external_piece(void *argument, int64_t begin, int64_t end, int32_t worker) {
  external_region *external = (external_region *)argument;
  const weft_region_t *region = external->region;
  if (begin < 0 || end > external->count || begin > end || worker < 0 ||
      worker >= external->worker_count) {
    external->is_wrong.store(1);
    return;
  }
  if (begin == end)
    return;
  uint64_t mode = weft_float_mode_enter();
  if (region->count == 1)
    run_chunks(*region->parts, begin, end, external->count, &region->workers[worker]);
  else
    for (int64_t piece = begin; piece < end; ++piece)
      weft_compute_piece(*region, (int32_t)piece, &region->workers[worker]);
  weft_float_mode_leave(mode);
  external->done.fetch_add(end - begin);
}

static bool run_external(weft_cpu_queue_t *queue, const weft_region_t *region) {
  const weft_env_t &env = *queue->env;
  int64_t count =
      region->count == 1 ? weft_chunks(region->parts->units, region->parts->grain) : region->pieces;
  external_region external = {region, count, queue->worker_count, {}, {}};
  env.parallel(env.user, run_external_piece, &external, count, 1);
  return !external.is_wrong.load() && external.done.load() == count;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// The region on the workers of the queue, or on those of the embedder. False when these did something else.
static bool run_on_workers(weft_cpu_queue_t *queue, const weft_region_t &region) {
  if (queue->env->parallel)
    return run_external(queue, &region);
  weft_pool_run(&queue->pool, &region);
  return true;
}

static bool run_part(weft_cpu_queue_t *queue, const weft_part_v1 &part) {
  if (part.units <= part.grain || queue->worker_count == 1) {
    weft_call_kernel(part, 0, part.units, &queue->workers[0]);
    return true;
  }
  weft_region_t region = {&part, 1, 0, 0, false, {}, queue->workers};
  if (queue->env->parallel)
    return run_external(queue, &region);
  int64_t chunks = weft_chunks(part.units, part.grain);
  int32_t workers = weft_pool_workers(&queue->pool);
  region.pieces = chunks < workers ? (int32_t)chunks : workers;
  return run_on_workers(queue, region);
}

static bool is_stopped(const weft_cpu_queue_t *queue) {
  return __atomic_load_n(queue->stop, __ATOMIC_RELAXED) & 1;
}

weft_launch_failure_t weft_run_kernel(weft_cpu_queue_t *queue, const weft_part_v1 &part) {
  if (is_stopped(queue))
    return was_stopped;
  uint64_t begin = queue->launched ? weft_now_ns() : 0;
  if (!run_part(queue, part))
    return is_broken;
  if (queue->launched)
    queue->launched(queue->launched_user, &part, begin, weft_now_ns());
  return is_done;
}

static void leave_if(weft_frame_v1 *frame, const weft_launch_failure_t &failure) {
  if (failure.message)
    frame->leave(frame, failure.status, failure.code, failure.message);
}

void weft_run_parallel(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                       int64_t units, int64_t grain, int32_t kernel_id) {
  if (units <= 0)
    return;
  weft_part_v1 part = {kernel, words, units, grain < 1 ? 1 : grain, 0, kernel_id, 0};
  leave_if(frame, weft_run_kernel(weft_cpu_queue(frame->queue), part));
}

//===----------------------------------------------------------------------===//
// Several at the same time
//===----------------------------------------------------------------------===//

/// The kernels divide the region's time as the pieces of each took, one behind the other: sums of events are times of calls.
static void tell_all(weft_cpu_queue_t *queue, const weft_region_t &region, uint64_t begin,
                     uint64_t end) {
  double spent[WEFT_MAX_PARTS], all = 0, before = 0;
  for (int32_t i = 0; i < region.count; ++i) {
    spent[i] = 0;
    for (int32_t w = 0; w < region.pieces; ++w)
      spent[i] += (double)region.shares.spent[(size_t)i * region.sharers + w];
    all += spent[i];
  }
  auto after = [&](double part) {
    return begin + (all > 0 ? (uint64_t)((double)(end - begin) * (part / all)) : 0);
  };
  for (int32_t i = 0; i < region.count; ++i) {
    if (region.parts[i].units > 0)
      queue->launched(queue->launched_user, &region.parts[i], after(before),
                      after(before + spent[i]));
    before += spent[i];
  }
}

static bool run_region(weft_cpu_queue_t *queue, const weft_region_t &region) {
  uint64_t begin = region.is_timed ? weft_now_ns() : 0;
  bool is_good = run_on_workers(queue, region);
  if (is_good && region.is_timed)
    tell_all(queue, region, begin, weft_now_ns());
  return is_good;
}

/// Divides the parts among the workers; 0 when they are as well computed one after the other, else the number of pieces.
static int32_t share(weft_cpu_queue_t *queue, const weft_part_v1 *parts, int32_t count,
                     int32_t workers) {
  if (!weft_have_gaps(parts, count, workers))
    return 0;
  bool are_awake = !queue->env->parallel && weft_pool_is_awake(&queue->pool);
  int32_t pieces = weft_share(parts, count, workers, queue->shares);
  bool pays = pieces >= 2 && weft_sharing_pays(parts, count, workers, are_awake, queue->shares);
  return pays ? pieces : 0;
}

static weft_launch_failure_t run_together(weft_cpu_queue_t *queue, const weft_part_v1 *parts,
                                          int32_t count) {
  if (is_stopped(queue))
    return was_stopped;
  if (queue->worker_count > 1 && count > 1) {
    int32_t workers = queue->env->parallel ? queue->worker_count : weft_pool_workers(&queue->pool);
    if (int32_t pieces = share(queue, parts, count, workers)) {
      weft_region_t region = {
          parts, count, workers, pieces, queue->launched != nullptr, queue->shares, queue->workers};
      return run_region(queue, region) ? is_done : is_broken;
    }
  }
  weft_launch_failure_t failure = is_done;
  for (int32_t i = 0; i < count && !failure.message; ++i)
    if (parts[i].units > 0)
      failure = weft_run_kernel(queue, parts[i]);
  return failure;
}

void weft_run_together(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count) {
  leave_if(frame, run_together(weft_cpu_queue(frame->queue), parts, (int32_t)count));
}
