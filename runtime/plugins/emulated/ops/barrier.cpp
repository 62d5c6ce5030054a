// Barriers and fences.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

namespace {

enum bar_kind : uint8_t { sync_kind, arrive_kind };

void warp_barrier(warp &w, const instruction &i) {
  uint32_t *members = w.lanes<uint32_t>(i.o[0]);
  each_lane(w.executing, [&](int k) {
    if (uint32_t missing = members[k] & w.live & ~w.executing)
      stop(w, k,
           "lane " + std::to_string(__builtin_ctz(missing)) +
               " is named by its mask, and does not execute this");
  });
  ++w.sync;
  ++w.stamp;
}

/// All that wait go on, and know what those that came did. Who comes next begins another round.
void end_round(block &b, uint32_t number) {
  hardware_barrier &barrier = b.barriers[number];
  for (warp &each : b.warps)
    if (each.barrier == int(number)) {
      each.seen.join_with(barrier.seen);
      each.barrier = -1;
    }
  barrier = {};
}

/// o: [barrier, threads or nothing]
void block_barrier(warp &w, const instruction &i) {
  block &b = *w.home;
  need_convergence(w);
  uint32_t number = w.lanes<uint32_t>(i.o[0])[__builtin_ctz(w.executing)];
  if (number > 15)
    stop(w, -1, "there is no barrier " + std::to_string(number));
  uint32_t wanted = b.warp_count * 32;
  if (i.o[1].kind != operand::none)
    wanted = w.lanes<uint32_t>(i.o[1])[__builtin_ctz(w.executing)];
  if (wanted == 0 || wanted % 32)
    stop(w, -1, std::to_string(wanted) + " threads are no whole warps");
  hardware_barrier &barrier = b.barriers[number];
  ++w.sync;
  ++w.stamp;
  release(w, barrier.seen);
  barrier.arrived += 32;
  ++b.progress;
  if (barrier.arrived > wanted)
    stop(w, -1, "more threads arrive at barrier " + std::to_string(number) + " than it waits for");
  if (i.mode != arrive_kind) {
    w.barrier = int(number);
    w.must_yield = true;
  }
  if (barrier.arrived == wanted)
    end_round(b, number);
}

void fence_at(warp &w, const instruction &i) { fence(w, scope(i.mode)); }

void fence_proxy(warp &w, const instruction &) { w.home->async->fenced[w.id] = w.stamp++; }

void nothing(warp &, const instruction &) {}

} // namespace

void decode_bar(decoder &d) {
  if (d.take("warp")) {
    d.take("sync");
    d.need(1, 1);
    d.source(0, 4);
    return d.set(warp_barrier, unit::barrier);
  }
  d.ignore({"cta", "aligned"});
  bool is_arrive = d.take("arrive");
  if (!is_arrive && !d.take("sync"))
    d.fail("this kind of barrier is not supported");
  d.out.mode = is_arrive ? arrive_kind : sync_kind;
  d.need(1, 2);
  d.source(0, 4);
  if (d.count() == 2)
    d.source(1, 4);
  else
    d.nothing();
  d.set(block_barrier, unit::barrier);
}

void decode_fence(decoder &d) {
  d.need(0, 0);
  if (d.take_prefix("proxy").empty() && !d.take("proxy")) {
    d.ignore({"acq_rel", "sc", "acquire", "release"});
    int s = d.take_one({"cta", "gpu", "sys", "cluster"});
    d.out.mode = uint8_t(s == 2 ? scope::system : s == 1 ? scope::device : scope::block);
    return d.set(fence_at, unit::barrier);
  }
  bool is_async = d.take_one({"async", "async.shared::cta"}) >= 0;
  d.ignore({"shared::cta", "global", "alias", "shared::cluster"});
  d.set(is_async ? fence_proxy : nothing, unit::barrier);
}

void decode_membar(decoder &d) {
  d.need(0, 0);
  int s = d.take_one({"cta", "gl", "sys"});
  d.out.mode = uint8_t(s == 2 ? scope::system : s == 1 ? scope::device : scope::block);
  d.set(fence_at, unit::barrier);
}

} // namespace weft_emulated
