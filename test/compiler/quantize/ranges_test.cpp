// Ranges that methods choose from a histogram, against the numbers that it was counted from.
#include "compiler/quantize/ranges/RangeMethods.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace weft;

namespace {

constexpr size_t kSize = 64;

Range extremesOf(const std::vector<double> &numbers) {
  return {std::min(0.0, *std::min_element(numbers.begin(), numbers.end())),
          std::max(0.0, *std::max_element(numbers.begin(), numbers.end()))};
}

Histogram countedFrom(const std::vector<double> &numbers, double zeros = 0) {
  std::vector<float> thresholds = thresholdsOf(extremesOf(numbers), kSize);
  std::vector<double> counts;
  for (float threshold : thresholds)
    counts.push_back(double(std::count_if(numbers.begin(), numbers.end(),
                                          [&](double x) { return float(x) <= threshold; })) +
                     (threshold >= 0 ? zeros : 0));
  return histogramOf(extremesOf(numbers), thresholds, counts, zeros);
}

/// A normal distribution with some numbers that are far from all others.
std::vector<double> numbersWithOutliers(double factor, bool isPositive = false) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> numbers;
  for (int i = 0; i < 40000; ++i) {
    double number = normal(random) * (i % 4000 == 7 ? factor : 1);
    numbers.push_back(isPositive ? std::max(0.0, number) : number);
  }
  return numbers;
}

/// Of numbers that bytes round whose scale reaches a range.
double squaredError(const std::vector<double> &numbers, const Range &range) {
  double step = range.width() / 255, sum = 0;
  for (double number : numbers) {
    double rounded = std::nearbyint(std::clamp(number, range.low, range.high) / step) * step;
    sum += (number - rounded) * (number - rounded);
  }
  return sum;
}

double leastError(const std::vector<double> &numbers) {
  Range seen = extremesOf(numbers);
  double least = INFINITY;
  for (double low = 1; low > 0.05; low *= 0.86)
    for (double high = 1; high > 0.05; high *= 0.86)
      least = std::min(least, squaredError(numbers, {low * seen.low, high * seen.high}));
  return least;
}

} // namespace

TEST_CASE(
    "thresholds ascend from end to end, denser near 0, and one side gets all where it is one") {
  for (Range seen : {Range{-3, 5}, Range{0, 5}, Range{-3, 0}, Range{-1e-9, 4}, Range{0, 0}}) {
    std::vector<float> list = thresholdsOf(seen, kSize);
    REQUIRE(list.size() == kSize);
    CHECK(std::is_sorted(list.begin(), list.end()));
    CHECK(list.back() == std::numeric_limits<float>::max());
    CHECK(list[kSize - 2] == Approx(seen.high > 0 ? seen.high : seen.low < 0 ? -3.0 / 512 : 0));
    if (seen.low == -3)
      CHECK(list[0] == -3);
  }
  CHECK(thresholdsOf({0, 5}, kSize)[0] == Approx(5.0 / 512));
}

TEST_CASE("a histogram counts every element once, but for zeros that are none") {
  std::vector<double> numbers = numbersWithOutliers(20);
  Histogram histogram = countedFrom(numbers, 1000);
  CHECK(histogram.all == double(numbers.size()));
  CHECK(histogram.edges.size() == histogram.counts.size() + 1);
  CHECK(std::is_sorted(histogram.edges.begin(), histogram.edges.end()));
  CHECK(*std::min_element(histogram.counts.begin(), histogram.counts.end()) >= 0);
  Histogram positive = countedFrom(numbersWithOutliers(20, true), 500);
  CHECK(positive.all == 40000);
}

TEST_CASE("a percentile leaves as much out as it says") {
  std::vector<double> numbers = numbersWithOutliers(20);
  for (double share : {0.2, 0.01}) {
    Range range = percentileRange(countedFrom(numbers), share);
    auto outside = std::count_if(numbers.begin(), numbers.end(),
                                 [&](double x) { return x < range.low || x > range.high; });
    INFO(range.low << " to " << range.high);
    CHECK(double(outside) / double(numbers.size()) == Approx(share).epsilon(0.3));
  }
  CHECK(percentileRange(countedFrom(numbersWithOutliers(20, true)), 0.01).low == 0);
}

TEST_CASE("least squares finds nearly the least error that any range leaves") {
  for (double factor : {1.0, 10.0, 40.0})
    for (bool isPositive : {false, true}) {
      std::vector<double> numbers = numbersWithOutliers(factor, isPositive);
      Range range = leastSquaresRange(countedFrom(numbers));
      INFO("factor " << factor << ": " << range.low << " to " << range.high);
      CHECK(squaredError(numbers, range) <= 1.2 * leastError(numbers));
      CHECK(squaredError(numbers, range) <= 1.2 * squaredError(numbers, extremesOf(numbers)));
    }
}

TEST_CASE("entropy cuts outliers off, and nothing where all are equally frequent") {
  std::vector<double> numbers = numbersWithOutliers(40);
  Range cut = entropyRange(countedFrom(numbers));
  CHECK(cut.high < 0.8 * extremesOf(numbers).high);
  CHECK(cut.high > 2);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> even(-2, 2);
  std::generate(numbers.begin(), numbers.end(), [&] { return even(random); });
  CHECK(entropyRange(countedFrom(numbers)).high > 0.9 * 2);
}

TEST_CASE("candidates are what was seen and parts of it, each once") {
  std::vector<double> numbers = numbersWithOutliers(20);
  Range seen = extremesOf(numbers);
  Histogram histogram = countedFrom(numbers);
  std::vector<NamedRange> list = rangeCandidates(seen, &histogram);
  CHECK(list[0].by == "extremes");
  CHECK(list[0].range.high == seen.high);
  CHECK(list.size() > 5);
  for (size_t i = 0; i < list.size(); ++i) {
    CHECK(list[i].range.low >= seen.low);
    CHECK(list[i].range.high <= seen.high);
    for (size_t k = 0; k < i; ++k) {
      double apart = std::max(std::fabs(list[i].range.low - list[k].range.low),
                              std::fabs(list[i].range.high - list[k].range.high));
      INFO(list[i].by << ", " << list[k].by);
      CHECK(apart > 0.02 * list[i].range.width());
    }
  }
  CHECK(rangeCandidates(seen, nullptr).size() == 4);
  CHECK(rangeCandidates({0, 0}, nullptr).size() == 1);
  Histogram nothing =
      histogramOf({0, 0}, thresholdsOf({0, 0}, kSize), std::vector<double>(kSize, 0), 0);
  CHECK(rangeCandidates({0, 0}, &nothing).size() == 1);
}
