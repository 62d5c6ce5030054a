// Functions of one real, which the emulated GPU computes exactly where a real one approximates.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

struct ex2 {
  static double apply(double a) { return std::exp2(a); }
};
struct lg2 {
  static double apply(double a) { return std::log2(a); }
};
struct rcp {
  static double apply(double a) { return 1 / a; }
};
struct square_root {
  static double apply(double a) { return std::sqrt(a); }
};
struct rsqrt {
  static double apply(double a) { return 1 / std::sqrt(a); }
};
struct sine {
  static double apply(double a) { return std::sin(a); }
};
struct cosine {
  static double apply(double a) { return std::cos(a); }
};
struct hyperbolic {
  static double apply(double a) { return std::tanh(a); }
};

template <class Op, class T, int L, bool is_flushed> void function(warp &w, const instruction &i) {
  map_one<T, L>(w, i, [](T a) {
    if constexpr (is_small_real<T>)
      return with_one_nan(T(Op::apply(double(float(a)))));
    else if constexpr (is_flushed)
      return with_one_nan(flushed(T(Op::apply(double(flushed(a))))));
    else
      return with_one_nan(T(Op::apply(double(a))));
  });
}

template <class Op> void decode_real_function(decoder &d, bool has_small, bool has_double) {
  d.take_one({"rz", "rm", "rp"}) >= 0 ? d.fail("only rounding to the nearest is supported here")
                                      : void();
  d.ignore({"rn", "approx"});
  bool is_flushed = d.take("ftz");
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  handler found = nullptr;
  if (t == type::f32)
    found = is_flushed ? function<Op, float, 1, true> : function<Op, float, 1, false>;
  else if (t == type::f64 && has_double)
    found = function<Op, double, 1, false>;
  else if (has_small)
    found = t == type::f16      ? function<Op, half, 1, false>
            : t == type::f16x2  ? function<Op, half, 2, false>
            : t == type::bf16   ? function<Op, brain, 1, false>
            : t == type::bf16x2 ? function<Op, brain, 2, false>
                                : handler(nullptr);
  d.set(found, unit::real);
}

template <class U> void copy_sign(warp &w, const instruction &i) {
  map_two<U, 1>(w, i, [](U a, U b) { // the sign is the first operand's
    constexpr U bit = U(1) << (8 * sizeof(U) - 1);
    return U((a & bit) | (b & ~bit));
  });
}

template <class T> void test_property(warp &w, const instruction &i) {
  T *a = w.lanes<T>(i.o[1]);
  uint32_t result = 0;
  each_lane(w.executing, [&](int k) {
    int kind = std::fpclassify(a[k]);
    bool holds = i.mode == 0   ? std::isfinite(a[k])
                 : i.mode == 1 ? kind == FP_INFINITE
                 : i.mode == 2 ? kind != FP_NAN
                 : i.mode == 3 ? kind == FP_NAN
                 : i.mode == 4 ? kind == FP_NORMAL || kind == FP_ZERO
                               : kind == FP_SUBNORMAL;
    result |= uint32_t(holds) << k;
  });
  w.set_mask(i.o[0], result);
}

} // namespace

void decode_ex2(decoder &d) { decode_real_function<ex2>(d, true, false); }
void decode_lg2(decoder &d) { decode_real_function<lg2>(d, false, false); }
void decode_rcp(decoder &d) { decode_real_function<rcp>(d, false, true); }
void decode_sqrt(decoder &d) { decode_real_function<square_root>(d, false, true); }
void decode_rsqrt(decoder &d) { decode_real_function<rsqrt>(d, false, true); }
void decode_sin(decoder &d) { decode_real_function<sine>(d, false, false); }
void decode_cos(decoder &d) { decode_real_function<cosine>(d, false, false); }
void decode_tanh(decoder &d) { decode_real_function<hyperbolic>(d, true, false); }

void decode_copysign(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  d.set(t == type::f32   ? copy_sign<uint32_t>
        : t == type::f64 ? copy_sign<uint64_t>
                         : handler(nullptr),
        unit::real);
}

void decode_testp(decoder &d) {
  int which = d.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (which < 0)
    d.fail("a property is expected");
  d.out.mode = uint8_t(which);
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.predicate_destination(0);
  d.source(1, bytes_of(t));
  d.set(t == type::f32   ? test_property<float>
        : t == type::f64 ? test_property<double>
                         : handler(nullptr),
        unit::real);
}

} // namespace weft_emulated
