// Products of bytes, as programs say them and as quantised models do: compared with the reference evaluator at sizes that fill no vector,
// no tile, no block and no group of bytes, with and without instructions for them.
#include "test/support/Program.h"
#include "test/targets/plain/PlainFamily.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

const std::vector<std::string> kTargets =
    targetsToTry({"x86:v4+vnni", "x86:v4", "x86:v3", "x86:v2", "plain:v4+vnni", "plain:v3+vnni"});
const std::vector<std::string> kTileTargets = {"plain:v4+amx", "x86:v4+amx"};

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

constexpr int64_t kBytes = 256, kShorts = 65536; ///< how many values inputs have

void agrees(const std::string &text, std::initializer_list<Sizes> all, const std::string &schedule,
            double most, const std::vector<std::string> &targets = kTargets,
            int64_t values = kBytes) {
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(text, target);
    INFO(target << "\n" << text.substr(0, 300));
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    for (const Sizes &sizes : all) {
      std::string at;
      for (auto &[name, size] : sizes)
        at += name + "=" + std::to_string(size) + " ";
      INFO(at);
      double difference = program.difference(sizes, 1, values);
      INFO(program.error());
      CHECK(difference <= most);
    }
  }
}

/// x [m, k] times a constant [k, n] or [n, k], in i32.
std::string product(int64_t k, int64_t n, const std::string &a, const std::string &w,
                    bool transposed) {
  std::string x = tensor("m, " + std::to_string(k), a),
              y = tensor("m, " + std::to_string(n), "i32");
  std::vector<int64_t> dims = transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
  std::string f = tensor(std::to_string(dims[0]) + ", " + std::to_string(dims[1]), w);
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
         bytesText(dims, w) + " -> " + f + "\n  %y = weft.contract \"m k, " +
         (transposed ? "n k" : "k n") + " -> m n\" %x, %w accumulate i32 : (" + x + ", " + f +
         ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

Sizes rows(int64_t m) { return {{"m", m}}; }

/// Quantise, multiply with a dequantised weight, bias and GELU, quantise: as a quantised model says a dense layer.
std::string layer(int64_t k, int64_t n, const std::string &weight, int zeroA, int zeroW,
                  bool perColumn, bool quantizeResult) {
  std::string K = std::to_string(k), N = std::to_string(n), x = tensor("m, " + K, "f32"),
              q = tensor("m, " + K, "ui8"), y = tensor("m, " + N, "f32");
  std::string r = tensor("m, " + N, "ui8"), w = tensor(K + ", " + N, weight),
              f = tensor(K + ", " + N, "f32"), s = tensor("", "f32");
  std::string channels = perColumn ? N : "", scales = tensor(channels, "f32"),
              zeros = tensor(channels, weight);
  std::string list;
  for (int64_t i = 0; i < n; ++i)
    list += (i ? ", " : "") + std::to_string(0.001 + 0.0001 * double(i % 7));
  std::string values =
      perColumn ? "dense<[" + list + "]> : tensor<" + N + "xf32>" : "dense<0.0015> : tensor<f32>";
  std::string text = "func.func @main(%x: " + x + ") -> " + (quantizeResult ? r : y) +
                     " attributes {weft.symbols = #weft.symbols<m>} {\n";
  text += "  %s = weft.constant dense<0.0157> : tensor<f32> -> " + s +
          "\n  %t = weft.constant dense<0.031> : tensor<f32> -> " + s + "\n";
  text += "  %z = weft.constant dense<" + std::to_string(zeroA) + "> : tensor<ui8> -> " +
          tensor("", "ui8") + "\n";
  text += "  %u = weft.constant dense<3> : tensor<ui8> -> " + tensor("", "ui8") + "\n";
  text += "  %zw = weft.constant dense<" + std::to_string(zeroW) + "> : tensor<" +
          (perColumn ? N + "x" : "") + weight + "> -> " + zeros + "\n";
  text += "  %sw = weft.constant " + values + " -> " + scales + "\n  %w = weft.constant " +
          bytesText({k, n}, weight) + " -> " + w + "\n";
  text += "  %q = weft.quantize %x, %s, %z : (" + x + ", " + s + ", " + tensor("", "ui8") +
          ") -> " + q + "\n";
  text += "  %a = weft.dequantize %q, %s, %z : (" + q + ", " + s + ", " + tensor("", "ui8") +
          ") -> " + x + "\n";
  text += "  %f = weft.dequantize %w, %sw, %zw : (" + w + ", " + scales + ", " + zeros + ") -> " +
          f + "\n";
  text += "  %p = weft.contract \"m k, k n -> m n\" %a, %f accumulate f32 : (" + x + ", " + f +
          ") -> " + y + "\n";
  text += "  %g = weft.activation gelu %p : (" + y + ") -> " + y + "\n";
  if (quantizeResult)
    text += "  %r = weft.quantize %g, %t, %u : (" + y + ", " + s + ", " + tensor("", "ui8") +
            ") -> " + r + "\n";
  return text + "  return " + (quantizeResult ? "%r : " + r : "%g : " + y) + "\n}\n";
}

/// A convolution of dequantised bytes, followed by relu and quantisation.
std::string convolution(int64_t channels, int64_t filters, int64_t kernel, int64_t stride,
                        int64_t pad, int zero, int64_t dilation = 1) {
  std::string C = std::to_string(channels), O = std::to_string(filters), K = std::to_string(kernel),
              out;
  for (const char *size : {"h", "w"})
    out += std::string(", floordiv(") + size + " + " +
           std::to_string(2 * pad - dilation * (kernel - 1) - 1) + ", " + std::to_string(stride) +
           ") + 1";
  std::string x = tensor("m, " + C + ", h, w", "f32"), q = tensor("m, " + C + ", h, w", "ui8"),
              y = tensor("m, " + O + out, "f32");
  std::string w = tensor(O + ", " + std::to_string(channels) + ", " + K + ", " + K, "i8"),
              f = tensor(O + ", " + std::to_string(channels) + ", " + K + ", " + K, "f32");
  std::string s = tensor("", "f32"), z = tensor("", "ui8"), scales = tensor(O + ", 1, 1, 1", "f32");
  std::string list, pads = "[" + std::to_string(pad) + ", " + std::to_string(pad) + "]",
                    steps = "[" + std::to_string(stride) + ", " + std::to_string(stride) + "]",
                    apart = "[" + std::to_string(dilation) + ", " + std::to_string(dilation) + "]";
  for (int64_t i = 0; i < filters; ++i)
    list += (i ? ", " : "") + ("[[[" + std::to_string(0.0005 + 0.0001 * double(i % 5)) + "]]]");
  std::string text = "func.func @main(%x: " + x + ") -> " + y +
                     " attributes {weft.symbols = #weft.symbols<m, h, w>} {\n";
  text += "  %s = weft.constant dense<0.0157> : tensor<f32> -> " + s +
          "\n  %z = weft.constant dense<" + std::to_string(zero) + "> : tensor<ui8> -> " + z + "\n";
  text += "  %zw = weft.constant dense<0> : tensor<i8> -> " + tensor("", "i8") + "\n";
  text += "  %sw = weft.constant dense<[" + list + "]> : tensor<" + O + "x1x1x1xf32> -> " + scales +
          "\n";
  text += "  %w = weft.constant " + bytesText({filters, channels, kernel, kernel}, "i8") + " -> " +
          w + "\n";
  text += "  %q = weft.quantize %x, %s, %z : (" + x + ", " + s + ", " + z + ") -> " + q + "\n";
  text += "  %a = weft.dequantize %q, %s, %z : (" + q + ", " + s + ", " + z + ") -> " + x + "\n";
  text += "  %f = weft.dequantize %w, %sw, %zw : (" + w + ", " + scales + ", " + tensor("", "i8") +
          ") -> " + f + "\n";
  text += "  %p = weft.conv %a, %f strides " + steps + " dilations " + apart + " low " + pads +
          " high " + pads + " groups 1 accumulate f32 : (" + x + ", " + f + ") -> " + y + "\n";
  text += "  %g = weft.activation relu %p : (" + y + ") -> " + y + "\n";
  return text + "  return %g : " + y + "\n}\n";
}

Sizes image(int64_t m, int64_t h, int64_t w) { return {{"m", m}, {"h", h}, {"w", w}}; }

} // namespace

TEST_CASE("integers: products of bytes of all signs are exact") {
  for (const char *a : {"ui8", "i8"})
    for (const char *w : {"i8", "ui8"})
      agrees(product(37, 33, a, w, a == std::string("i8")),
             {rows(0), rows(1), rows(2), rows(14), rows(15), rows(29)}, "integer_contraction", 0);
}

TEST_CASE("integers: long sums and several blocks are exact") {
  agrees(product(130, 70, "ui8", "i8", false), {rows(3), rows(17)}, "integer_contraction", 0);
  agrees(product(3000, 150, "ui8", "i8", true), {rows(1), rows(5)}, "integer_contraction", 0);
}

TEST_CASE(
    "integers: products of rows of 16 bits are exact, also where sums wrap and rows are no whole "
    "pairs") {
  std::vector<std::string> targets = kTargets;
  if (isSupported(kTileTargets[0])) // whose tiles take bytes only
    targets.push_back(kTileTargets[0]);
  for (int64_t k : {1, 36, 37})
    for (bool transposed : {false, true})
      agrees(product(k, 33, "i16", "i8", transposed),
             {rows(0), rows(1), rows(2), rows(14), rows(15), rows(29)}, "integer_contraction", 0,
             targets, kShorts);
  agrees(product(3000, 150, "i16", "i8", true), {rows(1), rows(5)}, "integer_contraction", 0,
         targets, kShorts);
}

TEST_CASE("integers: rows of 16 bits that lie as columns are written as rows before") {
  std::string x = tensor("36, m", "i16"), r = tensor("m, 36", "i16"), w = tensor("36, 33", "i8"),
              y = tensor("m, 33", "i32");
  agrees("func.func @main(%x: " + x + ") -> " + y +
             " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
             bytesText({36, 33}, "i8") + " -> " + w + "\n  %r = weft.transpose %x [1, 0] : (" + x +
             ") -> " + r + "\n  %y = weft.contract \"m k, k n -> m n\" %r, %w accumulate i32 : (" +
             r + ", " + w + ") -> " + y + "\n  return %y : " + y + "\n}\n",
         {rows(1), rows(19)}, "integer_contraction", 0, kTargets, kShorts);
}

TEST_CASE(
    "integers: long sums are exact by wider panels, too, and what follows takes them from memory") {
  agrees(product(384, 46, "ui8", "i8", false), {rows(0), rows(1), rows(8), rows(19)},
         "integer_contraction", 0);
  agrees(layer(392, 47, "i8", 131, 0, true, false), {rows(1), rows(8), rows(19)},
         "integer_contraction", 2e-6);
  agrees(layer(384, 96, "i8", 128, 0, true, true), {rows(7), rows(16)}, "integer_contraction",
         1); // a tie may fall to either side
}

TEST_CASE("integers: products of bytes of all signs are exact by tiles, too") {
  for (const char *a : {"ui8", "i8"})
    for (const char *w : {"i8", "ui8"})
      agrees(product(36, 33, a, w, a == std::string("i8")),
             {rows(0), rows(1), rows(15), rows(16), rows(17), rows(33)}, "integer_tile_contraction",
             0, kTileTargets);
  agrees(product(132, 70, "ui8", "i8", false), {rows(3), rows(50)}, "integer_tile_contraction", 0,
         kTileTargets);
  agrees(product(3000, 15, "i8", "i8", true), {rows(1), rows(65)}, "integer_tile_contraction", 0,
         kTileTargets);
  agrees(product(37, 5, "ui8", "i8", false), {rows(17)}, "integer_contraction", 0, kTileTargets);
}

TEST_CASE("integers: what quantised models do with sums of products, by tiles") {
  agrees(layer(40, 35, "i8", 131, 0, true, false), {rows(0), rows(1), rows(33)},
         "integer_tile_contraction", 2e-6, kTileTargets);
  agrees(layer(8, 17, "ui8", 131, 128, false, false), {rows(7), rows(16)},
         "integer_tile_contraction", 2e-6, kTileTargets);
  agrees(layer(64, 33, "i8", 128, 0, true, true), {rows(1), rows(40)}, "integer_tile_contraction",
         1, kTileTargets); // a tie may fall to either side
}

TEST_CASE("integers: a dequantised product is one of integers, whatever the zero points") {
  agrees(layer(39, 35, "i8", 131, 0, true, false), {rows(0), rows(1), rows(7), rows(16)},
         "integer_contraction", 2e-6);
  agrees(layer(5, 35, "i8", 0, 5, false, false), {rows(0), rows(1), rows(7), rows(16)},
         "integer_contraction", 2e-6);
  agrees(layer(8, 17, "i8", 131, -5, true, false), {rows(0), rows(1), rows(7), rows(16)},
         "integer_contraction", 2e-6);
  agrees(layer(16, 48, "ui8", 7, 128, true, false), {rows(0), rows(1), rows(15)},
         "integer_contraction", 2e-6);
}

TEST_CASE("integers: the result is quantised in the same kernel") {
  agrees(layer(64, 33, "i8", 128, 0, true, true), {rows(0), rows(1), rows(13)},
         "integer_contraction", 1); // a tie may fall to either side
}

TEST_CASE("integers: convolutions of bytes") {
  agrees(convolution(5, 19, 3, 1, 1, 0),
         {image(0, 5, 5), image(1, 1, 1), image(2, 7, 7), image(1, 3, 40), image(1, 19, 33)},
         "window_convolution", 2e-6);
  agrees(convolution(3, 33, 3, 2, 1, 9),
         {image(1, 1, 2), image(2, 7, 7), image(1, 16, 40), image(1, 5, 71)}, "window_convolution",
         2e-6);
  agrees(convolution(18, 14, 1, 1, 0, 0), {image(1, 1, 1), image(2, 7, 7), image(1, 13, 24)},
         "window_convolution", 2e-6);
  agrees(convolution(8, 27, 1, 2, 0, 200), {image(1, 1, 1), image(2, 9, 35)}, "window_convolution",
         2e-6);
  agrees(convolution(6, 9, 3, 1, 2, 0, 2), {image(1, 1, 1), image(2, 9, 35)}, "window_convolution",
         2e-6);
  agrees(convolution(3, 7, 7, 2, 3, 114), {image(1, 2, 2), image(1, 21, 37)}, "window_convolution",
         2e-6);
}

TEST_CASE("integers: convolutions of bytes by tiles") {
  agrees(convolution(5, 19, 3, 1, 1, 0),
         {image(0, 5, 5), image(1, 1, 1), image(2, 7, 7), image(1, 3, 40), image(1, 19, 33)},
         "window_convolution", 2e-6, kTileTargets);
  agrees(convolution(18, 14, 1, 1, 0, 0), {image(1, 1, 1), image(1, 13, 24)}, "window_convolution",
         2e-6, kTileTargets);
  agrees(convolution(64, 33, 3, 1, 1, 9), {image(1, 2, 2), image(1, 5, 18)}, "window_convolution",
         2e-6, kTileTargets);
  agrees(convolution(28, 35, 3, 2, 1, 9), {image(1, 2, 2), image(2, 9, 35)}, "window_convolution",
         2e-6, kTileTargets);
  agrees(convolution(6, 9, 3, 1, 2, 0, 2), {image(1, 1, 1), image(2, 9, 35)}, "window_convolution",
         2e-6, kTileTargets);
  agrees(convolution(3, 7, 7, 2, 3, 114), {image(1, 2, 2), image(1, 21, 37)}, "window_convolution",
         2e-6, kTileTargets);
}

/// A block as residual networks have them, quantised: 3x3 and 1x1 filters, a sum with the block's input, and the mean of all pixels.
std::string block(int64_t channels) {
  std::string C = std::to_string(channels), x = tensor("m, " + C + ", h, w", "f32"),
              q = tensor("m, " + C + ", h, w", "ui8"), s = tensor("", "f32"), z = tensor("", "ui8"),
              y = tensor("m, " + C, "f32");
  std::string text =
      "func.func @main(%x: " + x + ") -> " + y +
      " attributes {weft.symbols = #weft.symbols<m, h, w : \"1 <= h\", \"1 <= w\">} {\n";
  text += "  %s = weft.constant dense<0.0157> : tensor<f32> -> " + s +
          "\n  %z = weft.constant dense<0> : tensor<ui8> -> " + z +
          "\n  %sw = weft.constant dense<0.001> : tensor<f32> -> " + s +
          "\n  %zw = weft.constant dense<0> : tensor<i8> -> " + tensor("", "i8") + "\n";
  std::string bias;
  for (int64_t i = 0; i < channels; ++i)
    bias += (i ? ", " : "") + ("[[" + std::to_string(0.01 * double(i % 9)) + "]]");
  text += "  %b = weft.constant dense<[" + bias + "]> : tensor<" + C + "x1x1xf32> -> " +
          tensor(C + ", 1, 1", "f32") + "\n";
  auto quantized = [&](const std::string &to, const std::string &from) {
    text += "  %" + to + "q = weft.quantize %" + from + ", %s, %z : (" + x + ", " + s + ", " + z +
            ") -> " + q + "\n  %" + to + " = weft.dequantize %" + to + "q, %s, %z : (" + q + ", " +
            s + ", " + z + ") -> " + x + "\n";
  };
  auto convolved = [&](const std::string &to, const std::string &from, int64_t kernel) {
    std::string K = std::to_string(kernel), w = tensor(C + ", " + C + ", " + K + ", " + K, "i8"),
                f = tensor(C + ", " + C + ", " + K + ", " + K, "f32"),
                pad = "[" + std::to_string(kernel / 2) + ", " + std::to_string(kernel / 2) + "]";
    text += "  %" + to + "w = weft.constant " +
            bytesText({channels, channels, kernel, kernel}, "i8") + " -> " + w + "\n  %" + to +
            "f = weft.dequantize %" + to + "w, %sw, %zw : (" + w + ", " + s + ", " +
            tensor("", "i8") + ") -> " + f + "\n  %" + to + " = weft.conv %" + from + ", %" + to +
            "f strides [1, 1] dilations [1, 1] low " + pad + " high " + pad +
            " groups 1 accumulate f32 : (" + x + ", " + f + ") -> " + x + "\n";
  };
  quantized("o", "x");
  convolved("k", "o", 3);
  quantized("a", "k");
  convolved("c", "a", 3);
  text +=
      "  %d = weft.add %c, %b : (" + x + ", " + tensor(C + ", 1, 1", "f32") + ") -> " + x + "\n";
  quantized("e", "d");
  convolved("f", "e", 1);
  quantized("g", "f");
  text += "  %h = weft.add %g, %a : (" + x + ", " + x + ") -> " + x + "\n";
  quantized("i", "h");
  text += "  %p = weft.pool max %i kernel [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high "
          "[1, 1] : (" +
          x + ") -> " + x + "\n  %r = weft.reduce sum %p [2, 3] : (" + x + ") -> " + y + "\n";
  return text + "  return %r : " + y + "\n}\n";
}

TEST_CASE("integers: a chain of quantised convolutions stays in bytes with channels last") {
  std::initializer_list<Sizes> all{image(1, 1, 1), image(2, 7, 7), image(1, 9, 31)};
  agrees(block(24), all, "window_convolution", 0.02); // a tie may fall to either side
  agrees(block(24), all, "integer_contraction", 0.02);
}

TEST_CASE("integers: the largest of a window is found among the bytes, a quarter of the reals in "
          "memory") {
  std::string f = tensor("m, h, w", "f32"), q = tensor("m, h, w", "ui8"), s = tensor("", "f32"),
              z = tensor("", "ui8");
  std::string out = "m, floordiv(h + -1, 2) + 1, floordiv(w + -1, 2) + 1", y = tensor(out, "ui8"),
              r = tensor(out, "f32");
  std::string text =
      "func.func @main(%q: " + q + ") -> " + y +
      " attributes {weft.symbols = #weft.symbols<m, h, w : \"1 <= h\", \"1 <= w\">} {\n";
  text += "  %s = weft.constant dense<0.25> : tensor<f32> -> " + s +
          "\n  %z = weft.constant dense<7> : tensor<ui8> -> " + z + "\n";
  text += "  %x = weft.dequantize %q, %s, %z : (" + q + ", " + s + ", " + z + ") -> " + f + "\n";
  text += "  %p = weft.pool max %x kernel [3, 3] strides [2, 2] dilations [1, 1] low [1, 1] high "
          "[1, 1] : (" +
          f + ") -> " + r + "\n";
  text += "  %y = weft.quantize %p, %s, %z : (" + r + ", " + s + ", " + z + ") -> " + y +
          "\n  return %y : " + y + "\n}\n";
  agrees(text, {image(0, 3, 3), image(1, 1, 1), image(2, 5, 40), image(1, 9, 71)}, "loop", 0);
}
