// The memory a call uses, counted by the caller's allocator, is what the formula says.
#include "test/support/Memory.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

/// Two attention layers with a feed-forward product: buffers of different lives and sizes.
const char *kEncoder = R"(
func.func @main(%x: !weft.tensor<[b, s, 64], f32>, %w: !weft.tensor<[64, 64], f32>, %f: !weft.tensor<[64, 200], f32>, %g: !weft.tensor<[200, 64], f32>)
    -> !weft.tensor<[b, s, 64], f32> attributes {weft.symbols = #weft.symbols<b, s : "1 <= s">} {
  %q = weft.contract "... k, k n -> ... n" %x, %w accumulate f32 : (!weft.tensor<[b, s, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[b, s, 64], f32>
  %h = weft.reshape %q to [b, s, 2, 32] : (!weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, 2, 32], f32>
  %a = weft.contract "b s h d, b t h d -> b h s t" %h, %h accumulate f32 : (!weft.tensor<[b, s, 2, 32], f32>, !weft.tensor<[b, s, 2, 32], f32>) -> !weft.tensor<[b, 2, s, s], f32>
  %p = weft.softmax %a : (!weft.tensor<[b, 2, s, s], f32>) -> !weft.tensor<[b, 2, s, s], f32>
  %o = weft.contract "b h s t, b t h d -> b s h d" %p, %h accumulate f32 : (!weft.tensor<[b, 2, s, s], f32>, !weft.tensor<[b, s, 2, 32], f32>) -> !weft.tensor<[b, s, 2, 32], f32>
  %r = weft.reshape %o to [b, s, 64] : (!weft.tensor<[b, s, 2, 32], f32>) -> !weft.tensor<[b, s, 64], f32>
  %y = weft.add %r, %x : (!weft.tensor<[b, s, 64], f32>, !weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, 64], f32>
  %u = weft.contract "... k, k n -> ... n" %y, %f accumulate f32 : (!weft.tensor<[b, s, 64], f32>, !weft.tensor<[64, 200], f32>) -> !weft.tensor<[b, s, 200], f32>
  %v = weft.activation gelu %u : (!weft.tensor<[b, s, 200], f32>) -> !weft.tensor<[b, s, 200], f32>
  %z = weft.contract "... k, k n -> ... n" %v, %g accumulate f32 : (!weft.tensor<[b, s, 200], f32>, !weft.tensor<[200, 64], f32>) -> !weft.tensor<[b, s, 64], f32>
  %e = weft.add %z, %y : (!weft.tensor<[b, s, 64], f32>, !weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, 64], f32>
  return %e : !weft.tensor<[b, s, 64], f32>
})";

/// A small convolutional classifier of images of any size: convolution, activation, pool, convolution, mean, product.
const char *kConvolutional = R"(
func.func @main(%x: !weft.tensor<[b, 3, h, w], f32>, %f: !weft.tensor<[8, 3, 3, 3], f32>, %g: !weft.tensor<[16, 8, 3, 3], f32>, %d: !weft.tensor<[16, 10], f32>)
    -> !weft.tensor<[b, 10], f32> attributes {weft.symbols = #weft.symbols<b, h, w : "2 <= h", "2 <= w">} {
  %0 = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[b, 3, h, w], f32>, !weft.tensor<[8, 3, 3, 3], f32>) -> !weft.tensor<[b, 8, h, w], f32>
  %1 = weft.activation relu %0 : (!weft.tensor<[b, 8, h, w], f32>) -> !weft.tensor<[b, 8, h, w], f32>
  %2 = weft.pool max %1 kernel [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : (!weft.tensor<[b, 8, h, w], f32>) -> !weft.tensor<[b, 8, floordiv(h, 2), floordiv(w, 2)], f32>
  %3 = weft.conv %2, %g strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[b, 8, floordiv(h, 2), floordiv(w, 2)], f32>, !weft.tensor<[16, 8, 3, 3], f32>) -> !weft.tensor<[b, 16, floordiv(h, 2), floordiv(w, 2)], f32>
  %4 = weft.reduce sum %3 [2, 3] : (!weft.tensor<[b, 16, floordiv(h, 2), floordiv(w, 2)], f32>) -> !weft.tensor<[b, 16], f32>
  %5 = weft.dims_value [floordiv(h, 2)*floordiv(w, 2)] : !weft.tensor<[1], i64>
  %6 = weft.convert %5 to f32 : (!weft.tensor<[1], i64>) -> !weft.tensor<[1], f32>
  %7 = weft.div %4, %6 : (!weft.tensor<[b, 16], f32>, !weft.tensor<[1], f32>) -> !weft.tensor<[b, 16], f32>
  %8 = weft.contract "m k, k n -> m n" %7, %d accumulate f32 : (!weft.tensor<[b, 16], f32>, !weft.tensor<[16, 10], f32>) -> !weft.tensor<[b, 10], f32>
  return %8 : !weft.tensor<[b, 10], f32>
})";

void checkMemory(const char *text, std::initializer_list<Sizes> all) {
  Program program(text);
  INFO(program.error());
  REQUIRE(program.error().empty());
  for (int threads : {1, 2})
    for (const Sizes &sizes : all) {
      MemoryOfCall memory = memoryOfCall(program, sizes, threads);
      INFO(memory.what);
      REQUIRE(memory.error == "");
      REQUIRE(memory.arena > 0);
      CHECK(memory.most == memory.arena + threads * memory.scratch);
      CHECK(memory.allocationsOfSecondCall == 0);
      CHECK(memory.leaked == 0);
    }
}

} // namespace

TEST_CASE(
    "arena and scratch are exactly what the formula says, and a second call allocates nothing") {
  checkMemory(kEncoder, {{{"b", 1}, {"s", 1}}, {{"b", 3}, {"s", 37}}, {{"b", 2}, {"s", 130}}});
}

TEST_CASE("the same for a convolutional network with symbolic batch, height and width") {
  checkMemory(kConvolutional, {{{"b", 1}, {"h", 2}, {"w", 3}},
                               {{"b", 2}, {"h", 17}, {"w", 30}},
                               {{"b", 5}, {"h", 64}, {"w", 33}}});
}

static std::vector<std::string> kernelNames(Program &program) {
  std::vector<std::string> names;
  weft_module_info_t info = {sizeof(info)};
  weft_module_info(program.artifact, &info);
  for (uint32_t i = 0; i < info.kernels; ++i) {
    weft_kernel_info_t kernel = {sizeof(kernel)};
    weft_kernel_info(program.artifact, i, &kernel);
    names.push_back(kernel.name);
  }
  return names;
}

TEST_CASE("the range of a symbol changes no kernel") {
  std::string narrow = kEncoder, wide = kEncoder;
  std::string fact = "\"1 <= s\"";
  narrow.replace(narrow.find(fact), fact.size(), "\"1 <= s\", \"s <= 128\"");
  wide.replace(wide.find(fact), fact.size(), "\"1 <= s\", \"s <= 8192\"");
  Program a(narrow), b(wide);
  REQUIRE(a.error().empty());
  REQUIRE(b.error().empty());
  REQUIRE(!kernelNames(a).empty());
  CHECK(kernelNames(a) ==
        kernelNames(b)); // a kernel's name is the hash of what its code is made from
}
