//===- PiReduction.cpp - Arguments of trigonometric functions modulo pi/2 -----------------------===//

#include "targets/cpu/math/PiReduction.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double twoOverPi = 0.63661977236758134;
static constexpr double halfPi = 1.5707963267948966;

/// 2/pi in binary, after eight zero bits.
static constexpr uint32_t twoOverPiBits[] = {0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd,
                                             0xc0db6295, 0x993c4390, 0x41fe5163};

/// Below this the three-part subtraction is exact enough (checked for every f32), and from here on
/// the window into twoOverPiBits starts at or after its first bit.
static constexpr double moderateF32 = 0x1p17;

//===- Moderate arguments ---------------------------------------------------------------------===//

/// Three f32 parts of pi/2 with fused subtraction: x - n*part1 is exact, and cancellation leaves
/// the later parts in full. All parts are positive.
static Reduced reduceModerateFused(Real x) {
  Rounded n = roundToInt(x, twoOverPi, 0);
  Real r = mulAdd(n.n, -0x1.921fb4p+0, x);
  r = mulAdd(n.n, -0x1.4442dp-24, r);
  r = mulAdd(n.n, -0x1.846988p-48, r);
  return {r, std::nullopt, n.raw};
}

/// The same in f64 lanes, for processors without fused multiply-add.
static Reduced reduceModerateWide(Real x) {
  Real wide = widen(x);
  Rounded n = roundToInt(wide, twoOverPi, 0);
  Real r = wide - n.n * 0x1.921fb544p+0 - n.n * 0x1.0b4611a626331p-34;
  return {narrow(r), std::nullopt, truncate(n.raw, 32)};
}

//===- Huge arguments -------------------------------------------------------------------------===//

/// The 32-bit words of a table from lane-wise positions, by a chain of selects.
static Int lookUp(llvm::ArrayRef<uint32_t> words, Int index, int offset, int positions) {
  Int result = constant(index, words[offset]);
  for (int i = 1; i < positions; ++i)
    result = select(index == i, constant(index, words[offset + i]), result);
  return result;
}

/// |x| = m 2^e with a 24-bit m. Bits of 2/pi worth 4 and more after scaling by 2^e only add whole
/// turns, so 96 bits from there on give the quadrant and more than 60 bits of the fraction.
static Reduced reduceHugeSingle(Real x) {
  Int encoded = bits(abs(x));
  Int exponent = shiftRight(encoded, 23) - 150;
  Int mantissa = extendZero((encoded & 0x7fffff) | 0x800000, 64);
  // Lanes with other arguments compute garbage from a valid position.
  Int position = extendZero((exponent + 6) & 127, 64);
  Int word = shiftRight(position, 5), shift = position & 31;
  Int window[4] = {lookUp(twoOverPiBits, word, 0, 4), lookUp(twoOverPiBits, word, 1, 4),
                   lookUp(twoOverPiBits, word, 2, 4), lookUp(twoOverPiBits, word, 3, 4)};
  auto aligned = [&](int i) {
    return shiftRight(shiftLeft(shiftLeft(window[i], 32) | window[i + 1], shift), 32);
  };
  Int product = shiftLeft(mantissa * aligned(0), 32) + mantissa * aligned(1) +
                shiftRight(mantissa * aligned(2), 32);
  Int quadrant = truncate(shiftRight(product + (int64_t(1) << 61), 62), 32);
  Real r = narrow(toDouble(shiftLeft(product, 2)) * std::ldexp(halfPi, -64));

  Mask negative = isNegative(x);
  r = select(abs(x) < std::numeric_limits<double>::infinity(), select(negative, -r, r), x - x);
  return {r, std::nullopt, select(negative, constant(quadrant, 0) - quadrant, quadrant)};
}

Reduced reduceByHalfPi(Real x) {
  Reduced moderate = x.emitter->options.hasFma ? reduceModerateFused(x) : reduceModerateWide(x);
  Mask huge = abs(x) >= moderateF32;
  auto merged = ifAnyLane(huge, {moderate.r.value, moderate.quadrant.value}, [&] {
    Reduced exact = reduceHugeSingle(x);
    return llvm::SmallVector<mlir::Value>{select(huge, exact.r, moderate.r).value,
                                          select(huge, exact.quadrant, moderate.quadrant).value};
  });
  return {Real{{x.emitter, merged[0]}}, std::nullopt, Int{{x.emitter, merged[1]}}};
}

} // namespace weft::lanes
