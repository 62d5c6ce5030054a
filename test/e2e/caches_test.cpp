// What a decoder keeps between calls, in bytes with scales or in halves: compiled as evaluated, the same whether a prompt comes at once or
// token by token, and near to what it is in f32.
#include "compiler/import/text/ImportText.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/Passes.h"
#include "test/support/Decoder.h"
#include "test/support/EmulatedCall.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

constexpr int64_t kBatch = 2, kHeads = 2, kSize = 16;
const std::vector<std::string> kTargets{"x86:host", "x86:v3", "x86:v2"};

Module decoder(const std::string &cache) {
  weft::Result<Module> module = importText("test.mlir", kDecoder);
  REQUIRE(module);
  if (!cache.empty()) {
    RoundCachesOptions options;
    options.element = cache;
    mlir::PassManager passes(module->get().context.get());
    passes.addPass(createRoundCaches(options));
    REQUIRE(succeeded(passes.run(*module->get().module)));
  }
  return *module;
}

/// Lines [from, to) of a tensor's third dimension.
Tensor lines(const Tensor &whole, int64_t from, int64_t to, size_t dim) {
  Tensor part{whole.element, whole.dims, {}};
  part.dims[dim] = to - from;
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < dim; ++d)
    outer *= whole.dims[d];
  for (size_t d = dim + 1; d < whole.dims.size(); ++d)
    inner *= whole.dims[d];
  int64_t element = int64_t(whole.bytes.size()) / (outer * whole.dims[dim] * inner);
  for (int64_t line = 0; line < outer; ++line) {
    const char *first = whole.bytes.data() + (line * whole.dims[dim] + from) * inner * element;
    part.bytes.insert(part.bytes.end(), first, first + (to - from) * inner * element);
  }
  return part;
}

std::vector<float> floatsOf(const Tensor &tensor) {
  std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
  memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

double largestDifference(const Tensor &a, const Tensor &b) {
  std::vector<float> x = floatsOf(a), y = floatsOf(b);
  REQUIRE(x.size() == y.size());
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::fabs(double(x[i]) - y[i]));
  return largest;
}

} // namespace

TEST_CASE("rounded caches are compiled as they are evaluated") {
  for (const std::string &target : targetsToTry(kTargets))
    for (const char *cache : {"i8", "f16", "bf16"}) {
      INFO(target << " " << cache);
      Program program(decoder(cache), target);
      REQUIRE(program.error() == "");
      for (Sizes sizes : {Sizes{{"b", 2}, {"s", 3}, {"p", 5}}, Sizes{{"b", 1}, {"s", 1}, {"p", 40}},
                          Sizes{{"b", 3}, {"s", 17}, {"p", 0}}})
        CHECK(program.difference(sizes) <= 1e-5);
    }
}

TEST_CASE("a prompt at once and its tokens one by one keep the same bytes") {
  for (const std::string &target : targetsToTry(kTargets)) {
    INFO(target);
    Program program(decoder("i8"), target);
    REQUIRE(program.error() == "");
    const int64_t length = 9;
    std::vector<Tensor> prompt = program.generate({{"b", kBatch}, {"s", length}, {"p", 0}}, 1);
    std::vector<Tensor> whole = program.run(prompt);
    REQUIRE(whole.size() == 6);
    std::vector<Tensor> step = prompt, given;
    for (int64_t at = 0; at < length; ++at) {
      std::vector<Tensor> in{lines(prompt[0], at, at + 1, 2), lines(prompt[1], at, at + 1, 1),
                             lines(prompt[2], at, at + 1, 1)};
      for (unsigned i : {3u, 4u, 5u, 6u}) // caches and scales, of no position first
        in.push_back(at == 0 ? prompt[i] : given[i - (i < 5 ? 2 : 1)]);
      given = program.run(in);
      REQUIRE(given.size() == 6);
    }
    for (unsigned i : {1u, 2u, 4u, 5u})
      CHECK(given[i].bytes == whole[i].bytes);
    CHECK(given[1].bytes.size() == size_t(kBatch * kHeads * length * kSize));
    CHECK(largestDifference(given[0], lines(whole[0], length - 1, length, 2)) <= 1e-5);
  }
}

TEST_CASE("a cache in bytes answers nearly as one in f32, also where a row is zeros or much larger "
          "than others") {
  Program exact(decoder("")), rounded(decoder("i8"));
  std::vector<Tensor> in = exact.generate({{"b", kBatch}, {"s", 6}, {"p", 0}}, 3);
  std::vector<float> keys = floatsOf(in[1]);
  std::fill(keys.begin(), keys.begin() + kSize, 0.0f);
  for (int64_t i = kSize; i < 2 * kSize; ++i)
    keys[size_t(i)] *= 1e-6f;
  memcpy(in[1].bytes.data(), keys.data(), in[1].bytes.size());
  std::vector<Tensor> expected = exact.run(in), scaled = in;
  std::vector<Tensor> empty = rounded.generate({{"b", kBatch}, {"s", 6}, {"p", 0}}, 3);
  for (unsigned i : {3u, 4u})
    scaled[i] = empty[i];
  scaled.insert(scaled.end(), empty.begin() + 5, empty.end());
  std::vector<Tensor> given = rounded.run(scaled);
  REQUIRE(given.size() == 6);
  double difference = largestDifference(given[0], expected[0]);
  CHECK(difference < 0.05); // scores are sums of 16 products of up to 4, and not divided
  CHECK(difference > 0);    // something was rounded
}
