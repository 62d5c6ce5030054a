#include "runtime/src/group/shared_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/link.h"
#include "runtime/src/group/rendezvous.h"

static weft_shared_link_t *own(weft_link_t *link) { return (weft_shared_link_t *)link; }

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

static weft_shared_link_t *new_link(const weft_env_t &env, int32_t world) {
  size_t bytes = sizeof(weft_shared_link_t) + (size_t)world * sizeof(weft_watch_t);
  void *memory = weft_allocate(&env, bytes, 64);
  if (!memory)
    return nullptr;
  memset(memory, 0, bytes);
  weft_shared_link_t *link = new (memory) weft_shared_link_t();
  link->env = env;
  link->bytes = bytes;
  link->watches = (weft_watch_t *)(link + 1);
  return link;
}

static weft_status_t open_link(const weft_env_t *env, const weft_group_options_t *options,
                               bool in_one_process, weft_link_t **out_link, weft_error_t *err) {
  *out_link = nullptr;
  if (options->world > WEFT_MAX_WORLD)
    return weft_fail(err, WEFT_INVALID, "W0601", "%d ranks, but %d are possible on one machine",
                     options->world, WEFT_MAX_WORLD);
  weft_shared_link_t *link = new_link(*env, options->world);
  if (!link)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603", "no memory for a group of %d ranks",
                     options->world);
  if (weft_status_t status = weft_meet(*options, in_one_process, &link->board, &link->file, err)) {
    weft_free(env, link, link->bytes);
    return status;
  }
  link->in_one_process = link->reach.is_one_process = in_one_process;
  link->file_bytes = link->board->bytes;
  link->rank = options->rank;
  link->world = options->world;
  link->timeout_ms = options->timeout_ms;
  link->transfer.cached_bytes = weft_cached_bytes();
  link->spin_us = options->world > weft_cpus_allowed() ? 0 : WEFT_SPIN_US;
  snprintf(link->rendezvous, sizeof link->rendezvous, "%s", options->rendezvous);
  weft_link_watch(link);
  *out_link = (weft_link_t *)link;
  return WEFT_OK;
}

static weft_status_t open_threads(const weft_env_t *env, const weft_group_options_t *options,
                                  weft_link_t **out_link, weft_error_t *err) {
  return open_link(env, options, true, out_link, err);
}

static weft_status_t open_shm(const weft_env_t *env, const weft_group_options_t *options,
                              weft_link_t **out_link, weft_error_t *err) {
  return open_link(env, options, false, out_link, err);
}

static void close_link(weft_link_t *closed) {
  if (!closed)
    return;
  weft_shared_link_t *link = own(closed);
  weft_seat(link->board, link->rank)->has_left.store(1);
  weft_board_ring(link->board, link->rank);
  weft_link_unwatch(link);
  weft_link_unshare(link);
  if (link->file >= 0)
    close(link->file);
  weft_leave_board(link->board, link->in_one_process);
  weft_env_t env = link->env;
  weft_free(&env, link, link->bytes);
}

static void abort_link(weft_link_t *aborted) {
  weft_shared_link_t *link = own(aborted);
  weft_ending_t ending = {WEFT_CANCELLED, "W0607", "rank "};
  // Also from a signal handler: no printf.
  char *at = ending.text + strlen(ending.text);
  for (int32_t unit = 1000; unit > 0; unit /= 10)
    if (link->rank >= unit || unit == 1)
      *at++ = (char)('0' + link->rank / unit % 10);
  strcpy(at, " ended the group");
  weft_board_end(link->board, ending);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static weft_status_t start(weft_link_t *started, weft_queue_t *queue,
                           const weft_collective_t *collective, uint64_t *out_ticket,
                           weft_error_t *err) {
  weft_shared_link_t *link = own(started);
  if (weft_status_t status = weft_check_collective(*collective, link->rank, link->world, err))
    return status;
  if (queue)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0602",
                     "%s: ranks that share memory have no queues of devices",
                     weft_kind_name(collective->kind));
  if (weft_status_t status = weft_link_check(link, *collective, err))
    return status;
  if (link->begun - link->done == WEFT_MAX_BEGUN)
    return weft_fail(err, WEFT_BUSY, "W0602", "%s: %d collectives are under way",
                     weft_kind_name(collective->kind), WEFT_MAX_BEGUN);
  link->waiting[link->begun % WEFT_MAX_BEGUN] = *collective;
  *out_ticket = ++link->begun;
  return WEFT_OK;
}

/// Makes the first collective that is not done the one that moves.
static void begin_next(weft_shared_link_t *link) {
  const weft_collective_t &next = link->waiting[link->done % WEFT_MAX_BEGUN];
  weft_seat_t *seat = weft_seat(link->board, link->rank);
  weft_transfer_begin(&link->transfer, link->board, next, link->rank, link->pieces, link->done + 1);
  weft_transfer_expose(&link->transfer, link->reach);
  seat->kind.store(next.kind, std::memory_order_relaxed);
  weft_seat_set_node(seat, next.node);
  seat->piece.store(next.piece, std::memory_order_relaxed);
  seat->pieces.store(next.pieces, std::memory_order_relaxed);
  seat->sequence.store(link->done + 1, std::memory_order_relaxed);
  weft_link_say_cpu(link);
  link->is_moving = true;
}

static void end_current(weft_shared_link_t *link) {
  link->pieces += (uint32_t)link->transfer.exchange.pieces;
  link->is_moving = false;
  ++link->done;
}

/// One step of the collective that moves; *out_can_move says whether there may be another one.
static weft_status_t move(weft_shared_link_t *link, uint64_t until_ns, bool *out_can_move,
                          weft_error_t *err) {
  *out_can_move = true;
  switch (weft_transfer_move(link->transfer, link->board)) {
  case WEFT_MOVE_WRITE:
    weft_transfer_write(&link->transfer, link->board);
    break;
  case WEFT_MOVE_READ:
    if (link->transfer.exchange.read == 0 && !weft_transfer_agrees(link->transfer, link->board))
      return weft_link_fail_mismatch(link, err);
    weft_transfer_read(&link->transfer, link->board);
    break;
  case WEFT_MOVE_WAIT:
    return weft_link_wait(link, until_ns, out_can_move, err);
  case WEFT_MOVE_DONE:
    end_current(link);
    break;
  }
  return WEFT_OK;
}

static weft_status_t progress(weft_link_t *moved, uint64_t ticket, int64_t wait_us,
                              int32_t *out_done, weft_error_t *err) {
  weft_shared_link_t *link = own(moved);
  *out_done = 0;
  if (ticket > link->begun)
    return weft_fail(err, WEFT_INVALID, "W0602", "ticket %llu was not given",
                     (unsigned long long)ticket);
  uint64_t until_ns = wait_us > 0 ? weft_now_ns() + (uint64_t)wait_us * 1000u : 0;
  for (bool can_move = true; link->done < ticket && can_move;) {
    if (!link->is_moving)
      begin_next(link);
    if (weft_status_t status = move(link, until_ns, &can_move, err))
      return status;
  }
  *out_done = link->done >= ticket;
  return WEFT_OK;
}

weft_status_t weft_link_run(weft_shared_link_t *link, const weft_collective_t &collective,
                            weft_error_t *err) {
  uint64_t ticket;
  int32_t is_done = 0;
  weft_link_t *own_end = (weft_link_t *)link;
  if (weft_status_t status = start(own_end, nullptr, &collective, &ticket, err))
    return status;
  while (!is_done)
    if (weft_status_t status =
            progress(own_end, ticket, link->timeout_ms * int64_t(1000), &is_done, err))
      return status;
  return WEFT_OK;
}

weft_status_t weft_link_gather(weft_shared_link_t *link, const char *node, const void *own,
                               int64_t bytes, void *all, weft_error_t *err) {
  return weft_link_run(link, weft_gather_of_bytes(link->world, node, own, bytes, all), err);
}

//===----------------------------------------------------------------------===//
// Groups of a group
//===----------------------------------------------------------------------===//

namespace {
struct choice_t {
  int32_t color, key;
};
} // namespace

/// The rank that `rank` has among those of its colour.
static int32_t number_among(const choice_t *choices, int32_t world, int32_t rank) {
  const choice_t &own = choices[rank];
  int32_t before = 0;
  for (int32_t other = 0; other < world; ++other)
    before += choices[other].color == own.color &&
              (choices[other].key < own.key || (choices[other].key == own.key && other < rank));
  return before;
}

static weft_status_t split(weft_link_t *divided, int32_t color, int32_t key, weft_link_t **out_link,
                           weft_error_t *err) {
  weft_shared_link_t *link = own(divided);
  *out_link = nullptr;
  choice_t own_choice = {color, key}, choices[WEFT_MAX_WORLD];
  if (weft_status_t status =
          weft_link_gather(link, "split", &own_choice, sizeof own_choice, choices, err))
    return status;
  int32_t number = ++link->splits;
  if (color < 0)
    return WEFT_OK;
  weft_group_options_t options = {};
  options.timeout_ms = link->timeout_ms;
  int32_t processes[WEFT_MAX_WORLD];
  for (int32_t rank = 0; rank < link->world; ++rank) {
    if (choices[rank].color != color)
      continue;
    ++options.world;
    int32_t number_there = number_among(choices, link->world, rank);
    processes[number_there] = weft_seat(link->board, rank)->process.load();
    if (rank == link->rank)
      options.rank = number_there;
  }
  options.processes = link->in_one_process ? nullptr : processes;
  char rendezvous[sizeof link->rendezvous + 32];
  snprintf(rendezvous, sizeof rendezvous, "%s.%d.%d", link->rendezvous, number, color);
  options.rendezvous = rendezvous;
  return open_link(&link->env, &options, link->in_one_process, out_link, err);
}

static weft_status_t share(weft_link_t *link, int64_t bytes, void ***out_peers, weft_error_t *err) {
  return weft_link_share(own(link), bytes, out_peers, err);
}

static void place(weft_link_t *link, int32_t *out_rank, int32_t *out_world) {
  *out_rank = own(link)->rank;
  *out_world = own(link)->world;
}

/// They differ in how they are opened.
static constexpr weft_transport_v1 transport(const char *name, decltype(&open_threads) open) {
  return {sizeof(weft_transport_v1),
          0,
          name,
          open,
          split,
          place,
          start,
          progress,
          share,
          abort_link,
          close_link};
}

const weft_transport_v1 weft_threads_transport = transport("threads", open_threads);
const weft_transport_v1 weft_shm_transport = transport("shm", open_shm);
