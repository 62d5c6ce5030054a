#include "runtime/src/call/ranks.h"

#include <string.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/open/words.h"
#include "weft/group.h"

/// A function for several ranks: all such have the same mesh and the same groups.
static bool find_mesh(const weft_module_t *module, weft_function_v1 *out_function) {
  for (int32_t i = 0; weft_module_function(module, i, out_function); ++i)
    if (out_function->mesh.count)
      return true;
  return false;
}

static uint32_t axis_size(const weft_module_t *module, const weft_function_v1 &function,
                          uint32_t axis) {
  return weft_item<weft_axis_v1>(module->descriptor, function.mesh, axis).size;
}

/// Where a rank stands along an axis: the last one tells neighbours apart.
static int32_t place_along(const weft_module_t *module, const weft_function_v1 &function,
                           int32_t rank, uint32_t axis) {
  for (uint32_t inner = function.mesh.count - 1; inner > axis; --inner)
    rank /= (int32_t)axis_size(module, function, inner);
  return rank % (int32_t)axis_size(module, function, axis);
}

static int32_t ranks_of(const weft_module_t *module) {
  return (int32_t)weft_variant_ranks(module->descriptor, module->descriptor.root);
}

uint32_t weft_groups_needed(const weft_module_t *module) {
  weft_function_v1 function;
  return find_mesh(module, &function) ? function.groups.count + 1 : 0;
}

uint32_t weft_set_places(const weft_module_t *module, const weft_function_v1 &function,
                         int32_t rank, int64_t *symbols) {
  uint32_t places = 0;
  for (uint32_t axis = 0; axis < function.rank_symbols.count; ++axis) {
    uint32_t symbol = weft_item<uint32_t>(module->descriptor, function.rank_symbols, axis);
    if (symbol == WEFT_NO_INDEX)
      continue;
    symbols[symbol] = place_along(module, function, rank, axis);
    ++places;
  }
  return places;
}

/// "1, 2, 4" of a file for several numbers of ranks; how many they are.
static uint32_t list_ranks(const weft_module_t *module, weft_text_t *out) {
  const weft_descriptor_t &d = module->descriptor;
  uint32_t count = 0;
  for (uint32_t i = 0; i < module->elf.file.variants; ++i) {
    weft_module_v1 variant = weft_variant(d, module->elf.file.variant_step, i);
    if (strcmp(weft_text(d, variant.target), weft_text(d, d.root.target)) == 0)
      weft_text_add(out, "%s%u", count++ ? ", " : "", weft_variant_ranks(d, variant));
  }
  return count;
}

/// "m.weft is for 1, 2, 4 ranks, but the group has 3", or nothing where the file is for one number of ranks.
static bool refuse_world(const weft_module_t *module, const weft_group *group, weft_error_t *err) {
  char ranks[100];
  weft_text_t list = weft_text_in(ranks, sizeof ranks);
  if (list_ranks(module, &list) < 2)
    return false;
  if (group)
    weft_fail(err, WEFT_INVALID, "W0433", "%.200s is for %s ranks, but the group has %d",
              module->path(), ranks, weft_group_world(group));
  else
    weft_fail(err, WEFT_INVALID, "W0433", "%.200s is for %s ranks, but the context has no group",
              module->path(), ranks);
  return true;
}

/// "function 'main' is for 2 ranks (tp = 2), but the context has no group"
static weft_status_t refuse_group(const weft_module_t *module, const weft_function_v1 &function,
                                  const weft_group *group, weft_error_t *err) {
  int32_t ranks = ranks_of(module);
  weft_message_t m;
  weft_text_add(&m.text, "function '%.60s' is for %d rank%s (",
                weft_text(module->descriptor, function.name), ranks, ranks == 1 ? "" : "s");
  for (uint32_t axis = 0; axis < function.mesh.count; ++axis) {
    weft_axis_v1 row = weft_item<weft_axis_v1>(module->descriptor, function.mesh, axis);
    weft_text_add(&m.text, "%s%.40s = %u", axis ? ", " : "",
                  weft_text(module->descriptor, row.name), row.size);
  }
  if (group)
    weft_text_add(&m.text, "), but the group has %d", weft_group_world(group));
  else
    weft_text_add(&m.text, "), but the context has no group");
  m.fail(err, WEFT_INVALID, "W0433");
  weft_set_hint(err,
                "'weft run FILE --ranks %d' starts them; a program gives a group of %d ranks "
                "(weft/group.h) in options.group",
                ranks, ranks);
  return WEFT_INVALID;
}

namespace {
/// What ranks must have alike to compute together. The mesh is in the file.
struct start_t {
  uint8_t file[32]; ///< its hash
  char version[24];
  int64_t memory_limit, exchanges_apart;
};

/// What they must have alike in a call: the function, and a hash of what inputs say about symbols.
struct start_of_call_t {
  uint32_t hash;
  int32_t function;
};
static_assert(sizeof(start_of_call_t) == WEFT_CALL_KEY_BYTES, "room for one of each rank");
} // namespace

/// Every rank learns what all have, in `all`.
static weft_status_t tell(weft_group *group, const char *node, const void *own, int64_t bytes,
                          void *all, weft_error_t *err) {
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = WEFT_ALL_GATHER;
  c.element = WEFT_U8;
  c.node = node;
  c.send = own;
  c.receive = all;
  c.outer = 1;
  c.first = weft_group_world(group);
  c.inner = bytes;
  return weft_group_collective(group, &c, err);
}

static weft_status_t compare_starts(const weft_context_t *context, weft_group *group, start_t *all,
                                    weft_error_t *err) {
  start_t own = {};
  memcpy(own.file, context->module->elf.file.hash, sizeof own.file);
  strncpy(own.version, weft_version(), sizeof own.version - 1);
  own.memory_limit = context->memory_limit;
  own.exchanges_apart = context->exchanges_apart;
  if (weft_status_t status = tell(group, "the start", &own, sizeof own, all, err))
    return status;
  for (int32_t rank = 1; rank < weft_group_world(group); ++rank) {
    const start_t &other = all[rank];
    if (memcmp(other.version, all->version, sizeof other.version) != 0)
      return weft_fail(err, WEFT_MISMATCH, "W0434",
                       "ranks 0 and %d have runtimes of versions %.24s and %.24s", rank,
                       all->version, other.version);
    if (memcmp(other.file, all->file, sizeof other.file) != 0)
      return weft_fail(err, WEFT_MISMATCH, "W0434", "ranks 0 and %d have opened different files",
                       rank);
    if (other.memory_limit != all->memory_limit)
      return weft_fail(err, WEFT_MISMATCH, "W0434",
                       "ranks 0 and %d have memory limits of %lld and %lld bytes", rank,
                       (long long)all->memory_limit, (long long)other.memory_limit);
    if (other.exchanges_apart != all->exchanges_apart)
      return weft_fail(err, WEFT_MISMATCH, "W0434",
                       "ranks 0 and %d have %lld and %lld as options.exchanges_apart", rank,
                       (long long)all->exchanges_apart, (long long)other.exchanges_apart);
  }
  return WEFT_OK;
}

static weft_symbol_v1 symbol_of(const weft_context_t *context, const weft_function_v1 &function,
                                uint32_t index) {
  return weft_item<weft_symbol_v1>(context->module->descriptor, function.symbols, index);
}

/// Of numbers that lie `stride` apart, one of each rank: a rank that has what most have.
template <class T> static int32_t usual_rank(const T *all, size_t stride, int32_t world) {
  int32_t best = 0, most = 0;
  for (int32_t rank = 0; rank < world; ++rank) {
    int32_t count = 0;
    for (int32_t other = 0; other < world; ++other)
      count += all[(size_t)other * stride] == all[(size_t)rank * stride];
    best = count > most ? rank : best;
    most = count > most ? count : most;
  }
  return best;
}

/// "rank 2 has seq = 41, the others 37 (input 'input_ids', dimension 1)". All ranks come here, with the same function.
static weft_status_t name_symbol(weft_context_t *context, const weft_function_v1 &function,
                                 int64_t *all, weft_error_t *err) {
  const weft_module_t *module = context->module;
  int32_t world = weft_group_world(context->all);
  uint32_t count = function.symbols.count;
  if (weft_status_t status = tell(context->all, "the inputs", context->values, count * 8, all, err))
    return status;
  for (uint32_t i = 0; i < count; ++i) {
    weft_symbol_v1 symbol = symbol_of(context, function, i);
    int32_t usual = usual_rank(all + i, count, world);
    for (int32_t rank = 0; rank < world && symbol.bound_by_input != WEFT_NO_INDEX; ++rank) {
      long long value = all[(size_t)rank * count + i], common = all[(size_t)usual * count + i];
      if (value == common)
        continue;
      int32_t alike = 0;
      for (int32_t other = 0; other < world; ++other)
        alike += all[(size_t)other * count + i] == common;
      weft_message_t m;
      weft_text_add(&m.text, "rank %d has %.60s = %lld, ", rank,
                    weft_symbol_name(module, function, i), value);
      weft_text_add(&m.text, alike + 1 == world ? "the others %lld (" : "most others %lld (",
                    common);
      weft_text_add_argument(&m.text, module, function, symbol.bound_by_input);
      weft_text_add(&m.text, ", dimension %u)", symbol.bound_by_dim);
      return m.fail(err, WEFT_MISMATCH, "W0435");
    }
  }
  return weft_fail(err, WEFT_MISMATCH, "W0435", "ranks have inputs of different sizes");
}

weft_status_t weft_compare_call(weft_context_t *context, int32_t index,
                                const weft_function_v1 &function, weft_error_t *err) {
  if (!context->all || !function.mesh.count)
    return WEFT_OK;
  int32_t world = weft_group_world(context->all);
  start_of_call_t own = {2166136261u, index}, *all = (start_of_call_t *)context->call_keys;
  for (uint32_t i = 0; i < function.symbols.count; ++i)
    if (symbol_of(context, function, i).bound_by_input != WEFT_NO_INDEX)
      for (int shift = 0; shift < 64; shift += 8)
        own.hash = (own.hash ^ (uint8_t)(context->values[i] >> shift)) * 16777619u;
  if (weft_status_t status = tell(context->all, "the inputs", &own, sizeof own, all, err))
    return status;
  int32_t usual = usual_rank(&all->function, sizeof *all / sizeof(int32_t), world);
  bool are_same = true;
  for (int32_t rank = 0; rank < world; ++rank) {
    weft_function_v1 one, other;
    are_same = are_same && all[rank].hash == all[0].hash;
    if (all[rank].function != all[usual].function &&
        weft_module_function(context->module, all[rank].function, &one) &&
        weft_module_function(context->module, all[usual].function, &other))
      return weft_fail(err, WEFT_MISMATCH, "W0435",
                       "rank %d calls function '%.60s', rank %d calls '%.60s'", rank,
                       weft_text(context->module->descriptor, one.name), usual,
                       weft_text(context->module->descriptor, other.name));
  }
  if (are_same)
    return WEFT_OK;
  size_t bytes = (size_t)world * function.symbols.count * sizeof(int64_t);
  int64_t *values = (int64_t *)weft_allocate(&context->module->env, bytes, 64);
  if (!values)
    return weft_fail(err, WEFT_MISMATCH, "W0435", "ranks have inputs of different sizes");
  weft_status_t status = name_symbol(context, function, values, err);
  weft_free(&context->module->env, values, bytes);
  return status;
}

/// Makes the ranks that differ along these axes alone a group.
static weft_status_t split(weft_context_t *context, const weft_function_v1 &function,
                           const weft_axes_v1 &axes, weft_group *group, weft_error_t *err) {
  const weft_module_t *module = context->module;
  int32_t place = 0, first = context->rank;
  char names[64];
  weft_text_t text = weft_text_in(names, sizeof names);
  for (uint32_t i = 0; i < axes.axes.count; ++i) {
    uint32_t axis = weft_item<uint32_t>(module->descriptor, axes.axes, i);
    int32_t along = place_along(module, function, context->rank, axis), stride = 1;
    for (uint32_t inner = axis + 1; inner < function.mesh.count; ++inner)
      stride *= (int32_t)axis_size(module, function, inner);
    weft_text_add(&text, "%s%s", i ? ", " : "",
                  weft_text(module->descriptor,
                            weft_item<weft_axis_v1>(module->descriptor, function.mesh, axis).name));
    first -= along * stride;
    place = place * (int32_t)axis_size(module, function, axis) + along;
  }
  weft_status_t status =
      weft_group_split(group, first, place, &context->groups[context->group_count], err);
  if (!status)
    weft_group_set_name(context->groups[context->group_count++], names);
  return status;
}

/// Makes a group of all ranks, in their order, unless one of those for collectives is such. It is the context's, so that cancelling may end it.
static weft_status_t find_all(weft_context_t *context, const weft_function_v1 &function,
                              weft_group *group, weft_error_t *err) {
  const weft_descriptor_t &descriptor = context->module->descriptor;
  for (uint32_t i = 0; i < function.groups.count && !context->all; ++i) {
    weft_axes_v1 axes = weft_item<weft_axes_v1>(descriptor, function.groups, i);
    bool is_all = axes.axes.count == function.mesh.count;
    for (uint32_t axis = 0; axis < axes.axes.count && is_all; ++axis)
      is_all = weft_item<uint32_t>(descriptor, axes.axes, axis) == axis;
    context->all = is_all ? context->groups[i] : nullptr;
  }
  if (context->all)
    return WEFT_OK;
  weft_status_t status = weft_group_split(group, 0, 0, &context->groups[context->group_count], err);
  if (!status)
    context->all = context->groups[context->group_count++];
  return status;
}

weft_status_t weft_join_ranks(weft_context_t *context, weft_group *group, weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_function_v1 function;
  bool has_mesh = find_mesh(module, &function);
  uint32_t wanted = group ? (uint32_t)weft_group_world(group) : 1;
  if (wanted != (uint32_t)ranks_of(module) && refuse_world(module, group, err))
    return WEFT_INVALID;
  if (!has_mesh)
    return group ? weft_fail(err, WEFT_INVALID, "W0433",
                             "%.200s is for one rank, but options.group is a group of %d",
                             module->path(), weft_group_world(group))
                 : WEFT_OK;
  if (!group || weft_group_world(group) != ranks_of(module))
    return refuse_group(module, function, group, err);
  context->rank = weft_group_rank(group);
  size_t world = (size_t)weft_group_world(group), bytes = world * sizeof(start_t);
  start_t *all = (start_t *)weft_allocate(&module->env, bytes, 64);
  context->call_keys_bytes = world * WEFT_CALL_KEY_BYTES;
  context->call_keys = weft_allocate(&module->env, context->call_keys_bytes, 64);
  weft_status_t status = all && context->call_keys ? compare_starts(context, group, all, err)
                                                   : weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424",
                                                               "no memory for a context");
  weft_free(&module->env, all, bytes);
  for (uint32_t i = 0; i < function.groups.count && !status; ++i)
    status = split(context, function,
                   weft_item<weft_axes_v1>(module->descriptor, function.groups, i), group, err);
  return status || world == 1 ? status : find_all(context, function, group, err);
}

void weft_leave_ranks(weft_context_t *context) {
  for (uint32_t i = 0; i < context->group_count; ++i)
    weft_group_release(context->groups[i]);
  if (context->call_keys)
    weft_free(&context->module->env, context->call_keys, context->call_keys_bytes);
}

void weft_abort_ranks(weft_context_t *context) {
  for (uint32_t i = 0; i < context->group_count; ++i)
    weft_group_abort(context->groups[i]);
}

weft_group *weft_find_exchange(weft_context_t *context, int64_t row, const int64_t *words,
                               weft_collective_t *out_collective) {
  const weft_list_t &rows = context->call.function->exchanges;
  if (row < 0 || row >= rows.count)
    weft_leave_call(context,
                    weft_fail(context->call.err, WEFT_BAD_ARTIFACT, "W0511",
                              "%.150s: its code asked for collective %lld of %u: this is a fault "
                              "of the compiler",
                              context->module->path(), (long long)row, rows.count));
  const weft_descriptor_t &descriptor = context->module->descriptor;
  auto found = weft_item<weft_exchange_v1>(descriptor, rows, (uint32_t)row);
  *out_collective = {sizeof *out_collective,
                     found.kind,
                     found.element,
                     found.combiner,
                     found.is_reversed,
                     found.peer,
                     0,
                     weft_text(descriptor, found.node),
                     (const void *)(uintptr_t)words[0],
                     (void *)(uintptr_t)words[1],
                     words[2],
                     words[3],
                     words[4],
                     words[5],
                     words[6],
                     words[7],
                     words[8],
                     0,
                     0,
                     0,
                     found.most_pieces,
                     0,
                     0};
  return context->groups[found.group];
}

void weft_exchange_ranks(weft_frame_v1 *frame, int64_t row, const int64_t *words) {
  weft_context_t *context = (weft_context_t *)frame->context;
  weft_collective_t collective;
  weft_group *group = weft_find_exchange(context, row, words, &collective);
  if (weft_status_t status = weft_group_collective(group, &collective, context->call.err))
    weft_leave_call(context, status);
}

//===----------------------------------------------------------------------===//
// Exchanges that go on beside kernels
//===----------------------------------------------------------------------===//

static weft_beside_t *beside_of(weft_context_t *context, int64_t row) {
  for (weft_beside_t &each : context->call.beside)
    if (each.row == row + 1)
      return &each;
  return nullptr;
}

[[noreturn]] static void leave_unpaired(weft_context_t *context, int64_t row) {
  weft_leave_call(context, weft_fail(context->call.err, WEFT_BAD_ARTIFACT, "W0511",
                                     "%.150s: its code began or ended collective %lld out of turn: "
                                     "this is a fault of the compiler",
                                     context->module->path(), (long long)row));
}

void weft_exchange_begin(weft_frame_v1 *frame, int64_t row, const int64_t *words) {
  weft_context_t *context = (weft_context_t *)frame->context;
  weft_beside_t *beside = beside_of(context, -1); // a free one
  if (!beside || beside_of(context, row))
    leave_unpaired(context, row);
  weft_collective_t collective;
  weft_group *group = weft_find_exchange(context, row, words, &collective);
  beside->row = row + 1;
  if (context->exchanges_apart)
    return;
  collective.piece = collective.pieces = 1;
  if (weft_status_t status =
          weft_group_start(group, collective, &beside->started, context->call.err))
    weft_leave_call(context, status);
}

void weft_exchange_end(weft_frame_v1 *frame, int64_t row, const int64_t *words) {
  weft_context_t *context = (weft_context_t *)frame->context;
  weft_beside_t *beside = beside_of(context, row);
  if (!beside)
    leave_unpaired(context, row);
  beside->row = 0;
  if (context->exchanges_apart)
    return weft_exchange_ranks(frame, row, words);
  weft_collective_t collective;
  weft_group *group = weft_find_exchange(context, row, words, &collective);
  if (weft_status_t status =
          weft_group_advance(group, &beside->started, /*waits=*/true, context->call.err))
    weft_leave_call(context, status);
}
