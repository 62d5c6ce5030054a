// What is said of the distance between outputs: by lines, of the worst output, and against budgets.
#include "compiler/quantize/Measure.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;

namespace {

/// A tensor of f32 over numbers that outlive it.
weft_tensor_t tensorOf(std::vector<float> &numbers, std::vector<int64_t> dims) {
  return weft_tensor_of(numbers.data(), WEFT_F32, uint16_t(dims.size()), dims.data());
}

Accuracy accuracyOf(std::vector<float> expected, std::vector<float> got,
                    std::vector<int64_t> dims) {
  AccuracySum sum;
  sum.add(keepOutputs({tensorOf(expected, dims)}, 1), {tensorOf(got, dims)});
  return sum.worst();
}

} // namespace

TEST_CASE("nothing differs from itself") {
  Accuracy same = accuracyOf({1, 2, 3, -4}, {1, 2, 3, -4}, {2, 2});
  CHECK(same.cosine == Approx(1));
  CHECK(same.top1 == 1);
  CHECK(same.kl == Approx(0).margin(1e-12));
  CHECK(std::isinf(same.sqnr));
  CHECK(holds(same, {{QuantizeBudget::Sqnr, 60}, {QuantizeBudget::Top1, 0.99}}));
}

TEST_CASE("lines are what the last dimension has") {
  // the first line turns by a right angle, the second stays
  Accuracy turned = accuracyOf({1, 0, 0, 1}, {0, 1, 0, 1}, {2, 2});
  CHECK(turned.cosine == Approx(0.5));
  CHECK(turned.worstCosine == Approx(0));
  CHECK(turned.top1 == 0.5);
  CHECK(turned.sqnr == Approx(0));
  // lines of one element would have no direction: all are one line
  CHECK(accuracyOf({1, 2, 3}, {2, 4, 6}, {3, 1}).cosine == Approx(1));
}

TEST_CASE("a picture has one direction, whatever its dark rows do") {
  // two channels of a bright and a dark row
  std::vector<float> expected{8, 8, 0, 0.001f, 1, 1, 0.002f, 0}, got = expected;
  std::swap(got[2], got[3]); // a right angle between rows, and nearly none between pictures
  CHECK(accuracyOf(expected, got, {1, 2, 2, 2}).worstCosine > 0.999);
  CHECK(accuracyOf(expected, got, {2, 2, 2}).worstCosine == Approx(0).margin(1e-6));
  // another picture counts by itself
  CHECK(accuracyOf({1, 0, 0, 1, 1, 0, 0, 1}, {1, 0, 0, 1, 0, 1, 1, 0}, {2, 2, 2, 1}).cosine ==
        Approx(0.5));
}

TEST_CASE("each place of a picture has a label: the channel that is largest there") {
  std::vector<float> expected{5, 1, 1, 1, 0, 2, 3, 4}, got{4, 1, 1, 6, 0, 2, 3, 4};
  Accuracy picture = accuracyOf(expected, got, {1, 2, 2, 2});
  CHECK(picture.top1 == 0.75); // the last place is of the first channel now
  CHECK(picture.kl > 0);
  // with one channel it is the place itself
  CHECK(accuracyOf({1, 2, 3, 4}, {1, 5, 3, 4}, {1, 1, 2, 2}).top1 == 0);
}

TEST_CASE("what calls to come read has neither label nor divergence, and counts by its distance") {
  std::vector<float> expected{1, 0, 0, 1}, got{0, 1, 0, 1};
  std::vector<int64_t> dims{2, 2};
  std::vector<KeptOutput> kept = keepOutputs({tensorOf(expected, dims)}, 1);
  kept[0].isState = true;
  AccuracySum sum;
  sum.add(kept, {tensorOf(got, dims)});
  CHECK(std::isnan(sum.of(0).kl));
  CHECK(std::isnan(sum.of(0).top1));
  CHECK(sum.worst().kl == 0);
  CHECK(sum.worst().top1 == 1);
  CHECK(sum.worst().cosine == Approx(0.5));
}

TEST_CASE("lines of positions that are masked are not compared") {
  std::vector<float> expected{1, 0, 0, 1, 1, 0}, got{1, 0, 0, 1, 0, 1};
  std::vector<int64_t> ids{7, 7, 0};
  BoundCall call;
  call.call.tensors.push_back({"mask", "i64", {1, 3}, ids.data(), {}});
  auto accuracyWith = [&](const std::string &input, std::vector<int64_t> dims) {
    AccuracySum sum;
    sum.add(keepOutputs({tensorOf(expected, dims)}, 1), {tensorOf(got, dims)},
            CountedPositions::of(call, input));
    return sum.worst().cosine;
  };
  CHECK(accuracyWith("mask", {1, 3, 2}) == Approx(1));
  CHECK(accuracyWith("", {1, 3, 2}) == Approx(2.0 / 3));
  CHECK(accuracyWith("mask", {3, 2}) == Approx(2.0 / 3)); // has no such positions
}

TEST_CASE("nan and zeros are no accuracy") {
  Accuracy broken = accuracyOf({1, 2}, {NAN, 2}, {1, 2});
  CHECK(broken.cosine == 0);
  CHECK(!holds(broken, {{QuantizeBudget::Cosine, 0.5}}));
  CHECK(!holds(broken, {{QuantizeBudget::Kl, 0.5}}));
  CHECK(!holds(broken, {{QuantizeBudget::Sqnr, 1}}));
  CHECK(accuracyOf({1, 2}, {0, 0}, {1, 2}).cosine == 0);
  CHECK(accuracyOf({0, 0}, {0, 0}, {1, 2}).cosine == 1);
}

TEST_CASE("a loss is the largest share of what budgets allow") {
  Accuracy some;
  some.cosine = 0.99;
  some.kl = 0.3;
  some.sqnr = INFINITY;
  CHECK(lossOf(some, {{QuantizeBudget::Cosine, 0.98}}) == Approx(0.5));
  CHECK(lossOf(some, {{QuantizeBudget::Cosine, 0.98}, {QuantizeBudget::Kl, 0.1}}) == Approx(3));
}

TEST_CASE("a score is the caller's, and of single choices nothing is known") {
  Accuracy scored;
  scored.sqnr = INFINITY;
  CHECK(holds(scored, {{QuantizeBudget::Score, 0.9}}));
  scored.score = 0.8;
  CHECK(!holds(scored, {{QuantizeBudget::Score, 0.9}}));
  scored.score = 0.95;
  CHECK(holds(scored, {{QuantizeBudget::Score, 0.9}, {QuantizeBudget::Size, 0.3}}));
}

TEST_CASE("a size up to 1 is a part of the f32 model's") {
  CHECK(QuantizeBudget{QuantizeBudget::Size, 0.25}.bytesOf(100) == 25);
  CHECK(QuantizeBudget{QuantizeBudget::Size, 30}.bytesOf(100) == 30);
}

TEST_CASE("budgets that no model misses or keeps are refused") {
  CHECK(checkBudgets({{QuantizeBudget::Cosine, 0.9}, {QuantizeBudget::Sqnr, 30}}));
  for (QuantizeBudget budget : {QuantizeBudget{QuantizeBudget::Cosine, 1},
                                {QuantizeBudget::Top1, -1},
                                {QuantizeBudget::Sqnr, NAN},
                                {QuantizeBudget::Latency, 2}})
    CHECK(!checkBudgets({budget}));
}
