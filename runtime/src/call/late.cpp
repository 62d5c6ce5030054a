#include "runtime/src/call/late.h"

#include "runtime/src/call/accelerated.h"
#include "runtime/src/call/device_memory.h"
#include "runtime/src/call/outputs.h"

void weft_begin_late(weft_context_t *context) {
  for (uint32_t i = 0; i < context->late_count; ++i)
    context->late[i].asked = 0;
}

void weft_release_late(weft_context_t *context) {
  for (uint32_t i = 0; i < context->late_count; ++i)
    weft_device_release(weft_kernel_device(context->module), context->late[i].memory,
                        context->late[i].bytes);
}

/// The bytes of a block, for all workers when it is theirs; false when that is no number of bytes.
static bool find_total(const weft_context_t *context, bool per_worker, int64_t bytes,
                       int64_t *out_total) {
  int64_t count = per_worker ? context->worker_count : 1;
  return bytes >= 0 && !__builtin_add_overflow(bytes, 63, &bytes) &&
         !__builtin_mul_overflow(bytes & ~63ll, count, out_total);
}

/// Every block is memory of its own: the others are in use.
static weft_status_t grow_block(weft_context_t *context, weft_late_block_t *block, int64_t total) {
  size_t bytes = total ? (size_t)total : 64; // NULL means that there is no memory
  return weft_grow(context, &block->memory, &block->bytes, bytes, context->call.err);
}

static weft_status_t reserve_block(weft_context_t *context, weft_late_block_t *block,
                                   bool per_worker, int64_t bytes) {
  int64_t total, sum = context->call.entry_bytes;
  bool fits = find_total(context, per_worker, bytes, &total);
  block->asked = fits ? total : 0;
  for (uint32_t i = 0; i < context->late_count; ++i)
    fits = fits && !__builtin_add_overflow(sum, context->late[i].asked, &sum);
  if (weft_status_t status = weft_check_limit(context, *context->call.function, context->values,
                                              fits ? sum : -1, context->call.err))
    return status;
  return grow_block(context, block, total);
}

static void place_scratch(weft_context_t *context, uint8_t *memory, int64_t bytes) {
  context->call.scratch = bytes;
  for (int32_t i = 0; i < context->worker_count; ++i)
    context->workers[i].scratch = memory + i * ((bytes + 63) & ~63ll);
}

void *weft_reserve_late(weft_frame_v1 *frame, int64_t index, int64_t bytes) {
  weft_context_t *context = (weft_context_t *)frame->context;
  const weft_list_t &rows = context->call.function->late_blocks;
  if (index < 0 || index >= rows.count)
    weft_leave_call(context,
                    weft_fail(context->call.err, WEFT_BAD_ARTIFACT, "W0511",
                              "%.150s: its code asked for late block %lld of %u: this is a "
                              "fault of the compiler",
                              context->module->path(), (long long)index, rows.count));
  weft_late_block_t *block = &context->late[index];
  bool per_worker =
      weft_item<weft_late_block_v1>(context->module->descriptor, rows, (uint32_t)index).flags &
      WEFT_LATE_PER_WORKER;
  if (per_worker && bytes <= context->call.scratch)
    return nullptr; // scratch never shrinks: other kernels of the call may need more
  if (weft_status_t status = reserve_block(context, block, per_worker, bytes))
    weft_leave_call(context, status);
  if (per_worker)
    place_scratch(context, block->memory, bytes);
  return per_worker ? nullptr : block->memory;
}

void weft_provide_output(weft_frame_v1 *frame, int64_t index, int64_t bytes) {
  weft_context_t *context = (weft_context_t *)frame->context;
  const weft_call_t &call = context->call;
  weft_status_t status = WEFT_OK;
  if (index < 0 || index >= call.function->outputs.count || bytes < 0)
    status = weft_fail(call.err, WEFT_BAD_ARTIFACT, "W0511",
                       "%.150s: its code asked for output %lld: this is a fault of the compiler",
                       context->module->path(), (long long)index);
  else if (context->accelerated)
    status = weft_provide_on_device(context, (uint32_t)index, bytes, call.err);
  else if (frame->out[index].data && !(frame->out[index].flags & WEFT_TENSOR_FRESH))
    status = weft_check_given_output(context->module, *call.function, frame->in, frame->out,
                                     (uint32_t)index, bytes, call.err);
  else
    status = weft_allocate_output(context->module, frame->out, (uint32_t)index, bytes, call.err);
  if (status)
    weft_leave_call(context, status);
}
