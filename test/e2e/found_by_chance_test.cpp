// Programs that once failed: found by test/differential, made small. Each sentence says what was wrong.
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft::test;

static void agrees(const std::string &text, std::initializer_list<Sizes> all,
                   double tolerance = 1e-5) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &sizes : all) {
      double difference = program.difference(sizes);
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
  }
}

// What 'dequantize' is depends on its readers, and what 'convert' is depended on its operand: the compiler asked without end.
TEST_CASE("restored integers are converted to narrower floats") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, 5], i8>) -> !weft.tensor<[m, 5], f16>
    attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.fill 7.000000e-02 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 0 : i8 -> !weft.tensor<[], i8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 5], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 5], f32>
  %1 = weft.convert %0 to f16 : (!weft.tensor<[m, 5], f32>) -> !weft.tensor<[m, 5], f16>
  return %1 : !weft.tensor<[m, 5], f16>
})",
         {{{"m", 0}}, {{"m", 1}}, {{"m", 7}}}, 1e-3);
}

// The evaluator counted the elements of a window along the dimensions before those that the windows move over.
TEST_CASE("averages with channels last count the elements of their windows") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n, 5], f32>) -> (!weft.tensor<[m, n, 5], f32>, !weft.tensor<[m, n, 5], f32>)
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.pool average %x kernel [5] strides [1] dilations [1] low [2] high [2] {channels_last, count_padding}
     : (!weft.tensor<[m, n, 5], f32>) -> !weft.tensor<[m, n, 5], f32>
  %1 = weft.pool average %x kernel [3] strides [1] dilations [1] low [1] high [1] {channels_last}
     : (!weft.tensor<[m, n, 5], f32>) -> !weft.tensor<[m, n, 5], f32>
  return %0, %1 : !weft.tensor<[m, n, 5], f32>, !weft.tensor<[m, n, 5], f32>
})",
      {{{"m", 0}, {"n", 3}}, {{"m", 2}, {"n", 1}}, {{"m", 3}, {"n", 9}}});
}

// Without a sum, what a window that lies outside contributes was no value: the compiler crashed.
TEST_CASE("a filter of one element with one channel per group moves in strides") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, n, 8], f32>, %w: !weft.tensor<[8, 1, 1], f32>)
    -> !weft.tensor<[m, floordiv(n + 1, 2) + 1, 8], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.conv %x, %w strides [2] dilations [1] low [1] high [1] groups 8 accumulate f32 {channels_last}
     : (!weft.tensor<[m, n, 8], f32>, !weft.tensor<[8, 1, 1], f32>) -> !weft.tensor<[m, floordiv(n + 1, 2) + 1, 8], f32>
  return %0 : !weft.tensor<[m, floordiv(n + 1, 2) + 1, 8], f32>
})",
         {{{"m", 0}, {"n", 3}}, {{"m", 2}, {"n", 1}}, {{"m", 3}, {"n", 10}}});
}

// The branch was removed because nobody read its result, though its size was read.
TEST_CASE("a size that a branch decides outlives the branch's result") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i1>) -> !weft.tensor<[u], f32>
    attributes {weft.symbols = #weft.symbols<n bound u : "u <= n">} {
  %0 = weft.if %c attributes {binds = ["u"]} : (!weft.tensor<[], i1>) -> !weft.tensor<[u], f32> {
    weft.yield %x : !weft.tensor<[n], f32>
  } else {
    %h = weft.slice %x from [0] size [floordiv(n, 2)] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[floordiv(n, 2)], f32>
    weft.yield %h : !weft.tensor<[floordiv(n, 2)], f32>
  }
  %1 = weft.fill 1.0 : f32 -> !weft.tensor<[u], f32>
  return %1 : !weft.tensor<[u], f32>
})",
      {{{"n", 0}}, {{"n", 1}}, {{"n", 9}}});
}

// The same for a loop that ends by a condition: how often it ran is a size.
TEST_CASE("how often a loop ran outlives what it computed") {
  agrees(R"(func.func @main(%x: !weft.tensor<[n], i64>) -> !weft.tensor<[c], f32>
    attributes {weft.symbols = #weft.symbols<n bound i, c : "i <= n", "c <= n">} {
  %zero = weft.fill 0 : i64 -> !weft.tensor<[], i64>
  %limit = weft.reduce max %x [0] : (!weft.tensor<[n], i64>) -> !weft.tensor<[], i64>
  %begin = weft.compare lt %zero, %limit : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i1>
  %last = weft.loop "i" trips [n] (%begin, %zero) attributes {count = "c"}
      : (!weft.tensor<[], i1>, !weft.tensor<[], i64>) -> !weft.tensor<[], i64> {
  ^bb0(%k: !weft.tensor<[], i64>):
    %one = weft.fill 1 : i64 -> !weft.tensor<[], i64>
    %next = weft.add %k, %one : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i64>
    %more = weft.compare lt %next, %limit : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i1>
    weft.yield %more, %next : !weft.tensor<[], i1>, !weft.tensor<[], i64>
  }
  %1 = weft.fill 1.0 : f32 -> !weft.tensor<[c], f32>
  return %1 : !weft.tensor<[c], f32>
})",
         {{{"n", 0}}, {{"n", 1}}, {{"n", 9}}});
}

// As above: the kind of 'round_blocks' depends on what it reads, and that on its readers.
TEST_CASE("restored integers are rounded in blocks") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, 32], ui8>) -> !weft.tensor<[m, 32], f32>
    attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.fill 2.500000e-01 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 7 : ui8 -> !weft.tensor<[], ui8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 32], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 32], f32>
  %1 = weft.round_blocks %0 block 16 : (!weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 32], f32>
  return %1 : !weft.tensor<[m, 32], f32>
})",
         {{{"m", 0}}, {{"m", 1}}, {{"m", 7}}},
         0.02); // one step: where products are rounded, a tie may fall to the other side
}

// A pool that had its channels last was given a transpose more, because the convolution before it moved them.
TEST_CASE("a convolution's channels move last in front of a pool with another order") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, 8, n], ui8>) -> !weft.tensor<[m, 8, n], f32>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %w = weft.fill 3 : i8 -> !weft.tensor<[8, 8, 1], i8>
  %0 = weft.conv %x, %w strides [1] dilations [1] low [0] high [0] groups 1 accumulate i32 : (!weft.tensor<[m, 8, n], ui8>, !weft.tensor<[8, 8, 1], i8>) -> !weft.tensor<[m, 8, n], i32>
  %1 = weft.convert %0 to f32 : (!weft.tensor<[m, 8, n], i32>) -> !weft.tensor<[m, 8, n], f32>
  %2 = weft.pool average %1 kernel [5] strides [1] dilations [1] low [2] high [2] {channels_last, count_padding} : (!weft.tensor<[m, 8, n], f32>) -> !weft.tensor<[m, 8, n], f32>
  return %2 : !weft.tensor<[m, 8, n], f32>
})",
         {{{"m", 5}, {"n", 1}}, {{"m", 1}, {"n", 33}}, {{"m", 2}, {"n", 7}}});
}

// Functions of rounded blocks became rounded blocks of functions.
TEST_CASE("functions of rounded blocks stay behind the rounding") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, 32], f32>, %q: !weft.tensor<[m, 32], ui8>) -> (!weft.tensor<[m, 32], f32>, !weft.tensor<[m, 32], f32>)
    attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.fill 6.250000e-02 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 0 : ui8 -> !weft.tensor<[], ui8>
  %d = weft.dequantize %q, %s, %z : (!weft.tensor<[m, 32], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 32], f32>
  %0 = weft.neg %x : (!weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 32], f32>
  %1 = weft.round_blocks %0 block 16 : (!weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 32], f32>
  %2 = weft.exp %1 : (!weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 32], f32>
  return %2, %d : !weft.tensor<[m, 32], f32>, !weft.tensor<[m, 32], f32>
})",
      {{{"m", 0}}, {{"m", 1}}, {{"m", 7}}});
}

// The product of both zero points was counted as often as the weight has rows, which is no constant here: it was counted zero times.
TEST_CASE("a weight of bytes that is cut by a symbol has a zero point") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, n], i8>) -> !weft.tensor<[m, 2], f32>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %s = weft.fill 5.000000e-01 : f32 -> !weft.tensor<[], f32>
  %za = weft.fill 3 : i8 -> !weft.tensor<[], i8>
  %zw = weft.constant dense<[5, -2]> : tensor<2xi8> -> !weft.tensor<[2], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %c = weft.slice %w from [0, 0] size [n, 2] step [1, 1] : (!weft.tensor<[4, 2], i8>) -> !weft.tensor<[n, 2], i8>
  %a = weft.dequantize %x, %s, %za : (!weft.tensor<[m, n], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, n], f32>
  %b = weft.dequantize %c, %s, %zw : (!weft.tensor<[n, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[2], i8>) -> !weft.tensor<[n, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
})",
         {{{"m", 2}, {"n", 4}}, {{"m", 3}, {"n", 1}}, {{"m", 1}, {"n", 0}}});
}

// The weights had a place in the file but no bytes, which no runtime opened.
TEST_CASE("a file whose only weight has no elements is opened") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m], i32>) -> (!weft.tensor<[m], i32>, !weft.tensor<[m, 8, 0], i32>)
    attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<> : tensor<1x8x0xi32> -> !weft.tensor<[1, 8, 0], i32>
  %0 = weft.neg %x : (!weft.tensor<[m], i32>) -> !weft.tensor<[m], i32>
  %1 = weft.expand %w to [m, 8, 0] : (!weft.tensor<[1, 8, 0], i32>) -> !weft.tensor<[m, 8, 0], i32>
  return %0, %1 : !weft.tensor<[m], i32>, !weft.tensor<[m, 8, 0], i32>
})",
      {{{"m", 0}}, {{"m", 3}}});
}

// The evaluator gave an infinity, which the type has not, and compiled code no number.
TEST_CASE("before the first element comes the least number of a type without infinities") {
  for (const char *kind : {"max", "min"}) {
    std::string type = "!weft.tensor<[m, 3], f8E4M3FN>";
    agrees("func.func @main(%x: " + type + ") -> " + type +
               " attributes {weft.symbols = #weft.symbols<m>} {\n  %0 = weft.cumulate " + kind +
               " %x axis 1 {exclusive} : (" + type + ") -> " + type + "\n  return %0 : " + type +
               "\n}",
           {{{"m", 2}}});
  }
}
