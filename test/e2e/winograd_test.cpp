// Winograd's method for 3x3 convolutions: compared with the reference evaluator at sizes that fill no tile, no vector and no block, and with
// the option that turns it off.
#include "test/support/ConvolutionProgram.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

const Axis kSame{3, 1, 1, 1, 1};

void agrees(const Convolution &c, std::initializer_list<Sizes> all) {
  checkConvolution(textOf(c), all, {"winograd", 1e-4, {"x86:host", "x86:v3"}});
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

TEST_CASE("winograd: not when products shall be the operator's own, nor without multiply-adds") {
  std::string text = textOf({8, 13, 1, {kSame, kSame}});
  CHECK(uses(Program(text, "x86:v3"), "winograd"));
  CHECK(!uses(Program(text, "x86:v3:exact"), "winograd"));
  CHECK(!uses(Program(text, "x86:v2"), "winograd"));
}

namespace {

void agreesLast(Convolution c, std::initializer_list<Sizes> all) {
  c.channelsLast = true;
  checkConvolution(textOf(c), all, {"winograd_last", 1e-4, {"x86:host", "x86:v3"}});
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
