#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/src/group/combine.h"

namespace {
/// The number that a half of either kind stands for, from its fields.
double value_of(weft_element_t element, uint16_t bits) {
  int mantissa_bits = element == WEFT_F16 ? 10 : 7, bias = element == WEFT_F16 ? 15 : 127;
  int exponent = (bits & 0x7FFF) >> mantissa_bits, most = element == WEFT_F16 ? 31 : 255;
  int mantissa = bits & ((1 << mantissa_bits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == most)
    return mantissa ? NAN : sign * INFINITY;
  int whole = exponent ? mantissa | 1 << mantissa_bits : mantissa;
  return sign * std::ldexp(whole, std::max(exponent, 1) - bias - mantissa_bits);
}

uint16_t sum_of(weft_element_t element, std::vector<uint16_t> values) {
  std::vector<const void *> sources;
  for (uint16_t &value : values)
    sources.push_back(&value);
  uint16_t out = 0;
  weft_combine(element, WEFT_SUM, sources.data(), int32_t(sources.size()), 1, &out);
  return out;
}

/// Whether no neighbour of `bits` is nearer to the number, nor as near and even.
bool is_nearest(weft_element_t element, uint16_t bits, double exact) {
  double error = std::fabs(value_of(element, bits) - exact);
  for (int step : {-1, 1}) {
    uint16_t near = uint16_t(bits + step);
    double other = value_of(element, near);
    if ((near & 0x8000) != (bits & 0x8000) || !std::isfinite(other))
      continue;
    if (std::fabs(other - exact) < error || (std::fabs(other - exact) == error && bits % 2))
      return false;
  }
  return true;
}
} // namespace

TEST_CASE("all halves keep their bits when nothing is added to them") {
  for (weft_element_t element : {WEFT_F16, WEFT_BF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      uint16_t out = sum_of(element, {uint16_t(bits)});
      if (std::isnan(value_of(element, uint16_t(bits))))
        REQUIRE(std::isnan(value_of(element, out)));
      else
        REQUIRE(out == bits);
    }
}

TEST_CASE("sums of halves are made in f32 and rounded once, to the nearest") {
  std::mt19937 random(3);
  for (weft_element_t element : {WEFT_F16, WEFT_BF16})
    for (int round = 0; round < 200000; ++round) {
      std::vector<uint16_t> values;
      float exact = 0;
      for (int i = 0; i < 2 + round % 3; ++i) {
        // Exponents close to each other, so that sums are rounded and are no copies.
        uint16_t bits = uint16_t(random() & (element == WEFT_F16 ? 0x9FFF : 0x83FF));
        if (element == WEFT_BF16)
          bits = uint16_t(bits + 0x3F00);
        exact = i ? exact + float(value_of(element, bits)) : float(value_of(element, bits));
        values.push_back(bits);
      }
      uint16_t out = sum_of(element, values);
      if (!is_nearest(element, out, exact))
        FAIL("f32 " << exact << " became " << value_of(element, out));
    }
}

TEST_CASE("sums beyond the largest half are infinite, and sums of infinities with opposite signs "
          "are no numbers") {
  REQUIRE(sum_of(WEFT_F16, {0x7BFF, 0x7BFF}) == 0x7C00);
  REQUIRE(sum_of(WEFT_F16, {0xFBFF, 0xFBFF}) == 0xFC00);
  REQUIRE(sum_of(WEFT_F16, {0x7BFF, 0x4B00}) == 0x7BFF); // 65504 + 14 rounds down
  REQUIRE(sum_of(WEFT_F16, {0x7BFF, 0x4C00}) ==
          0x7C00); // 65504 + 16 is half way, and even is above
  REQUIRE(sum_of(WEFT_BF16, {0x7F7F, 0x7F7F}) == 0x7F80);
  REQUIRE(std::isnan(value_of(WEFT_F16, sum_of(WEFT_F16, {0x7C00, 0xFC00}))));
  REQUIRE(std::isnan(value_of(WEFT_BF16, sum_of(WEFT_BF16, {0x7F80, 0xFF80}))));
}

TEST_CASE("a nan among numbers is their largest and their smallest, on whichever rank it is") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (auto combiner : {WEFT_MAX, WEFT_MIN})
    for (size_t place = 0; place < 3; ++place)
      for (int64_t count : {1, 9}) {
        std::vector<std::vector<float>> values(3, std::vector<float>(size_t(count), 1));
        values[place].back() = nan;
        const void *sources[] = {values[0].data(), values[1].data(), values[2].data()};
        std::vector<float> out(size_t(count), 0);
        weft_combine(WEFT_F32, combiner, sources, 3, count, out.data());
        REQUIRE(std::isnan(out.back()));
        REQUIRE((count == 1 || out[0] == 1));
      }
}

TEST_CASE("the result may be any of the sources") {
  for (int32_t count : {1, 2, 3, 5})
    for (int32_t place = 0; place < count; ++place) {
      std::vector<std::vector<float>> values;
      std::vector<const void *> sources;
      std::vector<float> expected(3001, 0);
      for (int32_t s = 0; s < count; ++s) {
        values.emplace_back(3001, 0.1f * float(s + 1));
        for (float &e : expected)
          e = s ? e + 0.1f * float(s + 1) : 0.1f;
      }
      for (std::vector<float> &each : values)
        sources.push_back(each.data());
      weft_combine(WEFT_F32, WEFT_SUM, sources.data(), count, 3001, values[size_t(place)].data());
      REQUIRE(values[size_t(place)] == expected);
    }
}

TEST_CASE("integers wrap around, and their extremes know the sign") {
  int8_t a = 127, b = 1, sum = 0, largest = 0;
  const void *bytes[] = {&a, &b};
  weft_combine(WEFT_I8, WEFT_SUM, bytes, 2, 1, &sum);
  REQUIRE(sum == -128);
  int64_t big = INT64_MAX, one = 1, minus = -1, total = 0;
  const void *words[] = {&big, &one};
  weft_combine(WEFT_I64, WEFT_SUM, words, 2, 1, &total);
  REQUIRE(total == INT64_MIN);
  int8_t negative = -1;
  const void *signs[] = {&negative, &b};
  weft_combine(WEFT_I8, WEFT_MAX, signs, 2, 1, &largest);
  REQUIRE(largest == 1);
  const void *wide[] = {&minus, &one};
  weft_combine(WEFT_I64, WEFT_MIN, wide, 2, 1, &total);
  REQUIRE(total == -1);
  weft_combine(WEFT_U64, WEFT_MIN, wide, 2, 1, &total);
  REQUIRE(total == 1);
}
