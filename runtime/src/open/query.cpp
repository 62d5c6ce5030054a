// Queries: what a module says about itself. They read the descriptor and evaluate formulas.
#include <string.h>

#include "runtime/src/base/element.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/open/words.h"

static const char *text(const weft_module_t *module, const weft_list_t &list) {
  return weft_text(module->descriptor, list);
}

weft_status_t weft_module_info(const weft_module_t *module, weft_module_info_t *out_info) {
  if (!module || !weft_has_room(out_info))
    return WEFT_INVALID;
  const weft_module_v1 &root = module->descriptor.root;
  const weft_file_v1 &file = module->elf.file;
  weft_module_info_t info = {0,
                             text(module, root.name),
                             text(module, root.producer),
                             text(module, root.target),
                             root.functions.count,
                             root.kernels.count,
                             root.weights.count,
                             file.file_size,
                             file.image_size,
                             file.weights_size,
                             {0}};
  memcpy(info.hash, file.hash, sizeof info.hash);
  return weft_give_sized(out_info, info);
}

int32_t weft_function_find(const weft_module_t *module, const char *name) {
  if (!module)
    return -1;
  const weft_list_t &list = module->descriptor.root.functions;
  if (!name && list.count == 1)
    return 0;
  if (!name)
    name = "main";
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_function_v1 function = weft_item<weft_function_v1>(module->descriptor, list, i);
    if (strcmp(text(module, function.name), name) == 0)
      return (int32_t)i;
  }
  return -1;
}

weft_status_t weft_function_info(const weft_module_t *module, int32_t index,
                                 weft_function_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f))
    return WEFT_INVALID;
  return weft_give_sized<weft_function_info_t>(
      out_info, {0, text(module, f.name), f.inputs.count, f.outputs.count, f.symbols.count,
                 f.facts.count, f.checks.count, text(module, f.arena.text),
                 text(module, f.scratch_per_worker.text), text(module, f.flops.text),
                 text(module, f.bytes_moved.text), text(module, f.weights_read.text)});
}

weft_status_t weft_argument_info(const weft_module_t *module, int32_t index, uint32_t argument,
                                 weft_argument_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f) ||
      argument >= f.inputs.count + f.outputs.count)
    return WEFT_INVALID;
  weft_argument_v1 row = weft_argument(module->descriptor, f, argument);
  weft_argument_info_t info = {0, text(module, row.name), row.element, row.rank, row.flags, {}};
  for (uint32_t d = 0; d < row.rank; ++d)
    info.dim_text[d] =
        text(module, weft_item<weft_formula_v1>(module->descriptor, row.dims, d).text);
  return weft_give_sized(out_info, info);
}

weft_status_t weft_symbol_info(const weft_module_t *module, int32_t index, uint32_t symbol,
                               weft_symbol_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f) ||
      symbol >= f.symbols.count)
    return WEFT_INVALID;
  weft_symbol_v1 row = weft_item<weft_symbol_v1>(module->descriptor, f.symbols, symbol);
  return weft_give_sized<weft_symbol_info_t>(out_info, {0, text(module, row.name), row.min, row.max,
                                                        row.multiple, (int32_t)row.bound_by_input,
                                                        (int32_t)row.bound_by_dim});
}

weft_status_t weft_late_block_info(const weft_module_t *module, int32_t index, uint32_t block,
                                   weft_late_block_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f) ||
      block >= f.late_blocks.count)
    return WEFT_INVALID;
  weft_late_block_v1 row = weft_item<weft_late_block_v1>(module->descriptor, f.late_blocks, block);
  return weft_give_sized<weft_late_block_info_t>(
      out_info, {0, row.flags & WEFT_LATE_PER_WORKER, text(module, row.bytes.text)});
}

weft_status_t weft_in_place_info(const weft_module_t *module, int32_t index, uint32_t pair,
                                 weft_in_place_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f) ||
      pair >= f.in_place.count)
    return WEFT_INVALID;
  weft_in_place_v1 row = weft_item<weft_in_place_v1>(module->descriptor, f.in_place, pair);
  return weft_give_sized<weft_in_place_info_t>(out_info,
                                               {0, row.input, row.output, row.dim, row.symbol});
}

weft_status_t weft_axis_info(const weft_module_t *module, int32_t index, uint32_t axis,
                             weft_axis_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, index, &f) ||
      axis >= f.mesh.count)
    return WEFT_INVALID;
  weft_axis_v1 row = weft_item<weft_axis_v1>(module->descriptor, f.mesh, axis);
  uint32_t symbol = weft_item<uint32_t>(module->descriptor, f.rank_symbols, axis);
  return weft_give_sized<weft_axis_info_t>(
      out_info, {0, row.size, text(module, row.name), (int32_t)symbol, 0});
}

weft_status_t weft_traffic_info(const weft_module_t *module, int32_t function, uint32_t index,
                                weft_traffic_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, function, &f) ||
      index >= f.traffic.count)
    return WEFT_INVALID;
  weft_traffic_v1 row = weft_item<weft_traffic_v1>(module->descriptor, f.traffic, index);
  return weft_give_sized<weft_traffic_info_t>(out_info, {0, 0, text(module, row.axes),
                                                         text(module, row.bytes.text),
                                                         text(module, row.messages.text)});
}

/// Rows about inputs are counted, and those that have one size.
weft_status_t weft_positions_info(const weft_module_t *module, int32_t function, uint32_t index,
                                  weft_positions_info_t *out_info) {
  weft_function_v1 f;
  if (!module || !weft_has_room(out_info) || !weft_module_function(module, function, &f))
    return WEFT_INVALID;
  for (uint32_t i = 0; i < f.positions.count; ++i) {
    weft_positions_v1 row = weft_item<weft_positions_v1>(module->descriptor, f.positions, i);
    if (row.input != WEFT_NO_INDEX && row.below.code.count && index-- == 0)
      return weft_give_sized<weft_positions_info_t>(out_info,
                                                    {0, row.input, text(module, row.below.text)});
  }
  return WEFT_INVALID;
}

weft_status_t weft_region_kernel(const weft_module_t *module, int32_t index, uint32_t region,
                                 uint32_t part, uint32_t *out_kernel) {
  weft_function_v1 f;
  if (!module || !out_kernel || !weft_module_function(module, index, &f) ||
      region >= f.regions.count)
    return WEFT_INVALID;
  weft_region_v1 row = weft_item<weft_region_v1>(module->descriptor, f.regions, region);
  if (part >= row.kernels.count)
    return WEFT_INVALID;
  *out_kernel = weft_item<uint32_t>(module->descriptor, row.kernels, part);
  return WEFT_OK;
}

const char *weft_fact_text(const weft_module_t *module, int32_t index, uint32_t fact) {
  weft_function_v1 f;
  if (!module || !weft_module_function(module, index, &f) || fact >= f.facts.count)
    return nullptr;
  return text(module, weft_item<weft_list_t>(module->descriptor, f.facts, fact));
}

/// "'seq' is at most 512"
static void add_range(weft_text_t *out, const weft_module_t *module, const weft_function_v1 &f,
                      const weft_check_v1 &row) {
  weft_symbol_v1 symbol = weft_item<weft_symbol_v1>(module->descriptor, f.symbols, row.symbol);
  if (row.kind == WEFT_CHECK_DATA)
    return weft_text_add(out, "'%.60s', which data decide, is a size", text(module, symbol.name));
  weft_text_add(out, "'%.60s' is ", text(module, symbol.name));
  if (row.kind == WEFT_CHECK_MIN)
    weft_text_add(out, "at least %lld", (long long)symbol.min);
  else if (row.kind == WEFT_CHECK_MAX)
    weft_text_add(out, "at most %lld", (long long)symbol.max);
  else
    weft_text_add(out, "a multiple of %lld", (long long)symbol.multiple);
}

weft_status_t weft_check_text(const weft_module_t *module, int32_t index, uint32_t check,
                              char *buffer, size_t size) {
  weft_function_v1 f;
  if (!module || !buffer || !size || !weft_module_function(module, index, &f) ||
      check >= f.checks.count)
    return WEFT_INVALID;
  weft_text_t out = weft_text_in(buffer, size);
  weft_check_v1 row = weft_item<weft_check_v1>(module->descriptor, f.checks, check);
  switch (row.kind) {
  case WEFT_CHECK_DIM:
    weft_text_add_argument(&out, module, f, row.input);
    weft_text_add(&out, ": dimension %u equals %s", row.dim, text(module, row.expected.text));
    break;
  case WEFT_CHECK_SOLVE:
    weft_text_add_argument(&out, module, f, row.input);
    weft_text_add(&out, ": dimension %u is a value of %s", row.dim,
                  text(module, row.expected.text));
    break;
  case WEFT_CHECK_FACT:
    weft_text_add(&out, "%s", text(module, row.fact));
    break;
  case WEFT_CHECK_ROOM:
    weft_text_add_argument(&out, module, f, row.input);
    weft_text_add(&out, ": dimension %u has room for %s", row.dim, text(module, row.expected.text));
    break;
  case WEFT_CHECK_SIZE:
    weft_text_add(&out, "no tensor is larger than 2^62 bytes");
    break;
  default:
    add_range(&out, module, f, row);
  }
  return WEFT_OK;
}

static bool find_kernel(const weft_module_t *module, uint32_t index, weft_kernel_v1 *out_kernel) {
  if (!module || index >= module->descriptor.root.kernels.count)
    return false;
  *out_kernel =
      weft_item<weft_kernel_v1>(module->descriptor, module->descriptor.root.kernels, index);
  return true;
}

weft_status_t weft_kernel_info(const weft_module_t *module, uint32_t index,
                               weft_kernel_info_t *out_info) {
  weft_kernel_v1 kernel;
  if (!weft_has_room(out_info) || !find_kernel(module, index, &kernel))
    return WEFT_INVALID;
  return weft_give_sized<weft_kernel_info_t>(
      out_info, {0, text(module, kernel.name), kernel.nodes.count, kernel.calls});
}

const char *weft_kernel_node(const weft_module_t *module, uint32_t index, uint32_t node) {
  weft_kernel_v1 kernel;
  if (!find_kernel(module, index, &kernel) || node >= kernel.nodes.count)
    return nullptr;
  return text(module, weft_item<weft_list_t>(module->descriptor, kernel.nodes, node));
}

void weft_kernel_work(const weft_module_t *module, uint32_t index, const uint64_t *words,
                      int64_t *out_flops, int64_t *out_bytes) {
  weft_kernel_v1 kernel;
  *out_flops = *out_bytes = -1;
  if (!find_kernel(module, index, &kernel))
    return;
  const int64_t *symbols = (const int64_t *)words + kernel.pointers;
  if (!kernel.flops.code.count ||
      !weft_formula_run(module->descriptor, kernel.flops, symbols, out_flops))
    *out_flops = -1;
  if (!kernel.bytes_moved.code.count ||
      !weft_formula_run(module->descriptor, kernel.bytes_moved, symbols, out_bytes))
    *out_bytes = -1;
}

/// Bytes of all outputs together.
static bool output_bytes(const weft_module_t *module, const weft_function_v1 &f,
                         const int64_t *symbols, int64_t *out_total) {
  *out_total = 0;
  for (uint32_t i = 0; i < f.outputs.count; ++i) {
    weft_argument_v1 output = weft_item<weft_argument_v1>(module->descriptor, f.outputs, i);
    if (output.flags & WEFT_ARGUMENT_IN_PLACE)
      continue; // it takes no memory of its own
    int64_t dim[WEFT_MAX_RANK], bytes;
    for (uint32_t d = 0; d < output.rank; ++d)
      if (!weft_formula_run(module->descriptor,
                            weft_item<weft_formula_v1>(module->descriptor, output.dims, d), symbols,
                            &dim[d]))
        return false;
    if (!weft_tensor_bytes(output.element, output.rank, dim, &bytes) ||
        __builtin_add_overflow(*out_total, bytes, out_total))
      return false;
  }
  return true;
}

weft_status_t weft_query_cost(const weft_module_t *module, int32_t index, const int64_t *symbols,
                              weft_cost_t *out_cost, weft_error_t *err) {
  weft_function_v1 f;
  if (!module || !weft_module_function(module, index, &f))
    return weft_fail(err, WEFT_INVALID, "W0401", "module is NULL, or there is no function %d",
                     index);
  if (!weft_has_room(out_cost))
    return weft_fail(err, WEFT_INVALID, "W0401", "out_cost is NULL, or its struct_size is not set");
  if (weft_status_t status = weft_check_symbols(module, f, symbols, err))
    return status;
  const weft_descriptor_t &d = module->descriptor;
  weft_cost_t cost = {};
  if (!weft_formula_run(d, f.arena, symbols, &cost.arena) ||
      !weft_formula_run(d, f.scratch_per_worker, symbols, &cost.scratch_per_worker) ||
      !weft_formula_run(d, f.flops, symbols, &cost.flops) ||
      !weft_formula_run(d, f.bytes_moved, symbols, &cost.bytes_moved) ||
      !output_bytes(module, f, symbols, &cost.outputs)) {
    char buffer[300];
    weft_text_t out = weft_text_in(buffer, sizeof buffer);
    weft_text_add_symbols(&out, module, f, symbols, nullptr);
    return weft_fail(err, WEFT_OVER_LIMIT, "W0422", "the cost of this call overflows %s", buffer);
  }
  weft_give_sized(out_cost, cost);
  return weft_succeed(err);
}

weft_status_t weft_module_text(const weft_module_t *module, const char *what, const char **out_text,
                               size_t *out_size) {
  if (!module || !what || !out_text || !out_size)
    return WEFT_INVALID;
  if (strcmp(what, "manifest") != 0)
    return WEFT_NOT_FOUND;
  const weft_file_v1 &file = module->elf.file;
  *out_text = file.manifest_size
                  ? (const char *)module->tail.data + (file.manifest_begin - module->tail.begin)
                  : "";
  *out_size = file.manifest_size;
  return WEFT_OK;
}
