// Products by tiles: compared with the reference evaluator at sizes that fill no tile, no panel and no chunk of a sum, and bit by bit with what
// the processor is documented to compute. What is compiled for it is looked at, as few machines run it.
#include "test/support/Constant.h"
#include "test/support/Disassembly.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// A function of rows [m, k] and of what is added to its result [m, n], in one type, whose product with a weight of bf16 is %p, in f32. `after`
/// says what follows: $y is the result's type.
struct Layer {
  int64_t k, n;
  std::string element = "bf16", after = "";
  bool transposed = false;

  std::string text() const {
    Constant w{"bf16", transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}},
        bias{element, {n}};
    std::string K = "m, " + std::to_string(k), N = "m, " + std::to_string(n),
                x = tensor(K, element), y = tensor(N, element), rows = "%x",
                text = "func.func @main(%x: " + x + ", %r: " + y + ") -> " + y +
                       " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = " + w.text(1) +
                       "\n  %b = " + bias.text(2) + "\n";
    if (element != "bf16") {
      rows = "%rounded";
      text += "  %rounded = weft.convert %x to bf16 : (" + x + ") -> " + tensor(K, "bf16") + "\n";
    }
    text += "  %p = weft.contract \"m k, " + std::string(transposed ? "n k" : "k n") +
            " -> m n\" " + rows + ", %w accumulate f32 : (" + tensor(K, "bf16") + ", " + w.type() +
            ") -> " + tensor(N, "f32") + "\n";
    std::string result = "%p";
    if (element != "f32") {
      result = "%c";
      text +=
          "  %c = weft.convert %p to " + element + " : (" + tensor(N, "f32") + ") -> " + y + "\n";
    }
    if (!after.empty()) {
      text += "  %s = weft.add " + result + ", %b : (" + y + ", " + bias.type() + ") -> " + y +
              "\n  %a = weft.activation " + after + " %s : (" + y + ") -> " + y +
              "\n  %t = weft.add %a, %r : (" + y + ", " + y + ") -> " + y + "\n";
      result = "%t";
    }
    return text + "  return " + result + " : " + y + "\n}\n";
  }
};

const std::vector<std::string> kTileTargets{"plain:v4+amx", "x86:v4+amx"};

/// Compares at every number of rows. Nothing behind the last row is read.
void agrees(const Layer &layer, std::initializer_list<int64_t> rows,
            const std::string &schedule = "tile_contraction") {
  for (const std::string &target : kTileTargets) {
    if (!isSupported(target))
      continue;
    Program program(layer.text(), target);
    INFO(target << " k=" << layer.k << " n=" << layer.n << " " << layer.element);
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    program.guarded = true;
    for (int64_t m : rows) {
      INFO("m=" << m);
      CHECK(program.difference({{"m", m}}) <= (layer.element == "f32" ? 4e-5 : place("bf16")));
    }
  }
}

template <typename T> std::vector<T> valuesOf(const Tensor &tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// Rows of f32 as bf16.
std::vector<uint16_t> rounded(const Tensor &rows) {
  std::string wide = tensor("m, k", "f32"), narrow = tensor("m, k", "bf16");
  Program program("func.func @main(%x: " + wide + ") -> " + narrow +
                  " attributes {weft.symbols = #weft.symbols<m, k>} {\n  %y = weft.convert %x to "
                  "bf16 : (" +
                  wide + ") -> " + narrow + "\n  return %y : " + narrow + "\n}\n");
  std::vector<Tensor> results = program.run({rows});
  REQUIRE(results.size() == 1);
  return valuesOf<uint16_t>(results[0]);
}

float realOf(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  memcpy(&value, &word, 4);
  return value;
}

/// As processors document it: in each step of 32, even and odd elements are summed apart.
float sumByTiles(const uint16_t *row, const uint16_t *column, int64_t stride, int64_t k) {
  float sum = 0;
  for (int64_t from = 0; from < k; from += 32) {
    float parts[2] = {};
    for (int64_t i = from; i < std::min(k, from + 32); ++i)
      parts[i % 2] = std::fma(realOf(row[i]), realOf(column[i * stride]), parts[i % 2]);
    sum += parts[0] + parts[1];
  }
  return sum;
}

} // namespace

TEST_CASE("tiles: rows of bf16, what follows rounded as the operators round") {
  for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 64})
    agrees({64, n, "bf16", "gelu"}, {0, 1, 15, 16, 17, 33});
}

TEST_CASE("tiles: sums that end inside a tile") {
  for (int64_t k : {2, 30, 32, 34, 62, 96, 100})
    agrees({k, 40, "bf16", "silu", k % 4 == 0}, {1, 16, 31, 32, 47, 48});
}

TEST_CASE("tiles: f32 that is rounded before") {
  agrees({96, 33, "f32", "gelu"}, {0, 1, 17, 33});
  agrees({66, 20, "f32"}, {5, 40});
}

TEST_CASE("tiles: a model of f32 whose products are computed in bf16") {
  Constant up{"f32", {96, 64}}, down{"f32", {64, 96}};
  std::string x = tensor("m, 96", "f32"), h = tensor("m, 64", "f32");
  weft::CompileOptions options;
  options.target = "plain:v4+amx";
  options.numerics.compute = "bf16";
  Program program("func.func @main(%x: " + x + ") -> " + x +
                      " attributes {weft.symbols = #weft.symbols<m>} {\n  %v = " + up.text(1) +
                      "\n  %w = " + down.text(2) +
                      "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %v accumulate f32 : (" + x +
                      ", " + up.type() + ") -> " + h + "\n  %1 = weft.activation sigmoid %0 : (" +
                      h + ") -> " + h +
                      "\n  %2 = weft.contract \"m k, k n -> m n\" %1, %w accumulate f32 : (" + h +
                      ", " + down.type() + ") -> " + x + "\n  %3 = weft.add %2, %x : (" + x + ", " +
                      x + ") -> " + x + "\n  return %3 : " + x + "\n}\n",
                  options);
  INFO(program.error());
  REQUIRE(program.error().empty());
  CHECK(uses(program, "tile_contraction"));
  for (int64_t m : {1, 16, 45})
    CHECK(program.difference({{"m", m}}) <= 0.05); // from what f32 gives
}

TEST_CASE("tiles: sums in several chunks, rows in several blocks") {
  agrees({1100, 33, "f32", "relu", true}, {1, 32, 33, 64, 257, 300});
  agrees({1024, 16, "bf16", "gelu"}, {16, 48, 512});
  agrees({8320, 5, "f32"}, {3, 70}); // a block is one pair of strips
}

TEST_CASE("tiles: an odd number of products is left to the schedule of packed weights") {
  agrees({33, 17}, {1, 17}, "contraction");
}

TEST_CASE("tiles: attention whose rows, keys, depths and columns fill no tile") {
  struct Heads {
    int64_t d, e;
    bool sideBySide;
  };
  for (const std::string &target : kTileTargets)
    for (auto [d, e, sideBySide] : {Heads{32, 32, true},
                                    {64, 64, false},
                                    {1, 1, false},
                                    {7, 33, true},
                                    {20, 16, false},
                                    {96, 80, true}}) {
      if (!isSupported(target))
        continue;
      Program program(attention("bf16", d, e, sideBySide), target);
      INFO(target << " d=" << d << " e=" << e);
      REQUIRE(program.error().empty());
      CHECK(uses(program, "tile_attention"));
      program.guarded = true;
      for (auto [s, t] : {std::pair(1, 1), {0, 3}, {3, 0}, {15, 31}, {16, 32}, {17, 33}, {40, 100}})
        CHECK(program.difference({{"b", 2}, {"s", s}, {"t", t}}) <= 2 * place("bf16"));
    }
}

TEST_CASE("tiles: attention that is not all bf16 is left to the schedule of vectors") {
  for (const std::string &target : kTileTargets)
    if (isSupported(target)) {
      CHECK(uses(Program(attention("f16"), target), "attention"));
      CHECK(!uses(Program(attention("f16"), target), "tile_attention"));
    }
}

TEST_CASE("tiles: attention masked beyond what f32 has, and as a whole, is that of the operators") {
  std::string q = tensor("1, 2, s, 32", "bf16"), scores = tensor("1, 2, s, s", "f32"),
              mask = tensor("1, 1, 1, s", "f32"), y = tensor("1, 2, s, 32", "f32"),
              narrow = tensor("1, 2, s, s", "bf16");
  std::string text =
      "func.func @main(%q: " + q + ", %k: " + q + ", %v: " + q + ", %mask: " + mask + ") -> " + y +
      " attributes {weft.symbols = #weft.symbols<s>} {\n  %0 = weft.contract \"b h s d, b h t d -> "
      "b h s t\" %q, %k accumulate f32 : (" +
      q + ", " + q + ") -> " + scores + "\n  %1 = weft.add %0, %mask : (" + scores + ", " + mask +
      ") -> " + scores + "\n  %2 = weft.softmax %1 : (" + scores + ") -> " + scores +
      "\n  %3 = weft.convert %2 to bf16 : (" + scores + ") -> " + narrow +
      "\n  %4 = weft.contract \"b h s t, b h t d -> b h s d\" %3, %v accumulate f32 : (" + narrow +
      ", " + q + ") -> " + y + "\n  return %4 : " + y + "\n}\n";
  for (const std::string &target : kTileTargets) {
    if (!isSupported(target))
      continue;
    Program program(text, target);
    REQUIRE(program.error().empty());
    CHECK(uses(program, "tile_attention"));
    std::vector<Tensor> inputs = program.generate({{"s", 40}}, 1);
    auto *values = reinterpret_cast<float *>(inputs[3].bytes.data());
    for (int64_t i = 0; i < 40; ++i) // shown, barely seen, and hidden
      values[i] = i % 4 == 0 ? 0 : i % 4 == 1 ? -80 : i % 4 == 2 ? -100 : -3e38f;
    CHECK(program.difference(inputs, program.evaluate(inputs)) <= 2 * place("bf16"));
  }
}

TEST_CASE("tiles: sums are those of the processor, bit by bit, however rows are cut") {
  const int64_t k = 1100, n = 37, m = 83;
  for (const std::string &target : kTileTargets) {
    if (!isSupported(target))
      continue;
    for (int threads : {1, 3}) {
      Program program(Layer{k, n, "f32"}.text(), target, threads);
      REQUIRE(program.error().empty());
      std::vector<Tensor> inputs = program.generate({{"m", m}}, 1), got = program.run(inputs);
      REQUIRE(got.size() == 1);
      std::vector<uint16_t> x = rounded(inputs[0]), w = Constant{"bf16", {k, n}}.halves(1);
      auto y = valuesOf<float>(got[0]);
      for (int64_t i = 0; i < m * n; ++i)
        REQUIRE(y[size_t(i)] == sumByTiles(&x[size_t(i / n * k)], &w[size_t(i % n)], n, k));
    }
  }
}

TEST_CASE(
    "tiles: a step of two by two tiles is four loads and four products, and nothing is spilled") {
  weft::CompileOptions options;
  options.target = "x86:v4+amx"; // compiled, not run
  std::vector<std::string> code =
      disassembleKernels(Layer{512, 64, "bf16", "gelu"}.text(), options);
  auto count = [&](const std::string &mnemonic) {
    return std::count_if(code.begin(), code.end(), [&](const std::string &line) {
      return line.find(mnemonic) != std::string::npos;
    });
  };
  CHECK(count("ldtilecfg") == 1);
  CHECK(count("tilerelease") == 1);
  // Those of two strips, then of one alone.
  CHECK(count("tdpbf16ps") == 4 + 2);
  CHECK(count("tileloadd") == 4 + 3);
  CHECK(count("tileloaddt1") == 2 + 2);
  CHECK(count("tilestored") == 4 + 2);
}
