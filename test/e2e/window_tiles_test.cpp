// Convolutions of bf16 by tiles: windows become columns of tiles in several ways, and each of them has the evaluator's results.
#include "test/support/HalfLayer.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>
#include <regex>

using namespace weft::test;

TEST_CASE("a convolution of bf16 by tiles: sums of whole steps, and such that end inside one") {
  const std::vector<std::string> targets{"plain:v4+amx", "x86:v4+amx"};
  auto agree = [&](const HalfLayer &layer, std::initializer_list<Sizes> all) {
    agrees(textOf(layer), "bf16", all, "window_convolution", targets);
  };
  agree({"bf16", 32, 40, 1, {kSame, kSame}},
        {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 16), sizes(1, 3, 33)});
  // Also where results may be rounded more, as transforms do.
  CHECK(
      uses(Program(textOf({"bf16", 32, 40, 1, {kSame, kSame}}), targets[0]), "window_convolution"));
  agree({"bf16", 10, 33, 1, {{3, 2, 1, 0, 1}, {3, 2, 1, 1, 0}}}, {sizes(1, 2, 2), sizes(1, 3, 71)});
  agree({"bf16", 40, 14, 1, {{1, 2}, {1, 2}}}, {sizes(1, 1, 1), sizes(1, 13, 24)});
  agree({"bf16", 12, 3, 1, {{3, 1, 3, 2, 2}, {3, 1, 2, 2, 2}}}, {sizes(1, 6, 2), sizes(2, 9, 17)});
  agree({"bf16", 150, 140, 1, {{2, 1, 1, 0, 1}, kSame}}, {sizes(1, 2, 3), sizes(2, 1, 16)});
}

TEST_CASE(
    "a convolution of bf16 by tiles or pairs: odd channels, whose windows are put side by side") {
  const std::vector<std::string> targets{"plain:v4+amx", "x86:v4+amx", "plain:v4+bf16"};
  const Axis seven{7, 2, 1, 3, 3};
  const std::string image = textOf({"bf16", 3, 40, 1, {seven, seven}}); // 147 products
  agrees(image, "bf16", {sizes(1, 1, 1), sizes(2, 9, 33), sizes(1, 5, 70)}, "window_convolution",
         targets);
  agrees(textOf({"bf16", 1, 33, 1, {{5, 1, 1, 2, 2}, {5, 1, 1, 0, 0}}}), "bf16",
         {sizes(1, 1, 5), sizes(2, 3, 40)}, "window_convolution", targets);
  agrees(textOf({"bf16", 5, 17, 1, {{2, 1, 2, 1, 1}, {3, 2, 1, 1, 1}}, true}), "bf16",
         {sizes(1, 2, 1), sizes(2, 5, 30)}, "window_convolution", targets);
  // What pads the last pair is zero, not the pixel that follows.
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(image, target);
    std::vector<Tensor> inputs = program.generate(sizes(1, 20, 40), 1);
    reinterpret_cast<uint16_t *>(inputs[0].bytes.data())[1234] = 0x7fc0; // nan
    CHECK(program.difference(inputs, program.evaluate(inputs)) <= 2 * place("bf16"));
  }
}

TEST_CASE(
    "a convolution of bf16 by tiles: columns that would meet in few sets of the cache lie apart") {
  agrees(textOf({"bf16", 256, 34, 1, {kHalf, kHalf}}), "bf16",
         {sizes(1, 1, 1), sizes(1, 4, 33), sizes(2, 3, 2)}, "window_convolution",
         {"plain:v4+amx", "x86:v4+amx"});
  // Pixels that are no whole lines of the cache stay side by side.
  agrees(textOf({"bf16", 16, 5, 1, {{3, 32, 1, 1, 1}, {3, 32, 1, 1, 1}}}), "bf16",
         {sizes(1, 3, 70)}, "window_convolution", {"plain:v4+amx", "x86:v4+amx"});
  agrees(textOf({"bf16", 512, 5, 1, {{1, 2}, {1, 2}}}), "bf16", {sizes(1, 3, 35)},
         "window_convolution", {"plain:v4+amx", "x86:v4+amx"});
}

TEST_CASE("a convolution of bf16 by tiles: columns of one rest by the stride lie together") {
  // 256 channels two columns apart, 160 three and five; one side has a border, or less than the image.
  const std::vector<std::string> targets{"plain:v4+amx", "x86:v4+amx"};
  for (const std::vector<Axis> &axes : {std::vector<Axis>{{3, 2, 1, 0, 1}, {3, 2, 1, 1, 0}},
                                        {{1, 1}, {5, 2, 1, 3, -1}},
                                        {{2, 3, 1, 1, 1}, {3, 2, 1, -1, 2}},
                                        {{1, 2, 1, 1, 0}, {1, 2, 1, 0, 2}}})
    agrees(textOf({"bf16", 256, 34, 1, axes}), "bf16",
           {sizes(1, 3, 4), sizes(1, 8, 34), sizes(2, 5, 9)}, "window_convolution", targets);
  agrees(textOf({"bf16", 512, 3, 1, {{4, 3, 1, 2, 2}, {2, 4, 1, 1, 0}}}), "bf16",
         {sizes(1, 4, 7), sizes(2, 7, 66)}, "window_convolution", targets);
}

/// Of images of a known size, by tiles.
static void agreesAt(const HalfLayer &layer, int64_t height, int64_t width) {
  std::string text = textOf(layer);
  text.replace(text.find("<m, h, w>"), 9, "<m>");
  text = std::regex_replace(text, std::regex("\\bh\\b"), std::to_string(height));
  text = std::regex_replace(text, std::regex("\\bw\\b"), std::to_string(width));
  for (const char *target : {"plain:v4+amx", "x86:v4+amx"})
    if (isSupported(target))
      for (int threads : {1, 3}) {
        Program program(text, target, threads);
        INFO(target << " " << height << " by " << width << " " << program.error());
        REQUIRE(program.error().empty());
        CHECK(uses(program, "window_convolution"));
        for (int64_t m : {0, 1, 3})
          CHECK(program.difference({{"m", m}}) <= place("bf16"));
      }
}

TEST_CASE("a convolution of bf16 by tiles: rows of narrow images a stride apart are one tile") {
  agreesAt({"bf16", 256, 34, 1, {kHalf, kHalf}}, 14, 14);
  agreesAt({"bf16", 512, 34, 1, {{1, 2}, {1, 2}}}, 9, 9);
}

TEST_CASE("a convolution of bf16 by tiles: many filters, which all rows meet before the next") {
  agreesAt({"bf16", 128, 480, 1, {kSame, kSame}}, 7, 7); // 1.1 MB of filters
}

TEST_CASE("a convolution of bf16 by tiles: several rows of narrow images are one tile") {
  for (int64_t height : {1, 2, 5, 7, 8})
    agreesAt({"bf16", 32, 40, 1, {kSame, kSame}}, height, 7);
  agreesAt({"bf16", 10, 33, 1, {kSame, kSame}}, 9, 4);
  agreesAt({"bf16", 10, 33, 1, {kSame, kSame}}, 6, 1);
  agreesAt({"bf16", 16, 33, 1, {kHalf, kHalf}}, 8, 5);
  agreesAt({"bf16", 16, 33, 1, {{2, 1, 2, 1, 1}, {5, 1, 1, 2, 2}}}, 11, 3);
  agreesAt({"bf16", 512, 33, 1, {{1, 2}, {1, 2}}}, 13, 14); // pixels are picked
}
