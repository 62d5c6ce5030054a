#include "runtime/src/group/link.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/ranks_text.h"

/// How often a rank that waits looks whether those that it waits for live: two seconds are promised.
static const int64_t look_us = 100000;
/// How often a rank may look for a CPU of its own.
static const int64_t move_us = 5000;

//===----------------------------------------------------------------------===//
// Who is gone
//===----------------------------------------------------------------------===//

void weft_link_watch(weft_shared_link_t *link) {
  for (int32_t rank = 0; rank < link->world; ++rank) {
    link->watches[rank] = {};
    if (!link->in_one_process && rank != link->rank)
      link->watches[rank].begin(weft_seat(link->board, rank)->process.load());
  }
}

void weft_link_unwatch(weft_shared_link_t *link) {
  for (int32_t rank = 0; rank < link->world; ++rank)
    link->watches[rank].end();
}

//===----------------------------------------------------------------------===//
// How a group ends
//===----------------------------------------------------------------------===//

static weft_status_t say_ending(const weft_ending_t &ending, const weft_collective_t &collective,
                                weft_error_t *err) {
  char place[160];
  weft_text_t text = weft_text_in(place, sizeof place);
  weft_text_add_place(&text, weft_place_of(collective));
  return weft_fail(err, (weft_status_t)ending.status, ending.code, "%s: %s", place, ending.text);
}

weft_status_t weft_link_check(weft_shared_link_t *link, const weft_collective_t &collective,
                              weft_error_t *err) {
  const weft_ending_t *ending = weft_board_ending(link->board);
  return ending ? say_ending(*ending, collective, err) : WEFT_OK;
}

static const weft_collective_t &current(const weft_shared_link_t *link) {
  return link->waiting[link->done % WEFT_MAX_BEGUN];
}

/// Ends the group, unless another rank did so before with a reason of its own.
static weft_status_t end_group(weft_shared_link_t *link, const weft_ending_t &ending,
                               weft_error_t *err) {
  weft_board_end(link->board, ending);
  const weft_ending_t *first = weft_board_ending(link->board);
  return say_ending(first ? *first : ending, current(link), err);
}

static weft_ending_t ending_of(weft_status_t status, const char *code) {
  weft_ending_t ending = {};
  ending.status = status;
  snprintf(ending.code, sizeof ending.code, "%s", code);
  return ending;
}

/// A rank that this one waits for, and that is gone; -1: all are there.
static int32_t lost_rank(weft_shared_link_t *link) {
  for (int32_t rank = 0; rank < link->world; ++rank)
    if (weft_transfer_needs(link->transfer, link->board, rank) &&
        (weft_seat(link->board, rank)->has_left.load() || link->watches[rank].has_ended()))
      // What it did at last may be what is waited for.
      if (weft_transfer_needs(link->transfer, link->board, rank))
        return rank;
  return -1;
}

/// Where the rank is, seen from collective `sequence`: ", which is at all_gather after 'x'".
static void add_whereabouts(weft_text_t *text, const weft_seat_t *seat, uint64_t sequence,
                            bool is_gone) {
  uint64_t begun = seat->sequence.load();
  if (begun == 0)
    return weft_text_add(text, ", which %s begun a collective", is_gone ? "had not" : "has not");
  char node[WEFT_NODE_BYTES];
  weft_seat_node(seat, node);
  weft_text_add(text, begun < sequence ? ", which came no further than "
                      : is_gone        ? ", which was at "
                                       : ", which is at ");
  weft_text_add_place(text, {seat->kind.load(), node, 0, seat->piece.load(), seat->pieces.load()});
}

static weft_status_t fail_lost(weft_shared_link_t *link, int32_t rank, weft_error_t *err) {
  weft_ending_t ending = ending_of(WEFT_LOST_PEER, "W0605");
  weft_text_t text = weft_text_in(ending.text, sizeof ending.text);
  const weft_seat_t *seat = weft_seat(link->board, rank);
  if (seat->has_left.load())
    weft_text_add(&text, "rank %d has left the group", rank);
  else
    weft_text_add(&text, "rank %d is lost (process %d ended)", rank, seat->process.load());
  add_whereabouts(&text, seat, link->done + 1, true);
  return end_group(link, ending, err);
}

/// "ranks 1 and 3, which came no further than x, and rank 2, which has not begun a collective": those at the same collective together.
static void add_late(weft_text_t *text, weft_shared_link_t *link, bool *is_late) {
  for (int32_t first = 0, places = 0; first < link->world; ++first) {
    if (!is_late[first])
      continue;
    const weft_seat_t *seat = weft_seat(link->board, first);
    uint64_t begun = seat->sequence.load();
    bool is_there[WEFT_MAX_WORLD] = {};
    for (int32_t rank = first; rank < link->world; ++rank) {
      is_there[rank] = rank == first ||
                       (is_late[rank] && weft_seat(link->board, rank)->sequence.load() == begun);
      is_late[rank] = is_late[rank] && !is_there[rank];
    }
    weft_text_add(text, places++ ? ", and " : "");
    weft_text_add_ranks(text, is_there, link->world);
    add_whereabouts(text, seat, link->done + 1, false);
  }
}

static weft_status_t fail_late(weft_shared_link_t *link, weft_error_t *err) {
  weft_ending_t ending = ending_of(WEFT_TIMEOUT, "W0606");
  weft_text_t text = weft_text_in(ending.text, sizeof ending.text);
  bool is_late[WEFT_MAX_WORLD] = {};
  for (int32_t rank = 0; rank < link->world; ++rank)
    is_late[rank] = weft_transfer_needs(link->transfer, link->board, rank);
  weft_text_add(&text, "waited ");
  weft_text_add_seconds(&text, link->timeout_ms);
  weft_text_add(&text, " for ");
  add_late(&text, link, is_late);
  return end_group(link, ending, err);
}

//===----------------------------------------------------------------------===//
// Ranks at different collectives
//===----------------------------------------------------------------------===//

weft_status_t weft_link_fail_mismatch(weft_shared_link_t *link, weft_error_t *err) {
  const weft_signature_t *all[WEFT_MAX_WORLD];
  for (int32_t rank = 0; rank < link->world; ++rank)
    all[rank] = &weft_slot(link->board, rank, link->pieces)->signature;
  weft_ending_t ending = ending_of(WEFT_MISMATCH, "W0604");
  weft_text_t text = weft_text_in(ending.text, sizeof ending.text);
  weft_text_add_mismatch(&text, all, link->world);
  return end_group(link, ending, err);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static bool can_move(const weft_shared_link_t *link) {
  return weft_transfer_move(link->transfer, link->board) != WEFT_MOVE_WAIT;
}

void weft_link_say_cpu(weft_shared_link_t *link) {
  weft_seat(link->board, link->rank)->cpu.store(sched_getcpu(), std::memory_order_relaxed);
}

static int32_t cpu_of(const weft_shared_link_t *link, int32_t rank) {
  return weft_seat(link->board, rank)->cpu.load(std::memory_order_relaxed);
}

/// Whether this rank waits for one that cannot go on before it sleeps.
static bool shares_cpu(const weft_shared_link_t *link) {
  int32_t own = cpu_of(link, link->rank);
  for (int32_t rank = 0; rank < link->world; ++rank)
    if (own >= 0 && cpu_of(link, rank) == own &&
        weft_transfer_needs(link->transfer, link->board, rank))
      return true;
  return false;
}

/// Moves this thread to a CPU that no rank is on, where it may use one; its mask stays as it was. A system likes to wake a thread beside its
/// waker, and leaves two that wake each other there for long while another CPU is idle.
static void move_off(weft_shared_link_t *link, uint64_t now_ns) {
  if (now_ns < link->moved_ns + (uint64_t)move_us * 1000u)
    return;
  link->moved_ns = now_ns;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  cpu_set_t free = allowed;
  for (int32_t rank = 0; rank < link->world; ++rank) {
    int32_t cpu = cpu_of(link, rank);
    if (cpu >= 0 && cpu < CPU_SETSIZE)
      CPU_CLR(cpu, &free);
  }
  if (CPU_COUNT(&free) && sched_setaffinity(0, sizeof free, &free) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
  weft_link_say_cpu(link);
}

static bool spin(const weft_shared_link_t *link, uint64_t until_ns) {
  uint64_t end = link->waits_since_ns + (uint64_t)link->spin_us * 1000u;
  end = end < until_ns ? end : until_ns;
  while (weft_now_ns() < end)
    for (int i = 0; i < 32; ++i) {
      if (can_move(link))
        return true;
      weft_relax();
    }
  return false;
}

/// Looks at everything that ends a wait; not at who lives each time, which takes a system call for each.
static weft_status_t look_around(weft_shared_link_t *link, uint64_t now_ns, weft_error_t *err) {
  if (weft_status_t status = weft_link_check(link, current(link), err))
    return status;
  bool is_over = now_ns >= link->waits_since_ns + (uint64_t)link->timeout_ms * 1000000u;
  if (now_ns < link->looks_again_ns && !is_over)
    return WEFT_OK;
  link->looks_again_ns = now_ns + (uint64_t)look_us * 1000u;
  int32_t lost = lost_rank(link);
  if (lost >= 0)
    return fail_lost(link, lost, err);
  return is_over && !can_move(link) ? fail_late(link, err) : WEFT_OK;
}

/// Says that it sleeps before it looks whether it has to, so that nobody's ring is missed.
static void sleep_until(weft_shared_link_t *link, uint64_t now_ns, uint64_t until_ns) {
  int64_t microseconds = (int64_t)((until_ns - now_ns) / 1000u) + 1;
  weft_seat_t *seat = weft_seat(link->board, link->rank);
  uint32_t bell = seat->bell.load();
  seat->is_asleep.store(1);
  if (!can_move(link) && !weft_board_ending(link->board))
    weft_board_sleep(seat, bell, microseconds < look_us ? microseconds : look_us);
  seat->is_asleep.store(0);
}

weft_status_t weft_link_wait(weft_shared_link_t *link, uint64_t until_ns, bool *out_can_move,
                             weft_error_t *err) {
  uint64_t now = weft_now_ns();
  if (!link->waits_since_ns) {
    link->waits_since_ns = now;
    link->looks_again_ns = now + (uint64_t)look_us * 1000u;
  }
  if (link->spin_us && shares_cpu(link)) {
    weft_link_say_cpu(link);
    if (shares_cpu(link))
      move_off(link, now);
  }
  *out_can_move = !shares_cpu(link) && spin(link, until_ns);
  while (!*out_can_move) {
    now = weft_now_ns();
    if (weft_status_t status = look_around(link, now, err))
      return status;
    if (now >= until_ns)
      return WEFT_OK;
    sleep_until(link, now, until_ns);
    *out_can_move = can_move(link);
  }
  link->waits_since_ns = 0;
  return WEFT_OK;
}
