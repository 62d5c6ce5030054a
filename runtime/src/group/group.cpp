#include "weft/group.h"

#include <string.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/env.h"
#include "runtime/src/group/shared_memory.h"

template <> struct weft_sizes<weft_collective_t> {
  static constexpr size_t all[] = {offsetof(weft_collective_t, received),
                                   sizeof(weft_collective_t)};
};

struct weft_group {
  weft_env_t env;
  const weft_transport_v1 *calls;
  weft_link_t *link;
  int32_t rank, world;
};

static const int32_t default_timeout_ms = 30000;
/// How long a transport may wait before it is asked again.
static const int64_t wait_us = 1000000;

static weft_status_t choose_transport(weft_group_options_t *options, weft_error_t *err) {
  if (options->table)
    return WEFT_OK;
  const char *name = options->transport ? options->transport : "shm";
  const weft_transport_v1 *const all[] = {&weft_threads_transport, &weft_shm_transport};
  for (const weft_transport_v1 *built_in : all)
    if (strcmp(built_in->name, name) == 0)
      options->table = built_in;
  return options->table ? WEFT_OK
                        : weft_fail(err, WEFT_INVALID, "W0601",
                                    "there is no transport '%.40s', but 'threads' and 'shm'", name);
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
  if (options->timeout_ms == 0)
    options->timeout_ms = default_timeout_ms;
  return choose_transport(options, err);
}

static weft_group_t *new_group(const weft_env_t &env, const weft_transport_v1 *calls) {
  weft_group_t *group = (weft_group_t *)weft_allocate(&env, sizeof *group, 64);
  if (group)
    *group = {env, calls, nullptr, 0, 0};
  return group;
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
  if (weft_status_t status = wanted.table->open(&known, &wanted, &group->link, err)) {
    weft_free(&known, group, sizeof *group);
    return status;
  }
  group->calls->place(group->link, &group->rank, &group->world);
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
  weft_status_t status = group->calls->split(group->link, color, key, &part->link, err);
  if (status || !part->link) {
    weft_free(&group->env, part, sizeof *part);
    return status ? status : weft_succeed(err);
  }
  part->calls->place(part->link, &part->rank, &part->world);
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

weft_status_t weft_group_collective(weft_group_t *group, const weft_collective_t *collective,
                                    weft_error_t *err) {
  if (!group || !collective)
    return weft_fail(err, WEFT_INVALID, "W0601", "%s is NULL", group ? "collective" : "group");
  weft_collective_t known = {};
  if (weft_status_t status = weft_read_sized(collective, "collective", &known, err))
    return status;
  uint64_t ticket;
  if (weft_status_t status = group->calls->start(group->link, nullptr, &known, &ticket, err))
    return status;
  for (int32_t is_done = 0; !is_done;)
    if (weft_status_t status = group->calls->progress(group->link, ticket, wait_us, &is_done, err))
      return status;
  return weft_succeed(err);
}

void weft_group_abort(weft_group_t *group) {
  if (group)
    group->calls->abort(group->link);
}

void weft_group_release(weft_group_t *group) {
  if (!group)
    return;
  group->calls->close(group->link);
  weft_env_t env = group->env;
  weft_free(&env, group, sizeof *group);
}
