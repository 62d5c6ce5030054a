// Layers of f16 and bf16 with channels last: convolutions have the kernels of their f32 twins, at sizes that fill no vector, no
// tile and no block, and no result is more than a place of its type away from the evaluator's.
#include "test/support/HalfLayer.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>

using namespace weft::test;

static void agrees(HalfLayer layer, std::initializer_list<Sizes> all, const std::string &schedule) {
  for (const char *element : {"f16", "bf16"}) {
    layer.element = element;
    agrees(textOf(layer), element, all, schedule, kHalfTargets);
  }
}

TEST_CASE("a convolution of 16 bits has the kernels of its f32 twin: 1, 3 and 5 channels") {
  agrees({"", 1, 39, 1, {{5, 1, 1, 2, 2}, {5, 1, 1, 2, 2}}},
         {sizes(0, 5, 5), sizes(1, 0, 4), sizes(2, 3, 0), sizes(1, 1, 1), sizes(2, 7, 9)},
         "window_convolution");
  agrees({"", 3, 33, 1, {{3, 2, 1, 0, 1}, {3, 2, 1, 1, 0}}},
         {sizes(1, 1, 2), sizes(2, 7, 7), sizes(1, 3, 71)}, "window_convolution");
  agrees({"", 5, 16, 1, {kSame, kSame}}, {sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 3, 40)},
         "window_convolution");
}

TEST_CASE("a convolution of 16 bits: dilations, padding on one side, cropping, a stride apart") {
  agrees({"", 4, 13, 1, {{5, 1, 2, 4, -1}, {3, 1, 3, -1, 8}}}, {sizes(1, 6, 2), sizes(2, 9, 17)},
         "window_convolution");
  agrees({"", 40, 14, 1, {{1, 2}, {1, 2}}},
         {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 13, 24)}, "window_convolution");
}

TEST_CASE("a convolution of 16 bits: fewer filters than lanes, blocks of filters, one dimension") {
  agrees({"", 12, 3, 1, {kSame, kSame}}, {sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 3, 40)},
         "window_convolution");
  agrees({"", 151, 140, 1, {{2, 1, 1, 0, 1}, kSame}}, {sizes(1, 2, 3), sizes(2, 1, 16)},
         "window_convolution");
  agrees({"", 7, 17, 1, {{3, 2, 1, 1, 1}}}, {line(1, 0), line(1, 1), line(2, 9), line(1, 300)},
         "window_convolution");
}

TEST_CASE("a convolution of 16 bits: an operand that is computed on the way") {
  for (int64_t channels : {3, 4, 10})
    agrees({"", channels, 33, 1, {kSame, kSame}, true},
           {sizes(1, 1, 1), sizes(2, 6, 19), sizes(1, 3, 40)}, "window_convolution");
}

TEST_CASE(
    "a convolution of bf16 reads pairs of channels where they lie when the machine adds them") {
  auto scratch = [](const std::string &target, const std::string &element, int64_t channels) {
    Program program(textOf({element, channels, 14, 1, {{1, 2}, {1, 2}}}), target);
    weft_function_info_t info = {};
    info.struct_size = sizeof info;
    REQUIRE(weft_function_info(program.artifact, 0, &info) == WEFT_OK);
    return std::string(info.scratch);
  };
  CHECK(scratch("plain:v4+bf16", "bf16", 40) == "0");
  CHECK(scratch("plain:v4+bf16", "bf16", 41) != "0"); // pairs would cross pixels
  CHECK(scratch("plain:v4+bf16", "f16", 40) != "0");
  CHECK(scratch("x86:v3", "bf16", 40) != "0");
}

TEST_CASE("a convolution of 16 bits of one pixel is a product of matrices, whatever its bias") {
  agrees({"", 19, 40, 1, {{}, {}}},
         {sizes(0, 2, 3), sizes(1, 1, 1), sizes(2, 5, 9), sizes(1, 14, 15)}, "contraction");
  agrees({"", 64, 7, 1, {{}}}, {line(1, 1), line(2, 33)}, "contraction");
}

TEST_CASE("a convolution of 16 bits with one channel per filter") {
  agrees({"", 1, 7, 7, {kSame, kSame}},
         {sizes(0, 5, 5), sizes(1, 0, 3), sizes(1, 3, 0), sizes(1, 1, 1), sizes(2, 7, 7),
          sizes(1, 5, 39)},
         "depthwise_last");
  agrees({"", 1, 35, 35, {kHalf, kHalf}}, {sizes(1, 1, 1), sizes(2, 8, 8), sizes(1, 3, 70)},
         "depthwise_last");
  agrees({"", 1, 19, 19, {{3, 3, 1, 0, 1}, {4, 2, 3, 5, 2}}}, {sizes(1, 2, 3), sizes(1, 5, 70)},
         "depthwise_last");
  agrees({"", 1, 17, 17, {{9, 2, 1, 4, 4}, {11, 1, 2, 10, 10}}}, {sizes(1, 1, 1), sizes(2, 5, 20)},
         "depthwise_last");
  agrees({"", 1, 40, 40, {{4, 1, 1, 3, 0}}}, {line(1, 1), line(2, 50), line(1, 200)},
         "depthwise_last");
}

TEST_CASE("planes of a constant width, shorter than a vector and padded on one side") {
  // Masks of columns are constants there, those of rows are not.
  std::string text = R"(func.func @main(%x: !weft.tensor<[1, 4, n + 2, 7], f32>)
    -> !weft.tensor<[1, 4, n + 2, 9], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %w = weft.constant dense<[[[[0.75, 0.5, 0.375, -0.5, 0.75]]], [[[-0.125, -1.0, 0.625, -0.25, 1.0]]],
      [[[-0.125, 0.75, -0.625, 0.25, -0.375]]], [[[-0.5, 0.25, -0.625, -0.625, 0.75]]]]>
      : tensor<4x1x1x5xf32> -> !weft.tensor<[4, 1, 1, 5], f32>
  %y = weft.conv %x, %w strides [1, 1] dilations [1, 1] low [0, 4] high [0, 2] groups 4 accumulate f32
      : (!weft.tensor<[1, 4, n + 2, 7], f32>, !weft.tensor<[4, 1, 1, 5], f32>) -> !weft.tensor<[1, 4, n + 2, 9], f32>
  return %y : !weft.tensor<[1, 4, n + 2, 9], f32>
})";
  for (const std::string &target : kHalfTargets) {
    if (!isSupported(target))
      continue;
    Program program(text, target);
    INFO(target << " " << program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, "depthwise"));
    for (int64_t n : {0, 1, 15, 16, 17, 33})
      CHECK(program.difference({{"n", n}}) <= 1e-5);
  }
}
