// The operators behind convolutional and indexing models, compiled and compared with the reference evaluator at sizes 0, 1, odd ones
// and beyond a vector.
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft::test;

/// One case: an operation on arguments %0, %1, …, their types, and the result types.
struct Case {
  std::string op;
  std::vector<std::string> inputs, results;
  std::string symbols = "m, n";
};

static std::string list(const std::vector<std::string> &types) {
  std::string text;
  for (const std::string &type : types)
    text += (text.empty() ? "!weft.tensor<" : ", !weft.tensor<") + type + ">";
  return text;
}

static std::string textOf(const Case &c) {
  std::string arguments, values;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    arguments +=
        (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": !weft.tensor<" + c.inputs[i] + ">";
  for (size_t i = 0; i < c.results.size(); ++i)
    values += (i ? ", %r#" : "%r#") + std::to_string(i);
  return "func.func @main(" + arguments + ") -> (" + list(c.results) +
         ") attributes {weft.symbols = #weft.symbols<" + c.symbols +
         ">} {\n  %r:" + std::to_string(c.results.size()) + " = weft." + c.op + " : (" +
         list(c.inputs) + ") -> (" + list(c.results) + ")\n  return " + values + " : " +
         list(c.results) + "\n}\n";
}

static void agrees(const std::string &text, std::initializer_list<Sizes> all, double tolerance,
                   int64_t limit = 8) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &sizes : all) {
      std::string where;
      for (auto &[name, value] : sizes)
        where += name + "=" + std::to_string(value) + " ";
      INFO(where);
      double difference = program.difference(sizes, 1, limit);
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
  }
}

static void agrees(const Case &c, std::initializer_list<Sizes> all, double tolerance = 1e-5,
                   int64_t limit = 8) {
  agrees(textOf(c), all, tolerance, limit);
}

static const std::initializer_list<Sizes> kSizes = {
    {{"m", 0}, {"n", 3}}, {{"m", 1}, {"n", 1}}, {{"m", 2}, {"n", 17}}, {{"m", 3}, {"n", 40}}};

//===-- Tables, and other orders -----------------------------------------------------------------===//

TEST_CASE("look_up: bytes of either sign in tables that lie in memory") {
  for (const char *byte : {"i8", "ui8"})
    agrees({"look_up %a, %b", {std::string("[m, n], ") + byte, "[256], i8"}, {"[m, n], i8"}},
           {{{"m", 0}, {"n", 3}}, {{"m", 1}, {"n", 1}}, {{"m", 9}, {"n", 97}}}, 0, 256);
}

/// x * sigmoid(x) with bytes between.
static std::string siluOfBytes(const std::string &byte, int zero) {
  std::string type = "!weft.tensor<[m, n], " + byte + ">", real = "!weft.tensor<[m, n], f32>",
              with = ", !weft.tensor<[], f32>, !weft.tensor<[], " + byte + ">) -> ";
  auto number = [&](const char *name, const std::string &value, const std::string &element) {
    return std::string("  %") + name + " = weft.fill " + value + " : " + element + " -> <[], " +
           element + ">\n";
  };
  return "func.func @main(%x: " + type + ") -> " + type +
         " attributes {weft.symbols = #weft.symbols<m, n>} {\n" +
         number("s", "7.000000e-02", "f32") + number("t", "3.921569e-03", "f32") +
         number("z", std::to_string(zero), byte) + "  %0 = weft.dequantize %x, %s, %z : (" + type +
         with + real + "\n  %1 = weft.activation sigmoid %0 : (" + real + ") -> " + real +
         "\n  %2 = weft.quantize %1, %t, %z : (" + real + with + type +
         "\n  %3 = weft.dequantize %2, %t, %z : (" + type + with + real +
         "\n  %4 = weft.mul %0, %3 : (" + real + ", " + real + ") -> " + real +
         "\n  %5 = weft.quantize %4, %s, %z : (" + real + with + type + "\n  return %5 : " + type +
         "\n}\n";
}

TEST_CASE("functions of one byte give the evaluator's bits") {
  for (auto [byte, zero] : {std::pair("i8", -3), {"ui8", 128}})
    agrees(siluOfBytes(byte, zero),
           {{{"m", 0}, {"n", 3}}, {{"m", 1}, {"n", 1}}, {{"m", 9}, {"n", 97}}}, 0, 256);
}

TEST_CASE("transpose: channels to the front, with lines of any length") {
  agrees({"transpose %a [0, 3, 1, 2]", {"[m, 5, n, 21], f32"}, {"[m, 21, 5, n], f32"}}, kSizes, 0);
  agrees({"transpose %a [0, 3, 1, 2]", {"[m, n, 40, 9], ui8"}, {"[m, 9, n, 40], ui8"}}, kSizes, 0);
  agrees({"transpose %a [2, 0, 1]", {"[m, n, 8], f32"}, {"[8, m, n], f32"}}, kSizes, 0);
  agrees({"transpose %a [0, 4, 1, 2, 3]", {"[2, m, 3, n, 10], i4"}, {"[2, 10, m, 3, n], i4"}},
         kSizes, 0);
}

//===-- Windows ----------------------------------------------------------------------------------===//

TEST_CASE("conv: padding, strides, dilations, one to three dimensions") {
  agrees(
      {"conv %a, %b strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32",
       {"[m, 3, n, 9], f32", "[5, 3, 3, 3], f32"},
       {"[m, 5, n, 9], f32"}},
      kSizes);
  agrees(
      {"conv %a, %b strides [2, 3] dilations [1, 2] low [2, 0] high [1, 3] groups 1 accumulate f32",
       {"[m, 2, 8, n], f32", "[4, 2, 3, 2], f32"},
       {"[m, 4, 5, floordiv(n, 3) + 1], f32"}},
      kSizes);
  agrees({"conv %a, %b strides [1] dilations [1] low [0] high [0] groups 1 accumulate f32",
          {"[m, 3, n], f32", "[4, 3, 1], f32"},
          {"[m, 4, n], f32"}},
         kSizes);
  agrees({"conv %a, %b strides [1, 1, 2] dilations [1, 1, 1] low [0, 1, 0] high [0, 1, 1] groups 1 "
          "accumulate f32",
          {"[m, 2, 3, 4, n], f32", "[3, 2, 2, 3, 1], f32"},
          {"[m, 3, 2, 4, floordiv(n, 2) + 1], f32"}},
         kSizes);
}

TEST_CASE("conv: groups, one channel per group, integers") {
  agrees(
      {"conv %a, %b strides [1, 1] dilations [1, 1] low [1, 0] high [0, 1] groups 2 accumulate f32",
       {"[m, 4, 5, n], f32", "[6, 2, 2, 2], f32"},
       {"[m, 6, 5, n], f32"}},
      kSizes);
  agrees({"conv %a, %b strides [1] dilations [1] low [1] high [1] groups 6 accumulate f32",
          {"[m, 6, n], f32", "[6, 1, 3], f32"},
          {"[m, 6, n], f32"}},
         kSizes);
  agrees({"conv %a, %b strides [1] dilations [1] low [1] high [1] groups 1 accumulate i32",
          {"[m, 3, n], ui8", "[2, 3, 3], i8"},
          {"[m, 2, n], i32"}},
         kSizes, 0, 256);
}

TEST_CASE("conv: its producers are computed once, its consumers with it") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, 4, n, 7], f32>, %w: !weft.tensor<[4, 4, 3, 3], f32>, %b: !weft.tensor<[4, 1, 1], f32>)
      -> !weft.tensor<[m, 4, n, 7], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.activation silu %x : (!weft.tensor<[m, 4, n, 7], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  %1 = weft.conv %0, %w strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[m, 4, n, 7], f32>, !weft.tensor<[4, 4, 3, 3], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  %2 = weft.add %1, %b : (!weft.tensor<[m, 4, n, 7], f32>, !weft.tensor<[4, 1, 1], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  %3 = weft.activation relu %2 : (!weft.tensor<[m, 4, n, 7], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  %4 = weft.conv %3, %w strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[m, 4, n, 7], f32>, !weft.tensor<[4, 4, 3, 3], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  %5 = weft.add %4, %x : (!weft.tensor<[m, 4, n, 7], f32>, !weft.tensor<[m, 4, n, 7], f32>) -> !weft.tensor<[m, 4, n, 7], f32>
  return %5 : !weft.tensor<[m, 4, n, 7], f32>
})",
      {{{"m", 0}, {"n", 3}}, {{"m", 1}, {"n", 1}}, {{"m", 2}, {"n", 6}}}, 1e-5);
}

TEST_CASE("conv_transpose gathers what the windows of the operand scatter") {
  agrees(
      {"conv_transpose %a, %b strides [2] dilations [1] low [1] high [0] groups 1 accumulate f32",
       {"[m, 3, n + 1], f32", "[3, 4, 3], f32"},
       {"[m, 4, 2*n + 2], f32"}},
      kSizes);
  agrees({"conv_transpose %a, %b strides [3, 2] dilations [1, 2] low [1, 0] high [0, -1] groups 2 "
          "accumulate f32",
          {"[m, 4, 3, n + 1], f32", "[4, 3, 2, 2], f32"},
          {"[m, 6, 7, 2*n + 4], f32"}},
         kSizes);
}

TEST_CASE("pool: maximum, average and sum of windows, and where the maximum is") {
  for (const char *kind : {"max", "average", "sum"})
    agrees({std::string("pool ") + kind +
                " %a kernel [3, 2] strides [2, 1] dilations [1, 2] low [1, 0] high [1, 1]",
            {"[m, 2, 7, n + 1], f32"},
            {"[m, 2, 4, n], f32"}},
           kSizes);
  agrees({"pool average %a kernel [3] strides [2] dilations [1] low [1] high [1] {count_padding, "
          "sizes = #weft.dims<[ceildiv(n, 2) + 1]>}",
          {"[m, n + 1], f32"},
          {"[m, ceildiv(n, 2) + 1], f32"}},
         kSizes);
  agrees({"pool max %a kernel [2] strides [2] dilations [1] low [0] high [0]",
          {"[m, 2*n], i8"},
          {"[m, n], i8"}},
         kSizes, 0, 256);
  agrees({"pool max %a kernel [2] strides [2] dilations [1] low [0] high [0]",
          {"[m, 2*n], ui8"},
          {"[m, n], ui8"}},
         kSizes, 0, 256);
  agrees({"pool_index %a kernel [3, 3] strides [2, 1] dilations [1, 1] low [1, 1] high [1, 1]",
          {"[m, 5, n], f32"},
          {"[m, 3, n], i64"}},
         kSizes, 0);
  agrees({"pool_index %a kernel [3] strides [1] dilations [1] low [1] high [1]",
          {"[m, n], i32"},
          {"[m, n], i64"}},
         kSizes, 0, 4);
}

//===-- Order ------------------------------------------------------------------------------------===//

TEST_CASE("arg_reduce: first or last, any axis") {
  for (const char *kind : {"max", "min"})
    for (const char *which : {"", " {select_last}"}) {
      agrees(
          {std::string("arg_reduce ") + kind + " %a axis 1" + which, {"[m, n], i32"}, {"[m], i64"}},
          kSizes, 0);
      agrees(
          {std::string("arg_reduce ") + kind + " %a axis 0" + which, {"[n, m], f32"}, {"[m], i64"}},
          kSizes, 0);
    }
  agrees({"arg_reduce max %a axis 1", {"[m, n, 3], ui8"}, {"[m, 3], i64"}}, kSizes, 0, 256);
}

TEST_CASE("cumulate: exclusive, reversed, any axis and combiner") {
  for (const char *how : {"", " {exclusive}", " {reverse}", " {exclusive, reverse}"}) {
    agrees({std::string("cumulate sum %a axis 1") + how, {"[m, n], f32"}, {"[m, n], f32"}}, kSizes);
    agrees({std::string("cumulate prod %a axis 0") + how, {"[n, m], i32"}, {"[n, m], i32"}}, kSizes,
           0);
  }
  agrees({"cumulate max %a axis 1", {"[m, n, 3], i64"}, {"[m, n, 3], i64"}}, kSizes, 0);
}

TEST_CASE("top_k: a part of the line, the whole line, ties in order") {
  agrees({"top_k %a k [3] axis 1", {"[m, n + 2], f32"}, {"[m, 3], f32", "[m, 3], i64"}}, kSizes, 0);
  agrees({"top_k %a k [n] axis 0 {smallest}", {"[n, m], i32"}, {"[n, m], i32", "[n, m], i64"}},
         kSizes, 0);
  agrees({"top_k %a k [n] axis 1", {"[m, n, 2], ui8"}, {"[m, n, 2], ui8", "[m, n, 2], i64"}},
         kSizes, 0, 256);
  agrees({"top_k %a k [4] axis 1", {"[m, n], i64"}, {"[m, 4], i64", "[m, 4], i64"}}, kSizes, 0,
         3); // lines shorter than k
}

TEST_CASE(
    "random_uniform: the evaluator's numbers to the last bit, whatever the seed and the size") {
  auto text = [](const std::string &dims) { // the second argument says the sizes
    std::string type = "!weft.tensor<" + dims + ", f64>";
    return "func.func @main(%a: !weft.tensor<[], i64>, %b: " + type + ") -> " + type +
           " attributes {weft.symbols = #weft.symbols<m, n>} {\n  %r = weft.random_uniform %a : "
           "(!weft.tensor<[], i64>) -> " +
           type + "\n  return %r : " + type + "\n}\n";
  };
  agrees(text("[m, 3, n]"), kSizes, 0);
  Program program(text("[m, n]"));
  INFO(program.error());
  REQUIRE(program.error().empty());
  for (int64_t seed : {int64_t(0), int64_t(1), int64_t(-1), int64_t(1) << 31, INT64_MAX})
    for (int64_t size : {0, 1, 2, 311, 312, 313, 2000}) {
      INFO("seed " << seed << ", " << size << " numbers");
      std::vector<Tensor> inputs = program.generate({{"m", 1}, {"n", size}}, 1);
      memcpy(inputs[0].bytes.data(), &seed, sizeof(seed));
      std::vector<Tensor> results = program.run(inputs);
      REQUIRE(results.size() == 1);
      CHECK(results[0].reference().reals == program.evaluate(inputs)[0].reals);
    }
}

TEST_CASE("top_k orders nan above all numbers") {
  Program program(textOf({"top_k %a k [4] axis 0", {"[n], f32"}, {"[4], f32", "[4], i64"}, "n"}));
  REQUIRE(program.error().empty());
  std::vector<Tensor> inputs = program.generate({{"n", 6}}, 1);
  const float data[] = {1, NAN, -INFINITY, INFINITY, NAN, 1};
  memcpy(inputs[0].bytes.data(), data, sizeof(data));
  std::vector<Tensor> results = program.run(inputs);
  REQUIRE(results.size() == 2);
  weft::RefTensor positions = results[1].reference();
  CHECK(positions.integers == std::vector<int64_t>{1, 4, 3, 0});
  CHECK(program.evaluate(inputs)[1].integers == positions.integers);
}

//===-- Positions from data ----------------------------------------------------------------------===//

TEST_CASE("gather_elements and gather_nd move positions outside to the nearest inside") {
  agrees({"gather_elements %a, %b axis 1 outside clamped",
          {"[m, n], f32", "[m, 5], i64"},
          {"[m, 5], f32"}},
         kSizes, 0, 40);
  agrees({"gather_elements %a, %b axis 0 outside clamped",
          {"[4, n], i32", "[m, n], i32"},
          {"[m, n], i32"}},
         kSizes, 0);
  agrees({"gather_nd %a, %b batch 0 outside clamped",
          {"[m, n, 3], f32", "[7, 2], i64"},
          {"[7, 3], f32"}},
         kSizes, 0, 40);
  agrees({"gather_nd %a, %b batch 1 outside clamped",
          {"[m, n, 3], f32", "[m, 4, 1], i64"},
          {"[m, 4, 3], f32"}},
         kSizes, 0, 40);
  agrees({"gather_nd %a, %b batch 0 outside clamped",
          {"[m, n], f32", "[2, 5, 2], i32"},
          {"[2, 5], f32"}},
         kSizes, 0);
}

TEST_CASE("scatter_elements and scatter_nd run in order and leave out what is outside") {
  for (const char *kind : {"set", "add", "mul", "max", "min"}) {
    agrees({std::string("scatter_elements ") + kind + " %a, %b, %c axis 1 outside clamped",
            {"[m, n], f32", "[m, 5], i64", "[m, 5], f32"},
            {"[m, n], f32"}},
           kSizes);
    agrees({std::string("scatter_nd ") + kind + " %a, %b, %c outside clamped",
            {"[m, n, 3], i32", "[4, 2], i64", "[4, 3], i32"},
            {"[m, n, 3], i32"}},
           kSizes, 0);
    // Halves are rounded after each update, where the evaluator rounds once.
    for (auto [element, tolerance] :
         {std::pair("f32", 0.0), {"ui8", 0.0}, {"f16", 2e-3}, {"bf16", 1e-2}}) {
      std::string rows = std::string("[m, n], ") + element;
      agrees({std::string("scatter_nd ") + kind + " %a, %b, %c outside clamped",
              {rows, "[5, 1], i64", std::string("[5, n], ") + element},
              {rows}},
             kSizes, tolerance);
    }
  }
  agrees({"scatter_elements add %a, %b, %c axis 0 outside clamped",
          {"[4, 6], f64", "[m, n], i32", "[m, n], f64"},
          {"[4, 6], f64"}},
         kSizes);
  agrees({"scatter_nd set %a, %b, %c outside clamped",
          {"[m, n], i1", "[3, 1], i64", "[3, n], i1"},
          {"[m, n], i1"}},
         kSizes, 0);
}

TEST_CASE("negative positions count from the end") {
  for (const Case &c : {Case{"gather_elements %a, %b axis 0 outside clamped",
                             {"[n], f32", "[5], i64"},
                             {"[5], f32"},
                             "n"},
                        Case{"gather_nd %a, %b batch 0 outside clamped",
                             {"[n], f32", "[5, 1], i64"},
                             {"[5], f32"},
                             "n"},
                        Case{"scatter_elements set %a, %b, %c axis 0 outside clamped",
                             {"[n], f32", "[5], i64", "[5], f32"},
                             {"[n], f32"},
                             "n"},
                        Case{"scatter_nd add %a, %b, %c outside clamped",
                             {"[n], f32", "[5, 1], i64", "[5], f32"},
                             {"[n], f32"},
                             "n"}}) {
    Program program(textOf(c));
    INFO(c.op << " " << program.error());
    REQUIRE(program.error().empty());
    std::vector<Tensor> inputs = program.generate({{"n", 7}}, 1);
    const int64_t positions[] = {-1, -7, 3, -8, 7}; // the last two are outside
    memcpy(inputs[1].bytes.data(), positions, sizeof(positions));
    std::vector<Tensor> results = program.run(inputs);
    REQUIRE(results.size() == 1);
    CHECK(results[0].reference().reals == program.evaluate(inputs)[0].reals);
  }
}

TEST_CASE("nothing is fused behind a scatter or reads a line at another place") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n], f32>, %i: !weft.tensor<[m, 2], i64>, %u: !weft.tensor<[m, 2], f32>)
      -> (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.exp %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.scatter_elements add %0, %i, %u axis 1 outside clamped : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, 2], i64>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.neg %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %1, %2 : !weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>
})",
      kSizes, 1e-5);
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n, n], f32>) -> !weft.tensor<[n, n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.softmax %x : (!weft.tensor<[n, n], f32>) -> !weft.tensor<[n, n], f32>
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[n, n], f32>) -> !weft.tensor<[n, n], f32>
  %2 = weft.sub %0, %1 : (!weft.tensor<[n, n], f32>, !weft.tensor<[n, n], f32>) -> !weft.tensor<[n, n], f32>
  return %2 : !weft.tensor<[n, n], f32>
})",
      {{{"n", 1}}, {{"n", 19}}}, 1e-5);
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n], f32>, %i: !weft.tensor<[m, n], i64>) -> !weft.tensor<[m, n], f32>
      attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.softmax %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.gather_elements %0, %i axis 0 outside clamped : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], i64>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
})",
      kSizes, 1e-5);
}

TEST_CASE("serial operators read through views, and their results do not depend on the number of "
          "threads") {
  std::string text =
      R"(func.func @main(%x: !weft.tensor<[n, m], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, n], f32>)
      attributes {weft.symbols = #weft.symbols<m, n : "3 <= n">} {
  %0 = weft.transpose %x [1, 0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[m, n], f32>
  %1, %2 = weft.top_k %0 k [3] axis 1 : (!weft.tensor<[m, n], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], i64>)
  %3 = weft.cumulate sum %0 axis 1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %1, %3 : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, n], f32>
})";
  agrees(text, {{{"m", 0}, {"n", 3}}, {{"m", 1}, {"n", 3}}, {{"m", 5}, {"n", 33}}}, 1e-5);
  Program one(text, "x86:host", 1), two(text, "x86:host", 2);
  auto inputs = one.generate({{"m", 300}, {"n", 50}}, 3);
  CHECK(one.run(inputs)[0].bytes == two.run(inputs)[0].bytes);
  CHECK(one.run(inputs)[1].bytes == two.run(inputs)[1].bytes);
}

//===-- Elementwise ------------------------------------------------------------------------------===//

static void agreesPointwise(const std::string &op, const std::string &to = "f32",
                            double tolerance = 1e-5) {
  agrees({op, {"[m, n], f32"}, {"[m, n], " + to}}, {{{"m", 3}, {"n", 29}}, {{"m", 1}, {"n", 1}}},
         tolerance);
}

TEST_CASE("trigonometric and hyperbolic functions and their inverses") {
  for (const char *op : {"tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
                         "atanh"}) // nan outside their domains
    agreesPointwise(std::string(op) + " %a", "f32", std::string(op) == "tan" ? 1e-3 : 1e-5);
}

TEST_CASE("activations by name") {
  for (const char *kind :
       {"selu %a {alpha = 1.67326, beta = 1.0507}", "celu %a {alpha = 1.5}", "mish %a",
        "softsign %a", "thresholded_relu %a {alpha = 0.5}", "shrink %a {alpha = 0.5, beta = 0.25}"})
    agreesPointwise("activation " + std::string(kind));
}

TEST_CASE("mish far from zero") {
  Program program(textOf({"activation mish %a", {"[n], f32"}, {"[n], f32"}, "n"}));
  std::vector<Tensor> inputs = program.generate({{"n", 4}}, 1);
  const float data[] = {-90, -10, 50, 1e30f};
  memcpy(inputs[0].bytes.data(), data, sizeof(data));
  std::vector<double> got = program.run(inputs)[0].reference().reals,
                      expected = program.evaluate(inputs)[0].reals;
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("the larger and the smaller of two are nan where one of them is") {
  const float a[] = {1, NAN, 2, NAN, -INFINITY}, b[] = {NAN, 1, 3, NAN, 0};
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"}))
    for (const char *op : {"maximum %a, %b", "minimum %a, %b"}) {
      Program program(textOf({op, {"[n], f32", "[n], f32"}, {"[n], f32"}, "n"}), target);
      INFO(op << " " << target << " " << program.error());
      REQUIRE(program.error().empty());
      std::vector<Tensor> inputs = program.generate({{"n", 5}}, 1);
      memcpy(inputs[0].bytes.data(), a, sizeof(a));
      memcpy(inputs[1].bytes.data(), b, sizeof(b));
      std::vector<double> got = program.run(inputs)[0].reference().reals,
                          expected = program.evaluate(inputs)[0].reals;
      for (size_t i = 0; i < got.size(); ++i)
        CHECK((std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]));
    }
}

TEST_CASE("nan, infinities and shifts") {
  for (const char *op :
       {"is_nan %a", "is_inf %a", "is_inf %a {negative = false}", "is_inf %a {positive = false}"}) {
    Program program(textOf({op, {"[n], f32"}, {"[n], i1"}, "n"}));
    INFO(op << " " << program.error());
    REQUIRE(program.error().empty());
    std::vector<Tensor> inputs = program.generate({{"n", 5}}, 1);
    const float data[] = {1, NAN, -INFINITY, INFINITY, 0};
    memcpy(inputs[0].bytes.data(), data, sizeof(data));
    CHECK(program.run(inputs)[0].reference().integers == program.evaluate(inputs)[0].integers);
  }
  for (const char *element : {"ui8", "i8", "ui32", "i64"})
    for (const char *direction : {"left", "right"}) {
      std::string type = std::string("[m, n], ") + element;
      agrees({std::string("shift ") + direction + " %a, %b", {type, type}, {type}}, kSizes, 0, 100);
    }
}

//===-- resize -----------------------------------------------------------------------------------===//

TEST_CASE("resize: every mode, coordinate and rounding") {
  auto how = [](const char *coordinates, const char *rounding) {
    return std::string(" coordinates ") + coordinates + " rounding " + rounding;
  };
  for (const char *rounding : {"prefer_floor", "prefer_ceil", "floor", "ceil"})
    agrees({"resize nearest %a to [m, 2*n] scales [0.0, 2.0]" + how("half_pixel", rounding),
            {"[m, n], f32"},
            {"[m, 2*n], f32"}},
           kSizes, 0);
  for (const char *coordinates :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"})
    agrees({"resize linear %a to [m, 7, n] scales [1.0, 0.0, 0.0]" + how(coordinates, "floor"),
            {"[m, 4, 2*n], f32"},
            {"[m, 7, n], f32"}},
           kSizes);
  agrees({"resize cubic %a to [m, 5, 3*n] scales [0.0, 1.3, 0.0]" + how("align_corners", "floor"),
          {"[m, 4, n], f32"},
          {"[m, 5, 3*n], f32"}},
         kSizes);
  agrees({"resize cubic %a to [m, 3*n] scales [0.0, 0.0]" + how("half_pixel", "floor") +
              " {cubic_a = -0.5 : f64, exclude_outside}",
          {"[m, n], f32"},
          {"[m, 3*n], f32"}},
         kSizes);
  agrees({"resize nearest %a to [m, floordiv(3*n, 5)] scales [0.0, 0.6] coordinates half_pixel "
          "rounding prefer_floor",
          {"[m, n], i32"},
          {"[m, floordiv(3*n, 5)], i32"}},
         kSizes, 0);
}
