#include "runtime/src/call/accelerated.h"

#include <string.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/call/device_memory.h"
#include "runtime/src/call/in_place.h"
#include "runtime/src/call/outputs.h"
#include "runtime/src/open/accelerator.h"

static weft_device_t *device_of(const weft_context_t *context) {
  return context->module->accelerator->device;
}

/// What counters are before a kernel begins.
static uint32_t no_count[WEFT_COUNTERS];

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// The most arguments that a function of the module has.
static uint32_t most_arguments(const weft_module_t *module) {
  uint32_t most = 0;
  weft_function_v1 function;
  for (int32_t i = 0; weft_module_function(module, i, &function); ++i)
    if (uint32_t count = function.inputs.count + function.outputs.count; count > most)
      most = count;
  return most;
}

weft_status_t weft_join_device(weft_context_t *context, void *stream, weft_error_t *err) {
  const weft_module_t *module = context->module;
  if (!module->accelerator)
    return WEFT_OK;
  uint32_t count = most_arguments(module);
  size_t tensors = sizeof(weft_accelerated), staged = tensors + 2 * count * sizeof(weft_tensor_t);
  size_t bytes = staged + count * sizeof(weft_staged_t);
  uint8_t *memory = (uint8_t *)weft_allocate(&module->env, bytes, 64);
  if (!memory)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  memset(memory, 0, bytes);
  auto *made = (weft_accelerated *)memory;
  *made = {bytes, nullptr, nullptr, nullptr, nullptr, count, {}, 0, 0, nullptr, false};
  made->in = (weft_tensor_t *)(memory + tensors);
  made->out = made->in + count;
  made->staged = (weft_staged_t *)(memory + staged);
  context->accelerated = made;
  weft_queue_options_t wanted = {sizeof wanted, 0, -1, 0, (const uint32_t *)&context->state,
                                 stream};
  weft_device_t *device = device_of(context);
  return device->calls->open_queue(device, &wanted, &made->queue, err);
}

void weft_leave_device(weft_context_t *context) {
  weft_accelerated *own = context->accelerated;
  if (!own)
    return;
  weft_device_t *device = device_of(context);
  device->calls->close_queue(own->queue);
  for (uint32_t i = 0; i < own->count; ++i)
    weft_device_release(device, own->staged[i].memory, own->staged[i].bytes);
  weft_device_release(device, own->counters, sizeof no_count);
  weft_free(&context->module->env, own->brought.memory, own->brought.bytes);
  weft_free(&context->module->env, own, own->bytes);
}

weft_status_t weft_context_counter(const weft_context_t *context, uint32_t kernel, uint32_t index,
                                   weft_counter_t *out_counter) {
  if (!context || !context->accelerated || !weft_has_room(out_counter) ||
      kernel >= context->module->descriptor.root.kernels.count)
    return WEFT_INVALID;
  weft_device_t *device = device_of(context);
  weft_counter_t counter = {sizeof counter, 0, nullptr, 0};
  if (device->calls->struct_size < offsetof(weft_device_v1, bytes_at) || !device->calls->counter ||
      device->calls->counter(device, context->module->accelerator->kernels[kernel], index,
                             &counter))
    return WEFT_INVALID;
  return weft_give_sized(out_counter, counter);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

weft_status_t weft_copy_in_order(weft_context_t *context, weft_way_t way, void *to,
                                 const void *from, int64_t bytes, weft_error_t *err) {
  weft_accelerated *own = context->accelerated;
  weft_device_t *device = device_of(context);
  weft_copy_t copy = {sizeof copy,
                      0,
                      way == WEFT_FROM_DEVICE ? nullptr : device,
                      way == WEFT_TO_DEVICE ? nullptr : device,
                      to,
                      from,
                      bytes};
  if (!bytes)
    return WEFT_OK;
  own->sent += way == WEFT_TO_DEVICE ? (uint64_t)bytes : 0;
  own->fetched += way == WEFT_FROM_DEVICE ? (uint64_t)bytes : 0;
  return device->calls->copy(own->queue, &copy, err);
}

/// Bytes for an argument, at least one: no address is NULL.
static weft_status_t stage(weft_context_t *context, uint32_t argument, int64_t bytes,
                           weft_tensor_t *tensor, weft_error_t *err) {
  weft_staged_t *staged = &context->accelerated->staged[argument];
  if (weft_status_t status =
          weft_grow(context, &staged->memory, &staged->bytes, bytes > 0 ? (size_t)bytes : 1, err))
    return status;
  tensor->data = staged->memory;
  tensor->capacity = (int64_t)staged->bytes;
  return WEFT_OK;
}

/// The pair of an output that lies in an input's memory, or false.
static bool find_pair(const weft_module_t *module, const weft_function_v1 &function,
                      uint32_t output, weft_in_place_v1 *out_pair) {
  for (uint32_t i = 0; i < function.in_place.count; ++i) {
    *out_pair = weft_pair(module, function, i);
    if (out_pair->output == output)
      return true;
  }
  return false;
}

static bool is_late(const weft_module_t *module, const weft_function_v1 &function,
                    uint32_t output) {
  return weft_argument(module->descriptor, function, function.inputs.count + output).flags &
         WEFT_ARGUMENT_LATE;
}

weft_status_t weft_send_arguments(weft_context_t *context, const weft_function_v1 &function,
                                  const weft_tensor_t *in, const weft_tensor_t *out,
                                  weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_accelerated *own = context->accelerated;
  for (uint32_t i = 0, pair = 0; i < function.inputs.count; ++i) {
    own->in[i] = in[i];
    int64_t bytes = weft_input_span(module, function, in, i, &pair);
    if (in[i].device >= 0)
      continue;
    weft_status_t status = stage(context, i, bytes, &own->in[i], err);
    if (!status)
      status = weft_copy_in_order(context, WEFT_TO_DEVICE, own->in[i].data, in[i].data, bytes, err);
    if (status)
      return status;
  }
  weft_in_place_v1 pair;
  for (uint32_t i = 0; i < function.outputs.count; ++i) {
    own->out[i] = out[i];
    if (find_pair(module, function, i, &pair))
      own->out[i].data = own->in[pair.input].data;
    else if (is_late(module, function, i))
      own->out[i].data = nullptr;
    else if (out[i].device >= 0)
      continue;
    else if (weft_status_t status = stage(context, function.inputs.count + i, weft_bytes_of(out[i]),
                                          &own->out[i], err))
      return status;
  }
  return WEFT_OK;
}

/// The caller's memory for an output whose size the call has found.
static weft_status_t place_late(const weft_context_t *context, const weft_tensor_t *in, uint32_t i,
                                int64_t bytes, weft_error_t *err) {
  const weft_call_t &call = context->call;
  weft_tensor_t *out = call.out;
  if (out[i].data && !(out[i].flags & WEFT_TENSOR_FRESH))
    return weft_check_given_output(context->module, *call.function, in, out, i, bytes, err);
  return weft_allocate_output(context->module, out, i, bytes, err);
}

weft_status_t weft_provide_on_device(weft_context_t *context, uint32_t index, int64_t bytes,
                                     weft_error_t *err) {
  weft_accelerated *own = context->accelerated;
  const weft_call_t &call = context->call;
  if (call.out[index].device < 0)
    return stage(context, call.function->inputs.count + index, bytes, &own->out[index], err);
  weft_status_t status = place_late(context, own->in, index, bytes, err);
  own->out[index].data = call.out[index].data;
  return status;
}

weft_status_t weft_finish_device(weft_context_t *context, weft_error_t *err) {
  return device_of(context)->calls->finish(context->accelerated->queue, err);
}

weft_status_t weft_fetch_outputs(weft_context_t *context, const weft_function_v1 &function,
                                 const weft_tensor_t *in, weft_tensor_t *out, weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_accelerated *own = context->accelerated;
  weft_status_t status = WEFT_OK;
  for (uint32_t i = 0, pair = 0; i < function.inputs.count; ++i) {
    uint32_t before = pair;
    int64_t bytes = weft_input_span(module, function, in, i, &pair);
    if (pair != before && !status && in[i].device < 0) // an output lies in it
      status =
          weft_copy_in_order(context, WEFT_FROM_DEVICE, in[i].data, own->in[i].data, bytes, err);
  }
  weft_in_place_v1 pair;
  for (uint32_t i = 0; i < function.outputs.count && !status; ++i) {
    memcpy(out[i].dim, own->out[i].dim, sizeof out[i].dim);
    if (out[i].device >= 0 || find_pair(module, function, i, &pair))
      continue;
    if (is_late(module, function, i))
      status = place_late(context, in, i, weft_bytes_of(out[i]), err);
    if (!status)
      status = weft_copy_in_order(context, WEFT_FROM_DEVICE, out[i].data, own->out[i].data,
                                  weft_bytes_of(out[i]), err);
  }
  if (!status && !context->waits)
    return WEFT_OK;
  weft_status_t finished = weft_finish_device(context, status ? nullptr : err);
  return status ? status : finished;
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

/// Where the caller has what was copied from there to the device; NULL: it was computed, or lies there.
static const void *find_sent(const weft_context_t *context, const void *from) {
  const weft_call_t &call = context->call;
  const weft_accelerated *own = context->accelerated;
  for (uint32_t i = 0, pair = 0; i < call.function->inputs.count; ++i) {
    uint32_t before = pair;
    int64_t bytes = weft_input_span(context->module, *call.function, call.in, i, &pair);
    const uint8_t *begin = (const uint8_t *)own->in[i].data;
    if (call.in[i].device < 0 && pair == before && weft_overlap(from, 1, begin, bytes))
      return (const uint8_t *)call.in[i].data + ((const uint8_t *)from - begin);
  }
  return nullptr;
}

const void *weft_bring(weft_context_t *context, const void *from, int64_t bytes) {
  if (const void *sent = find_sent(context, from))
    return sent;
  weft_staged_t *brought = &context->accelerated->brought;
  const weft_env_t *env = &context->module->env;
  weft_error_t *err = context->call.err;
  if ((size_t)bytes > brought->bytes) {
    weft_free(env, brought->memory, brought->bytes);
    *brought = {(uint8_t *)weft_allocate(env, (size_t)bytes, 64), (size_t)bytes};
    if (!brought->memory) {
      brought->bytes = 0;
      weft_leave_call(context, weft_fail_memory(err, bytes));
    }
  }
  weft_status_t status =
      weft_copy_in_order(context, WEFT_FROM_DEVICE, brought->memory, from, bytes, err);
  if (!status)
    status = weft_finish_device(context, err);
  if (status)
    weft_leave_call(context, status);
  return brought->memory;
}

int64_t weft_fetch_from_device(weft_frame_v1 *frame, const void *address, int64_t bits) {
  weft_context_t *context = (weft_context_t *)frame->context;
  int64_t word = 0;
  memcpy(&word, weft_bring(context, address, bits / 8), (size_t)bits / 8);
  return word;
}

/// A launch between two events, where the device has a clock: the nanoseconds that it worked.
static weft_status_t launch_by_clock(weft_queue_t *queue, const weft_device_v1 *calls,
                                     weft_device_t *device, const weft_launch_t &launch,
                                     uint64_t *out_ns, weft_error_t *err) {
  weft_event_t *begin = nullptr, *end = nullptr;
  weft_status_t status = calls->open_event(device, &begin, err);
  if (!status)
    status = calls->open_event(device, &end, err);
  if (!status)
    status = calls->record(queue, begin, err);
  if (!status)
    status = calls->launch(queue, &launch, err);
  if (!status)
    status = calls->record(queue, end, err);
  if (!status)
    status = calls->wait(device, end, err);
  if (!status)
    status = calls->elapsed(device, begin, end, out_ns, err);
  calls->close_event(device, begin);
  calls->close_event(device, end);
  return status;
}

/// Waits, and tells the caller how long the launch took: by the device's clock, where it has one.
static weft_status_t trace_launch(weft_context_t *context, const weft_launch_t &launch,
                                  uint32_t kernel, weft_error_t *err) {
  weft_queue_t *queue = context->accelerated->queue;
  const weft_device_v1 *calls = device_of(context)->calls;
  weft_status_t status = calls->finish(queue, err);
  weft_trace_event_t event = {sizeof event, kernel, launch.units, -1, -1, weft_now_ns(), 0};
  bool has_clock = calls->struct_size > offsetof(weft_device_v1, elapsed) && calls->elapsed;
  if (!status && has_clock)
    status = launch_by_clock(queue, calls, device_of(context), launch, &event.end_ns, err);
  else if (!status)
    status = calls->launch(queue, &launch, err);
  if (!status)
    status = calls->finish(queue, err);
  event.end_ns = has_clock ? event.begin_ns + event.end_ns : weft_now_ns();
  weft_kernel_work(context->module, kernel, launch.words, &event.flops, &event.bytes);
  if (!status)
    context->trace(context->trace_user, &event);
  return status;
}

/// `counters`: the last parameter of a kernel that has such; NULL: it has not.
static void launch(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks, int32_t kernel_id,
                   void *counters) {
  weft_context_t *context = (weft_context_t *)frame->context;
  const weft_module_t *module = context->module;
  weft_error_t *err = context->call.err;
  if (!((uint32_t)kernel_id < module->descriptor.root.kernels.count))
    weft_leave_call(context, weft_fail(err, WEFT_BAD_ARTIFACT, "W0511",
                                       "%.150s: its code asked for kernel %lld: this is a fault of "
                                       "the compiler",
                                       module->path(), (long long)kernel_id));
  weft_kernel_v1 row = weft_item<weft_kernel_v1>(
      module->descriptor, module->descriptor.root.kernels, (uint32_t)kernel_id);
  uint64_t all[WEFT_MAX_WORDS + 2];
  uint32_t count = row.pointers + row.symbols;
  memcpy(all, words, count * sizeof *all);
  all[count++] = (uint64_t)(uintptr_t)frame->worker0->scratch;
  if (counters)
    all[count++] = (uint64_t)(uintptr_t)counters;
  weft_launch_t launch = {
      sizeof launch,     count,          module->accelerator->kernels[kernel_id], blocks, 1, all,
      row.block_threads, row.block_bytes};
  weft_status_t status =
      context->trace ? trace_launch(context, launch, (uint32_t)kernel_id, err)
                     : device_of(context)->calls->launch(context->accelerated->queue, &launch, err);
  if (status == WEFT_DEVICE && row.nodes.count)
    weft_set_hint(
        err, "the kernel computes '%.150s'%s",
        weft_text(module->descriptor, weft_item<weft_list_t>(module->descriptor, row.nodes, 0)),
        row.nodes.count > 1 ? ", and other nodes" : "");
  if (status)
    weft_leave_call(context, status);
}

void weft_launch_on_device(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks,
                           int32_t kernel_id) {
  if (blocks > 0)
    launch(frame, words, blocks, kernel_id, nullptr);
}

/// Zeros in memory that is the context's own: kernels of one queue follow each other.
static weft_status_t clear_counters(weft_context_t *context, weft_error_t *err) {
  weft_accelerated *own = context->accelerated;
  weft_device_t *device = device_of(context);
  weft_status_t status = WEFT_OK;
  if (!own->counters)
    status = weft_device_allocate(device, sizeof no_count, 64, &own->counters, err);
  if (status)
    return status == WEFT_OUT_OF_MEMORY ? weft_fail_memory(err, sizeof no_count) : status;
  weft_copy_t copy = {sizeof copy, 0, device, nullptr, own->counters, no_count, sizeof no_count};
  status = device->calls->copy(own->queue, &copy, err);
  own->are_zeros = !status;
  return status;
}

void weft_launch_counted(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks,
                         int32_t kernel_id) {
  weft_context_t *context = (weft_context_t *)frame->context;
  if (blocks <= 0)
    return;
  weft_accelerated *own = context->accelerated;
  if (!own->are_zeros)
    if (weft_status_t status = clear_counters(context, context->call.err))
      weft_leave_call(context, status);
  launch(frame, words, blocks, kernel_id, own->counters);
}
