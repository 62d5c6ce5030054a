// The memory a call uses, counted by the caller's allocator, is what the formula says.
#include "test/support/Program.h"
#include "tools/weft/Formula.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

struct Counter {
  int64_t held = 0, most = 0, calls = 0;
};

void *allocate(void *user, size_t bytes, size_t alignment) {
  auto *counter = static_cast<Counter *>(user);
  counter->held += int64_t(bytes);
  counter->most = std::max(counter->most, int64_t(bytes));
  ++counter->calls;
  return aligned_alloc(std::max<size_t>(alignment, 64), (bytes + 4095) / 4096 * 4096);
}

void release(void *user, void *pointer, size_t bytes) {
  static_cast<Counter *>(user)->held -= int64_t(bytes);
  free(pointer);
}

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

} // namespace

TEST_CASE("arena and scratch are exactly what the formula says, and a second call allocates nothing") {
  Program program(kEncoder);
  INFO(program.error());
  REQUIRE(program.error().empty());
  weft_function_info_t info = {sizeof(info)};
  REQUIRE(weft_function_info(program.artifact, 0, &info) == WEFT_OK);
  for (int threads : {1, 2})
    for (auto [b, s] : {std::pair<int64_t, int64_t>{1, 1}, {3, 37}, {2, 130}}) {
      Counter counter;
      weft_env_t env = {};
      env.struct_size = sizeof(env);
      env.user = &counter;
      env.allocate = allocate;
      env.release = release;
      weft_error_t error = WEFT_ERROR_INIT;
      weft_module_t *module = nullptr;
      weft_context_t *context = nullptr;
      weft_context_options_t options = {sizeof(options), threads, -1, 0};
      REQUIRE(weft_module_open(&env, program.path.c_str(), &module, &error) == WEFT_OK);
      REQUIRE(weft_context_create(module, &options, &context, &error) == WEFT_OK);
      auto inputs = program.generate({{"b", b}, {"s", s}}, 1);
      std::vector<weft_tensor_t> in;
      for (const Tensor &input : inputs)
        in.push_back(weft_tensor_of(const_cast<char *>(input.bytes.data()), WEFT_F32, input.dims.size(), input.dims.data()));
      std::vector<float> result(b * s * 64);
      weft_tensor_t out = WEFT_TENSOR_EMPTY;
      out.data = result.data();
      out.capacity = int64_t(result.size() * sizeof(float));
      counter.most = 0;
      REQUIRE(weft_call(context, nullptr, in.data(), in.size(), &out, 1, &error) == WEFT_OK);
      weft::cli::SymbolValues sizes{{"b", b}, {"s", s}};
      int64_t arena = *weft::cli::evaluateFormula(info.arena, sizes), scratch = *weft::cli::evaluateFormula(info.scratch, sizes);
      INFO("b=" << b << " s=" << s << " threads=" << threads << " arena=" << info.arena << " scratch=" << info.scratch);
      REQUIRE(arena > 0);
      CHECK(counter.most == arena + threads * scratch);
      int64_t calls = counter.calls;
      REQUIRE(weft_call(context, nullptr, in.data(), in.size(), &out, 1, &error) == WEFT_OK);
      CHECK(counter.calls == calls);
      weft_context_release(context);
      weft_module_release(module);
      CHECK(counter.held == 0);
    }
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
  CHECK(kernelNames(a) == kernelNames(b)); // a kernel's name is the hash of what its code is made from
}
