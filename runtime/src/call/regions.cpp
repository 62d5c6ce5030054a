#include "runtime/src/call/regions.h"

[[noreturn]] void weft_jump_out(weft_context_t *context, weft_status_t status) {
  context->leave_status = status;
  longjmp(context->leave, 1);
}

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

static void run_external(weft_context_t *context, const weft_region_t *region) {
  const weft_env_t &env = context->module->env;
  int64_t count =
      region->count == 1 ? weft_chunks(region->parts->units, region->parts->grain) : region->pieces;
  external_region external = {region, count, context->worker_count, {}, {}};
  env.parallel(env.user, run_external_piece, &external, count, 1);
  if (external.is_wrong.load() || external.done.load() != count)
    weft_jump_out(context, WEFT_INVALID);
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

static void run_part(weft_context_t *context, const weft_part_v1 &part) {
  if (part.units <= part.grain || context->worker_count == 1)
    return weft_call_kernel(part, 0, part.units, &context->workers[0]);
  weft_region_t region = {&part, 1, 0, 0, false, {}, context->workers};
  if (context->module->env.parallel)
    return run_external(context, &region);
  int64_t chunks = weft_chunks(part.units, part.grain);
  int32_t workers = weft_pool_workers(&context->pool);
  region.pieces = chunks < workers ? (int32_t)chunks : workers;
  weft_pool_run(&context->pool, &region);
}

static void tell(weft_context_t *context, const weft_part_v1 &part, uint64_t begin, uint64_t end) {
  uint32_t kernel = (uint32_t)part.kernel_id;
  weft_trace_event_t event = {sizeof event, kernel, part.units, -1, -1, begin, end};
  weft_kernel_work(context->module, kernel, part.words, &event.flops, &event.bytes);
  context->trace(context->trace_user, &event);
}

static void run_alone(weft_context_t *context, const weft_part_v1 &part) {
  if (part.units <= 0)
    return;
  if (!context->trace)
    return run_part(context, part);
  uint64_t begin = weft_now_ns();
  run_part(context, part);
  tell(context, part, begin, weft_now_ns());
}

static void stop_if_cancelled(weft_context_t *context) {
  if (context->state.load(std::memory_order_relaxed) == WEFT_CANCELLING)
    weft_jump_out(context, WEFT_CANCELLED);
}

void weft_run_parallel(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                       int64_t units, int64_t grain, int32_t kernel_id) {
  weft_context_t *context = (weft_context_t *)frame->context;
  if (units <= 0)
    return;
  stop_if_cancelled(context);
  run_alone(context, {kernel, words, units, grain < 1 ? 1 : grain, 0, kernel_id, 0});
}

//===----------------------------------------------------------------------===//
// Several at the same time
//===----------------------------------------------------------------------===//

/// The kernels divide the region's time as the pieces of each took, one behind the other: sums of events are times of calls.
static void tell_all(weft_context_t *context, const weft_region_t &region, uint64_t begin,
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
      tell(context, region.parts[i], after(before), after(before + spent[i]));
    before += spent[i];
  }
}

static void run_region(weft_context_t *context, const weft_region_t &region) {
  uint64_t begin = region.is_timed ? weft_now_ns() : 0;
  if (context->module->env.parallel)
    run_external(context, &region);
  else
    weft_pool_run(&context->pool, &region);
  if (region.is_timed)
    tell_all(context, region, begin, weft_now_ns());
}

/// False when the parts are as well computed one after the other.
static bool run_shared(weft_context_t *context, const weft_part_v1 *parts, int32_t count) {
  if (context->worker_count == 1 || count == 1)
    return false;
  bool is_external = context->module->env.parallel != nullptr;
  int32_t workers = is_external ? context->worker_count : weft_pool_workers(&context->pool);
  if (!weft_have_gaps(parts, count, workers))
    return false;
  bool are_awake = !is_external && weft_pool_is_awake(&context->pool);
  int32_t pieces = weft_share(parts, count, workers, context->shares);
  if (pieces < 2 || !weft_sharing_pays(parts, count, workers, are_awake, context->shares))
    return false;
  run_region(context, {parts, count, workers, pieces, context->trace != nullptr, context->shares,
                       context->workers});
  return true;
}

void weft_run_together(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count) {
  weft_context_t *context = (weft_context_t *)frame->context;
  stop_if_cancelled(context);
  if (run_shared(context, parts, (int32_t)count))
    return;
  for (int64_t i = 0; i < count; ++i) {
    stop_if_cancelled(context);
    run_alone(context, parts[i]);
  }
}
