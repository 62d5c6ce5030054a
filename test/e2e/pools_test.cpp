// Maxima, averages and sums of moving windows, which a schedule of their own computes: compared with the reference evaluator over strides,
// dilations and padding, at sizes that fill no vector.
#include "test/support/ConvolutionProgram.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

/// Windows over [m, h, w, channels], or over [m, w, channels] when there is one axis.
std::string lastText(const std::string &kind, int64_t channels, const std::vector<Axis> &axes,
                     const std::string &element = "f32", const std::string &attributes = "") {
  std::string in = "[m", out = in;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Axis &a = axes[d];
    std::string name = d + 1 == axes.size() ? "w" : "h";
    in += ", " + name;
    out += ", floordiv(" + name + " + " +
           std::to_string(a.low + a.high - a.dilation * (a.kernel - 1) - 1) + ", " +
           std::to_string(a.stride) + ") + 1";
  }
  auto type = [&](const std::string &dims) {
    return "!weft.tensor<" + dims + ", " + std::to_string(channels) + "], " + element + ">";
  };
  return "func.func @main(%x: " + type(in) + ", %u: !weft.tensor<[h], f32>) -> " + type(out) +
         " attributes {weft.symbols = #weft.symbols<m, h, w>} {\n  %y = weft.pool " + kind +
         " %x kernel " + list(axes, &Axis::kernel) + " strides " + list(axes, &Axis::stride) +
         " dilations " + list(axes, &Axis::dilation) + " low " + list(axes, &Axis::low) + " high " +
         list(axes, &Axis::high) + " {channels_last" + attributes + "} : (" + type(in) + ") -> " +
         type(out) + "\n  return %y : " + type(out) + "\n}\n";
}

/// Windows over [m, 3, h, w], or over the columns of it when there is one axis.
std::string textOf(const std::string &kind, const std::vector<Axis> &axes,
                   const std::string &attributes = "", const std::string &element = "f32") {
  std::string out = "[m, 3";
  std::vector<std::string> names{"h", "w"};
  for (size_t d = 0; d < 2; ++d) {
    if (d + axes.size() < 2) {
      out += ", " + names[d];
      continue;
    }
    const Axis &a = axes[d + axes.size() - 2];
    out += ", floordiv(" + names[d] + " + " +
           std::to_string(a.low + a.high - a.dilation * (a.kernel - 1) - 1) + ", " +
           std::to_string(a.stride) + ") + 1";
  }
  std::string x = "!weft.tensor<[m, 3, h, w], " + element + ">",
              y = "!weft.tensor<" + out + "], " + element + ">";
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m, h, w>} {\n  %y = weft.pool " + kind +
         " %x kernel " + list(axes, &Axis::kernel) + " strides " + list(axes, &Axis::stride) +
         " dilations " + list(axes, &Axis::dilation) + " low " + list(axes, &Axis::low) + " high " +
         list(axes, &Axis::high) + attributes + " : (" + x + ") -> " + y +
         "\n  %z = weft.activation silu %y : (" + y + ") -> " + y + "\n  return %z : " + y +
         "\n}\n";
}

void agrees(const std::string &text, std::initializer_list<Sizes> all,
            const std::string &schedule = "pool", double most = 1e-5) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text.substr(text.find("weft.pool ")));
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    for (const Sizes &each : all) {
      INFO("m=" << each.at("m") << " h=" << each.at("h") << " w=" << each.at("w"));
      double difference = program.difference(each, 1);
      INFO(program.error());
      CHECK(difference <= most);
    }
  }
}

const Axis kHalf{3, 2, 1, 1, 1}, kSame{3, 1, 1, 1, 1};

} // namespace

TEST_CASE("pool: maxima") {
  agrees(textOf("max", {kHalf, kHalf}),
         {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 8), sizes(1, 13, 47), sizes(1, 20, 66)});
  agrees(textOf("max", {kSame, {2, 1, 3, 0, 3}}), {sizes(1, 1, 1), sizes(2, 9, 40)});
  agrees(textOf("max", {{2, 2}}), {sizes(1, 3, 2), sizes(1, 1, 71)});
}

TEST_CASE("pool: averages of what lies inside, and of all") {
  agrees(textOf("average", {kSame, kSame}), {sizes(1, 1, 1), sizes(2, 6, 17), sizes(1, 9, 50)});
  agrees(textOf("average", {kHalf, {5, 2, 2, 4, 3}}), {sizes(1, 2, 3), sizes(1, 11, 70)});
  agrees(textOf("average", {kHalf, {5, 2, 2, 4, 3}}, " {count_padding}"),
         {sizes(1, 2, 3), sizes(1, 11, 70)});
  agrees(textOf("average", {{4, 1, 1, 2, 1}}, " {count_padding}"),
         {sizes(1, 1, 1), sizes(1, 2, 33)});
}

TEST_CASE("pool: sums; columns further apart than two are a loop") {
  agrees(textOf("sum", {{2, 3, 2, 1, 0}, kHalf}), {sizes(1, 2, 1), sizes(1, 12, 37)});
  agrees(textOf("sum", {{2, 3, 2, 1, 0}, {3, 3, 1, 1, 1}}), {sizes(1, 2, 1), sizes(1, 12, 37)},
         "loop");
}

TEST_CASE("pool: channels last") {
  agrees(lastText("max", 21, {kHalf, kHalf}),
         {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 8), sizes(1, 13, 47)});
  agrees(lastText("max", 1, {kSame, {2, 1, 3, 0, 3}}), {sizes(1, 1, 1), sizes(2, 9, 40)});
  agrees(lastText("max", 64, {kHalf, kHalf}, "ui8"), {sizes(1, 1, 1), sizes(2, 13, 30)});
  agrees(lastText("max", 19, {kSame, kSame}, "i8"), {sizes(1, 2, 3), sizes(2, 5, 19)});
  agrees(lastText("sum", 40, {{2, 3, 2, 1, 0}, {3, 3, 1, 1, 1}}),
         {sizes(1, 2, 1), sizes(1, 12, 37)}); // columns 3 apart
  agrees(lastText("sum", 18, {{5, 2, 1, 2, 2}}, "i32"), {sizes(1, 2, 1), sizes(2, 2, 37)});
}

TEST_CASE("pool: channels last, averages of what lies inside, and of all") {
  agrees(lastText("average", 16, {kSame, kSame}),
         {sizes(1, 1, 1), sizes(2, 6, 17), sizes(1, 9, 50)});
  for (const char *attributes : {"", ", count_padding"})
    agrees(lastText("average", 21, {kHalf, {5, 2, 2, 4, 3}}, "f32", attributes),
           {sizes(1, 2, 3), sizes(1, 11, 70)});
  agrees(lastText("average", 5, {{9, 1, 1, 4, 4}, {9, 1, 1, 4, 4}}),
         {sizes(1, 1, 1), sizes(1, 12, 14)}); // more elements than are written out
}

TEST_CASE("pool: elements of 16 bits, in either order") {
  for (const char *element : {"f16", "bf16"})
    for (const char *kind : {"max", "average"}) {
      for (int64_t channels : {3, 32, 37})
        agrees(lastText(kind, channels, {kHalf, kSame}, element),
               {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 9), sizes(1, 15, 22)}, "pool",
               place(element));
      agrees(textOf(kind, {kHalf, kHalf}, "", element),
             {sizes(0, 5, 5), sizes(1, 1, 1), sizes(2, 7, 8), sizes(1, 13, 47)}, "pool",
             place(element));
    }
}
