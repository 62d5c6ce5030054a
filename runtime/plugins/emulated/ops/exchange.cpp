// What lanes of a warp tell each other: shuffles, votes, reductions.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

enum shuffle_mode : uint8_t { up, down_by, butterfly, indexed };

/// Lanes that are named must be here: those that are not would be waited for.
void check_members(warp &w, const operand &mask) {
  uint32_t *members = w.lanes<uint32_t>(mask);
  each_lane(w.executing, [&](int k) {
    if (!(members[k] >> k & 1))
      stop(w, k, "its mask of lanes does not name the lane itself");
    if (uint32_t missing = members[k] & w.live & ~w.executing)
      stop(w, k,
           "lane " + std::to_string(__builtin_ctz(missing)) +
               " is named by its mask, and does not execute this");
  });
}

/// The lane that `k` reads, or itself, and whether that is in range.
bool source_lane(uint8_t mode, uint32_t k, uint32_t by, uint32_t control, uint32_t &from) {
  uint32_t segment = control >> 8 & 31, clamp = control & 31;
  uint32_t low = k & segment, high = low | (clamp & ~segment);
  int64_t wanted = 0;
  bool is_inside = false;
  by &= 31;
  switch (mode) {
  case up:
    wanted = int64_t(k) - by;
    is_inside = wanted >= int64_t(high);
    break;
  case down_by:
    wanted = int64_t(k) + by;
    is_inside = wanted <= int64_t(high);
    break;
  case butterfly:
    wanted = k ^ by;
    is_inside = wanted <= int64_t(high);
    break;
  default:
    wanted = low | (by & ~segment);
    is_inside = wanted <= int64_t(high);
  }
  from = is_inside ? uint32_t(wanted) & 31 : k;
  return is_inside;
}

/// o: [result, predicate or nothing, value, by, control, mask]
void shuffle(warp &w, const instruction &i) {
  check_members(w, i.o[5]);
  uint32_t *value = w.lanes<uint32_t>(i.o[2]), *by = w.lanes<uint32_t>(i.o[3]);
  uint32_t *control = w.lanes<uint32_t>(i.o[4]), result[32], inside = 0;
  each_lane(w.executing, [&](int k) {
    uint32_t from;
    inside |= uint32_t(source_lane(i.mode, uint32_t(k), by[k], control[k], from)) << k;
    if (!(w.executing >> from & 1))
      stop(w, k, "reads from lane " + std::to_string(from) + ", which does not execute this");
    result[k] = value[from];
  });
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  each_lane(w.executing, [&](int k) { d[k] = result[k]; });
  if (i.o[1].kind == operand::predicate)
    w.set_mask(i.o[1], inside);
}

/// o: [result, predicate, mask]
void vote(warp &w, const instruction &i) {
  check_members(w, i.o[2]);
  uint32_t *members = w.lanes<uint32_t>(i.o[2]), truth = w.truth(i.o[1]), result = 0;
  each_lane(w.executing, [&](int k) {
    uint32_t asked = members[k] & w.executing, yes = truth & asked;
    if (i.mode == 0)
      w.lanes<uint32_t>(i.o[0])[k] = yes;
    bool holds = i.mode == 1 ? yes == asked : i.mode == 2 ? yes != 0 : yes == asked || yes == 0;
    result |= uint32_t(holds) << k;
  });
  if (i.mode != 0)
    w.set_mask(i.o[0], result);
}

template <class T> void match(warp &w, const instruction &i) {
  check_members(w, i.o[3]);
  uint32_t *members = w.lanes<uint32_t>(i.o[3]), result[32], all = 0;
  T *value = w.lanes<T>(i.o[2]);
  each_lane(w.executing, [&](int k) {
    uint32_t same = 0, asked = members[k] & w.executing;
    each_lane(asked, [&](int other) { same |= uint32_t(value[other] == value[k]) << other; });
    if (i.mode) { // all
      all |= uint32_t(same == asked) << k;
      same = same == asked ? asked : 0;
    }
    result[k] = same;
  });
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  each_lane(w.executing, [&](int k) { d[k] = result[k]; });
  if (i.o[1].kind == operand::predicate)
    w.set_mask(i.o[1], all);
}

template <class T> void reduce(warp &w, const instruction &i) {
  check_members(w, i.o[2]);
  T *value = w.lanes<T>(i.o[1]), result = value[__builtin_ctz(w.executing)];
  bool is_first = true;
  each_lane(w.executing, [&](int k) {
    T v = value[k];
    if (is_first) {
      is_first = false;
      return;
    }
    switch (i.mode) {
    case 0:
      result = T(uint32_t(result) + uint32_t(v));
      break;
    case 1:
      result = std::min(result, v);
      break;
    case 2:
      result = std::max(result, v);
      break;
    case 3:
      result &= v;
      break;
    case 4:
      result |= v;
      break;
    default:
      result ^= v;
    }
  });
  T *d = w.lanes<T>(i.o[0]);
  each_lane(w.executing, [&](int k) { d[k] = result; });
}

void active_mask(warp &w, const instruction &i) {
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  each_lane(w.executing, [&](int k) { d[k] = w.executing; });
}

void elect(warp &w, const instruction &i) {
  check_members(w, i.o[2]);
  uint32_t first = uint32_t(__builtin_ctz(w.executing));
  if (i.o[0].kind == operand::lanes)
    each_lane(w.executing, [&](int k) { w.lanes<uint32_t>(i.o[0])[k] = first; });
  w.set_mask(i.o[1], 1u << first);
}

void need_sync(decoder &d) {
  if (!d.take("sync"))
    d.fail("without '.sync' it is not supported");
}

/// d|p: a register and a predicate.
void lanes_and_predicate(decoder &d, size_t i) {
  if (d.text(i).kind == operand_text::pair)
    return d.mixed_pair(i);
  d.destination(i, 4);
  d.nothing();
}

} // namespace

void decode_shfl(decoder &d) {
  need_sync(d);
  int mode = d.take_one({"up", "down", "bfly", "idx"});
  if (mode < 0)
    d.fail("a direction is expected");
  d.out.mode = uint8_t(mode);
  d.out.t = d.take_type();
  d.need(5, 5);
  lanes_and_predicate(d, 0);
  for (size_t i = 1; i < 5; ++i)
    d.source(i, 4);
  d.set(shuffle, unit::warp);
}

void decode_vote(decoder &d) {
  need_sync(d);
  int mode = d.take_one({"ballot", "all", "any", "uni"});
  if (mode < 0)
    d.fail("a question is expected");
  d.out.mode = uint8_t(mode);
  d.out.t = d.take_type();
  d.need(3, 3);
  mode ? d.predicate_destination(0) : d.destination(0, 4);
  d.predicate_source(1);
  d.source(2, 4);
  d.set(vote, unit::warp);
}

void decode_match(decoder &d) {
  d.out.mode = d.take_one({"any", "all"}) == 1;
  need_sync(d);
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  lanes_and_predicate(d, 0);
  d.source(1, bytes_of(t));
  d.source(2, 4);
  d.set(bytes_of(t) == 8   ? match<uint64_t>
        : bytes_of(t) == 4 ? match<uint32_t>
                           : nullptr,
        unit::warp);
}

void decode_redux(decoder &d) {
  need_sync(d);
  int mode = d.take_one({"add", "min", "max", "and", "or", "xor"});
  if (mode < 0)
    d.fail("an operation is expected");
  d.out.mode = uint8_t(mode);
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, 4);
  d.source(1, 4);
  d.source(2, 4);
  d.set(t == type::s32                     ? reduce<int32_t>
        : t == type::u32 || t == type::b32 ? reduce<uint32_t>
                                           : handler(nullptr),
        unit::warp);
}

void decode_activemask(decoder &d) {
  d.out.t = d.take_type();
  d.need(1, 1);
  d.destination(0, 4);
  d.set(active_mask, unit::warp);
}

void decode_elect(decoder &d) {
  need_sync(d);
  d.need(2, 2);
  lanes_and_predicate(d, 0);
  d.source(1, 4);
  d.set(elect, unit::warp);
}

} // namespace weft_emulated
