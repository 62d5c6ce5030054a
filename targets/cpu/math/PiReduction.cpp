//===- PiReduction.cpp - Arguments of trigonometric functions modulo pi/2 ---------------------===//
//
// x = n * pi/2 + r, with parts of pi/2 that have few digits:
//
//   n = x * 2/pi rounded; r = x - n * part1 - n * part2 - ...
//     f32: three parts, each fused                                  [fused]
//     f32 without fused multiply-add: two parts, in f64             [wide]
//     f64: four parts, r in two                                     [double]
//   where a lane is huge, |x| = mantissa * 2^e:
//     words = the bits of 2/pi that e leaves below whole turns      [words]
//     f32: mantissa * 3 words, the upper 64 bits of it              [single product]
//     f64: mantissa * 6 words in columns, the upper 128 bits of it  [double product]
//     n = its two leading bits, rounded; r = the other bits * pi/2  [fraction]
//     r and n get the sign of x                                     [sign]
//   huge lanes take this, the others what they had                  [merge]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/PiReduction.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double twoOverPi = 0.63661977236758134;
static constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
static constexpr double infinity = std::numeric_limits<double>::infinity();

/// 2/pi in binary, after 40 zero bits.
static constexpr uint32_t twoOverPiBits[] = {
    0x00000000, 0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd, 0xc0db6295, 0x993c4390, 0x41fe5163,
    0xabdebbc5, 0x61b7246e, 0x3a424dd2, 0xe006492e, 0xea09d192, 0x1cfe1deb, 0x1cb129a7, 0x3ee88235,
    0xf52ebb44, 0x84e99c70, 0x26b45f7e, 0x413991d6, 0x39835339, 0xf49c845f, 0x8bbdf928, 0x3b1ff897,
    0xffde0598, 0x0fef2f11, 0x8b5a0a6d, 0x1f6d367e, 0xcf27cb09, 0xb74f463f, 0x669e5fea, 0x2d7527ba,
    0xc7ebe5f1, 0x7b3d0739, 0xf78a5292, 0xea6bfb5f, 0xb11f8d5d, 0x08560330};

/// Below these the subtraction of parts is exact enough (checked for every f32), and from here on
/// the window into twoOverPiBits starts after its first bits.
static constexpr double moderateF32 = 0x1p17, moderateF64 = 0x1p20;

//===- Moderate arguments ---------------------------------------------------------------------===//

/// [fused] Three f32 parts of pi/2 with fused subtraction: x - n*part1 is exact, and cancellation
/// leaves the later parts in full.
static Reduced moderateFused(Real x) {
  Rounded n = roundToInt(x, twoOverPi, 0);
  Real r = mulAdd(n.n, -0x1.921fb4p+0, x);
  r = mulAdd(n.n, -0x1.4442dp-24, r);
  r = mulAdd(n.n, -0x1.846988p-48, r);
  return {r, std::nullopt, n.raw};
}

/// [wide] f32 in f64 lanes, for processors without fused multiply-add.
static Reduced moderateWide(Real x) {
  Real wide = widen(x);
  Rounded n = roundToInt(wide, twoOverPi, 0);
  Real r = wide - n.n * 0x1.921fb544p+0 - n.n * 0x1.0b4611a626331p-34;
  return {narrow(r), std::nullopt, truncate(n.raw, 32)};
}

/// [double] f64: three parts of 33 bits, whose products with n < 2^20 are exact, and the rest.
static Reduced moderateDouble(Real x) {
  Rounded n = roundToInt(x, twoOverPi, 0);
  Real first = x - n.n * 0x1.921fb544p+0;
  HighLow second = twoSum(first, n.n * -0x1.0b4611a6p-34);
  HighLow third = twoSum(second.high, n.n * -0x1.3198a2ep-69);
  Real rest = (second.low + third.low) + n.n * -0x1.b839a252049c1p-104;
  HighLow r = quickTwoSum(third.high, rest);
  return {r.high, r.low, n.raw};
}

//===- Huge arguments -------------------------------------------------------------------------===//

/// |x| = mantissa * 2^e and the bits of 2/pi, `count` words of them, that decide about it: those
/// worth 4 and more after scaling by 2^e only add whole turns.
struct Scaled {
  Int mantissa;
  llvm::SmallVector<Int> words;
};

/// Words index, index+1, ... of twoOverPiBits, per lane; halves the choice bit by bit.
static llvm::SmallVector<Int> wordsFrom(Int index, int indexBits, int count) {
  llvm::SmallVector<Int> words;
  for (int i = 0; i < (1 << indexBits) - 1 + count; ++i)
    words.push_back(constant(index, twoOverPiBits[i]));
  for (int bit = indexBits - 1; bit >= 0; --bit) {
    int step = 1 << bit;
    Mask stays = (index & step) == 0;
    for (size_t i = 0; i + step < words.size(); ++i)
      words[i] = select(stays, words[i], words[i + step]);
    words.truncate(step - 1 + count);
  }
  return words;
}

/// [words] From a table of 32 bits each, shifted to where the exponent wants them.
static Scaled scaleTwoOverPi(Real x, int indexBits, int count) {
  const int stored = x.mantissaBits();
  Int encoded = bits(abs(x));
  Int exponent = shiftRight(encoded, stored) - (x.bias() + stored);
  Int mantissa = (encoded & ((int64_t(1) << stored) - 1)) | (int64_t(1) << stored);
  // Lanes with other arguments compute garbage from a valid position.
  Int position = (exponent + 38) & ((32 << indexBits) - 1);
  if (!x.isDouble()) {
    mantissa = extendZero(mantissa, 64);
    position = extendZero(position, 64);
  }
  auto words = wordsFrom(shiftRight(position, 5), indexBits, count + 1);
  Int shift = position & 31;
  for (int i = 0; i < count; ++i)
    words[i] = shiftRight(shiftLeft(shiftLeft(words[i], 32) | words[i + 1], shift), 32);
  words.truncate(count);
  return {mantissa, words};
}

/// [sign] Gives the reduction of |x| the sign of x, and NaN to infinities.
static Reduced withSign(Real x, Real r, std::optional<Real> tail, Int quadrant) {
  Mask negative = isNegative(x);
  r = select(abs(x) < infinity, select(negative, -r, r), x - x);
  if (tail)
    tail = select(negative, -*tail, *tail);
  return {r, tail, select(negative, constant(quadrant, 0) - quadrant, quadrant)};
}

/// [single product] 24 by 96 bits, of which the upper 64 count: the quadrant and 62 bits of the
/// fraction.
static Reduced hugeSingle(Real x) {
  Scaled s = scaleTwoOverPi(x, /*indexBits=*/3, /*count=*/3);
  Int product = shiftLeft(s.mantissa * s.words[0], 32) + s.mantissa * s.words[1] +
                shiftRight(s.mantissa * s.words[2], 32);
  Int quadrant = truncate(shiftRight(product + (int64_t(1) << 61), 62), 32);
  // [fraction] A double has more of it than f32 keeps.
  Real r = narrow(toDouble(shiftLeft(product, 2)) * std::ldexp(halfPi, -64));
  return withSign(x, r, std::nullopt, quadrant);
}

/// [fraction] A fraction of a quadrant, as two's complement of 128 bits, times pi/2.
static HighLow fractionOfHalfPi(Int high, Int low) {
  const int64_t word = 0xffffffff;
  HighLow upper =
      twoSum(toReal(shiftRightSigned(high, 32)) * 0x1p-32, toReal(high & word) * 0x1p-64);
  Real lower = toReal(shiftRight(low, 32)) * 0x1p-96 + toReal(low & word) * 0x1p-128;
  HighLow fraction = twoSum(upper.high, upper.low + lower);
  HighLow product = twoProduct(fraction.high, constant(fraction.high, halfPi));
  Real rest = product.low + (fraction.high * halfPiLow + fraction.low * halfPi);
  return quickTwoSum(product.high, rest);
}

/// [double product] 53 by 192 bits in 32-bit columns, of which the upper 128 bits count.
static Reduced hugeDouble(Real x) {
  Scaled s = scaleTwoOverPi(x, /*indexBits=*/5, /*count=*/6);
  const int64_t word = 0xffffffff;
  Int lowHalf = s.mantissa & word, highHalf = shiftRight(s.mantissa, 32);
  llvm::SmallVector<Int> low, high;
  for (Int w : llvm::reverse(s.words)) {
    low.push_back(lowHalf * w);
    high.push_back(highHalf * w);
  }
  // Column 0 is too small to matter.
  Int column[6] = {low[0], low[0], low[0], low[0], low[0], low[0]};
  Int carry = constant(lowHalf, 0);
  for (int i = 1; i < 6; ++i) {
    Int sum = carry + (low[i] & word) + shiftRight(low[i - 1], 32) + (high[i - 1] & word);
    if (i > 1)
      sum = sum + shiftRight(high[i - 2], 32);
    column[i] = sum & word;
    carry = shiftRight(sum, 32);
  }
  Int upper = shiftLeft(column[5], 32) | column[4], lower = shiftLeft(column[3], 32) | column[2];
  Int quadrant = shiftRight(upper + (int64_t(1) << 61), 62);
  HighLow r = fractionOfHalfPi(shiftLeft(upper, 2) | shiftRight(lower, 62), shiftLeft(lower, 2));
  return withSign(x, r.high, r.low, quadrant);
}

//===- Both -----------------------------------------------------------------------------------===//

static llvm::SmallVector<mlir::Value> values(const Reduced &reduced) {
  llvm::SmallVector<mlir::Value> list = {reduced.r.value, reduced.quadrant.value};
  if (reduced.tail)
    list.push_back(reduced.tail->value);
  return list;
}

Reduced reduceByHalfPi(Real x) {
  Reduced moderate = x.isDouble()                  ? moderateDouble(x)
                     : x.emitter->machine.hasFma() ? moderateFused(x)
                                                   : moderateWide(x);
  Mask huge = abs(x) >= pick(x, moderateF32, moderateF64);
  auto merged = ifAnyLane(huge, values(moderate), [&] {
    Reduced exact = x.isDouble() ? hugeDouble(x) : hugeSingle(x);
    // [merge] One huge lane is enough; in most calls there is none.
    exact.r = select(huge, exact.r, moderate.r);
    exact.quadrant = select(huge, exact.quadrant, moderate.quadrant);
    if (exact.tail)
      exact.tail = select(huge, *exact.tail, *moderate.tail);
    return values(exact);
  });
  Reduced result = {Real{{x.emitter, merged[0]}}, std::nullopt, Int{{x.emitter, merged[1]}}};
  if (moderate.tail)
    result.tail = Real{{x.emitter, merged[2]}};
  return result;
}

} // namespace weft::lanes
