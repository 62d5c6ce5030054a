//===- Samples.h - Arguments to try elementary functions on -----------------------------------===//

#ifndef WEFT_TEST_TARGETS_MATH_SAMPLES_H
#define WEFT_TEST_TARGETS_MATH_SAMPLES_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace weft::test {

/// WEFT_MATH_SAMPLES overrides how many arguments each function is tried on.
inline size_t sampleCount(size_t standard) {
  const char *text = std::getenv("WEFT_MATH_SAMPLES");
  return text ? std::strtoull(text, nullptr, 10) : standard;
}

/// Zeros, infinities, NaN, denormals, powers of two and their neighbours, with both signs.
template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T(0),
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::min() - Limits::denorm_min(),
                           Limits::max(),
                           Limits::epsilon(),
                           T(1e10),
                           T(1e30),
                           T(1) / 3,
                           T(3),
                           T(10),
                           T(16777215),
                           T(16777217)};
  for (T base : {T(0.5), T(0.75), T(1), T(1.5), T(2), T(4), T(1024)})
    for (T value : {base, std::nextafter(base, T(0)), std::nextafter(base, T(1e9))})
      values.push_back(value);
  size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i)
    values.push_back(-values[i]);
  return values;
}

/// Any bit pattern, all equally likely: every exponent gets its share.
template <typename T> T randomBits(std::mt19937_64 &random) {
  uint64_t pattern = random();
  T value;
  std::memcpy(&value, &pattern, sizeof value);
  return value;
}

/// Half uniform in [low, high], half random bits, after the special values. A multiple of 64.
template <typename T> std::vector<T> unarySamples(size_t count, double low, double high) {
  std::vector<T> values = specialValues<T>();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  while (values.size() < count || values.size() % 64) {
    values.push_back(static_cast<T>(uniform(random)));
    values.push_back(randomBits<T>(random));
  }
  return values;
}

template <typename T> struct Pairs { std::vector<T> a, b; };

/// All pairs of special values, then random bits, then uniform numbers and small integers.
template <typename T> Pairs<T> binarySamples(size_t count) {
  Pairs<T> pairs;
  auto add = [&](T a, T b) {
    pairs.a.push_back(a);
    pairs.b.push_back(b);
  };
  for (T a : specialValues<T>())
    for (T b : specialValues<T>())
      add(a, b);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> small(0, 4), large(-100, 100);
  while (pairs.a.size() < count || pairs.a.size() % 64) {
    add(randomBits<T>(random), randomBits<T>(random));
    add(static_cast<T>(small(random)), static_cast<T>(large(random)));
    add(static_cast<T>(large(random)), static_cast<T>(large(random)));
    add(static_cast<T>(large(random)), static_cast<T>(std::trunc(large(random))));
    add(static_cast<T>(1 + large(random) * 1e-4), static_cast<T>(large(random) * 1e4));
  }
  return pairs;
}

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_MATH_SAMPLES_H
