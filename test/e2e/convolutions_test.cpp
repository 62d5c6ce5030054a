// Convolutions with constant filters, which schedules of their own compute: compared with the reference evaluator over strides, dilations,
// padding and cropping, at sizes that fill no vector, no tile and no block.
#include "test/support/ConvolutionProgram.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

void agrees(const std::string &text, std::initializer_list<Sizes> all,
            const std::string &schedule = "convolution") {
  checkConvolution(text, all, {schedule});
}
void agrees(const Convolution &c, std::initializer_list<Sizes> all,
            const std::string &schedule = "convolution") {
  agrees(textOf(c), all, schedule);
}

} // namespace

TEST_CASE("convolution: 3x3 around every pixel, several tiles of filters") {
  agrees({5, 19, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
         {sizes(0, 5, 5), sizes(1, 0, 4), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 14, 14),
          sizes(1, 3, 40), sizes(1, 19, 33)});
}

TEST_CASE("convolution: strides") {
  agrees({3, 33, 1, {{3, 2, 1, 0, 1}, {3, 2, 1, 1, 0}}},
         {sizes(1, 1, 2), sizes(2, 7, 7), sizes(1, 16, 40), sizes(1, 5, 71)});
  agrees({2, 5, 1, {{5, 3, 1, 2, 2}, {2, 3, 1, 0, 4}}}, {sizes(1, 1, 1), sizes(1, 13, 50)});
  agrees({2, 14, 1, {{3, 4, 2, 1, 1}, {1, 2, 1, 0, 0}}},
         {sizes(1, 3, 1), sizes(1, 18, 37)}); // rows 0 and 2 of every 4 are read
}

TEST_CASE("convolution: dilations, padding on one side, cropping") {
  agrees({4, 13, 1, {{5, 1, 2, 4, -1}, {3, 1, 3, -1, 8}}},
         {sizes(1, 6, 2), sizes(2, 9, 17), sizes(1, 20, 31)});
  agrees({2, 6, 1, {{2, 1, 3, -2, -1}, {2, 1, 1, 20, 20}}}, {sizes(1, 6, 1), sizes(1, 12, 3)});
}

TEST_CASE("convolution: 1x1, in place or a stride apart, long sums") {
  agrees({40, 14, 1, {{}, {}}}, {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 13, 24)});
  agrees({401, 15, 1, {{}, {}}}, {sizes(1, 1, 1), sizes(2, 5, 9)});
  agrees({9, 8, 1, {{1, 2}, {1, 2}}}, {sizes(1, 1, 1), sizes(2, 9, 35)});
  agrees({9, 8, 1, {{1, 1, 1, 1, 0}, {1, 1, 1, 0, 2}}}, {sizes(0, 1, 1), sizes(2, 9, 35)});
  agrees({9, 8, 2, {{1, 1, 1, 0, -1}, {1, 1, 1, -1, 0}}}, {sizes(1, 2, 2), sizes(2, 9, 35)});
  agrees({50, 27, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
         {sizes(1, 2, 3), sizes(1, 7, 7), sizes(1, 9, 18)});
}

TEST_CASE("convolution: more taps than are written out") {
  agrees({3, 7, 1, {{7, 2, 1, 3, 3}, {7, 2, 1, 3, 3}}}, {sizes(1, 1, 1), sizes(1, 21, 37)});
  agrees({2, 5, 1, {{1}, {20, 1, 1, 10, 9}}}, {sizes(1, 2, 1), sizes(1, 3, 45)});
}

TEST_CASE("convolution: groups") {
  agrees({2, 12, 3, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}}, {sizes(1, 1, 1), sizes(2, 7, 9)});
  agrees({3, 34, 2, {{2}, {2}}}, {sizes(1, 1, 2), sizes(1, 8, 20)});
}

TEST_CASE("convolution: one channel per group and filter") {
  agrees({1, 7, 7, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
         {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 14, 14), sizes(1, 5, 39)},
         "depthwise");
  agrees({1, 3, 3, {{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}},
         {sizes(1, 1, 1), sizes(2, 8, 8), sizes(1, 9, 70)}, "depthwise");
  agrees({1, 2, 2, {{5, 1, 2, 4, -1}, {5, 1, 2, 0, 8}}},
         {sizes(1, 6, 2), sizes(1, 9, 40), sizes(1, 23, 70)}, "depthwise");
  agrees({1, 3, 3, {{3, 3, 1, 0, 1}, {4, 2, 3, 5, 2}}}, {sizes(1, 2, 3), sizes(1, 30, 90)},
         "depthwise");
  agrees({1, 2, 2, {{2, 3, 1, 0, 1}, {3, 3, 1, 1, -1}}},
         {sizes(1, 2, 4), sizes(1, 11, 60)}); // columns 3 apart
}

/// One filter per channel, channels last.
void agreesLast(int64_t channels, const std::vector<Axis> &axes, std::initializer_list<Sizes> all,
                const std::string &epilogue = "") {
  agrees({1, channels, channels, axes, epilogue, /*channelsLast=*/true}, all, "depthwise_last");
}

/// The program with a parameter of bytes, of which it restores what it convolves.
std::string ofBytes(std::string text, const std::string &element) {
  size_t begin = text.find("%x: "), end = text.find(") ->");
  std::string real = text.substr(begin + 4, end - begin - 4), bytes = real;
  bytes.replace(bytes.rfind("f32"), 3, element);
  text.replace(begin, end - begin, "%q: " + bytes);
  std::string number = " -> !weft.tensor<[], ";
  text.insert(text.find("} {\n") + 4,
              "  %s = weft.fill 0.25 : f32" + number + "f32>\n  %z = weft.fill 3 : " + element +
                  number + element + ">\n  %x = weft.dequantize %q, %s, %z : (" + bytes +
                  ", !weft.tensor<[], f32>, !weft.tensor<[], " + element + ">) -> " + real + "\n");
  return text;
}

TEST_CASE("convolution: one channel per group and filter, channels last") {
  const Axis same{3, 1, 1, 1, 1}, half{3, 2, 1, 1, 1};
  agreesLast(7, {same, same},
             {sizes(0, 5, 5), sizes(1, 0, 3), sizes(1, 3, 0), sizes(1, 1, 1), sizes(2, 7, 7),
              sizes(1, 14, 15), sizes(1, 5, 39)});
  agreesLast(35, {same, same}, {sizes(1, 1, 1), sizes(2, 6, 22), sizes(1, 3, 120)});
  agreesLast(32, {half, half}, {sizes(1, 1, 1), sizes(2, 8, 8), sizes(1, 9, 70)});
  agreesLast(16, {{3, 2, 1, 0, 1}, {3, 2, 1, 0, 1}}, {sizes(1, 2, 2), sizes(2, 8, 33)});
}

TEST_CASE("convolution: channels last, dilations, padding on one side, cropping, strides") {
  agreesLast(5, {{5, 1, 2, 4, -1}, {5, 1, 2, 0, 8}},
             {sizes(1, 6, 2), sizes(1, 9, 40), sizes(1, 23, 70)});
  agreesLast(19, {{3, 3, 1, 0, 1}, {4, 2, 3, 5, 2}}, {sizes(1, 2, 3), sizes(1, 30, 90)});
  agreesLast(33, {{2, 3, 1, 0, 1}, {3, 3, 1, 1, -1}}, {sizes(1, 2, 4), sizes(2, 11, 60)});
  agreesLast(2, {{2, 1, 1, -2, -1}, {2, 1, 1, 20, 20}}, {sizes(1, 6, 1), sizes(1, 12, 3)});
  agreesLast(18, {{3, 2, 2, 2, 2}, {3, 2, 2, 2, 2}}, {sizes(1, 1, 1), sizes(1, 11, 31)});
}

TEST_CASE("convolution: channels last, large filters, one dimension") {
  agreesLast(20, {{7, 1, 1, 3, 3}, {7, 1, 1, 3, 3}}, {sizes(1, 1, 1), sizes(1, 10, 30)});
  agreesLast(17, {{9, 2, 1, 4, 4}, {11, 1, 2, 10, 10}}, {sizes(1, 1, 1), sizes(2, 14, 40)});
  agreesLast(6, {{16, 1, 1, 8, 7}, {16, 2, 1, 8, 7}}, {sizes(1, 1, 2), sizes(1, 30, 45)});
  agreesLast(40, {{4, 1, 1, 3, 0}}, {line(1, 1), line(2, 50), line(1, 200)});
  agreesLast(9, {{75, 1, 1, 37, 37}}, {line(1, 1), line(2, 130)});
}

TEST_CASE(
    "convolution: one channel per group and filter, channels last, of bytes that are restored") {
  Axis same{3, 1, 1, 1, 1}, half{3, 2, 1, 1, 1};
  for (const char *element : {"ui8", "i8"}) {
    auto text = [&](int64_t channels, const std::vector<Axis> &axes) {
      return ofBytes(textOf({1, channels, channels, axes, "", /*channelsLast=*/true}), element);
    };
    agrees(text(35, {same, same}), {sizes(1, 1, 1), sizes(2, 6, 22)}, "depthwise_last");
    agrees(text(32, {half, half}), {sizes(1, 1, 1), sizes(2, 9, 33)}, "depthwise_last");
    agrees(text(6, {{16, 1, 1, 8, 7}, {16, 2, 1, 8, 7}}), {sizes(1, 1, 2), sizes(1, 30, 45)},
           "depthwise_last");
    agrees(text(40, {{4, 1, 1, 3, 0}}), {line(1, 1), line(2, 50)}, "depthwise_last");
  }
}

TEST_CASE(
    "convolution: channels last, what follows reads its operand, a channel's and a column's") {
  agreesLast(35, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
             {sizes(1, 1, 1), sizes(2, 5, 9), sizes(1, 8, 31)},
             R"(  %b = weft.iota dim 0 : !weft.tensor<[35], f32>
  %d = weft.iota dim 0 : !weft.tensor<[w, 1], f32>
  %0 = weft.add %y, %b : ($y, !weft.tensor<[35], f32>) -> $y
  %1 = weft.mul %0, %d : ($y, !weft.tensor<[w, 1], f32>) -> $y
  %2 = weft.activation silu %1 : ($y) -> $y
  %z = weft.add %2, %x : ($y, $x) -> $y
)");
}

TEST_CASE(
    "convolution: one channel per group and filter, channels last, with a constant for each") {
  for (int64_t channels : {8, 20, 33}) {
    std::string count = std::to_string(channels), type = "!weft.tensor<[" + count + "], f32>";
    agreesLast(channels, {{3, 1, 1, 1, 1}, {3, 2, 1, 1, 1}},
               {sizes(1, 1, 1), sizes(2, 5, 9), sizes(1, 8, 31)},
               "  %b = weft.constant " + filterText({channels}) + " -> " + type +
                   "\n  %0 = weft.add %b, %y : (" + type + ", $y) -> $y\n" +
                   "  %z = weft.activation silu %0 : ($y) -> $y\n");
  }
}

TEST_CASE("convolution: channels last, sizes are known") {
  for (auto [height, width] : {std::pair(7, 8), {9, 14}, {8, 30}, {1, 3}}) {
    std::string type = "!weft.tensor<[m, " + std::to_string(height) + ", " + std::to_string(width) +
                       ", 32], f32>",
                filter = "!weft.tensor<[32, 1, 3, 3], f32>";
    agrees("func.func @main(%x: " + type + ", %w: !weft.tensor<[w], f32>) -> " + type +
               " attributes {weft.symbols = #weft.symbols<m, w>} {\n  %f = weft.constant " +
               filterText({32, 1, 3, 3}) + " -> " + filter +
               "\n  %0 = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] "
               "groups 32 accumulate f32 {channels_last} : (" +
               type + ", " + filter + ") -> " + type + "\n  return %0 : " + type + "\n}\n",
           {line(1, 1), line(2, 1)}, "depthwise_last");
  }
}

TEST_CASE("convolution: one dimension") {
  agrees({6, 17, 1, {{3, 2, 1, 1, 1}}}, {line(1, 1), line(2, 9), line(1, 300)});
  agrees({1, 5, 5, {{4, 1, 1, 3, 0}}}, {line(1, 1), line(2, 50)}, "depthwise");
}

TEST_CASE("convolution: what follows walks over pixels in order") {
  agrees({4,
          15,
          1,
          {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
          R"(  %b = weft.fill 0.25 : f32 -> !weft.tensor<[15, 1, 1], f32>
  %0 = weft.add %y, %b : ($y, !weft.tensor<[15, 1, 1], f32>) -> $y
  %z = weft.activation silu %0 : ($y) -> $y
)"},
         {sizes(1, 1, 1), sizes(2, 5, 7)});
  agrees(
      {15, 15, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, "  %z = weft.add %x, %y : ($x, $y) -> $y\n"},
      {sizes(1, 1, 1), sizes(2, 5, 7)});
}

TEST_CASE("convolution: what follows differs from column to column") {
  agrees({4,
          15,
          1,
          {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}},
          R"(  %b = weft.iota dim 0 : !weft.tensor<[w], f32>
  %z = weft.add %y, %b : ($y, !weft.tensor<[w], f32>) -> $y
)"},
         {sizes(1, 1, 1), sizes(2, 5, 7), sizes(1, 3, 40)});
}

TEST_CASE("convolution: the operand is a view, the result one column") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, 6, w, h], f32>) -> !weft.tensor<[m, 5, h, w], f32>
      attributes {weft.symbols = #weft.symbols<m, h, w>} {
  %f = weft.constant )" +
             filterText({5, 6, 3, 3}) + R"( -> !weft.tensor<[5, 6, 3, 3], f32>
  %0 = weft.transpose %x [0, 1, 3, 2] : (!weft.tensor<[m, 6, w, h], f32>) -> !weft.tensor<[m, 6, h, w], f32>
  %1 = weft.conv %0, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[m, 6, h, w], f32>, !weft.tensor<[5, 6, 3, 3], f32>) -> !weft.tensor<[m, 5, h, w], f32>
  return %1 : !weft.tensor<[m, 5, h, w], f32>
})",
         {sizes(1, 1, 1), sizes(2, 4, 19)});
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, 6, w, 3], f32>) -> !weft.tensor<[m, 20, w - 1, 1], f32>
      attributes {weft.symbols = #weft.symbols<m, w>} {
  %f = weft.constant )" +
          filterText({20, 6, 2, 3}) + R"( -> !weft.tensor<[20, 6, 2, 3], f32>
  %0 = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32
     : (!weft.tensor<[m, 6, w, 3], f32>, !weft.tensor<[20, 6, 2, 3], f32>) -> !weft.tensor<[m, 20, w - 1, 1], f32>
  return %0 : !weft.tensor<[m, 20, w - 1, 1], f32>
})",
      {line(1, 1), line(2, 2), line(1, 40)});
}

namespace {

void agreesLast(Convolution c, std::initializer_list<Sizes> all) {
  c.channelsLast = true;
  agrees(textOf(c), all, "window_convolution");
}

} // namespace

TEST_CASE("convolution, channels last: strides, dilations, padding on one side, cropping") {
  agreesLast({5, 39, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
             {sizes(0, 5, 5), sizes(1, 0, 4), sizes(2, 3, 0), sizes(1, 1, 1), sizes(2, 7, 7),
              sizes(1, 3, 40)});
  agreesLast({3, 33, 1, {{3, 2, 1, 0, 1}, {3, 2, 1, 1, 0}}},
             {sizes(1, 1, 2), sizes(2, 7, 7), sizes(1, 16, 40), sizes(1, 5, 71)});
  agreesLast({4, 13, 1, {{5, 1, 2, 4, -1}, {3, 1, 3, -1, 8}}},
             {sizes(1, 6, 2), sizes(2, 9, 17), sizes(1, 20, 31)});
  agreesLast({3, 7, 1, {{7, 2, 1, 3, 3}, {7, 2, 1, 3, 3}}}, {sizes(1, 1, 1), sizes(1, 21, 37)});
}

TEST_CASE("convolution, channels last: in place, sums in several chains") {
  agreesLast({40, 14, 1, {{1, 2}, {1, 2}}},
             {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 13, 24)});
  agreesLast({401, 15, 1, {{1, 3}, {}}}, {sizes(1, 1, 1), sizes(2, 5, 9)});
  agreesLast({150, 40, 1, {{2, 1, 1, 0, 1}, {3, 1, 1, 1, 1}}}, {sizes(1, 2, 3), sizes(1, 9, 18)});
}

TEST_CASE("convolution, channels last: few filters") {
  agreesLast({12, 3, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}},
             {sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 3, 40)});
  agreesLast({2, 16, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}}, {sizes(2, 7, 9)});
}

TEST_CASE("convolution, channels last: one dimension") {
  agreesLast({6, 17, 1, {{3, 2, 1, 1, 1}}}, {line(1, 0), line(1, 1), line(2, 9), line(1, 300)});
}

TEST_CASE("convolution, channels last: an operand that is computed on the way") {
  for (int64_t channels : {3, 9}) {
    Convolution c{channels, 33, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
    c.channelsLast = true;
    std::string text = textOf(c), x = "[m, h, w, " + std::to_string(channels) + "], f32>";
    size_t at = text.find("  %y");
    text.insert(at, "  %t = weft.transpose %x0 [0, 2, 3, 1] : (!weft.tensor<[m, " +
                        std::to_string(channels) + ", h, w], f32>) -> !weft.tensor<" + x + "\n");
    text.replace(text.find("conv %x"), 7, "conv %t");
    text.replace(text.find("main(%x: !weft.tensor<" + x),
                 std::string("main(%x: !weft.tensor<" + x).size(),
                 "main(%x0: !weft.tensor<[m, " + std::to_string(channels) + ", h, w], f32>");
    agrees(text, {sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 5, 40)}, "window_convolution");
  }
}
