// Models in f16 and bf16: products and attention take operands and results of 16 bits where they take f32.
#include "test/support/Constant.h"
#include "test/support/Halves.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// Calls `body` with the program for every target that this machine runs.
template <typename Body>
void onTargets(const std::string &text, Body body,
               const std::vector<std::string> &targets = kHalfTargets) {
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(text, target);
    INFO(target);
    INFO(program.error());
    REQUIRE(program.error().empty());
    body(program, target);
  }
}

/// tanh(x * w + bias) in one type, as exporters write a layer in half precision.
std::string layer(const std::string &element, int64_t k, int64_t n) {
  Constant w{element, {k, n}}, bias{element, {n}};
  std::string x = tensor("m, " + std::to_string(k), element),
              y = tensor("m, " + std::to_string(n), element),
              sum = tensor("m, " + std::to_string(n), "f32");
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = " + w.text(1) +
         "\n  %bias = " + bias.text(2) +
         "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" + x + ", " +
         w.type() + ") -> " + sum + "\n  %1 = weft.convert %0 to " + element + " : (" + sum +
         ") -> " + y + "\n  %2 = weft.add %1, %bias : (" + y + ", " + bias.type() + ") -> " + y +
         "\n  %3 = weft.tanh %2 : (" + y + ") -> " + y + "\n  return %3 : " + y + "\n}\n";
}

} // namespace

TEST_CASE("rows and weights of 16 bits are multiplied by the schedule of packed weights") {
  for (const char *element : {"f16", "bf16"})
    for (auto [k, n] :
         {std::pair(300, 33), {7, 64}, {1024, 40}}) // the last meet in one set of a cache
      onTargets(layer(element, k, n),
                [&, element = element](Program &program, const std::string &) {
                  CHECK(uses(program, "contraction"));
                  for (int64_t m : {0, 1, 2, 5, 14, 15, 29, 120, 263})
                    CHECK(program.difference({{"m", m}}) <= place(element));
                });
}

/// x * w as it is summed.
static std::string sums(const std::string &element, int64_t k, int64_t n) {
  Constant w{element, {k, n}};
  std::string x = tensor("m, " + std::to_string(k), element),
              y = tensor("m, " + std::to_string(n), "f32");
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = " + w.text(1) +
         "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" + x + ", " +
         w.type() + ") -> " + y + "\n  return %0 : " + y + "\n}\n";
}

TEST_CASE("tiles that find panels of 16 bits widened give the bits of those that widen them") {
  const int64_t k = 1031, n = 220, few = 29; // two blocks of panels, a last unit that is half there
  for (const char *element : {"f16", "bf16"})
    onTargets(sums(element, k, n),
              [&](Program &program, const std::string &) {
                CHECK(uses(program, "contraction"));
                std::vector<Tensor> rows = program.generate({{"m", 263}}, 1);
                std::vector<Tensor> many = program.run(rows);
                rows[0].dims[0] = few;
                rows[0].bytes.resize(few * k * 2);
                std::vector<Tensor> first = program.run(rows);
                REQUIRE(many.size() == 1);
                REQUIRE(first.size() == 1);
                REQUIRE(first[0].bytes.size() == few * n * 4);
                CHECK(std::memcmp(first[0].bytes.data(), many[0].bytes.data(), few * n * 4) == 0);
                CHECK(std::any_of(first[0].bytes.begin(), first[0].bytes.end(),
                                  [](char b) { return b; }));
              },
              {"x86:v4+vnni", "x86:v3"});
}

/// A product in one type, of which one operator goes on computing and another sees the bits.
static std::string seenProduct(const std::string &element) {
  Constant w{element, {64, 40}};
  std::string x = tensor("m, 64", element), y = tensor("m, 40", element),
              wide = tensor("m, 40", "f32");
  return "func.func @main(%x: " + x + ") -> (" + y + ", " + wide +
         ") attributes {weft.symbols = #weft.symbols<m>} {\n  %w = " + w.text(1) +
         "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" + x + ", " +
         w.type() + ") -> " + wide + "\n  %1 = weft.convert %0 to " + element + " : (" + wide +
         ") -> " + y + "\n  %2 = weft.add %1, %1 : (" + y + ", " + y + ") -> " + y +
         "\n  %3 = weft.convert %1 to f32 : (" + y + ") -> " + wide + "\n  return %2, %3 : " + y +
         ", " + wide + "\n}\n";
}

TEST_CASE("a product is rounded to 16 bits before an operator that sees its bits") {
  for (const char *element : {"f16", "bf16"})
    onTargets(seenProduct(element), [&](Program &program, const std::string &) {
      std::vector<Tensor> results = program.run(program.generate({{"m", 17}}, 1));
      REQUIRE(results.size() == 2);
      const uint32_t below = element == std::string("f16") ? 0x1fff : 0xffff;
      uint32_t seen = 0, word;
      for (size_t i = 0; i < results[1].bytes.size(); i += sizeof word) {
        std::memcpy(&word, &results[1].bytes[i], sizeof word);
        seen |= word;
      }
      CHECK(seen != 0);
      CHECK((seen & below) == 0);
    });
}

TEST_CASE("rows of bf16 are multiplied where they lie when the machine adds products of pairs") {
  auto scratch = [](const std::string &target, int64_t k) -> std::string {
    Program program(layer("bf16", k, 40), target);
    weft_function_info_t info = {};
    info.struct_size = sizeof info;
    REQUIRE(weft_function_info(program.artifact, 0, &info) == WEFT_OK);
    return info.scratch;
  };
  CHECK(scratch("plain:v4+bf16", 64) == "0");
  CHECK(scratch("plain:v4+bf16", 63) != "0"); // pairs would cross rows
  CHECK(scratch("x86:v3", 64) != "0");
}

/// Of the object of the only kernel that takes a value, rounded by an operator before, through relu.
static uint64_t bytesOfRelu(const std::string &element) {
  std::string x = tensor("m, 64", element), wide = tensor("m, 64", "f32");
  weft::CompileOptions options;
  options.target = "x86:v4+vnni"; // compiled, not run
  options.temporariesDirectory = "relu_of_" + element;
  std::filesystem::remove_all(options.temporariesDirectory);
  Program program("func.func @main(%x: " + x + ") -> " + x +
                      " attributes {weft.symbols = #weft.symbols<m>} {\n  %0 = weft.convert %x to "
                      "f32 : (" +
                      x + ") -> " + wide + "\n  %1 = weft.convert %0 to " + element + " : (" +
                      wide + ") -> " + x + "\n  %2 = weft.activation relu %1 : (" + x + ") -> " +
                      x + "\n  return %2 : " + x + "\n}\n",
                  options);
  uint64_t bytes = 0;
  for (auto &file : std::filesystem::directory_iterator(options.temporariesDirectory))
    if (std::string name = file.path().filename(); name.rfind("weft_k_", 0) == 0)
      bytes += file.path().extension() == ".o" ? file.file_size() : 0;
  return bytes;
}

TEST_CASE("relu of f16 compares vectors, as that of bf16 does") {
  uint64_t f16 = bytesOfRelu("f16"), bf16 = bytesOfRelu("bf16");
  REQUIRE(bf16 > 0);
  CHECK(f16 <= bf16); // lane by lane, it has 16 comparisons for each of bf16's
}

static bool isOneKernel(const Program &program) {
  weft_module_info_t info = {sizeof info};
  REQUIRE(weft_module_info(program.artifact, &info) == WEFT_OK);
  return info.kernels == 1;
}

TEST_CASE("attention of 16 bits is one kernel") {
  for (const char *element : {"f16", "bf16"})
    onTargets(attention(element), [&](Program &program, const std::string &) {
      CHECK(isOneKernel(program));
      for (auto [s, t] : {std::pair(1, 1), {31, 45}, {14, 64}, {3, 257}, {3, 0}})
        CHECK(program.difference({{"b", 2}, {"s", s}, {"t", t}}) <= 2 * place(element));
    });
}

TEST_CASE("attention of 16 bits takes depths and columns that are odd, and heads side by side") {
  struct Size {
    int64_t d, e;
    bool sideBySide;
  };
  for (auto [d, e, sideBySide] : {Size{1, 1, false}, {7, 33, true}, {31, 16, false}})
    onTargets(attention("bf16", d, e, sideBySide),
              [&](Program &program, const std::string &) {
                CHECK(isOneKernel(program));
                for (auto [s, t] : {std::pair(1, 2), {17, 33}, {2, 64}})
                  CHECK(program.difference({{"b", 2}, {"s", s}, {"t", t}}) <= 2 * place("bf16"));
              },
              {"plain:v4+bf16", "x86:v3"});
}

TEST_CASE("attention keeps half as much beside its scores where pairs of bf16 are multiplied") {
  auto scratch = [](const std::string &target) {
    Program program(attention("bf16", 64, 64), target);
    weft_cost_t cost = {sizeof cost};
    weft_error_t error = WEFT_ERROR_INIT;
    const int64_t sizes[] = {1, 14, 1024};
    REQUIRE(weft_query_cost(program.artifact, 0, sizes, &cost, &error) == WEFT_OK);
    return cost.scratch_per_worker;
  };
  const int64_t scores = 14 * 1024 * 4 + 16 * 4, // and a number for each row
      operand = 1024 * 64, queries = 14 * 64 * 4;
  CHECK(scratch("plain:v4+bf16") == scores + 2 * operand * 2); // queries are read where they are
  CHECK(scratch("plain:v4+vnni") == scores + 2 * operand * 4 + queries);
}
