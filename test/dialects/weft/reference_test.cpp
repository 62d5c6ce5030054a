// Reference semantics against values worked out by hand or given in the ONNX operator descriptions.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft::test;

static void close(const Numbers &got, const Numbers &expected, double margin = 1e-6) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == Approx(expected[i]).margin(margin));
}

static Numbers counted(int count) {
  Numbers numbers;
  for (int i = 0; i < count; ++i)
    numbers.push_back(i);
  return numbers;
}

TEST_CASE("conv with and without padding") {
  std::vector<std::string> operands = {"[1, 1, 5, 5], f32", "[1, 1, 3, 3], f32"};
  Numbers ones(9, 1.0);
  close(evaluate("conv %a, %b strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 "
                 "accumulate f32",
                 operands, {counted(25), ones}, {"[1, 1, 3, 3], f32"})[0],
        {54, 63, 72, 99, 108, 117, 144, 153, 162});
  close(evaluate("conv %a, %b strides [2, 2] dilations [1, 1] low [1, 1] high [1, 1] groups 1 "
                 "accumulate f32",
                 operands, {counted(25), ones}, {"[1, 1, 3, 3], f32"})[0],
        {12, 27, 24, 63, 108, 81, 72, 117, 84});
  close(evaluate("conv %a, %b strides [1] dilations [2] low [0] high [0] groups 2 accumulate i32",
                 {"[1, 2, 4], ui8", "[2, 1, 2], i8"}, {{1, 2, 3, 255, 5, 6, 7, 8}, {1, -1, 10, 2}},
                 {"[1, 2, 2], i32"})[0],
        {-2, -253, 64, 76});
}

TEST_CASE("conv_transpose: overlapping sums, stride, padding, zeros at the end") {
  std::vector<std::string> operands = {"[1, 1, 3], f32", "[1, 2, 3], f32"};
  std::vector<Numbers> data = {{0, 1, 2}, {1, 1, 1, 1, 1, 2}};
  close(evaluate("conv_transpose %a, %b strides [1] dilations [1] low [0] high [0] groups 1 "
                 "accumulate f32",
                 operands, data, {"[1, 2, 5], f32"})[0],
        {0, 1, 3, 3, 2, 0, 1, 3, 4, 4});
  close(evaluate("conv_transpose %a, %b strides [2] dilations [1] low [1] high [-1] groups 1 "
                 "accumulate f32",
                 operands, data, {"[1, 2, 7], f32"})[0],
        {0, 1, 1, 3, 2, 2, 0, 0, 1, 1, 4, 2, 4, 0});
}

TEST_CASE("pools: padding takes no part unless counted") {
  std::vector<std::string> operand = {"[4], f32"};
  Numbers data = {1, 2, -3, 4};
  close(evaluate("pool max %a kernel [3] strides [1] dilations [1] low [1] high [1]", operand,
                 {{-1, -2, -3, -4}}, {"[4], f32"})[0],
        {-1, -1, -2, -3});
  close(evaluate("pool average %a kernel [3] strides [1] dilations [1] low [1] high [1]", operand,
                 {data}, {"[4], f32"})[0],
        {1.5, 0, 1, 0.5});
  close(evaluate(
            "pool average %a kernel [3] strides [1] dilations [1] low [1] high [1] {count_padding}",
            operand, {data}, {"[4], f32"})[0],
        {1, 0, 1, 1.0 / 3});
  close(evaluate("pool average %a kernel [3] strides [2] dilations [1] low [0] high [0] "
                 "{count_padding, sizes = #weft.dims<[2]>}",
                 operand, {data}, {"[2], f32"})[0],
        {0, 0.5}); // the second window ends outside: two elements
  close(
      evaluate("pool_index %a kernel [2, 2] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0]",
               {"[1, 3, 3], f32"}, {{1, 9, 2, 9, 5, 6, 7, 8, 8}}, {"[1, 2, 2], i64"})[0],
      {1, 1, 3, 7});
}

TEST_CASE("arg_reduce: first, last, nan") {
  std::vector<std::string> operand = {"[2, 3], f32"}, result = {"[2], i64"};
  CHECK(evaluate("arg_reduce max %a axis 1", operand, {{2, 2, 1, 3, 10, 10}}, result)[0] ==
        Numbers{0, 1});
  CHECK(evaluate("arg_reduce max %a axis 1 {select_last}", operand, {{2, 2, 1, 3, 10, 10}},
                 result)[0] == Numbers{1, 2});
  CHECK(evaluate("arg_reduce min %a axis 1", operand, {{2, 1, 1, NAN, 0, NAN}}, result)[0] ==
        Numbers{1, 0});
}

TEST_CASE("cumulate: exclusive and reversed") {
  std::vector<std::string> type = {"[5], f64"};
  std::vector<Numbers> data = {{1, 2, 3, 4, 5}};
  CHECK(evaluate("cumulate sum %a axis 0", type, data, type)[0] == Numbers{1, 3, 6, 10, 15});
  CHECK(evaluate("cumulate sum %a axis 0 {exclusive}", type, data, type)[0] ==
        Numbers{0, 1, 3, 6, 10});
  CHECK(evaluate("cumulate sum %a axis 0 {reverse}", type, data, type)[0] ==
        Numbers{15, 14, 12, 9, 5});
  CHECK(evaluate("cumulate prod %a axis 0 {exclusive, reverse}", type, data, type)[0] ==
        Numbers{120, 60, 20, 5, 1});
  CHECK(evaluate("cumulate sum %a axis 0", {"[2, 2], i8"}, {{100, 1, 100, 1}}, {"[2, 2], i8"})[0] ==
        Numbers{100, 1, -56, 2});
}

TEST_CASE("top_k: order, ties, both ends") {
  auto largest = evaluate("top_k %a k [3] axis 1", {"[2, 4], f32"}, {{0, 1, 2, 3, 4, 7, 7, 5}},
                          {"[2, 3], f32", "[2, 3], i64"});
  CHECK(largest[0] == Numbers{3, 2, 1, 7, 7, 5});
  CHECK(largest[1] == Numbers{3, 2, 1, 1, 2, 3});
  auto smallest = evaluate("top_k %a k [2] axis 0 {smallest}", {"[3, 2], i32"},
                           {{3, 1, 2, 1, 2, 0}}, {"[2, 2], i32", "[2, 2], i64"});
  CHECK(smallest[0] == Numbers{2, 0, 2, 1});
  CHECK(smallest[1] == Numbers{1, 2, 2, 0});
}

TEST_CASE("random_uniform gives the numbers of MT19937 as numpy's RandomState does") {
  auto draw = [](double seed, int count) {
    return evaluate("random_uniform %a", {"[], i64"}, {{seed}},
                    {"[" + std::to_string(count) + "], f64"})[0];
  };
  CHECK(draw(0, 3) == Numbers{0x1.18fe1565f12a8p-1, 0x1.6e2d4cf608733p-1, 0x1.349d66b6e894bp-1});
  CHECK(draw(12345, 2) == Numbers{0x1.dbf6a3f8f84b7p-1, 0x1.43f7f410bb044p-2});
  CHECK(draw(12345, 1000).back() == 0x1.3c03006491c84p-2); // the state made anew three times
  CHECK(draw(4294967295, 1) == Numbers{0x1.8fe69a3924820p-4});
  CHECK(draw(-1, 5) == draw(4294967295, 5)); // 32 bits count
  CHECK(draw(1, 0).empty());
}

TEST_CASE("gathers by element and by tuple") {
  CHECK(evaluate("gather_elements %a, %b axis 1", {"[2, 2], f32", "[2, 2], i64"},
                 {{1, 2, 3, 4}, {0, 0, 1, 0}}, {"[2, 2], f32"})[0] == Numbers{1, 1, 4, 3});
  CHECK(evaluate("gather_elements %a, %b axis 0", {"[3, 3], f32", "[2, 3], i64"},
                 {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {-1, -2, 0, -2, 0, 0}},
                 {"[2, 3], f32"})[0] == Numbers{7, 5, 3, 4, 2, 3});
  CHECK(evaluate("gather_nd %a, %b batch 0", {"[2, 2], i32", "[2, 2], i64"},
                 {{0, 1, 2, 3}, {0, 0, 1, 1}}, {"[2], i32"})[0] == Numbers{0, 3});
  CHECK(evaluate("gather_nd %a, %b batch 1", {"[2, 2, 2], i32", "[2, 1], i64"},
                 {counted(8), {1, 0}}, {"[2, 2], i32"})[0] == Numbers{2, 3, 4, 5});
}

TEST_CASE("tables of bytes: the bits of a byte are its place") {
  CHECK(evaluate("look_up %a, %b", {"[3], ui8", "[256], ui8"}, {{0, 7, 255}, counted(256)},
                 {"[3], ui8"})[0] == Numbers{0, 7, 255});
  CHECK(evaluate("look_up %a, %b", {"[4], i8", "[256], ui8"}, {{0, 127, -128, -1}, counted(256)},
                 {"[4], ui8"})[0] == Numbers{0, 127, 128, 255});
}

TEST_CASE("scatters: order, reductions, positions outside") {
  CHECK(evaluate("scatter_elements set %a, %b, %c axis 1",
                 {"[1, 5], f32", "[1, 2], i64", "[1, 2], f32"},
                 {{1, 2, 3, 4, 5}, {1, 3}, {1.5, 2.5}},
                 {"[1, 5], f32"})[0] == Numbers{1, 1.5, 3, 2.5, 5});
  std::vector<std::string> list = {"[3], f32", "[4], i64", "[4], f32"};
  std::vector<Numbers> outside = {{0, 0, 0}, {1, 1, -1, 3}, {5, 6, 7, 8}};
  CHECK(evaluate("scatter_elements set %a, %b, %c axis 0 outside clamped", list, outside,
                 {"[3], f32"})[0] == Numbers{0, 6, 7});
  CHECK_THROWS_WITH(evaluate("scatter_elements set %a, %b, %c axis 0", list, outside, {"[3], f32"}),
                    Catch::Contains("index 3 at [3] is outside 0..2"));
  CHECK(evaluate("gather %a, %b axis 0 outside clamped", {"[3], f32", "[2], i64"},
                 {{5, 6, 7}, {9, -9}}, {"[2], f32"})[0] == Numbers{7, 5});
  CHECK(evaluate("scatter_elements add %a, %b, %c axis 0", {"[3], f32", "[2], i64", "[2], f32"},
                 {{1, 2, 3}, {1, 1}, {5, 6}}, {"[3], f32"})[0] == Numbers{1, 13, 3});
  CHECK(evaluate("scatter_nd mul %a, %b, %c", {"[2, 2], i32", "[2, 1], i64", "[2, 2], i32"},
                 {{1, 2, 3, 4}, {1, 1}, {2, 3, 5, 7}},
                 {"[2, 2], i32"})[0] == Numbers{1, 2, 30, 84});
  CHECK(evaluate("scatter_nd max %a, %b, %c", {"[2, 2], ui8", "[1, 2], i64", "[1], ui8"},
                 {{1, 2, 3, 4}, {-1, 0}, {200}}, {"[2, 2], ui8"})[0] == Numbers{1, 2, 200, 4});
}

TEST_CASE("resize as in the ONNX description") {
  auto resize = [](const std::string &how, const std::string &from, const Numbers &data,
                   const std::string &to) {
    return evaluate("resize " + how, {from}, {data}, {to})[0];
  };
  close(resize("linear %a to [4, 4] scales [2.0, 2.0] coordinates half_pixel rounding floor",
               "[2, 2], f32", {1, 2, 3, 4}, "[4, 4], f32"),
        {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  close(resize("linear %a to [4] scales [0.0] coordinates align_corners rounding floor", "[2], f32",
               {1, 2}, "[4], f32"),
        {1, 4.0 / 3, 5.0 / 3, 2});
  close(
      resize("nearest %a to [1, 2] scales [0.6, 0.6] coordinates half_pixel rounding prefer_floor",
             "[2, 4], f32", {1, 2, 3, 4, 5, 6, 7, 8}, "[1, 2], f32"),
      {1, 3});
  Numbers image = counted(16);
  for (double &x : image)
    x += 1;
  Numbers cubic =
      resize("cubic %a to [8, 8] scales [2.0, 2.0] coordinates half_pixel rounding floor",
             "[4, 4], f32", image, "[8, 8], f32");
  cubic.resize(8);
  close(cubic,
        {0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375});
  Numbers outside = resize("cubic %a to [8, 8] scales [2.0, 2.0] coordinates half_pixel rounding "
                           "floor {cubic_a = -0.5 : f64, exclude_outside}",
                           "[4, 4], f32", image, "[8, 8], f32");
  outside.resize(8);
  close(outside, {0.55882353, 0.81494204, 1.35698249, 1.89705882, 2.39705882, 2.93713516,
                  3.47917561, 3.73529412});
}

TEST_CASE("shifts, tests of floats, activations") {
  CHECK(evaluate("shift left %a, %b", {"[4], ui8", "[4], ui8"}, {{16, 4, 1, 255}, {1, 2, 7, 8}},
                 {"[4], ui8"})[0] == Numbers{32, 16, 128, 0});
  CHECK(evaluate("shift right %a, %b", {"[3], i8", "[3], i8"}, {{-128, -1, 64}, {1, 100, 2}},
                 {"[3], i8"})[0] == Numbers{-64, -1, 16});
  CHECK(evaluate("is_inf %a {positive = false}", {"[4], f32"}, {{-INFINITY, INFINITY, NAN, 1}},
                 {"[4], i1"})[0] == Numbers{1, 0, 0, 0});
  close(evaluate("activation selu %a {alpha = 2.0, beta = 3.0}", {"[3], f32"}, {{-1, 0, 1}},
                 {"[3], f32"})[0],
        {-3.79272335, 0, 3});
  close(evaluate("activation shrink %a {alpha = 1.5, beta = 1.5}", {"[5], f32"},
                 {{-2, -1, 0, 1, 2}}, {"[5], f32"})[0],
        {-0.5, 0, 0, 0, 0.5});
  close(evaluate("activation thresholded_relu %a {alpha = 2.0}", {"[3], f32"}, {{-1.5, 2, 2.5}},
                 {"[3], f32"})[0],
        {0, 0, 2.5});
}

TEST_CASE("whole numbers and comparisons are decided about the number that the type can hold") {
  for (bool wide : {false, true}) {
    auto one = [&](const char *op, double x) {
      return evaluate(op, {wide ? "[1], f64" : "[1], f32"}, {{x}},
                      {wide ? "[1], f64" : "[1], f32"})[0][0];
    };
    CHECK(one("floor %a", 5.99999998) == (wide ? 5 : 6));
    CHECK(one("ceil %a", 6.00000002) == (wide ? 7 : 6));
    CHECK(one("round %a", 6.50000002) == (wide ? 7 : 6));
    CHECK(evaluate("convert %a to i64", {wide ? "[1], f64" : "[1], f32"}, {{5.99999998}},
                   {"[1], i64"})[0] == Numbers{wide ? 5.0 : 6.0});
    std::string type = wide ? "[1], f64" : "[1], f32";
    CHECK(evaluate("compare lt %a, %b", {type, type}, {{5.99999998}, {6}}, {"[1], i1"})[0] ==
          Numbers{wide ? 1.0 : 0.0});
  }
}
