// Positions from data: a call with one outside is refused by name and place, and no memory but the operand's is touched.
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace weft::test;

static weft::CompileOptions withIndices(weft::Indices indices) {
  weft::CompileOptions options;
  options.indices = indices;
  return options;
}

template <typename Integer> static void set(Tensor &tensor, const std::vector<Integer> &values) {
  REQUIRE(tensor.bytes.size() == values.size() * sizeof(Integer));
  if (!values.empty())
    memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
}

/// What is wrong with these positions, argument 1; empty when nothing is and the answer is that of the evaluator.
template <typename Integer>
static std::string refusal(Program &program, const Sizes &sizes,
                           const std::vector<Integer> &positions) {
  program.guarded = true;
  std::vector<Tensor> inputs = program.generate(sizes, 3);
  set(inputs[1], positions);
  std::vector<Tensor> results = program.run(inputs);
  std::string why = program.error();
  std::vector<weft::RefTensor> expected = program.evaluate(inputs);
  CHECK(results.empty() == expected.empty());
  if (!expected.empty())
    CHECK(program.difference(inputs, expected) == 0);
  return results.empty() ? why : "";
}

static const char *kEmbedding =
    R"(func.func @main(%table: !weft.tensor<[v, 5], f32> {weft.name = "table"}, %ids: !weft.tensor<[b, s], i64> {weft.name = "ids"})
    -> !weft.tensor<[b, s, 5], f32> attributes {weft.symbols = #weft.symbols<v, b, s>} {
  %0 = weft.gather %table, %ids axis 0 : (!weft.tensor<[v, 5], f32>, !weft.tensor<[b, s], i64>) -> !weft.tensor<[b, s, 5], f32> loc("embeddings.words")
  return %0 : !weft.tensor<[b, s, 5], f32>
})";

TEST_CASE(
    "a refused index is said with node, value, place, input and limit, and the context goes on") {
  for (int threads : {1, 2}) {
    Program program(kEmbedding, "host", threads);
    INFO(program.error());
    REQUIRE(program.error().empty());
    auto call = [&](std::vector<int64_t> ids) {
      return refusal(program, {{"v", 100}, {"b", 2}, {"s", 3}}, ids);
    };
    CHECK(call({0, 99, -100, -1, 50, 7}) == "");
    CHECK(call({0, 1, 2, 3, 400, 5}) ==
          "'embeddings.words': index 400 at [1, 1] of input 'ids' is outside 0..99");
    CHECK(call({0, 1, -101, 3, 400, 5}) ==
          "'embeddings.words': index -101 at [0, 2] of input 'ids' is outside -100..99");
    CHECK(call({0, 1, 2, 3, 4, INT64_MIN}) ==
          "'embeddings.words': index -9223372036854775808 at [1, 2] of input 'ids' is outside "
          "-100..99");
    CHECK(
        call({INT64_MAX, 1, 2, 3, 4, 5}) ==
        "'embeddings.words': index 9223372036854775807 at [0, 0] of input 'ids' is outside 0..99");
    CHECK(call({0, 99, -100, -1, 50, 7}) == "");
    CHECK(refusal<int64_t>(program, {{"v", 0}, {"b", 2}, {"s", 0}}, {}) == "");
    CHECK(refusal<int64_t>(program, {{"v", 0}, {"b", 1}, {"s", 1}}, {0}) ==
          "'embeddings.words': index 0 at [0, 0] of input 'ids' is outside an empty dimension");
  }
}

TEST_CASE("clamped positions are the nearest inside, and trusted ones are not compared") {
  for (weft::Indices indices : {weft::Indices::Clamp, weft::Indices::Unchecked}) {
    Program program(kEmbedding, withIndices(indices));
    REQUIRE(program.error().empty());
    CHECK(refusal<int64_t>(program, {{"v", 9}, {"b", 1}, {"s", 4}}, {0, 8, -9, -1}) == "");
  }
  Program program(kEmbedding, withIndices(weft::Indices::Clamp));
  std::vector<Tensor> inputs = program.generate({{"v", 9}, {"b", 1}, {"s", 4}}, 3), inside = inputs;
  set<int64_t>(inputs[1], {70, -70, 9, -10});
  set<int64_t>(inside[1], {8, 0, 8, 0});
  CHECK(program.difference(inputs, program.evaluate(inside)) == 0);
}

TEST_CASE("positions of 32 bits, of updates and in tuples are checked as those of embeddings") {
  Program updates(
      R"(func.func @main(%x: !weft.tensor<[n, 3], f32>, %at: !weft.tensor<[k, 3], i32>, %u: !weft.tensor<[k, 3], f32>)
    -> !weft.tensor<[n, 3], f32> attributes {weft.symbols = #weft.symbols<n, k>} {
  %0 = weft.scatter_elements add %x, %at, %u axis 0 : (!weft.tensor<[n, 3], f32>, !weft.tensor<[k, 3], i32>, !weft.tensor<[k, 3], f32>) -> !weft.tensor<[n, 3], f32> loc("updates")
  return %0 : !weft.tensor<[n, 3], f32>
})");
  Sizes sizes{{"n", 4}, {"k", 2}};
  CHECK(refusal<int32_t>(updates, sizes, {0, 1, 3, -4, 2, 0}) == "");
  CHECK(refusal<int32_t>(updates, sizes, {0, 1, 3, -4, 4, 0}) ==
        "'updates': index 4 at [1, 1] is outside 0..3");
  Program tuples(
      R"(func.func @main(%x: !weft.tensor<[b, h, w], f32>, %at: !weft.tensor<[b, k, 2], i64>) -> !weft.tensor<[b, k], f32>
    attributes {weft.symbols = #weft.symbols<b, h, w, k>} {
  %0 = weft.gather_nd %x, %at batch 1 : (!weft.tensor<[b, h, w], f32>, !weft.tensor<[b, k, 2], i64>) -> !weft.tensor<[b, k], f32> loc("tuples")
  return %0 : !weft.tensor<[b, k], f32>
})");
  sizes = {{"b", 1}, {"h", 3}, {"w", 8}, {"k", 2}};
  CHECK(refusal<int64_t>(tuples, sizes, {2, 7, -3, -8}) == "");
  CHECK(refusal<int64_t>(tuples, sizes, {2, 7, 5, 5}) ==
        "'tuples': index 5 at [0, 1, 0] is outside 0..2");
  CHECK(refusal<int64_t>(tuples, sizes, {2, 7, 1, 8}) ==
        "'tuples': index 8 at [0, 1, 1] is outside 0..7");
}

TEST_CASE("positions that are computed are checked, also those of a branch when it is taken") {
  Program program(
      R"(func.func @main(%x: !weft.tensor<[n], f32>, %at: !weft.tensor<[k], i64>) -> !weft.tensor<[k], f32>
    attributes {weft.symbols = #weft.symbols<n, k>} {
  %two = weft.fill 2 : i64 -> !weft.tensor<[k], i64>
  %twice = weft.mul %at, %two : (!weft.tensor<[k], i64>, !weft.tensor<[k], i64>) -> !weft.tensor<[k], i64> loc("twice")
  %most = weft.reduce max %at [0] : (!weft.tensor<[k], i64>) -> !weft.tensor<[], i64>
  %five = weft.fill 5 : i64 -> !weft.tensor<[], i64>
  %c = weft.compare lt %most, %five : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i1>
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[k], f32> {
    %0 = weft.gather %x, %twice axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[k], i64>) -> !weft.tensor<[k], f32> loc("even")
    weft.yield %0 : !weft.tensor<[k], f32>
  } else {
    %0 = weft.convert %at to f32 : (!weft.tensor<[k], i64>) -> !weft.tensor<[k], f32>
    weft.yield %0 : !weft.tensor<[k], f32>
  }
  return %y : !weft.tensor<[k], f32>
})");
  INFO(program.error());
  REQUIRE(program.error().empty());
  Sizes sizes{{"n", 7}, {"k", 2}};
  CHECK(refusal<int64_t>(program, sizes, {3, -3}) == "");
  CHECK(refusal<int64_t>(program, sizes, {300, -3}) == "");
  CHECK(refusal<int64_t>(program, sizes, {1, 4}) ==
        "'even': index 8 at [1] of 'twice' is outside 0..6");
}

TEST_CASE("a constant that is outside for some sizes only is refused for these") {
  Program program(
      R"(func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[], i64>) -> !weft.tensor<[2], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %at = weft.constant dense<[3, -2]> : tensor<2xi64> -> !weft.tensor<[2], i64>
  %0 = weft.gather %x, %at axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32> loc("pair")
  return %0 : !weft.tensor<[2], f32>
})");
  INFO(program.error());
  REQUIRE(program.error().empty());
  CHECK(refusal<int64_t>(program, {{"n", 4}}, {0}) == "");
  CHECK(refusal<int64_t>(program, {{"n", 3}}, {0}) == "'pair': index 3 at [0] is outside 0..2");
}
