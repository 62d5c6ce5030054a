// Layers of f16 and bf16 with channels last: convolutions have the kernels of their f32 twins, at sizes that fill no vector, no
// tile and no block, and no result is more than a place of its type away from the evaluator's.
#include "test/support/Constant.h"
#include "test/support/ConvolutionProgram.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>
#include <regex>

using namespace weft::test;

namespace {

/// A convolution with channels last, as exporters write it, or with all axes of 1 the product it becomes.
struct Layer {
  std::string element;
  int64_t channels, filters, groups;
  std::vector<Axis> axes;
  bool isComputed = false; ///< the image, on the way
};

/// [m, h, w, channels], or [m, w, channels] when there is one axis; `results`: of windows over it.
std::string tensor(const std::vector<Axis> &axes, int64_t channels, const std::string &element,
                   bool results) {
  std::string dims = "[m";
  for (size_t d = 0; d < axes.size(); ++d) {
    const Axis &a = axes[d];
    std::string size = d + 1 == axes.size() ? "w" : "h";
    int64_t less = a.low + a.high - a.dilation * (a.kernel - 1) - 1;
    dims += ", " + (results ? "floordiv(" + size + " + " + std::to_string(less) + ", " +
                                  std::to_string(a.stride) + ") + 1"
                            : size);
  }
  return "!weft.tensor<" + dims + ", " + std::to_string(channels) + "], " + element + ">";
}

std::string windows(const std::vector<Axis> &axes) {
  return " strides " + list(axes, &Axis::stride) + " dilations " + list(axes, &Axis::dilation) +
         " low " + list(axes, &Axis::low) + " high " + list(axes, &Axis::high);
}

std::string main(const std::string &x, const std::string &y, size_t axes, const std::string &body) {
  return "func.func @main(%x: " + x + ") -> " + y + " attributes {weft.symbols = #weft.symbols<m" +
         (axes == 2 ? ", h" : "") + ", w>} {\n" + body + "}\n";
}

/// relu(conv(x) + bias), or of -x; the sum is in f32 and rounded behind the bias.
std::string textOf(const Layer &l) {
  Constant filter{l.element, {l.filters, l.channels}}, bias{l.element, {l.filters}};
  for (const Axis &axis : l.axes)
    filter.dims.push_back(axis.kernel);
  std::string number = std::to_string(l.filters), one = l.axes.size() == 2 ? "1, 1, 1, " : "1, 1, ",
              x = tensor(l.axes, l.groups * l.channels, l.element, false),
              sum = tensor(l.axes, l.filters, "f32", true),
              y = tensor(l.axes, l.filters, l.element, true),
              wide = "!weft.tensor<[" + number + "], f32>",
              shaped = "!weft.tensor<[" + one + number + "], f32>",
              image = l.isComputed ? "%n" : "%x";
  std::string body = "  %f = " + filter.text(1) + "\n  %b = " + bias.text(2) + "\n";
  if (l.isComputed)
    body += "  %n = weft.neg %x : (" + x + ") -> " + x + "\n";
  body += "  %0 = weft.conv " + image + ", %f" + windows(l.axes) + " groups " +
          std::to_string(l.groups) + " accumulate f32 {channels_last} : (" + x + ", " +
          filter.type() + ") -> " + sum + "\n  %1 = weft.convert %b to f32 : (" + bias.type() +
          ") -> " + wide + "\n  %2 = weft.reshape %1 to [" + one + number + "] : (" + wide +
          ") -> " + shaped + "\n  %3 = weft.add %0, %2 : (" + sum + ", " + shaped + ") -> " + sum +
          "\n  %4 = weft.convert %3 to " + l.element + " : (" + sum + ") -> " + y +
          "\n  %5 = weft.activation relu %4 : (" + y + ") -> " + y + "\n  return %5 : " + y + "\n";
  return main(x, y, l.axes.size(), body);
}

/// On every target that this machine runs, in one place of the type.
void agrees(const std::string &text, const std::string &element, std::initializer_list<Sizes> all,
            const std::string &schedule, const std::vector<std::string> &targets = kHalfTargets) {
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(text, exactly(target));
    INFO(target << " " << text.substr(0, text.find('\n')));
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    for (const Sizes &each : all) {
      INFO("m=" << each.at("m") << " w=" << each.at("w"));
      double difference = program.difference(each);
      INFO(program.error());
      CHECK(difference <= place(element));
    }
  }
}

void agrees(Layer layer, std::initializer_list<Sizes> all, const std::string &schedule) {
  for (const char *element : {"f16", "bf16"}) {
    layer.element = element;
    agrees(textOf(layer), element, all, schedule);
  }
}

const Axis kSame{3, 1, 1, 1, 1}, kHalf{3, 2, 1, 1, 1};

} // namespace

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

TEST_CASE("a convolution of bf16 by tiles: sums of whole steps, and such that end inside one") {
  const std::vector<std::string> targets{"plain:v4+amx", "x86:v4+amx"};
  auto agree = [&](const Layer &layer, std::initializer_list<Sizes> all) {
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
static void agreesAt(const Layer &layer, int64_t height, int64_t width) {
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
