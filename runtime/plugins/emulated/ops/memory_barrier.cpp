// mbarrier: objects in shared memory at which threads arrive, and in which copies count their bytes.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/bulk.h"
#include "runtime/plugins/emulated/ops/ops.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

memory_barrier &barrier_at(warp &w, int lane, uint64_t address) {
  shared_place(w, lane, address, 8, 8);
  auto found = w.home->async->barriers.find(uint32_t(address));
  if (found == w.home->async->barriers.end())
    stop(w, lane, "uses an mbarrier that nobody has initialised");
  return found->second;
}

namespace {

/// What lanes of the warp do from now on is ordered behind what they did.
void step(warp &w) {
  ++w.sync;
  ++w.stamp;
}

void initialise(warp &w, const instruction &i) {
  each_lane(w.executing, [&](int k) {
    uint64_t address = shared_address(w.address(i.o[0], k));
    uint8_t *place = shared_place(w, k, address, 8, 8);
    if (w.home->options().has_checks)
      w.home->shadow.write(w, {uint32_t(address), 8, k});
    std::memset(place, 0, 8);
    uint32_t count = w.lanes<uint32_t>(i.o[1])[k];
    if (count == 0 || count >= 1u << 20)
      stop(w, k, "an mbarrier for " + std::to_string(count) + " arrivals");
    memory_barrier made;
    made.expected = made.pending = count;
    release(w, made.seen);
    w.home->async->barriers[uint32_t(address)] = std::move(made);
    ++w.home->progress;
  });
}

void invalidate(warp &w, const instruction &i) {
  each_lane(w.executing, [&](int k) {
    uint64_t address = shared_address(w.address(i.o[0], k));
    barrier_at(w, k, address);
    w.home->async->barriers.erase(uint32_t(address));
  });
}

/// o: [state or nothing, address, count or nothing]; mode: 1 arrives, 2 expects that many bytes, 3 both.
void arrive(warp &w, const instruction &i) {
  each_lane(w.executing, [&](int k) {
    memory_barrier &barrier = barrier_at(w, k, shared_address(w.address(i.o[1], k)));
    uint32_t number = i.o[2].kind == operand::none ? 1 : w.lanes<uint32_t>(i.o[2])[k];
    uint32_t arrivals = i.mode == 1 ? number : i.mode == 3 ? 1 : 0;
    if (i.o[0].kind == operand::lanes)
      w.lanes<uint64_t>(i.o[0])[k] = barrier.phase;
    if (i.mode & 2)
      barrier.bytes += number;
    if (arrivals > barrier.pending)
      stop(w, k, "more arrivals at an mbarrier than it waits for");
    release(w, barrier.seen);
    barrier.pending -= arrivals;
    complete_phase(*w.home, barrier);
    ++w.home->progress;
  });
  step(w);
}

/// o: [predicate, address, parity or state]. A copy that is lazy lands after the barrier was asked for the first time.
void ask(warp &w, const instruction &i) {
  uint32_t result = 0;
  each_lane(w.executing, [&](int k) {
    memory_barrier &barrier = barrier_at(w, k, shared_address(w.address(i.o[1], k)));
    if (!barrier.landing.empty() && !barrier.was_asked) {
      barrier.was_asked = true;
      return;
    }
    barrier.was_asked = false;
    std::vector<std::function<void()>> landing = std::move(barrier.landing);
    barrier.landing.clear();
    for (const auto &each : landing)
      each();
    uint32_t parity =
        i.o[2].width == 8 ? uint32_t(w.lanes<uint64_t>(i.o[2])[k]) : w.lanes<uint32_t>(i.o[2])[k];
    if (barrier.phase == (parity & 1))
      return;
    w.seen.join_with(barrier.seen);
    result |= 1u << k;
  });
  w.set_mask(i.o[0], result);
  if (result)
    step(w);
  if (result != w.executing)
    w.must_yield = true;
}

void decode_ask(decoder &d) {
  bool is_parity = d.take("parity");
  d.need(3, 4);
  d.predicate_destination(0);
  d.address(1);
  d.source(2, is_parity ? 4 : 8);
  d.set(ask, unit::barrier);
}

void decode_arrive(decoder &d, bool is_arrival) {
  bool expects = d.take("expect_tx") || !is_arrival;
  d.take("noComplete") ? d.fail("'.noComplete' is not supported") : void();
  size_t at = 0;
  if (d.text(0).kind == operand_text::address || !is_arrival) {
    d.nothing();
  } else {
    at = 1;
    d.text(0).kind == operand_text::sink ? d.nothing() : d.destination(0, 8);
  }
  d.need(at + 1, at + 2);
  d.address(at);
  if (d.count() > at + 1)
    d.source(at + 1, 4);
  else
    d.nothing();
  if (expects && d.count() != at + 2)
    d.fail("a number of bytes is expected");
  d.out.mode = uint8_t((is_arrival ? 1 : 0) | (expects ? 2 : 0));
  d.set(arrive, unit::barrier);
}

} // namespace

void decode_mbarrier(decoder &d) {
  d.ignore({"shared", "shared::cta", "b64", "release", "acquire", "relaxed", "cta"});
  if (d.take("init")) {
    d.need(2, 2);
    d.address(0);
    d.source(1, 4);
    return d.set(initialise, unit::barrier);
  }
  if (d.take("inval")) {
    d.need(1, 1);
    d.address(0);
    return d.set(invalidate, unit::barrier);
  }
  if (d.take("test_wait") || d.take("try_wait"))
    return decode_ask(d);
  if (d.take("arrive"))
    return decode_arrive(d, true);
  if (d.take("expect_tx"))
    return decode_arrive(d, false);
  d.fail("this operation is not supported");
}

} // namespace weft_emulated
