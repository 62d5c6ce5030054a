// Contexts and calls. A call checks, binds, makes room, and runs. After the first call of a size it
// allocates nothing when the outputs are given.
#include "runtime/src/context.h"

#include <string.h>

#include <new>

#include "runtime/src/entry_check.h"
#include "runtime/src/memory.h"

//===----------------------------------------------------------------------------------------------===//
// Regions: what compiled code asks for while it runs
//===----------------------------------------------------------------------------------------------===//

/// Ends the call at once. Compiled code has nothing to clean up, so nothing is lost by jumping over it;
/// letting it go on would make it read buffers that were never written.
[[noreturn]] static void leave_call(weft_context_t *context, weft_status_t status) {
  context->leave_status = status;
  longjmp(context->leave, 1);
}

namespace {
/// A region on its way through the embedder's `parallel`, which sees chunks of `grain` units.
struct external_region {
  const weft_region_t *region;
  int64_t chunks;
  int32_t worker_count;
  std::atomic<int64_t> done;
  std::atomic<uint32_t> is_wrong;
};
} // namespace

static void run_external_piece(void *argument, int64_t begin, int64_t end, int32_t worker) {
  external_region *external = (external_region *)argument;
  const weft_region_t *region = external->region;
  if (begin < 0 || end > external->chunks || begin > end || worker < 0 ||
      worker >= external->worker_count) {
    external->is_wrong.store(1);
    return;
  }
  if (begin == end)
    return;
  int64_t last = end == external->chunks ? region->units : end * region->grain;
  uint64_t mode = weft_float_mode_enter();
  region->kernel(region->words, begin * region->grain, last, &region->workers[worker]);
  weft_float_mode_leave(mode);
  external->done.fetch_add(end - begin);
}

static void run_external(weft_context_t *context, const weft_region_t *region) {
  const weft_env_t &env = context->module->env;
  external_region external = {
      region, weft_chunks(region->units, region->grain), context->worker_count, {}, {}};
  env.parallel(env.user, run_external_piece, &external, external.chunks, 1);
  if (external.is_wrong.load() || external.done.load() != external.chunks)
    leave_call(context, WEFT_INVALID);
}

static void run_region(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                       int64_t units, int64_t grain, int32_t kernel_id) {
  weft_context_t *context = (weft_context_t *)frame->context;
  if (units <= 0)
    return;
  if (context->state.load(std::memory_order_relaxed) == WEFT_CANCELLING)
    leave_call(context, WEFT_CANCELLED);
  weft_region_t region = {kernel, words, units, grain < 1 ? 1 : grain, context->workers};
  if (units <= region.grain || context->worker_count == 1)
    kernel(words, 0, units, &context->workers[0]);
  else if (context->module->env.parallel)
    run_external(context, &region);
  else
    weft_pool_run(&context->pool, &region);
}

const weft_host_v1 weft_host_table = {sizeof(weft_host_v1), 0, run_region};

/// Runs compiled code until it returns or a region leaves the call.
__attribute__((noinline)) static weft_status_t run_guarded(weft_context_t *context, weft_run_fn run,
                                                           weft_frame_v1 *frame) {
  if (_setjmp(context->leave))
    return context->leave_status;
  return run(frame) == 0 ? WEFT_OK : WEFT_BAD_ARTIFACT;
}

//===----------------------------------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------------------------------===//

static weft_status_t read_options(const weft_context_options_t *options,
                                  weft_context_options_t *out_options, weft_error_t *err) {
  *out_options = {sizeof *out_options, 0, -1, 0};
  if (!options)
    return WEFT_OK;
  if (options->struct_size < sizeof *options)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.struct_size is %u instead of %zu",
                     options->struct_size, sizeof *options);
  memcpy(out_options, options, sizeof *options);
  if (options->threads < 0 || options->threads > WEFT_MAX_WORKERS)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.threads is %d, but 0 to %d are possible",
                     options->threads, WEFT_MAX_WORKERS);
  if (options->spin_us < -1 || options->spin_us > 1000000)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "options.spin_us is %d, but -1 to 1000000 are possible", options->spin_us);
  if (options->memory_limit < 0)
    return weft_fail(err, WEFT_INVALID, "W0401", "options.memory_limit is negative");
  return WEFT_OK;
}

static uint32_t largest_values_count(const weft_module_t *module) {
  uint32_t largest = 0;
  weft_function_v1 function;
  for (int32_t i = 0; weft_module_function(module, i, &function); ++i) {
    uint32_t count = weft_values_count(module->descriptor, function);
    if (count > largest)
      largest = count;
  }
  return largest;
}

static size_t round_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

weft_status_t weft_context_create(weft_module_t *module, const weft_context_options_t *options,
                                  weft_context_t **out_context, weft_error_t *err) {
  if (!module || !out_context)
    return weft_fail(err, WEFT_INVALID, "W0401", "module or out_context is NULL");
  *out_context = nullptr;
  weft_context_options_t checked;
  if (weft_status_t status = read_options(options, &checked, err))
    return status;
  const weft_env_t &env = module->env;
  int32_t cpus = weft_cpus_allowed();
  int32_t threads = env.parallel ? env.workers : checked.threads ? checked.threads : cpus;
  int32_t spin_us = checked.spin_us >= 0 ? checked.spin_us : threads > cpus ? 0 : WEFT_SPIN_US;

  size_t workers_at = round_up(sizeof(weft_context_t));
  size_t slots_at = workers_at + round_up(threads * sizeof(weft_worker_t));
  size_t slots = env.parallel ? 0 : threads * sizeof(weft_pool_slot_t);
  size_t values_at = slots_at + slots;
  size_t bytes = values_at + largest_values_count(module) * sizeof(int64_t);
  uint8_t *memory = (uint8_t *)weft_allocate(&env, bytes, 64);
  if (!memory)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  memset(memory, 0, bytes);
  weft_context_t *context = new (memory) weft_context;
  context->module = module;
  context->bytes = bytes;
  context->memory_limit = checked.memory_limit;
  context->worker_count = threads;
  context->workers = (weft_worker_t *)(memory + workers_at);
  context->values = (int64_t *)(memory + values_at);
  weft_pool_init(&context->pool, (weft_pool_slot_t *)(memory + slots_at),
                 env.parallel ? 1 : threads, spin_us);
  weft_module_retain(module);
  *out_context = context;
  return weft_succeed(err);
}

void weft_context_release(weft_context_t *context) {
  if (!context)
    return;
  weft_pool_stop(&context->pool);
  weft_module_t *module = context->module;
  weft_free(&module->env, context->block, context->block_bytes);
  weft_free(&module->env, context, context->bytes);
  weft_module_release(module);
}

void weft_cancel(weft_context_t *context) {
  uint32_t running = WEFT_RUNNING;
  if (context)
    context->state.compare_exchange_strong(running, WEFT_CANCELLING);
}

/// The context is the caller's until leave_context.
static weft_status_t enter_context(weft_context_t *context, weft_error_t *err) {
  uint32_t idle = WEFT_IDLE;
  if (context->state.compare_exchange_strong(idle, WEFT_RUNNING))
    return WEFT_OK;
  weft_fail(err, WEFT_BUSY, "W0431", "the context is already in a call");
  weft_set_hint(err, "create one context per thread; contexts share the module");
  return WEFT_BUSY;
}

//===----------------------------------------------------------------------------------------------===//
// Memory of a call
//===----------------------------------------------------------------------------------------------===//

static bool round_up_checked(int64_t *bytes) {
  return *bytes >= 0 && !__builtin_add_overflow(*bytes, 63, bytes) && ((*bytes &= ~63ll), true);
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
  char buffer[400];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  if (!fits) {
    weft_text_add_symbols(&text, context->module, function, symbols, nullptr);
    return weft_fail(err, WEFT_OVER_LIMIT, "W0422",
                     "the memory that this call needs is not a number of bytes %s", buffer);
  }
  if (!context->memory_limit || needs->total <= context->memory_limit)
    return WEFT_OK;
  weft_text_add(&text, "this call needs ");
  weft_text_add_bytes(&text, (uint64_t)needs->total);
  if (function.symbols.count) {
    weft_text_add(&text, " ");
    weft_text_add_symbols(&text, context->module, function, symbols, nullptr);
  }
  weft_text_add(&text, " but the limit is ");
  weft_text_add_bytes(&text, (uint64_t)context->memory_limit);
  return weft_fail(err, WEFT_OVER_LIMIT, "W0421", "%s", buffer);
}

/// Makes the block large enough. It only grows; its contents do not survive.
static weft_status_t grow(weft_context_t *context, const weft_needs_t &needs, weft_error_t *err) {
  size_t bytes = (size_t)needs.total;
  if (bytes <= context->block_bytes)
    return WEFT_OK;
  const weft_env_t *env = &context->module->env;
  weft_free(env, context->block, context->block_bytes);
  context->block_bytes = 0;
  context->block = (uint8_t *)weft_allocate(env, bytes, weft_block_alignment(bytes));
  if (context->block) {
    context->block_bytes = bytes;
    return WEFT_OK;
  }
  char buffer[64];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  weft_text_add_bytes(&text, bytes);
  return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for the %s that this call needs",
                   buffer);
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
  if (weft_status_t status = enter_context(context, err))
    return status;
  weft_succeed(err);
  weft_status_t status = reserve(context, function, symbols, err);
  context->state.store(WEFT_IDLE);
  return status;
}

//===----------------------------------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------------------------------===//

static bool overlaps(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes > 0 && b_bytes > 0 && x < y + (uint64_t)b_bytes && y < x + (uint64_t)a_bytes;
}

/// A given output is large and aligned enough and shares no byte with another tensor of the call.
static weft_status_t check_given_output(const weft_context_t *context,
                                        const weft_function_v1 &function, const weft_tensor_t *in,
                                        const weft_tensor_t *out, uint32_t i, int64_t bytes,
                                        weft_error_t *err) {
  const weft_tensor_t &tensor = out[i];
  char buffer[400];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  weft_text_add_argument(&text, context->module, function, function.inputs.count + i);
  uint32_t align = (weft_element_bits(tensor.element) + 7) / 8;
  if (tensor.capacity < bytes) {
    weft_fail(err, WEFT_INVALID, "W0423", "%s: it needs %lld bytes, but capacity is %lld", buffer,
              (long long)bytes, (long long)tensor.capacity);
    weft_set_hint(err, "pass data NULL to let the library allocate");
    return WEFT_INVALID;
  }
  if ((uintptr_t)tensor.data % align)
    return weft_fail(err, WEFT_INVALID, "W0405", "%s: data is not aligned to %u bytes", buffer,
                     align);
  if (!weft_is_contiguous(&tensor))
    return weft_fail(err, WEFT_INVALID, "W0406", "%s: it has gaps or another order of dimensions",
                     buffer);
  for (uint32_t k = 0; k < function.inputs.count + i; ++k) {
    bool is_input = k < function.inputs.count;
    const weft_tensor_t &other = is_input ? in[k] : out[k - function.inputs.count];
    int64_t other_bytes = 0;
    weft_tensor_bytes(other.element, other.rank, other.dim, &other_bytes);
    if (!overlaps(tensor.data, bytes, other.data, other_bytes))
      continue;
    weft_text_add(&text, ": it overlaps ");
    weft_text_add_argument(&text, context->module, function, k);
    return weft_fail(err, WEFT_INVALID, "W0407", "%s", buffer);
  }
  return WEFT_OK;
}

/// Fills element, rank and dimensions of the outputs from values[].
static weft_status_t describe_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                      const int64_t *values, weft_tensor_t *out,
                                      weft_error_t *err) {
  const int64_t *dim = values + function.symbols.count + 1;
  for (uint32_t i = 0; i < function.outputs.count; ++i) {
    weft_argument_v1 argument =
        weft_item<weft_argument_v1>(module->descriptor, function.outputs, i);
    int64_t bytes;
    if (!weft_tensor_bytes(argument.element, argument.rank, dim, &bytes)) {
      char buffer[160];
      weft_text_t text = weft_text_in(buffer, sizeof buffer);
      weft_text_add_argument(&text, module, function, function.inputs.count + i);
      return weft_fail(err, WEFT_OVER_LIMIT, "W0422", "%s: its size overflows", buffer);
    }
    out[i].element = argument.element;
    out[i].rank = argument.rank;
    for (uint32_t d = 0; d < WEFT_MAX_RANK; ++d)
      out[i].dim[d] = d < argument.rank ? dim[d] : 0;
    dim += argument.rank;
  }
  return WEFT_OK;
}

static int64_t bytes_of(const weft_tensor_t &tensor) {
  int64_t bytes = 0;
  weft_tensor_bytes(tensor.element, tensor.rank, tensor.dim, &bytes);
  return bytes;
}

static weft_status_t check_given_outputs(const weft_context_t *context,
                                         const weft_function_v1 &function, const weft_tensor_t *in,
                                         const weft_tensor_t *out, weft_error_t *err) {
  for (uint32_t i = 0; i < function.outputs.count; ++i) {
    if (!out[i].data)
      continue;
    weft_status_t status = check_given_output(context, function, in, out, i, bytes_of(out[i]), err);
    if (status)
      return status;
  }
  return WEFT_OK;
}

/// Hands the outputs that this call allocated to the caller, or frees them when it failed. An output of
/// an earlier call stays the caller's.
static void finish_outputs(weft_context_t *context, weft_tensor_t *out, uint32_t count,
                           bool is_good) {
  for (uint32_t i = 0; out && i < count; ++i) {
    if (!(out[i].flags & WEFT_TENSOR_FRESH))
      continue;
    out[i].flags &= ~WEFT_TENSOR_FRESH;
    if (!is_good)
      weft_tensor_release(context, &out[i]);
  }
}

static weft_status_t allocate_outputs(weft_context_t *context, weft_tensor_t *out, uint32_t count,
                                      weft_error_t *err) {
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i].data)
      continue;
    // An empty tensor gets memory too: NULL means "not computed" to callers.
    int64_t bytes = bytes_of(out[i]);
    size_t allocated = bytes ? (size_t)bytes : 64;
    out[i].data = weft_allocate(&context->module->env, allocated, 64);
    if (!out[i].data)
      return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for output %u (%lld bytes)", i,
                       (long long)bytes);
    out[i].capacity = (int64_t)allocated;
    out[i].flags |= WEFT_TENSOR_OWNED | WEFT_TENSOR_FRESH;
  }
  return WEFT_OK;
}

void weft_tensor_release(weft_context_t *context, weft_tensor_t *tensor) {
  if (!context || !tensor || !(tensor->flags & WEFT_TENSOR_OWNED))
    return;
  weft_free(&context->module->env, tensor->data, (size_t)tensor->capacity);
  tensor->data = nullptr;
  tensor->capacity = 0;
  tensor->flags &= ~WEFT_TENSOR_OWNED;
}

//===----------------------------------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------------------------------===//

static weft_status_t run(weft_context_t *context, const weft_function_v1 &function,
                         const weft_needs_t &needs, const weft_tensor_t *in, weft_tensor_t *out,
                         weft_error_t *err) {
  const weft_module_t *module = context->module;
  place_workers(context, needs);
  weft_frame_v1 frame = {
      &weft_host_table, context,         in, out, context->block, module->weights.data,
      context->values,  context->workers};
  weft_pool_begin_call(&context->pool);
  uint64_t mode = weft_float_mode_enter();
  weft_status_t status = run_guarded(context, weft_run_of(module, function), &frame);
  weft_float_mode_leave(mode);
  weft_pool_end_call(&context->pool);
  if (status == WEFT_BAD_ARTIFACT)
    return weft_fail(err, status, "W0511",
                     "%.150s: its code reported an error: this is a fault of the compiler",
                     module->path());
  if (status == WEFT_INVALID)
    return weft_fail(
        err, status, "W0401",
        "env.parallel did not run every piece once, or named a worker that is not there");
  return status;
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
  if (status)
    return status;
  int64_t *values = context->values;
  if (int32_t result = weft_bind_of(module, function)(in, values))
    return weft_report_check(module, function, result, in, err);
  weft_needs_t needs;
  status = describe_outputs(module, function, values, out, err);
  if (!status)
    status = find_needs(context, function, values, values[function.symbols.count], &needs, err);
  if (!status)
    status = check_given_outputs(context, function, in, out, err);
  if (!status)
    status = grow(context, needs, err);
  if (!status)
    status = allocate_outputs(context, out, n_out, err);
  if (!status)
    status = run(context, function, needs, in, out, err);
  return status;
}

weft_status_t weft_call_function(weft_context_t *context, int32_t function, const weft_tensor_t *in,
                                 uint32_t n_in, weft_tensor_t *out, uint32_t n_out,
                                 weft_error_t *err) {
  if (!context)
    return weft_fail(err, WEFT_INVALID, "W0401", "context is NULL");
  if (weft_status_t status = enter_context(context, err))
    return status;
  weft_succeed(err);
  weft_status_t status = call(context, function, in, n_in, out, n_out, err);
  // One exchange ends the call and learns whether it was cancelled, so that no cancel is lost or late.
  if (context->state.exchange(WEFT_IDLE) == WEFT_CANCELLING && !status)
    status = WEFT_CANCELLED;
  if (status == WEFT_CANCELLED)
    weft_fail(err, status, "W0432", "the call was cancelled");
  finish_outputs(context, out, n_out, status == WEFT_OK);
  return status;
}

weft_status_t weft_query_outputs(const weft_module_t *module, int32_t index,
                                 const weft_tensor_t *in, uint32_t n_in, weft_tensor_t *out,
                                 uint32_t n_out, weft_error_t *err) {
  weft_function_v1 function;
  if (!module || !weft_module_function(module, index, &function))
    return weft_fail(err, WEFT_INVALID, "W0401", "module is NULL, or there is no function %d",
                     index);
  weft_status_t status = weft_check_inputs(module, function, in, n_in, false, err);
  if (!status)
    status = weft_check_outputs(module, function, out, n_out, err);
  if (status)
    return status;
  int64_t few[256], *values = few;
  uint32_t count = weft_values_count(module->descriptor, function);
  size_t bytes = count * sizeof(int64_t);
  if (count > 256 && !(values = (int64_t *)weft_allocate(&module->env, bytes, 64)))
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a query");
  int32_t result = weft_bind_of(module, function)(in, values);
  status = result ? weft_report_check(module, function, result, in, err)
                  : describe_outputs(module, function, values, out, err);
  if (values != few)
    weft_free(&module->env, values, bytes);
  return status ? status : weft_succeed(err);
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
