#include "weft/group.h"

#include <stdio.h>
#include <string.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/plugin.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/env.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/history.h"
#include "runtime/src/group/shared_memory.h"
#include "runtime/src/group/started.h"

template <> struct weft_sizes<weft_collective_t> {
  static constexpr size_t all[] = {offsetof(weft_collective_t, received),
                                   offsetof(weft_collective_t, from),
                                   offsetof(weft_collective_t, piece), sizeof(weft_collective_t)};
};

template <> struct weft_sizes<weft_group_options_t> {
  static constexpr size_t all[] = {offsetof(weft_group_options_t, records),
                                   offsetof(weft_group_options_t, processes),
                                   sizeof(weft_group_options_t)};
};

struct weft_group {
  weft_env_t env;
  const weft_transport_v1 *calls;
  weft_link_t *link;
  int32_t rank, world;
  weft_history_t *history;
  uint32_t number; ///< in the history
  uint32_t splits;
  uint64_t begun; ///< collectives
  char name[64];
};

static const int32_t default_timeout_ms = 30000;
/// How long a transport may wait before it is asked again.
static const int64_t wait_us = 1000000;
static const int32_t most_records = 1 << 20;

static weft_status_t open_plugin(const char *name, const weft_transport_v1 **out_table,
                                 weft_error_t *err) {
  static const weft_plugin_kind_t kind = {"transport", "W0601", "'threads' and 'shm' are built in"};
  void *function;
  if (weft_status_t status = weft_find_plugin(kind, name, WEFT_TRANSPORT_PLUGIN, &function, err))
    return status;
  const weft_transport_v1 *table = ((weft_transport_plugin_fn)function)();
  if (!table || table->struct_size < sizeof *table)
    return weft_refuse_plugin(kind, name, err);
  *out_table = table;
  return WEFT_OK;
}

static weft_status_t choose_transport(weft_group_options_t *options, weft_error_t *err) {
  if (options->table)
    return WEFT_OK;
  const char *name = options->transport ? options->transport : "shm";
  const weft_transport_v1 *const all[] = {&weft_threads_transport, &weft_shm_transport};
  for (const weft_transport_v1 *built_in : all)
    if (strcmp(built_in->name, name) == 0)
      options->table = built_in;
  return options->table ? WEFT_OK : open_plugin(name, &options->table, err);
}

static weft_status_t read_options(const weft_group_options_t *given, weft_group_options_t *options,
                                  weft_error_t *err) {
  memset(options, 0, sizeof *options);
  if (!given)
    return weft_fail(err, WEFT_INVALID, "W0601", "a group needs options: rank, world, rendezvous");
  if (weft_status_t status = weft_read_sized(given, "options", options, err))
    return status;
  options->struct_size = sizeof *options;
  if (options->world < 1 || options->rank < 0 || options->rank >= options->world)
    return weft_fail(err, WEFT_INVALID, "W0601", "there is no rank %d of %d", options->rank,
                     options->world);
  if (!options->rendezvous)
    return weft_fail(err, WEFT_INVALID, "W0601", "options.rendezvous is NULL");
  if (options->timeout_ms < 0)
    return weft_fail(err, WEFT_INVALID, "W0601", "options.timeout_ms is %d", options->timeout_ms);
  if (options->records < 0 || options->records > most_records || options->reserved)
    return weft_fail(err, WEFT_INVALID, "W0601", "options.records is %d", options->records);
  if (options->timeout_ms == 0)
    options->timeout_ms = default_timeout_ms;
  return choose_transport(options, err);
}

static weft_group_t *new_group(const weft_env_t &env, const weft_transport_v1 *calls) {
  weft_group_t *group = (weft_group_t *)weft_allocate(&env, sizeof *group, 64);
  if (group)
    *group = {env, calls, nullptr, 0, 0, nullptr, 0, 0, 0, "all"};
  return group;
}

static void free_group(weft_group_t *group) {
  weft_history_drop(group->history);
  weft_env_t env = group->env;
  weft_free(&env, group, sizeof *group);
}

static void join_history(weft_group_t *group) {
  group->calls->place(group->link, &group->rank, &group->world);
  group->number = weft_history_join(group->history, group->name, group->rank, group->world);
}

static weft_status_t no_memory(weft_error_t *err) {
  return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603", "no memory for a group");
}

weft_status_t weft_group_open(const weft_env_t *env, const weft_group_options_t *options,
                              weft_group_t **out_group, weft_error_t *err) {
  if (!out_group)
    return weft_fail(err, WEFT_INVALID, "W0601", "out_group is NULL");
  *out_group = nullptr;
  weft_env_t known;
  weft_group_options_t wanted;
  if (weft_status_t status = weft_read_env(env, &known, err))
    return status;
  if (weft_status_t status = read_options(options, &wanted, err))
    return status;
  weft_group_t *group = new_group(known, wanted.table);
  if (!group)
    return no_memory(err);
  group->history = weft_history_new(&known, &wanted);
  weft_status_t status =
      group->history ? wanted.table->open(&known, &wanted, &group->link, err) : no_memory(err);
  if (status) {
    free_group(group);
    return status;
  }
  join_history(group);
  *out_group = group;
  return weft_succeed(err);
}

weft_status_t weft_group_split(weft_group_t *group, int32_t color, int32_t key,
                               weft_group_t **out_group, weft_error_t *err) {
  if (!group || !out_group)
    return weft_fail(err, WEFT_INVALID, "W0601", "%s is NULL", group ? "out_group" : "group");
  *out_group = nullptr;
  weft_group_t *part = new_group(group->env, group->calls);
  if (!part)
    return no_memory(err);
  part->history = group->history;
  weft_history_hold(part->history);
  snprintf(part->name, sizeof part->name, "%.32s/%u.%d", group->name, ++group->splits, color);
  weft_status_t status = group->calls->split(group->link, color, key, &part->link, err);
  if (status || !part->link) {
    free_group(part);
    return status ? status : weft_succeed(err);
  }
  join_history(part);
  *out_group = part;
  return weft_succeed(err);
}

weft_status_t weft_group_share(weft_group_t *group, int64_t bytes, void ***out_peers,
                               weft_error_t *err) {
  if (!group || !out_peers || bytes <= 0)
    return weft_fail(err, WEFT_INVALID, "W0601",
                     "a group, a place for addresses and bytes are needed");
  *out_peers = nullptr;
  if (!group->calls->share)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0601", "ranks of transport '%.40s' share no memory",
                     group->calls->name);
  if (weft_status_t status = group->calls->share(group->link, bytes, out_peers, err))
    return status;
  return weft_succeed(err);
}

int32_t weft_group_rank(const weft_group_t *group) { return group->rank; }

int32_t weft_group_world(const weft_group_t *group) { return group->world; }

weft_status_t weft_group_start(weft_group_t *group, const weft_collective_t &collective,
                               weft_started_t *out_started, weft_error_t *err) {
  uint64_t begin_ns = weft_now_ns();
  *out_started = {};
  out_started->sequence = ++group->begun;
  out_started->note =
      weft_history_begin(group->history, group->number, out_started->sequence, collective);
  weft_status_t status =
      group->calls->start(group->link, nullptr, &collective, &out_started->ticket, err);
  out_started->spent_ns = weft_now_ns() - begin_ns;
  return status;
}

weft_status_t weft_group_advance(weft_group_t *group, weft_started_t *started, bool waits,
                                 weft_error_t *err) {
  uint64_t begin_ns = weft_now_ns();
  bool goes_on = !started->is_done;
  while (goes_on) {
    if (weft_status_t status = group->calls->progress(group->link, started->ticket,
                                                      waits ? wait_us : 0, &started->is_done, err))
      return status;
    goes_on = waits && !started->is_done;
  }
  started->spent_ns += weft_now_ns() - begin_ns;
  if (started->is_done && !started->is_noted) {
    started->is_noted = true;
    weft_history_end(group->history, group->number, started->note, started->sequence,
                     {waits ? begin_ns : 0, started->spent_ns});
  }
  return WEFT_OK;
}

weft_status_t weft_group_collective(weft_group_t *group, const weft_collective_t *collective,
                                    weft_error_t *err) {
  if (!group || !collective)
    return weft_fail(err, WEFT_INVALID, "W0601", "%s is NULL", group ? "collective" : "group");
  weft_collective_t known = {};
  if (weft_status_t status = weft_read_sized(collective, "collective", &known, err))
    return status;
  weft_started_t started;
  if (weft_status_t status = weft_group_start(group, known, &started, err))
    return status;
  if (weft_status_t status = weft_group_advance(group, &started, /*waits=*/true, err))
    return status;
  return weft_succeed(err);
}

weft_status_t weft_group_dump(const weft_group_t *group, int file, const char *reason,
                              weft_error_t *err) {
  if (!group)
    return weft_fail(err, WEFT_INVALID, "W0601", "group is NULL");
  return weft_history_dump(group->history, file, reason, err);
}

void weft_group_set_name(weft_group_t *group, const char *name) {
  if (group && name)
    weft_history_set_title(group->history, group->number, name);
}

void weft_group_abort(weft_group_t *group) {
  if (group)
    group->calls->abort(group->link);
}

void weft_group_release(weft_group_t *group) {
  if (!group)
    return;
  group->calls->close(group->link);
  free_group(group);
}
