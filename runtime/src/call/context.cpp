// Contexts and calls. A call checks, binds, makes room, and runs. After the first call of a size it
// allocates nothing when the outputs are given.
#include "runtime/src/call/context.h"

#include <string.h>

#include <initializer_list>
#include <new>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/call/accelerated.h"
#include "runtime/src/call/device_memory.h"
#include "runtime/src/call/in_place.h"
#include "runtime/src/call/late.h"
#include "runtime/src/call/outputs.h"
#include "runtime/src/call/overlap.h"
#include "runtime/src/call/places.h"
#include "runtime/src/call/positions.h"
#include "runtime/src/call/ranks.h"
#include "runtime/src/open/accelerator.h"
#include "weft/group.h"

void weft_leave_call(weft_context_t *context, weft_status_t status) {
  context->leave_status = status;
  longjmp(context->leave, 1);
}

/// Where a launch goes that failed.
static void leave(weft_frame_v1 *frame, weft_status_t status, const char *code,
                  const char *message) {
  weft_context_t *context = (weft_context_t *)frame->context;
  weft_leave_call(context, weft_fail(context->call.err, status, code, "%s", message));
}

/// Runs compiled code until it returns or something leaves the call, which has said why. What it returned is in failed_check.
__attribute__((noinline)) static weft_status_t
run_guarded(weft_context_t *context, const weft_function_v1 &function, weft_frame_v1 *frame) {
  context->failed_check = 0;
  if (_setjmp(context->leave))
    return context->leave_status;
  context->failed_check = weft_call_run(context->module, function, frame);
  return WEFT_OK;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static weft_status_t read_options(const weft_context_options_t *options,
                                  weft_context_options_t *out_options, weft_error_t *err) {
  *out_options = {sizeof *out_options, 0, -1, 0, nullptr, nullptr, 0, 0, nullptr};
  if (!options)
    return WEFT_OK;
  if (weft_status_t status = weft_read_sized(options, "options", out_options, err))
    return status;
  if (options->threads < 0 || options->threads > WEFT_MAX_WORKERS)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.threads is %d, but 0 to %d are possible",
                     options->threads, WEFT_MAX_WORKERS);
  if (options->spin_us < -1 || options->spin_us > 1000000)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "options.spin_us is %d, but -1 to 1000000 are possible", options->spin_us);
  if (options->memory_limit < 0)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.memory_limit is negative");
  if (out_options->exchanges_apart < 0 || out_options->exchanges_apart > 1 || out_options->reserved)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.exchanges_apart is %d",
                     out_options->exchanges_apart);
  return WEFT_OK;
}

/// The most that a function of the module has of either.
static void find_largest(const weft_module_t *module, uint32_t *values, uint32_t *late_blocks) {
  *values = *late_blocks = 0;
  weft_function_v1 function;
  for (int32_t i = 0; weft_module_function(module, i, &function); ++i) {
    uint32_t count = weft_values_count(module->descriptor, function);
    if (count > *values)
      *values = count;
    if (function.late_blocks.count > *late_blocks)
      *late_blocks = function.late_blocks.count;
  }
}

static size_t round_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/// Opens the queue that the context's calls launch on.
static weft_status_t open_queue(weft_context_t *context, const weft_context_options_t &options,
                                weft_error_t *err) {
  weft_device_t *device = context->module->device;
  bool is_beside = context->module->accelerator; // the host launches, and computes nothing
  weft_queue_options_t wanted = {sizeof wanted,
                                 is_beside ? 1 : options.threads,
                                 options.spin_us,
                                 0,
                                 (const uint32_t *)&context->state,
                                 nullptr};
  if (options.stream && !is_beside)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "options.stream is set, but the context computes on the host");
  if (weft_status_t status = device->calls->open_queue(device, &wanted, &context->queue, err))
    return status;
  context->calls = device->calls->host;
  context->workers = context->calls->workers(context->queue, &context->worker_count);
  context->host = {sizeof(weft_host_v1),     0,
                   context->calls->parallel, weft_reserve_late,
                   weft_provide_output,      context->calls->together,
                   weft_check_positions,     weft_exchange_ranks,
                   weft_overlap_whole,       weft_launch_on_device,
                   weft_fetch_from_device,   weft_overlap_ranks,
                   weft_exchange_begin,      weft_exchange_end,
                   weft_launch_counted};
  return WEFT_OK;
}

/// A context without a queue; NULL when there is no memory.
static weft_context_t *new_context(weft_module_t *module) {
  size_t values_at = round_up(sizeof(weft_context_t));
  uint32_t value_count, late_count;
  find_largest(module, &value_count, &late_count);
  size_t late_at = values_at + value_count * sizeof(int64_t);
  size_t groups_at = late_at + late_count * sizeof(weft_late_block_t);
  size_t bytes = groups_at + weft_groups_needed(module) * sizeof(weft_group *);
  uint8_t *memory = (uint8_t *)weft_allocate(&module->env, bytes, 64);
  if (!memory)
    return nullptr;
  memset(memory, 0, bytes);
  weft_context_t *context = new (memory) weft_context;
  context->module = module;
  context->bytes = bytes;
  context->values = (int64_t *)(memory + values_at);
  context->late = (weft_late_block_t *)(memory + late_at);
  context->late_count = late_count;
  context->groups = (weft_group **)(memory + groups_at);
  return context;
}

/// The module, or a view of it for the device or ranks that were asked for. The caller is one more owner.
static weft_status_t module_for(weft_module_t *module, const weft_context_options_t &options,
                                weft_module_t **out_module, weft_error_t *err) {
  weft_group *group = options.group;
  bool for_device = module->descriptor.root.device_code.count;
  const char *name = options.device ? options.device : for_device ? "cuda" : "cpu";
  if (strcmp(name, "cpu") != 0)
    return weft_module_for_device(module, name, out_module, err);
  if (for_device)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0702", "%.150s: has no code for device 'cpu'",
                     module->path());
  return weft_module_for_ranks(module, group ? (uint32_t)weft_group_world(group) : 1, out_module,
                               err);
}

weft_status_t weft_context_create(weft_module_t *module, const weft_context_options_t *options,
                                  weft_context_t **out_context, weft_error_t *err) {
  if (!module || !out_context)
    return weft_fail(err, WEFT_INVALID, "W0401", "module or out_context is NULL");
  *out_context = nullptr;
  if (module->env.describe)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "the module was opened with env.describe, so it cannot run");
  weft_context_options_t checked;
  if (weft_status_t status = read_options(options, &checked, err))
    return status;
  weft_group *group = checked.group;
  if (weft_status_t status = module_for(module, checked, &module, err))
    return status;
  weft_context_t *context = new_context(module);
  if (!context) {
    weft_module_release(module);
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  }
  context->memory_limit = checked.memory_limit;
  context->exchanges_apart = checked.exchanges_apart;
  weft_status_t status = weft_join_ranks(context, group, err);
  if (!status)
    status = weft_join_device(context, checked.stream, err);
  if (!status)
    status = open_queue(context, checked, err);
  if (status) {
    weft_leave_device(context);
    weft_leave_ranks(context);
    weft_free(&module->env, context, context->bytes);
    weft_module_release(module);
    return status;
  }
  *out_context = context;
  return weft_succeed(err);
}

void weft_context_release(weft_context_t *context) {
  if (!context)
    return;
  weft_module_t *module = context->module;
  module->device->calls->close_queue(context->queue);
  weft_leave_ranks(context);
  if (context->accelerated)
    weft_finish_device(context, nullptr); // of what was submitted
  weft_device_release(weft_kernel_device(module), context->block, context->block_bytes);
  weft_release_late(context);
  weft_leave_device(context);
  weft_free(&module->env, context, context->bytes);
  weft_module_release(module);
}

const weft_module_t *weft_context_module(const weft_context_t *context) {
  return context ? context->module : nullptr;
}

void weft_cancel(weft_context_t *context) {
  uint32_t running = WEFT_RUNNING;
  if (context && context->state.compare_exchange_strong(running, WEFT_CANCELLING))
    weft_abort_ranks(context);
}

weft_status_t weft_enter_context(weft_context_t *context, weft_error_t *err) {
  uint32_t idle = WEFT_IDLE;
  if (context->state.compare_exchange_strong(idle, WEFT_RUNNING))
    return WEFT_OK;
  weft_fail(err, WEFT_BUSY, "W0431", "the context is already in a call");
  weft_set_hint(err, "create one context per thread; contexts share the module");
  return WEFT_BUSY;
}

/// Tells the caller what the queue launched, with the work that its formulas say.
static void tell(void *user, const weft_part_v1 *part, uint64_t begin, uint64_t end) {
  weft_context_t *context = (weft_context_t *)user;
  uint32_t kernel = (uint32_t)part->kernel_id;
  weft_trace_event_t event = {sizeof event, kernel, part->units, -1, -1, begin, end};
  const weft_part_v1 *whole = context->call.whole ? context->call.whole : part;
  weft_kernel_work(context->module, kernel, whole->words, &event.flops, &event.bytes);
  for (int64_t *work : {&event.flops, &event.bytes})
    if (*work > 0 && part->units != whole->units)
      *work = (int64_t)((double)*work * (double)part->units / (double)whole->units);
  context->trace(context->trace_user, &event);
}

weft_status_t weft_context_trace(weft_context_t *context, weft_trace_fn event, void *user,
                                 weft_error_t *err) {
  if (!context)
    return weft_fail(err, WEFT_INVALID, "W0401", "context is NULL");
  if (weft_status_t status = weft_enter_context(context, err))
    return status;
  context->trace = event;
  context->trace_user = user;
  context->calls->trace(context->queue, event ? tell : nullptr, context);
  context->state.store(WEFT_IDLE);
  return weft_succeed(err);
}

//===----------------------------------------------------------------------===//
// Memory of a call
//===----------------------------------------------------------------------===//

static bool round_up_checked(int64_t *bytes) {
  return *bytes >= 0 && !__builtin_add_overflow(*bytes, 63, bytes) && ((*bytes &= ~63ll), true);
}

weft_status_t weft_check_limit(const weft_context_t *context, const weft_function_v1 &function,
                               const int64_t *symbols, int64_t total, weft_error_t *err) {
  char buffer[400];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  if (total < 0) {
    weft_text_add_symbols(&text, context->module, function, symbols, nullptr);
    return weft_fail(err, WEFT_OVER_LIMIT, "W0422",
                     "the memory that this call needs is not a number of bytes %s", buffer);
  }
  if (!context->memory_limit || total <= context->memory_limit)
    return WEFT_OK;
  weft_text_add(&text, "this call needs ");
  weft_text_add_bytes(&text, (uint64_t)total);
  if (function.symbols.count) {
    weft_text_add(&text, " ");
    weft_text_add_symbols(&text, context->module, function, symbols, nullptr);
  }
  weft_text_add(&text, " but the limit is ");
  weft_text_add_bytes(&text, (uint64_t)context->memory_limit);
  return weft_fail(err, WEFT_OVER_LIMIT, "W0421", "%s", buffer);
}

/// How much memory a call with these symbols needs; `arena` is what bind or the formula said.
static weft_status_t find_needs(weft_context_t *context, const weft_function_v1 &function,
                                const int64_t *symbols, int64_t arena, weft_needs_t *needs,
                                weft_error_t *err) {
  needs->arena = arena;
  int64_t scratch;
  bool fits = weft_formula_run(context->module->descriptor, function.scratch_per_worker, symbols,
                               &needs->scratch_per_worker) &&
              round_up_checked(&needs->arena) && round_up_checked(&needs->scratch_per_worker) &&
              !__builtin_mul_overflow(needs->scratch_per_worker, context->worker_count, &scratch) &&
              !__builtin_add_overflow(needs->arena, scratch, &needs->total);
  return weft_check_limit(context, function, symbols, fits ? needs->total : -1, err);
}

/// Makes the block large enough. It only grows; its contents do not survive.
static weft_status_t grow(weft_context_t *context, const weft_needs_t &needs, weft_error_t *err) {
  return weft_grow(context, &context->block, &context->block_bytes, (size_t)needs.total, err);
}

static void place_workers(weft_context_t *context, const weft_needs_t &needs) {
  uint8_t *scratch = context->block ? context->block + needs.arena : nullptr;
  for (int32_t i = 0; i < context->worker_count; ++i) {
    context->workers[i] = {needs.scratch_per_worker ? scratch : nullptr, i, 0};
    if (needs.scratch_per_worker)
      scratch += needs.scratch_per_worker;
  }
}

static weft_status_t reserve(weft_context_t *context, int32_t index, const int64_t *symbols,
                             weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_function_v1 function;
  if (!weft_module_function(module, index, &function))
    return weft_fail(err, WEFT_INVALID, "W0401", "there is no function %d", index);
  if (symbols && function.mesh.count) {
    uint32_t places = weft_set_places(module, function, context->rank, context->values);
    memcpy(context->values, symbols, (function.symbols.count - places) * sizeof(int64_t));
    symbols = context->values;
  }
  if (weft_status_t status = weft_check_symbols(module, function, symbols, err))
    return status;
  int64_t arena;
  weft_needs_t needs;
  if (!weft_formula_run(module->descriptor, function.arena, symbols, &arena))
    arena = -1;
  weft_status_t status = find_needs(context, function, symbols, arena, &needs, err);
  return status ? status : grow(context, needs, err);
}

weft_status_t weft_reserve(weft_context_t *context, int32_t function, const int64_t *symbols,
                           weft_error_t *err) {
  if (!context)
    return weft_fail(err, WEFT_INVALID, "W0401", "context is NULL");
  if (weft_status_t status = weft_enter_context(context, err))
    return status;
  weft_succeed(err);
  weft_status_t status = reserve(context, function, symbols, err);
  context->state.store(WEFT_IDLE);
  return status;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What functions of the host table know of the call is set.
static weft_status_t run(weft_context_t *context, const weft_function_v1 &function,
                         const weft_needs_t &needs, const weft_tensor_t *in, weft_tensor_t *out,
                         weft_error_t *err) {
  const weft_module_t *module = context->module;
  place_workers(context, needs);
  weft_frame_v1 frame = {&context->host,
                         context,
                         in,
                         out,
                         context->block,
                         module->weights.data,
                         context->values,
                         context->workers,
                         context->queue,
                         leave};
  context->call = {&function, in, out, needs.total, needs.scratch_per_worker, err, nullptr};
  if (weft_accelerated *own = context->accelerated) {
    if (weft_status_t status = weft_send_arguments(context, function, in, out, err)) {
      weft_finish_device(context, nullptr); // copies that began read the caller's memory
      return status;
    }
    frame.in = own->in;
    frame.out = own->out;
    frame.weights = module->accelerator->weights;
  }
  weft_begin_late(context);
  context->calls->begin(context->queue);
  weft_status_t status = run_guarded(context, function, &frame);
  context->calls->end(context->queue);
  if (context->accelerated)
    status = status || context->failed_check ? (weft_finish_device(context, nullptr), status)
                                             : weft_fetch_outputs(context, function, in, out, err);
  if (status && context->accelerated)
    context->accelerated->are_zeros = false;
  if (status || !context->failed_check)
    return status;
  return weft_report_check(module, function, context->failed_check, in, context->values, err);
}

static weft_status_t call(weft_context_t *context, int32_t index, const weft_tensor_t *in,
                          uint32_t n_in, weft_tensor_t *out, uint32_t n_out, weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_function_v1 function;
  if (!weft_module_function(module, index, &function))
    return weft_fail(err, WEFT_INVALID, "W0401", "there is no function %d", index);
  weft_status_t status = weft_check_inputs(module, function, in, n_in, true, err);
  if (!status)
    status = weft_check_outputs(module, function, out, n_out, err);
  if (!status)
    status = weft_check_places(module, function, in, out, err);
  if (status)
    return status;
  int64_t *values = context->values;
  weft_set_places(module, function, context->rank, values);
  if (int32_t result = weft_call_bind(module, function, in, values))
    return weft_report_check(module, function, result, in, nullptr, err);
  weft_needs_t needs;
  status = weft_describe_outputs(module, function, values, out, err);
  if (!status)
    status = find_needs(context, function, values, values[function.symbols.count], &needs, err);
  if (!status)
    status = weft_check_in_place(module, function, in, out, err);
  if (!status)
    weft_describe_in_place(module, function, in, out);
  if (!status)
    status = weft_check_given_outputs(module, function, in, out, err);
  if (!status)
    status = grow(context, needs, err);
  if (!status)
    status = weft_allocate_outputs(module, function, out, err);
  if (!status)
    status = weft_compare_call(context, index, function, err);
  if (!status)
    status = run(context, function, needs, in, out, err);
  if (!status)
    weft_give_in_place(module, function, in, out);
  return status;
}

/// A call of a context that was entered, which this leaves.
static weft_status_t finish_call(weft_context_t *context, int32_t function, const weft_tensor_t *in,
                                 uint32_t n_in, weft_tensor_t *out, uint32_t n_out,
                                 weft_error_t *err) {
  weft_succeed(err);
  weft_status_t status = call(context, function, in, n_in, out, n_out, err);
  // One exchange ends the call and learns whether it was cancelled, so that no cancel is lost or
  // late.
  if (context->state.exchange(WEFT_IDLE) == WEFT_CANCELLING && !status)
    status = WEFT_CANCELLED;
  if (status == WEFT_CANCELLED)
    weft_fail(err, status, "W0432", "the call was cancelled");
  weft_finish_outputs(context->module, out, n_out, status == WEFT_OK);
  return status;
}

/// Makes the context the caller's.
static weft_status_t begin_call(weft_context_t *context, bool waits, weft_error_t *err) {
  if (!context)
    return weft_fail(err, WEFT_INVALID, "W0401", "context is NULL");
  if (weft_status_t status = weft_enter_context(context, err))
    return status;
  context->waits = waits;
  return WEFT_OK;
}

weft_status_t weft_call_function(weft_context_t *context, int32_t function, const weft_tensor_t *in,
                                 uint32_t n_in, weft_tensor_t *out, uint32_t n_out,
                                 weft_error_t *err) {
  weft_status_t status = begin_call(context, true, err);
  return status ? status : finish_call(context, function, in, n_in, out, n_out, err);
}

weft_status_t weft_submit(weft_context_t *context, int32_t function, const weft_tensor_t *in,
                          uint32_t n_in, weft_tensor_t *out, uint32_t n_out, weft_error_t *err) {
  weft_status_t status = begin_call(context, false, err);
  return status ? status : finish_call(context, function, in, n_in, out, n_out, err);
}

weft_status_t weft_wait(weft_context_t *context, weft_error_t *err) {
  if (weft_status_t status = begin_call(context, true, err))
    return status;
  weft_succeed(err);
  weft_status_t status = context->accelerated ? weft_finish_device(context, err) : WEFT_OK;
  context->state.store(WEFT_IDLE);
  return status;
}

weft_status_t weft_call(weft_context_t *context, const char *function, const weft_tensor_t *in,
                        uint32_t n_in, weft_tensor_t *out, uint32_t n_out, weft_error_t *err) {
  if (!context)
    return weft_fail(err, WEFT_INVALID, "W0401", "context is NULL");
  int32_t index = weft_function_find(context->module, function);
  if (index >= 0)
    return weft_call_function(context, index, in, n_in, out, n_out, err);
  if (function)
    return weft_fail(err, WEFT_INVALID, "W0401", "there is no function '%.100s'", function);
  return weft_fail(err, WEFT_INVALID, "W0401",
                   "the artifact has several functions and none is called 'main': name one");
}
