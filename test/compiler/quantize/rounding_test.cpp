// Weights in blocks that are rounded channel by channel, against products in plain code.
#include "compiler/quantize/RoundByMoments.h"
#include <catch2/catch.hpp>
#include <random>

using namespace weft;

static void oneByOne(size_t count, const std::function<void(size_t)> &job) {
  for (size_t i = 0; i < count; ++i)
    job(i);
}

/// What a product reads, and its weight, whose channels lead.
struct Problem {
  Problem(size_t channels, size_t columns, double apart)
      : grid{int64_t(channels), int64_t(columns), true} {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (size_t row = 0; row < 3 * channels; ++row) {
      float common = normal(random);
      for (size_t k = 0; k < channels; ++k)
        rows.push_back(common + float(apart) * normal(random));
    }
    for (size_t i = 0; i < channels * columns; ++i)
      weight.push_back(normal(random));
  }

  std::vector<double> moments() const {
    size_t channels = size_t(grid.channels);
    std::vector<double> sums(channels * channels, 0);
    for (size_t row = 0; row < rows.size(); row += channels)
      for (size_t i = 0; i < channels; ++i)
        for (size_t j = 0; j < channels; ++j)
          sums[i * channels + j] += double(rows[row + i]) * double(rows[row + j]);
    return sums;
  }

  double damping() const {
    double sum = 0;
    for (float x : rows)
      sum += double(x) * double(x);
    return 0.01 * sum / double(grid.channels);
  }

  /// Of a channel and column of a rounded weight, without the factors.
  double off(const BlockWeight &rounded, size_t k, size_t column,
             llvm::ArrayRef<float> factors) const {
    size_t at = size_t(grid.element(int64_t(k), int64_t(column)));
    size_t block = size_t(grid.block(int64_t(k) / kWeightBlock, int64_t(column)));
    double restored =
        (double(rounded.numbers[at]) - rounded.zeros[block]) * double(rounded.scales[block]);
    return double(weight[at]) - restored / (factors.empty() ? 1 : double(factors[k]));
  }

  /// The products' error with what damping adds.
  double errorOf(const BlockWeight &rounded, llvm::ArrayRef<float> factors = {}) const {
    size_t channels = size_t(grid.channels);
    double error = 0;
    for (size_t column = 0; column < size_t(grid.columns); ++column) {
      std::vector<double> offs;
      for (size_t k = 0; k < channels; ++k)
        offs.push_back(off(rounded, k, column, factors));
      for (double each : offs)
        error += damping() * each * each;
      for (size_t row = 0; row < rows.size(); row += channels) {
        double product = 0;
        for (size_t k = 0; k < channels; ++k)
          product += double(rows[row + k]) * offs[k];
        error += product * product;
      }
    }
    return error;
  }

  BlockWeight round(const MomentFactor &factor, llvm::ArrayRef<float> factors = {}) const {
    return roundByMoments(grid, weight, factors, factor, oneByOne);
  }

  WeightGrid grid;
  std::vector<float> rows, weight;
};

static std::vector<double> identity(size_t channels) {
  std::vector<double> moments(channels * channels, 0);
  for (size_t k = 0; k < channels; ++k)
    moments[k * channels + k] = 1;
  return moments;
}

TEST_CASE("shares and powers of channels give back their moments") {
  Problem problem(160, 1, 0.5); // more than two panels
  std::vector<double> moments = problem.moments();
  MomentFactor factor(moments, 160);
  REQUIRE(factor.isUsable());
  auto shareOf = [&](size_t k, size_t j) { return j == k ? 1 : j < k ? factor.share(k)[j] : 0; };
  for (size_t i = 0; i < 160; i += 13)
    for (size_t j = 0; j <= i; j += 7) {
      double sum = 0;
      for (size_t k = i; k < 160; ++k)
        sum += factor.power(k) * shareOf(k, i) * shareOf(k, j);
      INFO(i << ' ' << j);
      CHECK(sum == Approx(moments[i * 160 + j] + (i == j ? problem.damping() : 0)));
    }
}

TEST_CASE("channels that nothing is known of are rounded to nearest") {
  for (bool channelsLead : {true, false}) {
    Problem problem(96, 37, 1);
    problem.grid.channelsLead = channelsLead;
    for (const std::vector<double> &moments : {identity(96), std::vector<double>(96 * 96, 0)}) {
      BlockWeight rounded = problem.round(MomentFactor(moments, 96));
      BlockWeight nearest = roundBlocks(problem.grid, problem.weight, {});
      CHECK(rounded.numbers == nearest.numbers);
      CHECK(rounded.scales == nearest.scales);
      CHECK(rounded.zeros == nearest.zeros);
    }
  }
}

TEST_CASE("the error that moments say is that of the products") {
  Problem problem(64, 5, 0.5);
  MomentFactor factor(problem.moments(), 64);
  std::vector<float> factors;
  for (size_t k = 0; k < 64; ++k)
    factors.push_back(k % 3 == 0 ? 4 : 0.5f);
  for (llvm::ArrayRef<float> each : {llvm::ArrayRef<float>(), llvm::ArrayRef<float>(factors)})
    for (const BlockWeight &rounded :
         {roundBlocks(problem.grid, problem.weight, each), problem.round(factor, each)})
      CHECK(errorByMoments(problem.grid, problem.weight, each, rounded, factor, oneByOne) ==
            Approx(problem.errorOf(rounded, each)).epsilon(1e-3));
}

TEST_CASE("the more channels go along with each other, the less is lost than to nearest") {
  double last = 1;
  for (double apart : {2.0, 0.5, 0.2}) {
    Problem problem(128, 40, apart);
    MomentFactor factor(problem.moments(), 128);
    double part = problem.errorOf(problem.round(factor)) /
                  problem.errorOf(roundBlocks(problem.grid, problem.weight, {}));
    INFO(apart);
    CHECK(part < last);
    last = part;
  }
  CHECK(last < 0.3);
}

TEST_CASE("the last channel makes up for the others as well as any number could") {
  Problem problem(64, 6, 0.3);
  MomentFactor factor(problem.moments(), 64);
  BlockWeight rounded = problem.round(factor);
  double error = problem.errorOf(rounded);
  for (size_t column = 0; column < 6; ++column)
    for (uint8_t number = 0; number < 16; ++number) {
      BlockWeight other = rounded;
      other.numbers[63 * 6 + column] = number;
      CHECK(problem.errorOf(other) >= error * (1 - 1e-6));
    }
}

TEST_CASE("weights are rounded alike however they lie and however many work on them") {
  Problem problem(64, 70, 0.4), turned = problem;
  MomentFactor factor(problem.moments(), 64);
  turned.grid.channelsLead = false;
  for (int64_t k = 0; k < 64; ++k)
    for (int64_t n = 0; n < 70; ++n)
      turned.weight[size_t(turned.grid.element(k, n))] =
          problem.weight[size_t(problem.grid.element(k, n))];
  BlockWeight a = problem.round(factor), b = turned.round(factor);
  for (int64_t k = 0; k < 64; ++k)
    for (int64_t n = 0; n < 70; ++n)
      CHECK(a.numbers[size_t(problem.grid.element(k, n))] ==
            b.numbers[size_t(turned.grid.element(k, n))]);
  auto backwards = [](size_t count, const std::function<void(size_t)> &job) {
    while (count > 0)
      job(--count);
  };
  BlockWeight c = roundByMoments(problem.grid, problem.weight, {}, factor, backwards);
  CHECK(a.numbers == c.numbers);
  CHECK(errorByMoments(problem.grid, problem.weight, {}, a, factor, oneByOne) ==
        errorByMoments(problem.grid, problem.weight, {}, a, factor, backwards));
}

TEST_CASE("few rows of channels that have nothing to do with each other spoil nothing for others") {
  const size_t channels = 96, rows = 60;
  Problem problem(channels, 16, 1);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  problem.rows.resize(rows * channels);
  for (float &x : problem.rows)
    x = normal(random);
  MomentFactor all(identity(channels), channels); // of all rows that there could be
  auto errorOf = [&](const BlockWeight &rounded) {
    return errorByMoments(problem.grid, problem.weight, {}, rounded, all, oneByOne);
  };
  double nearest = errorOf(roundBlocks(problem.grid, problem.weight, {}));
  MomentFactor fitted(problem.moments(), channels), shrunk(problem.moments(), channels, rows);
  CHECK(errorOf(problem.round(fitted)) > 1.2 * nearest);
  CHECK(errorOf(problem.round(shrunk)) < 1.02 * nearest);
}

TEST_CASE("few rows of channels that go along with each other say so all the same") {
  const size_t channels = 96, rows = 3 * channels;
  Problem problem(channels, 16, 0.3);
  MomentFactor shrunk(problem.moments(), channels, rows);
  CHECK(problem.errorOf(problem.round(shrunk)) <
        0.5 * problem.errorOf(roundBlocks(problem.grid, problem.weight, {})));
}

TEST_CASE("numbers of 5 and 6 bits are as much nearer as there are more of them") {
  Problem problem(96, 16, 0.5);
  MomentFactor factor(problem.moments(), 96);
  double four = problem.errorOf(problem.round(factor));
  for (int64_t bits : {5, 6}) {
    problem.grid.bits = bits;
    BlockWeight rounded = problem.round(factor);
    CHECK(*std::max_element(rounded.numbers.begin(), rounded.numbers.end()) == (1 << bits) - 1);
    double steps = double((1 << bits) - 1) / 15;
    CHECK(problem.errorOf(rounded) * steps * steps == Approx(four).epsilon(0.2));
  }
}

TEST_CASE("weights that are no numbers, or all 0, are rounded to numbers of 4 bits all the same") {
  Problem problem(32, 3, 1);
  MomentFactor factor(problem.moments(), 32);
  problem.weight.assign(problem.weight.size(), 0);
  BlockWeight zeros = problem.round(factor);
  CHECK(std::all_of(zeros.scales.begin(), zeros.scales.end(), [](float s) { return s > 0; }));
  CHECK(problem.errorOf(zeros) == 0);
  problem.weight[4] = NAN;
  problem.weight[8] = INFINITY;
  for (uint8_t number : problem.round(factor).numbers)
    CHECK(number < 16);
}

/// Whether f16 has all of these: ten bits of mantissa, or multiples of the least number.
static bool areHalf(const std::vector<float> &scales) {
  return std::all_of(scales.begin(), scales.end(), [](float scale) {
    float steps = scale * 0x1p24f, last = std::exp2(std::floor(std::log2(scale)) - 10);
    bool isMultiple = scale / last == std::floor(scale / last) && steps == std::floor(steps);
    return isMultiple && steps >= 1 && scale <= 65504;
  });
}

TEST_CASE("scales are numbers of f16, also beside a block that has nearly nothing") {
  Problem problem(96, 5, 0.5);
  MomentFactor factor(problem.moments(), 96);
  for (int64_t k = 32; k < 64; ++k) {
    problem.weight[size_t(problem.grid.element(k, 1))] = 0;
    problem.weight[size_t(problem.grid.element(k, 2))] *= 1e-9f;
    problem.weight[size_t(problem.grid.element(k, 3))] *= 1e-5f;
  }
  for (const BlockWeight &rounded :
       {problem.round(factor), roundBlocks(problem.grid, problem.weight, {})})
    CHECK(areHalf(rounded.scales));
}

TEST_CASE("a weight that f16 cannot scale has scales of f32, and loses no more by that") {
  Problem problem(64, 6, 0.5), other = problem;
  double error = problem.errorOf(roundBlocks(problem.grid, problem.weight, {}));
  for (float by : {0x1p-30f, 0x1p20f}) {
    for (size_t i = 0; i < problem.weight.size(); ++i)
      other.weight[i] = by * problem.weight[i];
    BlockWeight rounded = roundBlocks(other.grid, other.weight, {});
    CHECK(!areHalf(rounded.scales));
    CHECK(other.errorOf(rounded) / double(by) / double(by) == Approx(error).epsilon(0.01));
  }
}

TEST_CASE("moments that are no numbers are of no use") {
  std::vector<double> moments = identity(32);
  moments[5] = INFINITY;
  moments[33 * 7] = NAN;
  CHECK(!MomentFactor(moments, 32).isUsable());
}
