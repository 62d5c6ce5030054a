//===- threads_test.cpp - Many threads, one module --------------------------------------------===//

#include "test/support/Constant.h"
#include "test/support/Program.h"
#include "test/targets/plain/PlainFamily.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace weft;
using namespace weft::test;

namespace {

/// Two layers and a softmax: contractions, elementwise work and a row, with memory between them.
constexpr const char *kTwoLayers = R"(
func.func @main(%x: !weft.tensor<[b, 24], f32>, %w: !weft.tensor<[24, 40], f32>, %v: !weft.tensor<[40, 9], f32>)
    -> !weft.tensor<[b, 9], f32> attributes {weft.symbols = #weft.symbols<b : "1 <= b">} {
  %0 = weft.contract "b i, i j -> b j" %x, %w accumulate f32
      : (!weft.tensor<[b, 24], f32>, !weft.tensor<[24, 40], f32>) -> !weft.tensor<[b, 40], f32>
  %1 = weft.activation relu %0 : (!weft.tensor<[b, 40], f32>) -> !weft.tensor<[b, 40], f32>
  %2 = weft.contract "b i, i j -> b j" %1, %v accumulate f32
      : (!weft.tensor<[b, 40], f32>, !weft.tensor<[40, 9], f32>) -> !weft.tensor<[b, 9], f32>
  %3 = weft.softmax %2 : (!weft.tensor<[b, 9], f32>) -> !weft.tensor<[b, 9], f32>
  return %3 : !weft.tensor<[b, 9], f32>
}
)";

/// Two layers with weights, which tiles multiply when they are computed in bf16.
std::string layersWithWeights() {
  Constant w{"f32", {64, 96}}, v{"f32", {96, 40}};
  auto rows = [](int64_t n) { return "!weft.tensor<[b, " + std::to_string(n) + "], f32>"; };
  auto product = [&](const std::string &name, const std::string &from, const Constant &weight) {
    return "  %" + name + " = weft.contract \"b i, i j -> b j\" %" + from + ", %" + name +
           "w accumulate f32 : (" + rows(weight.dims[0]) + ", " + weight.type() + ") -> " +
           rows(weight.dims[1]) + "\n";
  };
  return "func.func @main(%x: " + rows(64) + ") -> " + rows(40) +
         " attributes {weft.symbols = #weft.symbols<b : \"1 <= b\">} {\n  %pw = " + w.text(1) +
         "\n  %qw = " + v.text(2) + "\n" + product("p", "x", w) +
         "  %r = weft.activation relu %p : (" + rows(96) + ") -> " + rows(96) + "\n" +
         product("q", "r", v) + "  return %q : " + rows(40) + "\n}\n";
}

constexpr unsigned kClients = 8, kCallsEach = 40;

/// One client's sizes, its inputs, and the answer that a single thread got.
struct Work {
  std::vector<Tensor> inputs;
  std::vector<char> answer;
};

/// Calls with memory of its own; the bytes of the only output, or nothing and why.
std::vector<char> call(weft_context_t *context, const std::vector<Tensor> &inputs,
                       std::string &why) {
  std::vector<weft_tensor_t> in;
  for (const Tensor &input : inputs)
    in.push_back(weft_tensor_of(const_cast<char *>(input.bytes.data()), WEFT_F32,
                                uint16_t(input.dims.size()), input.dims.data()));
  weft_tensor_t out = WEFT_TENSOR_EMPTY;
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_call(context, nullptr, in.data(), uint32_t(in.size()), &out, 1, &error)) {
    why = error.message;
    return {};
  }
  const char *data = static_cast<const char *>(out.data);
  std::vector<char> bytes(data, data + out.dim[0] * out.dim[1] * sizeof(float));
  weft_tensor_release(context, &out);
  return bytes;
}

/// What one client found wrong, or nothing.
std::string serve(weft_module_t *module, int workers, const std::vector<Work> &work,
                  unsigned first) {
  weft_context_options_t options = {sizeof(weft_context_options_t), workers, -1, 0};
  weft_context_t *context = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_context_create(module, &options, &context, &error))
    return error.message;
  std::string why;
  for (unsigned i = 0; i < kCallsEach && why.empty(); ++i) {
    const Work &each = work[(first + i) % work.size()];
    std::vector<char> got = call(context, each.inputs, why);
    if (why.empty() && got != each.answer)
      why = "call " + std::to_string(i) + " has another answer than one thread alone";
  }
  weft_context_release(context);
  return why;
}

} // namespace

/// Eight threads, each with a context of `workers` threads, on one module.
static void serveFromEightThreads(Program &program, int workers, double tolerance) {
  INFO(program.error());
  REQUIRE(program.error().empty());
  std::vector<Work> work;
  for (int64_t batch : {1, 2, 7, 33, 130}) {
    // Right, and not only equal.
    CHECK(program.difference({{"b", batch}}, unsigned(batch)) <= tolerance);
    std::vector<Tensor> inputs = program.generate({{"b", batch}}, unsigned(batch));
    work.push_back({inputs, program.run(inputs)[0].bytes});
  }
  std::vector<std::string> findings(kClients);
  std::vector<std::thread> clients;
  for (unsigned c = 0; c < kClients; ++c)
    clients.emplace_back([&, c] { findings[c] = serve(program.artifact, workers, work, c); });
  for (std::thread &client : clients)
    client.join();
  for (const std::string &finding : findings)
    CHECK(finding == "");
}

TEST_CASE("eight threads share one module, each with a context of its own") {
  Program program(kTwoLayers);
  serveFromEightThreads(program, 1, 1e-5);
}

TEST_CASE("eight threads whose contexts have two workers each") {
  Program program(kTwoLayers);
  serveFromEightThreads(program, 2, 1e-5);
}

TEST_CASE("eight threads multiply by tiles at once, whose registers each has for itself") {
  for (const char *target : {"plain:v4+amx", "x86:v4+amx"}) {
    if (!isSupported(target))
      continue;
    CompileOptions options;
    options.target = target;
    options.numerics.compute = "bf16";
    for (int workers : {1, 2}) {
      Program program(layersWithWeights(), options);
      CHECK(uses(program, "tile_contraction"));
      serveFromEightThreads(program, workers, 0.4); // operands are rounded: values reach 50
    }
  }
}
