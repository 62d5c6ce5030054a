// Convolutions and products in f16 and bf16 take the schedules of their twins in f32: compared with the reference evaluator over strides, groups and
// padding, at sizes that fill no tile and no vector.
#include "test/support/ConvolutionProgram.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

const Axis kSame{3, 1, 1, 1, 1}, kHalf{3, 2, 1, 1, 1};

/// Targets that run here, those without multiply-adds only where the schedule needs none.
std::vector<std::string> targets(bool multiplyAdds) {
  std::vector<std::string> some;
  for (const std::string &target : kHalfTargets)
    if (isSupported(target) && !(multiplyAdds && target == "x86:v2"))
      some.push_back(target);
  return some;
}

void agrees(Convolution c, const std::string &schedule, std::initializer_list<Sizes> all) {
  bool winograd = schedule.rfind("winograd", 0) == 0;
  for (const char *element : {"f16", "bf16"}) {
    c.element = c.filterElement = element;
    checkConvolution(textOf(c), all,
                     {schedule, place(element), targets(winograd), 8, /*exact=*/!winograd});
  }
}

void agreesLast(Convolution c, const std::string &schedule, std::initializer_list<Sizes> all) {
  c.channelsLast = true;
  agrees(c, schedule, all);
}

/// The product of two inputs, rounded to their type.
std::string product(const std::string &rule, const std::vector<std::string> &dims,
                    const std::string &element) {
  auto type = [&](size_t i, const std::string &of) {
    return "!weft.tensor<[" + dims[i] + "], " + of + ">";
  };
  return "func.func @main(%a: " + type(0, element) + ", %b: " + type(1, element) + ") -> " +
         type(2, element) + " attributes {weft.symbols = #weft.symbols<m, h, w>} {\n" +
         "  %0 = weft.contract \"" + rule + "\" %a, %b accumulate f32 : (" + type(0, element) +
         ", " + type(1, element) + ") -> " + type(2, "f32") + "\n  %1 = weft.convert %0 to " +
         element + " : (" + type(2, "f32") + ") -> " + type(2, element) +
         "\n  return %1 : " + type(2, element) + "\n}\n";
}

} // namespace

TEST_CASE("3x3 of 16 bits, channels last, is transformed: tiles that are cut, several blocks") {
  agreesLast({8, 33, 1, {kSame, kSame}}, "winograd_last",
             {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 3, 70)});
  agreesLast({19, 30, 1, {kSame, kSame}}, "winograd_last", {sizes(1, 5, 6), sizes(2, 13, 11)});
  agreesLast({264, 249, 1, {kSame, kSame}}, "winograd_last", {sizes(1, 7, 7)});
}

TEST_CASE("3x3 of 16 bits, channels last: what follows is rounded as the operators round") {
  agreesLast({20,
              20,
              1,
              {kSame, kSame},
              R"(  %0 = weft.add %x, %y : ($x, $y) -> $y
  %z = weft.activation silu %0 : ($y) -> $y
)"},
             "winograd_last", {sizes(1, 1, 1), sizes(2, 5, 7)});
}

TEST_CASE("3x3 of 16 bits is transformed: borders are masked, channels and filters fill nothing") {
  agrees({8, 13, 1, {kSame, kSame}}, "winograd",
         {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 3, 70), sizes(5, 4, 3)});
  agrees({19, 30, 1, {{3, 1, 1, 0, 2}, {3, 1, 1, 7, -1}}}, "winograd",
         {sizes(1, 6, 19), sizes(2, 33, 41)});
}

TEST_CASE("rows of 16 bits are widened in strips: strides, dilations, groups, large windows") {
  agrees({3, 14, 1, {kHalf, kHalf}}, "convolution", {sizes(1, 1, 1), sizes(2, 9, 70)});
  agrees({3, 34, 2, {{2}, {2}}}, "convolution", {sizes(1, 1, 2), sizes(1, 8, 20)});
  agrees({2, 12, 3, {{3, 1, 2, 4, -1}, {3, 3, 1, 0, 5}}}, "convolution",
         {sizes(1, 7, 4), sizes(2, 12, 50)});
  agrees({2, 5, 1, {{1}, {20, 1, 1, 10, 9}}}, "convolution", {sizes(1, 3, 45)});
  agrees({5, 9, 1, {{5, 2, 1, 2, 2}}}, "convolution", {line(1, 1), line(2, 67)});
}

TEST_CASE("pixels of 16 bits by filters of one element: sums in chunks") {
  agrees({400, 14, 1, {{1}, {1}}}, "convolution", {sizes(1, 1, 1), sizes(2, 5, 17)});
  agrees({7, 30, 1, {{1, 2}, {1, 2}}}, "convolution", {sizes(1, 9, 40)});
}

TEST_CASE("one channel of 16 bits per filter: around every pixel, strides, dilations") {
  agrees({1, 7, 7, {kSame, kSame}}, "depthwise",
         {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 14, 14), sizes(1, 5, 39)});
  agrees({1, 3, 3, {kHalf, kHalf}}, "depthwise", {sizes(1, 1, 1), sizes(2, 8, 8), sizes(1, 9, 70)});
  agrees({1, 3, 3, {{3, 3, 1, 0, 1}, {4, 2, 3, 5, 2}}}, "depthwise", {sizes(1, 30, 90)});
}

TEST_CASE("products of two values of 16 bits: rows laid one behind the other, or turned") {
  const std::vector<Sizes> all{sizes(1, 1, 1), sizes(2, 17, 40), sizes(1, 130, 33)};
  for (const std::string &target : targets(false))
    for (const char *element : {"f16", "bf16"})
      for (const std::string &text :
           {product("b m k, b k n -> b m n", {"m, h, 19", "m, 19, w", "m, h, w"}, element),
            product("b m k, b n k -> b m n", {"m, h, 64", "m, w, 64", "m, h, w"}, element),
            product("b m h k, b h k n -> b h m n", {"m, h, 3, 100", "m, 3, 100, w", "m, 3, h, w"},
                    element),
            product("b m k, b k n -> b m n", {"m, h, w", "m, w, 20", "m, h, 20"}, element)}) {
        Program program(text, target);
        INFO(target << " " << program.error() << text);
        REQUIRE(program.error().empty());
        CHECK(uses(program, "product"));
        for (const Sizes &each : all)
          CHECK(program.difference(each) <= place(element));
      }
}
