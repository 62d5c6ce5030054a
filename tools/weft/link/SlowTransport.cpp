//===- SlowTransport.cpp ----------------------------------------------------------------------===//
#include "tools/weft/link/SlowTransport.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/ranks_text.h"
#include "runtime/src/group/shared_memory.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>

namespace weft::cli {

namespace {

constexpr uint64_t kMostBegun = 8; ///< as the transports of the runtime
/// A rank is at most kMostBegun collectives ahead of one that still reads its stamps, and those are
/// as many behind: all ranks are at a collective before one of them is done with it.
constexpr uint64_t kStamps = 4 * kMostBegun;
constexpr uint64_t kSpinNs = 100000; ///< a sleep ends up to so much too late
/// How long a rank sleeps before it looks whether the group was ended, and before it goes on with
/// what was begun later.
constexpr uint64_t kNapNs = 10000000, kShortNapNs = 1000000;

/// When a rank began collective `number`; 0: none yet. A reader that sees the number, or a later
/// one, sees its time, or a later one.
struct Stamp {
  std::atomic<uint64_t> number, time;
};

/// What a rank shows the others.
struct Board {
  std::atomic<uint32_t> isAborted;
  Stamp stamps[kStamps];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");

/// Boards of ranks that are threads: what a thread shares goes when it leaves, and others may still
/// read its stamps.
struct Boards {
  explicit Boards(int32_t world) : holders(world), of(new Board[size_t(world)]()) {}
  void drop() {
    if (holders.fetch_sub(1) == 1)
      delete this;
  }

  std::atomic<int32_t> holders;
  std::unique_ptr<Board[]> of;
};

struct Waiting {
  weft_collective_t collective;
  uint64_t ticket; ///< of the inner link
  uint64_t due;    ///< 0: not known yet
};

/// A rank's end, around the inner one.
struct SlowLink {
  SlowLink(const SlowTransport &transport, weft_link_t *inner)
      : transport(transport), calls(transport.inner), inner(inner), incoming(transport.speed) {}
  ~SlowLink() {
    calls.close(inner);
    if (ofThreads)
      ofThreads->drop();
  }
  SlowLink(const SlowLink &) = delete;

  Board &board(int32_t of) const {
    return ofThreads ? ofThreads->of[of] : *static_cast<Board *>(ofProcesses[of]);
  }

  const SlowTransport &transport;
  const weft_transport_v1 &calls;
  weft_link_t *inner;
  int32_t rank = 0, world = 0;
  void **ofProcesses = nullptr; ///< boards, by rank
  Boards *ofThreads = nullptr;  ///< in place of them
  /// Collectives that were begun and those that are delivered; those between are in `waiting`.
  uint64_t begun = 0, delivered = 0;
  Waiting waiting[kMostBegun] = {};
  IncomingLink incoming;
};

SlowLink *own(weft_link_t *link) { return reinterpret_cast<SlowLink *>(link); }

Waiting &waitingOf(SlowLink *link, uint64_t number) {
  return link->waiting[(number - 1) % kMostBegun];
}

//===-- When a collective is due --------------------------------------------------------------===//

/// Whether ranks agree by it what they do next: programs have no such bytes with these names.
bool isAgreement(const weft_collective_t &collective) {
  static constexpr std::string_view names[] = {
      "the start", "the inputs", "the first call", "the last call", "bench", "profile", "tune"};
  std::string_view node = collective.node ? collective.node : "";
  return collective.element == WEFT_U8 &&
         std::find(std::begin(names), std::end(names), node) != std::end(names);
}

void stamp(SlowLink *link, uint64_t number) {
  Stamp &stamp = link->board(link->rank).stamps[number % kStamps];
  stamp.time.store(weft_now_ns(), std::memory_order_relaxed);
  stamp.number.store(number, std::memory_order_release);
}

/// When the last one began that sends to this rank. They all have, since the inner collective is
/// done.
uint64_t latestBegin(const SlowLink *link, uint64_t number, const weft_collective_t &collective) {
  uint64_t latest = 0;
  for (int32_t from = 0; from < link->world; ++from) {
    if (!isSender(collective, link->world, from, link->rank))
      continue;
    const Stamp &stamp = link->board(from).stamps[number % kStamps];
    bool isThere = stamp.number.load(std::memory_order_acquire) >= number;
    latest = std::max(latest, isThere ? stamp.time.load(std::memory_order_relaxed) : weft_now_ns());
  }
  return latest;
}

/// In the order of collectives.
uint64_t dueTime(SlowLink *link, uint64_t number, const weft_collective_t &collective) {
  Arrival arrival = arrivalOf(collective, link->world, link->rank);
  if (!arrival.bytes || isAgreement(collective))
    return 1; // long ago
  return link->incoming.deliver(arrival, latestBegin(link, number, collective));
}

//===-- Waiting for the clock -----------------------------------------------------------------===//

void sleepUntil(uint64_t time) {
  if (weft_now_ns() + kSpinNs < time) {
    uint64_t early = time - kSpinNs;
    timespec until = {time_t(early / 1000000000u), long(early % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  while (weft_now_ns() < time)
    weft_relax();
}

weft_status_t checkAborted(const SlowLink *link, const weft_collective_t &collective,
                           weft_error_t *err) {
  for (int32_t rank = 0; rank < link->world; ++rank) {
    if (!link->board(rank).isAborted.load())
      continue;
    char place[160];
    weft_text_t text = weft_text_in(place, sizeof place);
    weft_text_add_place(&text, weft_place_of(collective));
    return weft_fail(err, WEFT_CANCELLED, "W0607", "%s: rank %d ended the group", place, rank);
  }
  return WEFT_OK;
}

/// Returns when it is due, or `until` is over. What was begun behind it goes on meanwhile.
weft_status_t waitForClock(SlowLink *link, const Waiting &next, uint64_t until, bool *outIsDue,
                           weft_error_t *err) {
  const Waiting &last = waitingOf(link, link->begun);
  for (bool goesOn = &last != &next;;) {
    uint64_t now = weft_now_ns(), end = std::min(next.due, until);
    *outIsDue = now >= next.due;
    if (now >= end)
      return WEFT_OK;
    if (weft_status_t status = checkAborted(link, next.collective, err))
      return status;
    if (goesOn) {
      int32_t isDone = 0;
      if (weft_status_t status = link->calls.progress(link->inner, last.ticket, 0, &isDone, err))
        return status;
      goesOn = !isDone;
    }
    sleepUntil(std::min(end, weft_now_ns() + (goesOn ? kShortNapNs : kNapNs)));
  }
}

//===-- The table -----------------------------------------------------------------------------===//

/// All threads get the boards that rank 0 makes. Where that fails nobody knows who has them, and
/// they stay.
weft_status_t shareAmongThreads(SlowLink *link, weft_error_t *err) {
  Boards *boards = link->rank == 0 ? new Boards(link->world) : nullptr;
  weft_collective_t tell = {};
  tell.struct_size = sizeof tell;
  tell.kind = WEFT_BROADCAST;
  tell.element = WEFT_U8;
  tell.node = "share";
  tell.send = tell.receive = &boards;
  tell.outer = tell.inner = 1;
  tell.first = sizeof boards;
  uint64_t ticket = 0;
  weft_status_t status = link->calls.start(link->inner, nullptr, &tell, &ticket, err);
  for (int32_t isDone = 0; !status && !isDone;)
    status = link->calls.progress(link->inner, ticket, 1000000, &isDone, err);
  link->ofThreads = status ? nullptr : boards;
  return status;
}

/// Wraps an inner end, which it owns.
weft_status_t wrap(const SlowTransport &transport, weft_link_t *inner, weft_link_t **outLink,
                   weft_error_t *err) {
  auto link = std::make_unique<SlowLink>(transport, inner);
  link->calls.place(inner, &link->rank, &link->world);
  weft_status_t status = &transport.inner == &weft_threads_transport
                             ? shareAmongThreads(link.get(), err)
                             : link->calls.share(inner, sizeof(Board), &link->ofProcesses, err);
  if (!status)
    *outLink = reinterpret_cast<weft_link_t *>(link.release());
  return status;
}

weft_status_t open(const weft_env_t *env, const weft_group_options_t *options,
                   weft_link_t **outLink, weft_error_t *err) {
  *outLink = nullptr;
  const SlowTransport &transport = SlowTransport::of(options->table);
  weft_group_options_t wanted = *options;
  wanted.table = &transport.inner;
  weft_link_t *inner = nullptr;
  if (weft_status_t status = transport.inner.open(env, &wanted, &inner, err))
    return status;
  return wrap(transport, inner, outLink, err);
}

weft_status_t split(weft_link_t *divided, int32_t color, int32_t key, weft_link_t **outLink,
                    weft_error_t *err) {
  *outLink = nullptr;
  SlowLink *link = own(divided);
  weft_link_t *inner = nullptr;
  weft_status_t status = link->calls.split(link->inner, color, key, &inner, err);
  return status || !inner ? status : wrap(link->transport, inner, outLink, err);
}

void place(weft_link_t *link, int32_t *outRank, int32_t *outWorld) {
  *outRank = own(link)->rank;
  *outWorld = own(link)->world;
}

weft_status_t start(weft_link_t *started, weft_queue_t *queue, const weft_collective_t *collective,
                    uint64_t *outTicket, weft_error_t *err) {
  SlowLink *link = own(started);
  if (link->begun - link->delivered == kMostBegun)
    return weft_fail(err, WEFT_BUSY, "W0602", "%s: %d collectives are under way",
                     weft_kind_name(collective->kind), int(kMostBegun));
  uint64_t number = link->begun + 1, ticket = 0;
  stamp(link, number); // before others can see that it has begun
  if (weft_status_t status = link->calls.start(link->inner, queue, collective, &ticket, err))
    return status;
  waitingOf(link, number) = {*collective, ticket, 0};
  *outTicket = link->begun = number;
  return WEFT_OK;
}

weft_status_t progress(weft_link_t *moved, uint64_t ticket, int64_t waitUs, int32_t *outDone,
                       weft_error_t *err) {
  SlowLink *link = own(moved);
  *outDone = 0;
  if (ticket > link->begun)
    return weft_fail(err, WEFT_INVALID, "W0602", "ticket %llu was not given",
                     static_cast<unsigned long long>(ticket));
  uint64_t until = waitUs > 0 ? weft_now_ns() + uint64_t(waitUs) * 1000u : 0;
  if (ticket > link->delivered && !waitingOf(link, ticket).due) {
    int32_t isDone = 0; // then all before it are
    weft_status_t status =
        link->calls.progress(link->inner, waitingOf(link, ticket).ticket, waitUs, &isDone, err);
    if (status || !isDone)
      return status;
  }
  for (; link->delivered < ticket; ++link->delivered) {
    Waiting &next = waitingOf(link, link->delivered + 1);
    if (!next.due)
      next.due = dueTime(link, link->delivered + 1, next.collective);
    bool isDue = false;
    weft_status_t status = waitForClock(link, next, until, &isDue, err);
    if (status || !isDue)
      return status;
  }
  *outDone = 1;
  return WEFT_OK;
}

weft_status_t share(weft_link_t *link, int64_t bytes, void ***outPeers, weft_error_t *err) {
  return own(link)->calls.share(own(link)->inner, bytes, outPeers, err);
}

/// Signal handlers, too.
void abort(weft_link_t *link) {
  own(link)->board(own(link)->rank).isAborted.store(1);
  own(link)->calls.abort(own(link)->inner);
}

void close(weft_link_t *link) { delete own(link); }

/// In the constructor, fields have these names.
weft_transport_v1 tableAround(const weft_transport_v1 &inner) {
  return {sizeof(weft_transport_v1),
          0,
          inner.name,
          open,
          split,
          place,
          start,
          progress,
          share,
          abort,
          close};
}

} // namespace

const weft_transport_v1 *sharedMemoryTransport(std::string_view name) {
  for (const weft_transport_v1 *transport : {&weft_threads_transport, &weft_shm_transport})
    if (name == transport->name)
      return transport;
  return nullptr;
}

SlowTransport::SlowTransport(const weft_transport_v1 &inner, const LinkSpeed &speed)
    : weft_transport_v1(tableAround(inner)), inner(inner), speed(speed) {}

} // namespace weft::cli
