// Atomic operations.
#include <algorithm>

#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/memory.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

enum operation {
  add,
  smallest,
  largest,
  exchange,
  compare,
  conjunction,
  disjunction,
  difference,
  increment,
  decrement
};

template <class T> T combine(int how, T old, T value, T other) {
  using W = wide_of<T>;
  switch (how) {
  case add:
    if constexpr (is_integer<T>)
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(value));
    else
      return T(W(old) + W(value));
  case smallest:
    return W(value) < W(old) ? value : old;
  case largest:
    return W(value) > W(old) ? value : old;
  case exchange:
    return value;
  case compare:
    if constexpr (is_integer<T>)
      return old == value ? other : old;
    return old;
  default:
    break;
  }
  if constexpr (is_integer<T>)
    switch (how) {
    case conjunction:
      return old & value;
    case disjunction:
      return old | value;
    case difference:
      return old ^ value;
    case increment:
      return old >= value ? T(0) : T(old + 1);
    case decrement:
      return old == 0 || old > value ? value : T(old - 1);
    default:
      break;
    }
  return old;
}

/// Other devices of this process may do the same at the same time. True when the value changed.
template <class T, class U> bool update(U *place, U &before, int how, T value, T other) {
  before = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  for (;;) {
    T old;
    std::memcpy(&old, &before, sizeof old);
    T made = combine<T>(how, old, value, other);
    U after;
    std::memcpy(&after, &made, sizeof after);
    if (__atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return before != after;
  }
}

template <class T>
using bits_of_element = std::conditional_t<sizeof(T) == 2, uint16_t,
                                           std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

uint8_t *atomic_place(warp &w, int lane, space where, uint64_t address, uint32_t bytes) {
  if (where == space::shared) {
    uint8_t *place = shared_place(w, lane, address, bytes, bytes);
    shared_access access = {uint32_t(address), bytes, lane};
    access.is_atomic = true;
    if (w.home->options().has_checks) {
      w.home->shadow.read(w, access);
      w.home->shadow.write(w, access);
    }
    return place;
  }
  if (where == space::local || where == space::param)
    stop(w, lane, "an atomic operation on memory that is no other thread's");
  return global_place(w, lane, {address, bytes, true, true});
}

/// o: [result or nothing, address, value, other value]. L elements of T, each on its own.
template <class T, int L> void atomic(warp &w, const instruction &i) {
  using U = bits_of_element<T>;
  constexpr uint32_t bytes = sizeof(T) * L;
  each_lane(w.executing, [&](int k) {
    uint64_t address = w.address(i.o[1], k);
    space where = i.where == space::generic ? space_of(address) : i.where;
    uint8_t *place = atomic_place(w, k, where, address, bytes);
    bool is_global = where == space::global;
    int order = i.mode;
    if (is_global)
      release_at(w, address, scope(i.mode2), order == releasing || order == both_orders);
    for (int e = 0; e < L; ++e) {
      T value = w.lanes<T>(i.o[2])[k * L + e];
      T other = i.o[3].kind == operand::none ? value : w.lanes<T>(i.o[3])[k * L + e];
      U before;
      if (update<T, U>(reinterpret_cast<U *>(place) + e, before, i.n, value, other))
        ++w.home->progress;
      if (i.o[0].kind == operand::lanes)
        std::memcpy(w.registers + i.o[0].slot + (size_t(k) * L + size_t(e)) * sizeof(T), &before,
                    sizeof(T));
    }
    if (is_global)
      acquire_at(w, address, scope(i.mode2), order == acquiring || order == both_orders);
  });
  w.must_yield = true;
}

handler pick_atomic(type t, int how) {
  bool is_logic = how >= conjunction;
  switch (t) {
  case type::b16:
    return how == exchange || how == compare ? atomic<uint16_t, 1> : handler(nullptr);
  case type::b32:
  case type::u32:
    return atomic<uint32_t, 1>;
  case type::b64:
  case type::u64:
    return atomic<uint64_t, 1>;
  case type::s32:
    return atomic<int32_t, 1>;
  case type::s64:
    return atomic<int64_t, 1>;
  case type::f32:
    return is_logic ? nullptr : atomic<float, 1>;
  case type::f64:
    return is_logic ? nullptr : atomic<double, 1>;
  case type::f16:
    return is_logic ? nullptr : atomic<half, 1>;
  case type::bf16:
    return is_logic ? nullptr : atomic<brain, 1>;
  case type::f16x2:
    return is_logic ? nullptr : atomic<half, 2>;
  case type::bf16x2:
    return is_logic ? nullptr : atomic<brain, 2>;
  default:
    return nullptr;
  }
}

void decode_atomic(decoder &d, bool has_result) {
  d.out.n = d.take_one({"add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"});
  if (d.out.n < 0)
    d.fail("an operation is expected");
  take_order(d);
  d.out.where = take_any_space(d);
  d.take("noftz");
  d.take_prefix("L2::");
  type t = d.out.t = d.take_type();
  uint32_t width = bytes_of(t);
  size_t first = has_result ? 1 : 0, operands = first + 2 + (d.out.n == compare);
  d.need(operands, operands);
  if (has_result)
    d.destination(0, width);
  else
    d.nothing();
  d.address(first);
  d.source(first + 1, width);
  if (d.out.n == compare)
    d.source(first + 2, width);
  else
    d.nothing();
  d.set(pick_atomic(t, d.out.n), unit::atomic);
}

} // namespace

void decode_atom(decoder &d) { decode_atomic(d, true); }
void decode_red(decoder &d) { decode_atomic(d, false); }

} // namespace weft_emulated
