#include "runtime/src/open/descriptor.h"

#include <stdarg.h>
#include <stdio.h>

#include "runtime/src/base/status.h"
#include "runtime/src/open/expression.h"

void weft_copy_item(const weft_descriptor_t &descriptor, const weft_list_t &list, uint32_t index,
                    void *item, size_t size) {
  size_t known = list.step < size ? list.step : size;
  memcpy(item, descriptor.base + list.offset + (uint64_t)index * list.step, known);
  if (known < size)
    memset((uint8_t *)item + known, 0, size - known);
}

namespace {
/// A check in progress. `work` ends hostile descriptors whose lists share their bytes over and
/// over.
struct checker {
  const weft_descriptor_t *descriptor;
  const weft_descriptor_limits_t *limits;
  weft_text_t reason;
  uint64_t work;
  uint32_t kernels;         ///< of the variant
  weft_list_t mesh, groups; ///< of its first function that has them

  // Where we are, for the reason.
  const char *function;
};
} // namespace

__attribute__((format(printf, 2, 3))) static bool wrong(checker *c, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (c->function)
    weft_text_add(&c->reason, "function '%.64s': %s", c->function, text);
  else
    weft_text_add(&c->reason, "%s", text);
  return false;
}

/// The list lies inside the descriptor, its elements are long enough and not too many.
static bool check_list(checker *c, const weft_list_t &list, uint32_t item_size, uint32_t max_count,
                       const char *what) {
  if (!list.count)
    return true;
  if (list.count > max_count)
    return wrong(c, "%u %s are more than the %u that are allowed", list.count, what, max_count);
  if (list.step < item_size)
    return wrong(c, "elements of %s have %u bytes instead of %u", what, list.step, item_size);
  uint64_t bytes = (uint64_t)list.count * list.step;
  if (list.offset > c->descriptor->size || bytes > c->descriptor->size - list.offset)
    return wrong(c, "%s lie outside the descriptor", what);
  if (c->work < bytes)
    return wrong(c, "the lists are larger than the descriptor");
  c->work -= bytes;
  return true;
}

/// A list of bytes without NUL, followed by one.
static bool check_text(checker *c, const weft_list_t &list, const char *what) {
  if (!list.count)
    return true;
  if (list.step != 1 || !check_list(c, list, 1, UINT32_MAX, what))
    return c->reason.used ? false : wrong(c, "%s is not a text", what);
  uint64_t end = (uint64_t)list.offset + list.count;
  const char *text = weft_text(*c->descriptor, list);
  if (end >= c->descriptor->size || strnlen(text, (size_t)list.count + 1) != list.count)
    return wrong(c, "%s does not end where it should", what);
  return true;
}

static bool check_texts(checker *c, const weft_list_t &list, const char *what) {
  if (!check_list(c, list, sizeof(weft_list_t), WEFT_MAX_ROWS, what))
    return false;
  for (uint32_t i = 0; i < list.count; ++i)
    if (!check_text(c, weft_item<weft_list_t>(*c->descriptor, list, i), what))
      return false;
  return true;
}

static bool check_formula(checker *c, const weft_formula_v1 &formula, uint32_t n_symbols,
                          const char *what) {
  if (!check_text(c, formula.text, what))
    return false;
  if (!formula.code.count)
    return true;
  if (formula.code.step != 1 || !check_list(c, formula.code, 1, UINT32_MAX, what))
    return c->reason.used ? false : wrong(c, "the code of %s is not a list of bytes", what);
  if (!weft_code_check(c->descriptor->base + formula.code.offset, formula.code.count, n_symbols))
    return wrong(c, "the code of %s is not a formula", what);
  return true;
}

/// Inputs or outputs.
static bool check_arguments(checker *c, const weft_list_t &list, uint32_t n_symbols,
                            uint32_t known_flags, const char *what) {
  if (!check_list(c, list, sizeof(weft_argument_v1), WEFT_MAX_ARGUMENTS, what))
    return false;
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_argument_v1 argument = weft_item<weft_argument_v1>(*c->descriptor, list, i);
    if (!check_text(c, argument.name, "an argument's name"))
      return false;
    if (!weft_element_bits(argument.element))
      return wrong(c, "%s: element type %u is not known", what, argument.element);
    if (argument.flags & ~known_flags)
      return wrong(c, "%s: flags %#x are not known", what, argument.flags);
    if (argument.rank > WEFT_MAX_RANK || argument.dims.count != argument.rank)
      return wrong(c, "%s: rank %u with %u dimensions", what, argument.rank, argument.dims.count);
    if (!check_list(c, argument.dims, sizeof(weft_formula_v1), WEFT_MAX_RANK, "dimensions"))
      return false;
    for (uint32_t d = 0; d < argument.rank; ++d) {
      weft_formula_v1 dim = weft_item<weft_formula_v1>(*c->descriptor, argument.dims, d);
      if (!dim.code.count)
        return wrong(c, "%s: dimension %u has no formula", what, d);
      if (!check_formula(c, dim, n_symbols, "a dimension"))
        return false;
    }
  }
  return true;
}

/// `input` and `dim` name a dimension of an input, or neither does when `may_lack`.
static bool check_input_dim(checker *c, const weft_function_v1 &f, uint32_t input, uint32_t dim,
                            bool may_lack, const char *what) {
  if (may_lack && input == WEFT_NO_INDEX && dim == WEFT_NO_INDEX)
    return true;
  if (input >= f.inputs.count)
    return wrong(c, "%s: input %u of %u", what, input, f.inputs.count);
  uint32_t rank = weft_item<weft_argument_v1>(*c->descriptor, f.inputs, input).rank;
  if (dim >= rank)
    return wrong(c, "%s: dimension %u of %u", what, dim, rank);
  return true;
}

static bool check_symbols(checker *c, const weft_function_v1 &f) {
  for (uint32_t i = 0; i < f.symbols.count; ++i) {
    weft_symbol_v1 symbol = weft_item<weft_symbol_v1>(*c->descriptor, f.symbols, i);
    if (!check_text(c, symbol.name, "a symbol's name"))
      return false;
    if (symbol.min > symbol.max || symbol.multiple < 1)
      return wrong(c, "symbol %u has no values", i);
    if (!check_input_dim(c, f, symbol.bound_by_input, symbol.bound_by_dim, true, "a symbol"))
      return false;
  }
  return true;
}

static bool check_check_rows(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.checks, sizeof(weft_check_v1), WEFT_MAX_ROWS, "checks"))
    return false;
  for (uint32_t i = 0; i < f.checks.count; ++i) {
    weft_check_v1 row = weft_item<weft_check_v1>(*c->descriptor, f.checks, i);
    if (row.kind < WEFT_CHECK_DIM || row.kind > WEFT_CHECK_ROOM)
      return wrong(c, "check %u has the unknown kind %u", i, row.kind);
    bool has_dim =
        row.kind == WEFT_CHECK_DIM || row.kind == WEFT_CHECK_SOLVE || row.kind == WEFT_CHECK_ROOM;
    if (has_dim && !check_input_dim(c, f, row.input, row.dim, false, "a check"))
      return false;
    bool has_symbol = (row.kind >= WEFT_CHECK_MIN && row.kind <= WEFT_CHECK_SOLVE) ||
                      row.kind == WEFT_CHECK_DATA || row.kind == WEFT_CHECK_ROOM;
    if (has_symbol && row.symbol >= f.symbols.count)
      return wrong(c, "check %u: symbol %u of %u", i, row.symbol, f.symbols.count);
    if (has_dim && !row.expected.code.count)
      return wrong(c, "check %u has no formula", i);
    if (!check_formula(c, row.expected, f.symbols.count, "a check") ||
        !check_text(c, row.fact, "a fact") || !check_text(c, row.node, "a node's name"))
      return false;
  }
  return true;
}

static bool check_late_blocks(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.late_blocks, sizeof(weft_late_block_v1), WEFT_MAX_LATE_BLOCKS,
                  "late blocks"))
    return false;
  for (uint32_t i = 0; i < f.late_blocks.count; ++i) {
    weft_late_block_v1 block = weft_item<weft_late_block_v1>(*c->descriptor, f.late_blocks, i);
    if (block.flags & ~(uint32_t)WEFT_LATE_PER_WORKER)
      return wrong(c, "late block %u: flags %#x are not known", i, block.flags);
    if (!check_formula(c, block.bytes, f.symbols.count, "a late block"))
      return false;
  }
  return true;
}

/// Every flagged input belongs to one pair, and so does every flagged output; both have one form.
static bool check_in_place(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.in_place, sizeof(weft_in_place_v1), WEFT_MAX_ARGUMENTS, "pairs in place"))
    return false;
  uint64_t taken[WEFT_MAX_ARGUMENTS / 64] = {};
  uint32_t flagged = 0, next_input = 0;
  for (uint32_t i = 0; i < f.inputs.count + f.outputs.count; ++i)
    flagged += (weft_argument(*c->descriptor, f, i).flags & WEFT_ARGUMENT_IN_PLACE) != 0;
  if (flagged != 2 * f.in_place.count)
    return wrong(c, "%u arguments are in place, in %u pairs", flagged, f.in_place.count);
  for (uint32_t i = 0; i < f.in_place.count; ++i) {
    weft_in_place_v1 pair = weft_item<weft_in_place_v1>(*c->descriptor, f.in_place, i);
    if (pair.input < next_input || pair.input >= f.inputs.count || pair.output >= f.outputs.count ||
        pair.symbol >= f.symbols.count)
      return wrong(c, "pair %u in place names no input, output or symbol", i);
    next_input = pair.input + 1;
    uint64_t bit = 1ull << pair.output % 64, &word = taken[pair.output / 64];
    weft_argument_v1 input = weft_argument(*c->descriptor, f, pair.input),
                     output = weft_argument(*c->descriptor, f, f.inputs.count + pair.output);
    bool is_flagged = input.flags == WEFT_ARGUMENT_IN_PLACE && output.flags == input.flags;
    if (!is_flagged || (word & bit) || input.element != output.element ||
        weft_element_bits(input.element) < 8 || input.rank != output.rank || pair.dim < 1 ||
        pair.dim >= input.rank)
      return wrong(c, "pair %u in place cannot share memory", i);
    word |= bit;
  }
  return true;
}

static bool check_positions(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.positions, sizeof(weft_positions_v1), WEFT_MAX_ROWS, "positions"))
    return false;
  for (uint32_t i = 0; i < f.positions.count; ++i) {
    weft_positions_v1 row = weft_item<weft_positions_v1>(*c->descriptor, f.positions, i);
    if (!check_text(c, row.node, "a node's name") || !check_text(c, row.of, "a value's name"))
      return false;
    if (!check_formula(c, row.below, f.symbols.count, "positions"))
      return false;
    if (row.input != WEFT_NO_INDEX && row.input >= f.inputs.count)
      return wrong(c, "positions %u: input %u of %u", i, row.input, f.inputs.count);
    if (row.rank >= WEFT_MAX_WORDS || !row.sizes || row.sizes >= WEFT_MAX_WORDS - row.rank ||
        (row.bits != 32 && row.bits != 64))
      return wrong(c, "positions %u have an unknown form", i);
  }
  return true;
}

static bool check_regions(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.regions, sizeof(weft_region_v1), WEFT_MAX_ROWS, "regions"))
    return false;
  for (uint32_t i = 0; i < f.regions.count; ++i) {
    weft_region_v1 region = weft_item<weft_region_v1>(*c->descriptor, f.regions, i);
    if (!check_list(c, region.kernels, sizeof(uint32_t), WEFT_MAX_PARTS, "kernels of a region"))
      return false;
    for (uint32_t j = 0; j < region.kernels.count; ++j) {
      uint32_t kernel = weft_item<uint32_t>(*c->descriptor, region.kernels, j);
      if (kernel >= c->kernels)
        return wrong(c, "region %u: kernel %u of %u", i, kernel, c->kernels);
    }
  }
  return true;
}

/// Axes of the mesh, each once.
static bool check_group(checker *c, const weft_function_v1 &f, uint32_t group) {
  weft_axes_v1 row = weft_item<weft_axes_v1>(*c->descriptor, f.groups, group);
  if (!check_list(c, row.axes, sizeof(uint32_t), WEFT_MAX_AXES, "axes of a group"))
    return false;
  uint32_t taken = 0;
  for (uint32_t i = 0; i < row.axes.count; ++i) {
    uint32_t axis = weft_item<uint32_t>(*c->descriptor, row.axes, i);
    if (axis >= f.mesh.count || (taken >> axis & 1))
      return wrong(c, "group %u: axis %u of %u, or twice", group, axis, f.mesh.count);
    taken |= 1u << axis;
  }
  return true;
}

static bool check_axes(checker *c, const weft_function_v1 &f) {
  uint64_t ranks = 1;
  for (uint32_t i = 0; i < f.mesh.count; ++i) {
    weft_axis_v1 axis = weft_item<weft_axis_v1>(*c->descriptor, f.mesh, i);
    if (!check_text(c, axis.name, "an axis's name"))
      return false;
    ranks *= axis.size;
    if (!ranks || ranks > WEFT_MAX_RANKS)
      return wrong(c, "the mesh has no ranks or more than %d", WEFT_MAX_RANKS);
    uint32_t symbol = weft_item<uint32_t>(*c->descriptor, f.rank_symbols, i);
    if (symbol != WEFT_NO_INDEX && symbol >= f.symbols.count)
      return wrong(c, "axis %u: symbol %u of %u", i, symbol, f.symbols.count);
  }
  return true;
}

/// What its ranks do; its mesh was checked.
static bool check_exchanges(checker *c, const weft_function_v1 &f) {
  for (uint32_t i = 0; i < f.exchanges.count; ++i) {
    weft_exchange_v1 row = weft_item<weft_exchange_v1>(*c->descriptor, f.exchanges, i);
    if (!check_text(c, row.node, "a node's name"))
      return false;
    if (row.group >= f.groups.count)
      return wrong(c, "collective %u: group %u of %u", i, row.group, f.groups.count);
    if (row.most_pieces > WEFT_MOST_PIECES)
      return wrong(c, "collective %u: %u pieces of at most %d", i, row.most_pieces,
                   WEFT_MOST_PIECES);
  }
  for (uint32_t i = 0; i < f.traffic.count; ++i) {
    weft_traffic_v1 row = weft_item<weft_traffic_v1>(*c->descriptor, f.traffic, i);
    if (!check_text(c, row.axes, "names of axes") ||
        !check_formula(c, row.bytes, f.symbols.count, "bytes sent") ||
        !check_formula(c, row.messages, f.symbols.count, "messages sent"))
      return false;
  }
  return true;
}

static bool is_same(const weft_list_t &a, const weft_list_t &b) {
  return a.offset == b.offset && a.count == b.count && a.step == b.step;
}

static bool check_ranks(checker *c, const weft_function_v1 &f) {
  if (!check_list(c, f.mesh, sizeof(weft_axis_v1), WEFT_MAX_AXES, "axes") ||
      !check_list(c, f.rank_symbols, sizeof(uint32_t), WEFT_MAX_AXES, "symbols of ranks") ||
      !check_list(c, f.groups, sizeof(weft_axes_v1), WEFT_MAX_GROUPS, "groups") ||
      !check_list(c, f.exchanges, sizeof(weft_exchange_v1), WEFT_MAX_ROWS, "collectives") ||
      !check_list(c, f.traffic, sizeof(weft_traffic_v1), WEFT_MAX_GROUPS, "axes that send"))
    return false;
  if (f.rank_symbols.count != f.mesh.count || (!f.mesh.count && f.groups.count))
    return wrong(c, "%u axes with %u symbols of ranks and %u groups", f.mesh.count,
                 f.rank_symbols.count, f.groups.count);
  if (!f.mesh.count)
    return check_exchanges(c, f);
  if (c->mesh.count && (!is_same(c->mesh, f.mesh) || !is_same(c->groups, f.groups)))
    return wrong(c, "it has another mesh than an earlier function");
  c->mesh = f.mesh;
  c->groups = f.groups;
  if (!check_axes(c, f))
    return false;
  for (uint32_t i = 0; i < f.groups.count; ++i)
    if (!check_group(c, f, i))
      return false;
  return check_exchanges(c, f);
}

static bool check_code_position(checker *c, int32_t position, const char *what) {
  if (position < c->limits->code_begin || position >= c->limits->code_end)
    return wrong(c, "'%s' lies outside the code", what);
  return true;
}

static bool check_function(checker *c, const weft_function_v1 &f) {
  uint32_t n_symbols = f.symbols.count;
  return check_list(c, f.symbols, sizeof(weft_symbol_v1), WEFT_MAX_SYMBOLS, "symbols") &&
         check_arguments(c, f.inputs, n_symbols, WEFT_ARGUMENT_IN_PLACE, "inputs") &&
         check_arguments(c, f.outputs, n_symbols, WEFT_ARGUMENT_LATE | WEFT_ARGUMENT_IN_PLACE,
                         "outputs") &&
         check_in_place(c, f) && check_symbols(c, f) && check_late_blocks(c, f) &&
         check_regions(c, f) && check_positions(c, f) && check_ranks(c, f) &&
         check_texts(c, f.facts, "facts") && check_check_rows(c, f) &&
         check_code_position(c, f.bind, "bind") && check_code_position(c, f.run, "run") &&
         check_formula(c, f.arena, n_symbols, "'arena'") &&
         check_formula(c, f.scratch_per_worker, n_symbols, "'scratch'") &&
         check_formula(c, f.flops, n_symbols, "'flops'") &&
         check_formula(c, f.bytes_moved, n_symbols, "'bytes moved'") &&
         check_formula(c, f.weights_read, n_symbols, "'weights read'");
}

/// Of the first version of the format.
static const uint32_t WEFT_FUNCTION_BYTES = offsetof(weft_function_v1, late_blocks);

static bool check_functions(checker *c, const weft_list_t &list) {
  if (!check_list(c, list, WEFT_FUNCTION_BYTES, WEFT_MAX_FUNCTIONS, "functions"))
    return false;
  if (!list.count)
    return wrong(c, "there is no function");
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_function_v1 function = weft_item<weft_function_v1>(*c->descriptor, list, i);
    if (!check_text(c, function.name, "a function's name"))
      return false;
    c->function = weft_text(*c->descriptor, function.name);
    if (!check_function(c, function))
      return false;
    c->function = nullptr;
  }
  return true;
}

static bool check_kernels(checker *c, const weft_list_t &list, bool on_device) {
  if (!check_list(c, list, WEFT_KERNEL_BYTES, WEFT_MAX_ROWS, "kernels"))
    return false;
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_kernel_v1 kernel = weft_item<weft_kernel_v1>(*c->descriptor, list, i);
    if (!check_text(c, kernel.name, "a kernel's name") ||
        !check_texts(c, kernel.nodes, "nodes of a kernel") ||
        !check_formula(c, kernel.flops, kernel.symbols, "flops of a kernel") ||
        !check_formula(c, kernel.bytes_moved, kernel.symbols, "bytes of a kernel"))
      return false;
    if (kernel.pointers > WEFT_MAX_WORDS || kernel.symbols > WEFT_MAX_WORDS - kernel.pointers)
      return wrong(c, "kernel %u has too many words", i);
    if (kernel.block_threads > WEFT_MAX_THREADS || kernel.block_bytes > WEFT_MAX_SHARED ||
        !kernel.block_threads != !on_device)
      return wrong(c, "kernel %u has blocks of %u threads", i, kernel.block_threads);
  }
  return true;
}

static bool check_weights(checker *c, const weft_list_t &list) {
  if (!check_list(c, list, sizeof(weft_weight_v1), WEFT_MAX_ROWS, "weights"))
    return false;
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_weight_v1 weight = weft_item<weft_weight_v1>(*c->descriptor, list, i);
    if (!check_text(c, weight.name, "a weight's name") ||
        !check_text(c, weight.layout, "a weight's layout") ||
        !check_list(c, weight.dims, sizeof(int64_t), WEFT_MAX_RANK, "dimensions of a weight"))
      return false;
    if (!weft_element_bits(weight.element) || weight.flags || weight.dims.count != weight.rank)
      return wrong(c, "weight %u has an unknown form", i);
    for (uint32_t d = 0; d < weight.rank; ++d)
      if (weft_item<int64_t>(*c->descriptor, weight.dims, d) < 0)
        return wrong(c, "weight %u has a negative dimension", i);
    uint64_t size = c->limits->weights_size;
    if (weight.offset > size || weight.bytes > size - weight.offset)
      return wrong(c, "weight %u lies outside the weights", i);
  }
  return true;
}

static bool check_variant(checker *c, const weft_module_v1 &root) {
  c->kernels = root.kernels.count;
  c->mesh = c->groups = {};
  return check_text(c, root.name, "the module's name") &&
         check_text(c, root.producer, "the producer") && check_text(c, root.target, "the target") &&
         check_texts(c, root.cpu_features, "CPU features") && check_functions(c, root.functions) &&
         check_kernels(c, root.kernels, root.device_code.count) &&
         check_text(c, root.device_code, "code for a device") && check_weights(c, root.weights);
}

bool weft_descriptor_check(const weft_descriptor_t &descriptor,
                           const weft_descriptor_limits_t &limits, char *reason,
                           size_t reason_size) {
  checker c = {&descriptor, &limits, weft_text_in(reason, reason_size), 0, 0, {}, {}, nullptr};
  if (limits.variant_step < WEFT_VARIANT_BYTES)
    return wrong(&c, "variants have %u bytes instead of %u or more", limits.variant_step,
                 WEFT_VARIANT_BYTES);
  uint64_t least = (uint64_t)limits.variants * limits.variant_step;
  if (descriptor.size < least)
    return wrong(&c, "the descriptor has %llu bytes instead of %llu or more",
                 (unsigned long long)descriptor.size, (unsigned long long)least);
  // An honest writer may share equal texts and formulas, but not without end.
  c.work = descriptor.size * 64 + (1 << 20);
  for (uint32_t i = 0; i < limits.variants; ++i)
    if (!check_variant(&c, weft_variant(descriptor, limits.variant_step, i)))
      return false;
  return true;
}

bool weft_formula_run(const weft_descriptor_t &descriptor, const weft_formula_v1 &formula,
                      const int64_t *symbols, int64_t *out_value) {
  *out_value = 0;
  return !formula.code.count || weft_code_run(descriptor.base + formula.code.offset,
                                              formula.code.count, symbols, out_value);
}

int64_t weft_formula_symbol(const weft_descriptor_t &descriptor, const weft_formula_v1 &formula) {
  return weft_code_symbol(descriptor.base + formula.code.offset, formula.code.count);
}

weft_argument_v1 weft_argument(const weft_descriptor_t &descriptor,
                               const weft_function_v1 &function, uint32_t index) {
  uint32_t inputs = function.inputs.count;
  return index < inputs ? weft_item<weft_argument_v1>(descriptor, function.inputs, index)
                        : weft_item<weft_argument_v1>(descriptor, function.outputs, index - inputs);
}

uint32_t weft_variant_ranks(const weft_descriptor_t &descriptor, const weft_module_v1 &root) {
  weft_list_t mesh = {};
  for (uint32_t i = 0; i < root.functions.count && !mesh.count; ++i)
    mesh = weft_item<weft_function_v1>(descriptor, root.functions, i).mesh;
  uint32_t ranks = 1;
  for (uint32_t axis = 0; axis < mesh.count; ++axis)
    ranks *= weft_item<weft_axis_v1>(descriptor, mesh, axis).size;
  return ranks;
}

uint32_t weft_values_count(const weft_descriptor_t &descriptor, const weft_function_v1 &function) {
  uint32_t count = function.symbols.count + 1;
  for (uint32_t i = 0; i < function.outputs.count; ++i)
    count += weft_item<weft_argument_v1>(descriptor, function.outputs, i).rank;
  return count;
}
