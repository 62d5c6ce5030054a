// Products of bytes in pairs that saturate in 16 bits: taken where the weight lets none saturate, whatever is multiplied by it, and exact there
// at the worst that can be; not taken where one weight is beyond that.
#include "test/support/ConvolutionProgram.h"
#include "test/support/Disassembly.h"
#include "test/targets/plain/PlainFamily.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

using namespace weft::test;

namespace {

using Targets = std::vector<std::string>;
const Targets kUsual = targetsToTry({"x86:v3"}),
              kAll = targetsToTry({"x86:v3", "x86:v2", "plain:v4"});

/// The weight of a place: k and column, or the place in a filter and the filter.
using WeightOf = std::function<int64_t(int64_t k, int64_t n)>;

std::string constant(const std::vector<int64_t> &dims, const std::function<int64_t(int64_t)> &at) {
  int64_t count = 1;
  std::string shape, hex;
  for (int64_t dim : dims) {
    count *= dim;
    shape += std::to_string(dim) + "x";
  }
  for (int64_t i = 0; i < count; ++i) {
    hex += "0123456789ABCDEF"[at(i) >> 4 & 15];
    hex += "0123456789ABCDEF"[at(i) & 15];
  }
  return "dense<\"0x" + hex + "\"> : tensor<" + shape + "i8>";
}

/// x [m, k] times a constant [k, n], or [n, k], in i32.
std::string product(int64_t k, int64_t n, const WeightOf &weight,
                    const std::string &element = "ui8", bool transposed = false) {
  auto tensor = [](const std::string &dims, const std::string &type) {
    return "!weft.tensor<[" + dims + "], " + type + ">";
  };
  std::string K = std::to_string(k), N = std::to_string(n), x = tensor("m, " + K, element),
              y = tensor("m, " + N, "i32"),
              w = tensor(transposed ? N + ", " + K : K + ", " + N, "i8");
  auto at = [&](int64_t i) { return transposed ? weight(i % k, i / k) : weight(i / n, i % n); };
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
         constant(transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, at) +
         " -> " + w + "\n  %y = weft.contract \"m k, " + (transposed ? "n k" : "k n") +
         " -> m n\" %x, %w accumulate i32 : (" + x + ", " + w + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

struct Filters {
  int64_t channels, count, kernel, stride, pad, dilation = 1;
  std::string element = "ui8"; ///< of the image
};

std::string windows(const Filters &f, const WeightOf &weight) {
  Axis axis{f.kernel, f.stride, f.dilation, f.pad, f.pad};
  Convolution c{f.channels, f.count, 1, {axis, axis}, "", /*channelsLast=*/true, f.element, "i8"};
  int64_t size = f.channels * f.kernel * f.kernel;
  c.filterText = constant({f.count, f.channels, f.kernel, f.kernel},
                          [&](int64_t i) { return weight(i % size, i / size); });
  return textOf(c);
}

/// By all 255, which nothing is worse than, by what signed bytes make of that, and by numbers of all sizes.
void agrees(const std::string &text, std::initializer_list<Sizes> all,
            const std::string &schedule = "integer_contraction", const Targets &targets = kUsual) {
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(text, target);
    INFO(target << "\n" << text.substr(0, 300) << program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    for (const Sizes &sizes : all) {
      CHECK(program.difference(sizes, 1, 256) == 0);
      std::vector<Tensor> inputs = program.generate(sizes, 2, 256);
      for (int fill : {255, 127}) {
        std::fill(inputs[0].bytes.begin(), inputs[0].bytes.end(), char(fill));
        CHECK(program.difference(inputs, program.evaluate(inputs)) == 0);
      }
    }
  }
}

/// Instructions of the program's kernels.
class Code {
public:
  explicit Code(const std::string &text, const std::string &target = "x86:v3") {
    weft::CompileOptions options;
    options.target = target;
    lines = disassembleKernels(text, options);
  }
  int64_t count(const std::string &mnemonic) const {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string &line) {
      return line.find("\t" + mnemonic + "\t") != std::string::npos;
    });
  }

private:
  std::vector<std::string> lines;
};

Sizes rows(int64_t m) { return {{"m", m}}; }
Sizes image(int64_t m, int64_t h, int64_t w) { return {{"m", m}, {"h", h}, {"w", w}}; }

/// Any numbers that are at most so large, the same in every process.
WeightOf upTo(int64_t most) {
  return [most](int64_t k, int64_t n) {
    uint64_t mixed = uint64_t(k * 1031 + n * 769 + 7) * 0x9E3779B97F4A7C15u >> 33;
    return int64_t(mixed % uint64_t(2 * most + 1)) - most;
  };
}

} // namespace

TEST_CASE("byte pairs: sums of as many as just fit 16 bits are exact") {
  // Of one, two and four groups: their pairs' weights make 128 in one column and -128 in the next.
  for (int64_t each : {64, 32, 16})
    agrees(product(40, 19, [&](int64_t, int64_t n) { return n % 2 ? -each : each; }), {rows(7)});
  WeightOf uneven = [](int64_t k, int64_t n) {
    return n % 2 ? (k % 2 ? 0 : -128) : (k % 2 ? 1 : 127);
  };
  agrees(product(37, 18, uneven), {rows(5)});
  CHECK(Code(product(37, 18, uneven)).count("vpmaddubsw") > 0);
}

TEST_CASE("byte pairs: a single pair beyond 16 bits is summed otherwise, and exactly") {
  for (int64_t sign : {1, -1}) {
    std::string text = product(40, 19, [&](int64_t k, int64_t n) {
      return sign * (k == 23 && n == 17 ? 65 : n == 3 ? 1 : 64);
    });
    agrees(text, {rows(7)});
    Code code(text);
    CHECK(code.count("vpmaddubsw") == 0);
    CHECK(code.count("vpmaddwd") > 0);
  }
}

TEST_CASE("byte pairs: more groups are summed in 16 bits where weights are smaller") {
  auto perWidened = [](int64_t each) {
    Code code(product(64, 16, [&](int64_t, int64_t n) { return n % 2 ? -each : each; }));
    return double(code.count("vpmaddubsw")) / double(code.count("vpmaddwd"));
  };
  CHECK(perWidened(33) == 1);
  CHECK(perWidened(32) == 2);
  CHECK(perWidened(17) == 2);
  CHECK(perWidened(16) == 4);
}

TEST_CASE("byte pairs: rows of any length and number, of both signs, are exact") {
  const char *schedule = "integer_contraction";
  agrees(product(37, 33, upTo(64)), {rows(0), rows(1), rows(7)}, schedule, kAll);
  agrees(product(22, 90, upTo(10), "i8", true), {rows(3), rows(14)});
  agrees(product(37, 33, upTo(20), "i8"), {rows(1), rows(8)});
  agrees(product(3, 7, upTo(10)), {rows(1), rows(9)});
  agrees(product(300, 20, upTo(16), "ui8", true), {rows(1), rows(5)});
}

TEST_CASE("byte pairs: windows are exact, wherever groups begin in them") {
  const char *schedule = "window_convolution";
  agrees(windows({5, 19, 3, 1, 1, 1, "i8"}, upTo(10)), {image(1, 1, 1), image(2, 7, 9)}, schedule,
         kAll);
  agrees(windows({3, 9, 7, 2, 3}, upTo(20)), {image(1, 2, 2), image(1, 11, 17)}, schedule);
  agrees(windows({8, 27, 1, 2, 0}, upTo(20)), {image(2, 9, 15)}, schedule);
  agrees(windows({6, 9, 3, 1, 2, 2}, upTo(10)), {image(2, 9, 15)}, schedule);
  std::string many = windows({32, 17, 3, 2, 1}, upTo(64));
  agrees(many, {image(1, 5, 18)}, schedule);
  CHECK(Code(many).count("vpmaddubsw") > 0);
}

TEST_CASE("byte pairs: a filter is held to its pixels in order, not to its channels") {
  // Two channels of a pixel are a pair of 128. Of three, the last of a pixel and the first of the next are one of 254.
  auto everyOther = [](int64_t channels) {
    return windows({channels, 9, 3, 2, 1}, [](int64_t k, int64_t) { return k / 9 % 2 ? 1 : 127; });
  };
  CHECK(Code(everyOther(2)).count("vpmaddubsw") > 0);
  CHECK(Code(everyOther(3)).count("vpmaddubsw") == 0);
  agrees(everyOther(2), {image(1, 7, 9)}, "window_convolution");
  agrees(everyOther(3), {image(1, 7, 9)}, "window_convolution");
}

TEST_CASE("byte pairs: processors with products of four bytes take those") {
  std::string small = product(64, 32, upTo(16));
  Code vnni(small, "x86:v4+vnni");
  CHECK(vnni.count("vpmaddubsw") == 0);
  CHECK(vnni.count("vpdpbusd") > 0);
  CHECK(Code(small, "x86:v3+vnni").count("vpmaddubsw") == 0);
  CHECK(Code(small, "x86:v4").count("vpmaddubsw") > 0);
  CHECK(Code(small, "x86:v2").count("pmaddubsw") > 0);
}
