// Winograd's method for 3x3 convolutions: compared with the reference evaluator at sizes that fill no tile, no vector and no block, and with
// the option that turns it off.
#include "test/support/ConvolutionProgram.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

const Axis kSame{3, 1, 1, 1, 1};

void agrees(const Convolution &c, std::initializer_list<Sizes> all) {
  checkConvolution(textOf(c), all, {"winograd", 1e-4, {"x86:host", "x86:v3", "x86:v2"}, 8, false});
}

} // namespace

TEST_CASE("winograd: around every pixel, images narrower and wider than a vector of tiles") {
  agrees({8, 13, 1, {kSame, kSame}},
         {sizes(0, 5, 5), sizes(1, 0, 4), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 14, 14),
          sizes(1, 3, 70), sizes(1, 21, 66), sizes(3, 2, 130), sizes(5, 4, 3)});
}

TEST_CASE("winograd: several groups of filters, several blocks of tiles, channels that are no "
          "multiple of anything") {
  agrees({19, 30, 1, {kSame, kSame}}, {sizes(1, 5, 6), sizes(2, 33, 41)});
  agrees({64, 27, 1, {kSame, kSame}}, {sizes(1, 30, 62)});
}

TEST_CASE("winograd: sums in chunks") {
  agrees({200, 14, 1, {kSame, kSame}}, {sizes(1, 3, 3), sizes(2, 9, 18)});
}

TEST_CASE("winograd: small tiles where filters are many") {
  agrees({264, 249, 1, {kSame, kSame}}, {sizes(1, 1, 2), sizes(2, 7, 7)});
}

TEST_CASE("winograd: padding on one side, none, more than the filter, cropping") {
  agrees({8, 6, 1, {{3, 1, 1, 0, 0}, {3, 1, 1, 0, 2}}}, {sizes(1, 3, 1), sizes(1, 12, 37)});
  agrees({9, 5, 1, {{3, 1, 1, 5, 4}, {3, 1, 1, 7, -1}}}, {sizes(1, 1, 2), sizes(1, 6, 19)});
  agrees({8, 5, 1, {{3, 1, 1, -1, 1}, {3, 1, 1, -2, 0}}}, {sizes(1, 4, 5), sizes(2, 9, 23)});
}

TEST_CASE("winograd: what follows") {
  agrees({15,
          15,
          1,
          {kSame, kSame},
          R"(  %b = weft.iota dim 0 : !weft.tensor<[w], f32>
  %0 = weft.add %x, %y : ($x, $y) -> $y
  %1 = weft.activation silu %0 : ($y) -> $y
  %z = weft.add %1, %b : ($y, !weft.tensor<[w], f32>) -> $y
)"},
         {sizes(1, 1, 1), sizes(2, 5, 7), sizes(1, 6, 40)});
}

TEST_CASE("winograd: not when products shall be the operator's own") {
  std::string text = textOf({8, 13, 1, {kSame, kSame}});
  for (const char *target : {"x86:v3", "x86:v2"})
    CHECK(uses(Program(text, target), "winograd"));
  CHECK(!uses(Program(text, exactly("x86:v3")), "winograd"));
}

namespace {

void agreesLast(Convolution c, std::initializer_list<Sizes> all) {
  c.channelsLast = true;
  checkConvolution(textOf(c), all,
                   {"winograd_last", 1e-4, {"x86:host", "x86:v3", "x86:v2"}, 8, false});
}

} // namespace

TEST_CASE("winograd, channels last: around every pixel, tiles that are cut, several blocks") {
  agreesLast({8, 33, 1, {kSame, kSame}},
             {sizes(0, 5, 5), sizes(1, 0, 4), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 14, 14),
              sizes(1, 3, 70), sizes(3, 2, 130), sizes(5, 4, 3)});
  agreesLast({64, 70, 1, {kSame, kSame}}, {sizes(1, 5, 6), sizes(2, 33, 41), sizes(1, 4, 300)});
}

TEST_CASE("winograd, channels last: channels and filters that are no multiple of anything") {
  agreesLast({19, 30, 1, {kSame, kSame}}, {sizes(1, 5, 6), sizes(2, 13, 11)});
  agreesLast({400, 17, 1, {kSame, kSame}}, {sizes(1, 3, 3), sizes(2, 9, 18)});
}

TEST_CASE("winograd, channels last: filters of one vector, if channels are not few") {
  agreesLast({17, 8, 1, {kSame, kSame}}, {sizes(1, 1, 2), sizes(2, 13, 11)});
  agreesLast({32, 3, 1, {kSame, kSame}}, {sizes(1, 5, 70)});
  Convolution few{15, 8, 1, {kSame, kSame}};
  few.channelsLast = true;
  CHECK(uses(Program(textOf(few), "x86:v3"), "window_convolution"));
}

TEST_CASE("winograd, channels last: small tiles where filters are many") {
  agreesLast({264, 249, 1, {kSame, kSame}}, {sizes(1, 1, 2), sizes(2, 7, 7)});
}

TEST_CASE("winograd, channels last: padding on one side, none, more than the filter, cropping") {
  agreesLast({8, 19, 1, {{3, 1, 1, 0, 0}, {3, 1, 1, 0, 2}}}, {sizes(1, 3, 1), sizes(1, 12, 37)});
  agreesLast({9, 18, 1, {{3, 1, 1, 5, 4}, {3, 1, 1, 7, -1}}}, {sizes(1, 1, 2), sizes(1, 6, 19)});
  agreesLast({8, 20, 1, {{3, 1, 1, -1, 1}, {3, 1, 1, -2, 0}}}, {sizes(1, 4, 5), sizes(2, 9, 23)});
}

TEST_CASE("winograd, channels last: what follows") {
  agreesLast({17,
              17,
              1,
              {kSame, kSame},
              R"(  %b = weft.iota dim 0 : !weft.tensor<[w, 1], f32>
  %0 = weft.add %x, %y : ($x, $y) -> $y
  %1 = weft.activation silu %0 : ($y) -> $y
  %z = weft.add %1, %b : ($y, !weft.tensor<[w, 1], f32>) -> $y
)"},
             {sizes(1, 1, 1), sizes(2, 5, 7), sizes(1, 6, 40)});
}

namespace {

/// Bytes with channels last, exact on every target.
Convolution ofBytes(int64_t channels, int64_t filters, const std::string &element,
                    const std::string &filterElement = "i8") {
  Convolution c{channels, filters, 1, {kSame, kSame}};
  c.channelsLast = true, c.element = element, c.filterElement = filterElement;
  return c;
}

void isExact(const Convolution &c, std::initializer_list<Sizes> all) {
  std::vector<std::string> targets;
  // Tiles, where there are some, take such windows, and so do four products in an instruction where two of 16 bits take several.
  auto transforms = [](const std::string &target) {
    return target.rfind("arm:", 0) != 0 || target == "arm:v8";
  };
  for (const std::string &target : targetsToTry(
           {"x86:v4+vnni", "x86:v4", "x86:v3", "x86:v2", "plain:v4+vnni", "plain:v3+vnni"}))
    if (isSupported(target) && transforms(target))
      targets.push_back(target);
  checkConvolution(textOf(c), all, {"winograd_bytes", 0, targets, 256});
}

/// All taps of a filter are one number, those of every second filter its negative.
std::string constantFilters(int64_t filters, int64_t channels, int number) {
  std::string hex;
  for (int64_t f = 0; f < filters; ++f) {
    unsigned byte = unsigned(f % 2 ? -number : number) & 255;
    for (int64_t tap = 0; tap < channels * 9; ++tap) {
      hex += "0123456789ABCDEF"[byte >> 4];
      hex += "0123456789ABCDEF"[byte & 15];
    }
  }
  return "dense<\"0x" + hex + "\"> : tensor<" + std::to_string(filters) + "x" +
         std::to_string(channels) + "x3x3xi8>";
}

/// Every element is 255: the largest sums that there can be.
void isExactAtMost(const Convolution &c, const Sizes &sizes) {
  for (const char *target : {"x86:host", "x86:v3"}) {
    Program program(textOf(c), target);
    INFO(target << program.error());
    REQUIRE(program.error().empty());
    std::vector<Tensor> inputs = program.generate(sizes, 1);
    std::fill(inputs[0].bytes.begin(), inputs[0].bytes.end(), char(255));
    CHECK(program.difference(inputs, program.evaluate(inputs)) == 0);
  }
}

} // namespace

TEST_CASE("winograd of bytes is exact, whatever the signs") {
  for (const char *element : {"ui8", "i8"})
    for (const char *filterElement : {"i8", "ui8"})
      isExact(ofBytes(32, 33, element, filterElement),
              {sizes(0, 5, 5), sizes(1, 0, 4), sizes(1, 1, 1), sizes(2, 7, 7), sizes(1, 4, 70)});
}

TEST_CASE("winograd of bytes: several blocks, several panels, tiles that are cut") {
  isExact(ofBytes(64, 70, "ui8"), {sizes(1, 33, 41), sizes(5, 4, 3)});
  isExact(ofBytes(96, 40, "i8"), {sizes(1, 14, 14), sizes(2, 9, 13)});
  isExact(ofBytes(64, 8, "ui8"), {sizes(1, 1, 2), sizes(2, 9, 13)}); // one vector of filters
}

TEST_CASE("winograd of bytes: channels and filters that are no multiple of anything") {
  Convolution c = ofBytes(43, 37, "ui8");
  for (const char *target : {"x86:v4", "x86:v4+vnni"})
    if (isSupported(target))
      checkConvolution(textOf(c), {sizes(1, 5, 6), sizes(2, 13, 11)},
                       {"winograd_bytes", 0, {target}, 256});
  checkConvolution(textOf(c), {sizes(1, 5, 6)}, {"window_convolution", 0, {"x86:v3"}, 256});
}

TEST_CASE("winograd of bytes: padding on one side, none, more than the filter, cropping") {
  Convolution c = ofBytes(32, 40, "ui8");
  c.axes = {{3, 1, 1, 0, 0}, {3, 1, 1, 0, 2}};
  isExact(c, {sizes(1, 3, 1), sizes(1, 12, 37)});
  c.axes = {{3, 1, 1, 5, 4}, {3, 1, 1, 7, -1}};
  isExact(c, {sizes(1, 1, 2), sizes(1, 6, 19)});
  c.axes = {{3, 1, 1, -1, 1}, {3, 1, 1, -2, 0}};
  isExact(c, {sizes(1, 4, 5), sizes(2, 9, 23)});
}

TEST_CASE(
    "winograd of bytes: the largest sums that fit, and the next larger ones, which are left to "
    "another schedule") {
  Convolution c = ofBytes(128, 33, "ui8");
  c.filterText = constantFilters(33, 128, 114); // 9 * 128 * 114 * 255 < 2^25
  isExactAtMost(c, sizes(1, 7, 9));
  CHECK(uses(Program(textOf(c), "x86:v3"), "winograd_bytes"));
  c.filterText = constantFilters(33, 128, 115);
  isExactAtMost(c, sizes(1, 7, 9));
  CHECK(!uses(Program(textOf(c), "x86:v3"), "winograd_bytes"));
}

TEST_CASE("winograd of bytes: what follows") {
  Convolution c = ofBytes(32, 32, "ui8");
  c.epilogue = R"(  %b = weft.iota dim 0 : !weft.tensor<[32], i32>
  %z = weft.add %y, %b : ($y, !weft.tensor<[32], i32>) -> $y
)";
  isExact(c, {sizes(1, 1, 1), sizes(2, 5, 7), sizes(1, 6, 40)});
}
