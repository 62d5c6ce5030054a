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

static int32_t ranks_of(const weft_module_t *module, const weft_function_v1 &function) {
  int32_t ranks = 1;
  for (uint32_t axis = 0; axis < function.mesh.count; ++axis)
    ranks *= (int32_t)axis_size(module, function, axis);
  return ranks;
}

uint32_t weft_groups_needed(const weft_module_t *module) {
  weft_function_v1 function;
  return find_mesh(module, &function) ? function.groups.count : 0;
}

void weft_set_places(const weft_module_t *module, const weft_function_v1 &function, int32_t rank,
                     int64_t *symbols) {
  for (uint32_t axis = 0; axis < function.rank_symbols.count; ++axis) {
    uint32_t symbol = weft_item<uint32_t>(module->descriptor, function.rank_symbols, axis);
    if (symbol != WEFT_NO_INDEX)
      symbols[symbol] = place_along(module, function, rank, axis);
  }
}

/// "function 'main' is for 2 ranks (tp = 2), but the context has no group"
static weft_status_t refuse_group(const weft_module_t *module, const weft_function_v1 &function,
                                  const weft_group *group, weft_error_t *err) {
  int32_t ranks = ranks_of(module, function);
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

enum { WEFT_HASH_BYTES = 32 };

/// Every rank learns what all have opened, in `all`.
static weft_status_t compare_files(const weft_module_t *module, weft_group *group, uint8_t *all,
                                   weft_error_t *err) {
  int32_t world = weft_group_world(group);
  weft_collective_t hashes = {};
  hashes.struct_size = sizeof hashes;
  hashes.kind = WEFT_ALL_GATHER;
  hashes.element = WEFT_U8;
  hashes.node = "the start";
  hashes.send = module->elf.file.hash;
  hashes.receive = all;
  hashes.outer = hashes.inner = 1;
  hashes.first = (int64_t)world * WEFT_HASH_BYTES;
  if (weft_status_t status = weft_group_collective(group, &hashes, err))
    return status;
  for (int32_t rank = 1; rank < world; ++rank)
    if (memcmp(all, all + rank * WEFT_HASH_BYTES, WEFT_HASH_BYTES) != 0)
      return weft_fail(err, WEFT_MISMATCH, "W0434", "ranks 0 and %d have opened different files",
                       rank);
  return WEFT_OK;
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

weft_status_t weft_join_ranks(weft_context_t *context, weft_group *group, weft_error_t *err) {
  const weft_module_t *module = context->module;
  weft_function_v1 function;
  if (!find_mesh(module, &function))
    return group ? weft_fail(err, WEFT_INVALID, "W0433",
                             "%.200s is for one rank, but options.group is a group of %d",
                             module->path(), weft_group_world(group))
                 : WEFT_OK;
  if (!group || weft_group_world(group) != ranks_of(module, function))
    return refuse_group(module, function, group, err);
  context->rank = weft_group_rank(group);
  size_t bytes = (size_t)weft_group_world(group) * WEFT_HASH_BYTES;
  uint8_t *all = (uint8_t *)weft_allocate(&module->env, bytes, 64);
  if (!all)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  weft_status_t status = compare_files(module, group, all, err);
  weft_free(&module->env, all, bytes);
  for (uint32_t i = 0; i < function.groups.count && !status; ++i)
    status = split(context, function,
                   weft_item<weft_axes_v1>(module->descriptor, function.groups, i), group, err);
  return status;
}

void weft_leave_ranks(weft_context_t *context) {
  for (uint32_t i = 0; i < context->group_count; ++i)
    weft_group_release(context->groups[i]);
}

void weft_abort_ranks(weft_context_t *context) {
  for (uint32_t i = 0; i < context->group_count; ++i)
    weft_group_abort(context->groups[i]);
}

void weft_exchange_ranks(weft_frame_v1 *frame, int64_t row, const int64_t *words) {
  weft_context_t *context = (weft_context_t *)frame->context;
  const weft_list_t &rows = context->call.function->exchanges;
  if (row < 0 || row >= rows.count)
    weft_leave_call(context,
                    weft_fail(context->call.err, WEFT_BAD_ARTIFACT, "W0511",
                              "%.150s: its code asked for collective %lld of %u: this is a fault "
                              "of the compiler",
                              context->module->path(), (long long)row, rows.count));
  const weft_descriptor_t &descriptor = context->module->descriptor;
  auto found = weft_item<weft_exchange_v1>(descriptor, rows, (uint32_t)row);
  const weft_collective_t collective = {sizeof collective,
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
                                        words[8]};
  weft_status_t status =
      weft_group_collective(context->groups[found.group], &collective, context->call.err);
  if (status)
    weft_leave_call(context, status);
}
