// Outputs that extend an input lie in its memory: the same numbers as copying gives, and only what is new is written.
#include "compiler/import/text/ImportText.h"
#include "test/support/Decoder.h"
#include "test/support/EmulatedCall.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace weft;
using namespace weft::test;

namespace {

CompileOptions inPlace(const std::string &target, std::vector<std::string> inputs = {}) {
  CompileOptions options;
  options.target = target;
  options.inPlace = true;
  options.inPlaceInputs = std::move(inputs);
  return options;
}

Module moduleOf(const std::string &text) {
  weft::Result<Module> module = importText("test.mlir", text);
  REQUIRE(module);
  return *module;
}

/// A buffer [b, h, room, d], of which `used` places are in use. What is not holds nan.
struct Cache {
  int64_t b, h, room, d, used = 0;
  std::vector<float> memory = std::vector<float>(size_t(b * h * room * d), NAN);

  weft_tensor_t view() {
    int64_t dims[] = {b, h, used, d};
    weft_tensor_t tensor = weft_tensor_of(memory.data(), WEFT_F32, 4, dims);
    const int64_t strides[] = {h * room * d, room * d, d, 1};
    std::copy(std::begin(strides), std::end(strides), tensor.stride);
    return tensor;
  }

  Tensor contents(mlir::Type element) const {
    Tensor tensor{element, {b, h, used, d}, {}};
    for (int64_t line = 0; line < b * h; ++line) {
      const char *from = reinterpret_cast<const char *>(memory.data() + line * room * d);
      tensor.bytes.insert(tensor.bytes.end(), from, from + used * d * 4);
    }
    return tensor;
  }
};

/// Steps of different sizes; the caches grow, and all numbers are those of the program that copies, and of the evaluator.
void growAndCompare(Program &copying, Program &growing, int threads, int64_t b, int64_t room) {
  INFO(threads << " threads, b = " << b << ", room = " << room);
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_options_t options = {sizeof options, threads, -1, 0, nullptr, growing.device};
  weft_context_t *context = nullptr;
  REQUIRE(weft_context_create(growing.artifact, &options, &context, &error) == WEFT_OK);
  Cache keys{b, 2, room, 16}, values{b, 2, room, 16};
  weft_tensor_t out[4] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY,
                          WEFT_TENSOR_EMPTY};
  std::mt19937 random(unsigned(17 * b + room));
  for (unsigned step = 0; keys.used < room; ++step) {
    int64_t s = std::min<int64_t>(1 + random() % 5, room - keys.used);
    std::vector<Tensor> given = copying.generate({{"b", b}, {"s", s}, {"p", keys.used}}, step);
    given[3] = keys.contents(given[3].element);
    given[4] = values.contents(given[4].element);
    std::vector<Tensor> expected = copying.run(given);
    REQUIRE(expected.size() == 4);
    CHECK(copying.difference(given, copying.evaluate(given)) <= 1e-5);
    weft_tensor_t in[5] = {given[0].view(), given[1].view(), given[2].view(), keys.view(),
                           values.view()};
    weft_status_t status = weft_call(context, nullptr, in, 5, out, 4, &error);
    INFO(error.message);
    REQUIRE(status == WEFT_OK);
    keys.used = values.used = keys.used + s;
    CHECK(out[1].data == keys.memory.data());
    weft_tensor_t next = keys.view();
    CHECK(memcmp(out[1].dim, next.dim, sizeof next.dim) == 0);
    CHECK(memcmp(out[1].stride, next.stride, sizeof next.stride) == 0);
    CHECK(keys.contents(given[3].element).bytes == expected[1].bytes);
    CHECK(values.contents(given[4].element).bytes == expected[2].bytes);
    for (unsigned i : {0, 3})
      CHECK(memcmp(out[i].data, expected[i].bytes.data(), expected[i].bytes.size()) == 0);
    for (int64_t at = keys.used; at < room; ++at) // nothing behind what is in use was touched
      CHECK(std::isnan(keys.memory[size_t(at * 16)]));
    for (weft_tensor_t &each : out) // those in place stay where they are
      weft_tensor_release(context, &each);
  }
  weft_context_release(context);
}

} // namespace

TEST_CASE("caches that grow in place hold what copying gives") {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    INFO(target);
    Program copying(moduleOf(kDecoder), target), growing(moduleOf(kDecoder), inPlace(target));
    REQUIRE(copying.error() == "");
    REQUIRE(growing.error() == "");
    for (int threads : {1, 2})
      for (auto [b, room] : {std::pair<int64_t, int64_t>{1, 40}, {2, 17}, {3, 1}, {1, 150}})
        growAndCompare(copying, growing, threads, b, room);
  }
}

namespace {

/// Calls the decoder with these views of the caches; what is wrong with them, with its code.
std::string refusal(Program &program,
                    const std::function<void(weft_tensor_t *, weft_tensor_t *)> &change) {
  Cache keys{2, 2, 9, 16}, values{2, 2, 9, 16};
  keys.used = values.used = 4;
  std::vector<Tensor> given = program.generate({{"b", 2}, {"s", 3}, {"p", 4}}, 1);
  weft_tensor_t in[5] = {given[0].view(), given[1].view(), given[2].view(), keys.view(),
                         values.view()};
  weft_tensor_t out[4] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY,
                          WEFT_TENSOR_EMPTY};
  change(in, out);
  weft_error_t error = WEFT_ERROR_INIT;
  weft_status_t status = weft_call(program.context, nullptr, in, 5, out, 4, &error);
  for (weft_tensor_t &each : out)
    weft_tensor_release(program.context, &each);
  return status ? std::string(error.code) + " " + error.message : "";
}

} // namespace

TEST_CASE("what is wrong with caches is said") {
  Program program(moduleOf(kDecoder), inPlace("x86:host"));
  REQUIRE(program.error() == "");
  CHECK(refusal(program, [](weft_tensor_t *, weft_tensor_t *) {}) == "");
  CHECK(refusal(program, [](weft_tensor_t *in,
                            weft_tensor_t *) { memset(in[3].stride, 0, sizeof in[3].stride); }) ==
        "W0418 input 'past_key': dimension 2 has room for 4, but 7 are needed (s = 3, p = 4)");
  CHECK(
      refusal(program, [](weft_tensor_t *in, weft_tensor_t *) {
        in[3].stride[1] = 6 * 16, in[3].stride[0] = 2 * 6 * 16;
      }) == "W0418 input 'past_key': dimension 2 has room for 6, but 7 are needed (s = 3, p = 4)");
  CHECK(refusal(program,
                [](weft_tensor_t *in, weft_tensor_t *) {
                  in[4].stride[1] = 8 * 16, in[4].stride[0] = 2 * 8 * 16;
                }) == "W0418 input 'past_value': dimension 2 has room for 8, but input 'past_key' "
                      "has room for 9, and they need the same");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) { in[3].stride[0] += 1; }) ==
        "W0406 input 'past_key': it has other gaps than room behind dimension 2");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) { in[3].stride[1] = -64; }) ==
        "W0406 input 'past_key': it has other gaps than room behind dimension 2");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) {
          in[3].stride[1] = 9 * 16 + 1;
        }) == "W0406 input 'past_key': it has other gaps than room behind dimension 2");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) { in[0].stride[0] = 1; }) ==
        "W0406 input 'input0': it has gaps or another order of dimensions");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) {
          in[3].capacity = 2 * 2 * 9 * 16 * 4 - 1;
        }) == "W0405 input 'past_key': its buffer needs 2304 bytes, but capacity is 2303");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *) { in[4].data = in[3].data; }) ==
        "W0407 input 'past_key': it grows in place, but overlaps input 'past_value'");
  float other[2 * 2 * 9 * 16];
  CHECK(refusal(program,
                [&](weft_tensor_t *, weft_tensor_t *out) {
                  out[1].data = other, out[1].capacity = sizeof other;
                }) == "W0407 output 'present_key': it lies in the memory of input 'past_key', but "
                      "other memory is given");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *out) { out[1].data = in[3].data; }) ==
        "");
  CHECK(refusal(program, [](weft_tensor_t *in, weft_tensor_t *out) {
          out[0].data = static_cast<float *>(in[3].data) + 8 * 16, out[0].capacity = 1 << 20;
        }) == "W0407 output 'output0': it overlaps input 'past_key'");
}

TEST_CASE("inputs that cannot grow in place are refused") {
  auto why = [](const std::string &text, std::vector<std::string> names) {
    return Program(moduleOf(text), inPlace("x86:host", std::move(names))).error();
  };
  CHECK(why(kDecoder, {"past_key"}) == "");
  CHECK(why(kDecoder, {"input0"}) ==
        "input 'input0' cannot grow in place: no output is this input with something behind it");
  CHECK(why(kDecoder, {"keys"}) == "there is no input 'keys' that could grow in place");
  auto concat = [](const std::string &past, const std::string &more, const std::string &sum,
                   int dim) {
    return "func.func @main(%p: !weft.tensor<" + past +
           "> {weft.name = \"past\"}, %n: !weft.tensor<" + more + ">) -> !weft.tensor<" + sum +
           "> attributes {weft.symbols = #weft.symbols<p, s, d>} {\n  %0 = weft.concat %p, %n "
           "dim " +
           std::to_string(dim) + " : (!weft.tensor<" + past + ">, !weft.tensor<" + more +
           ">) -> !weft.tensor<" + sum + ">\n  return %0 : !weft.tensor<" + sum + ">\n}\n";
  };
  CHECK(why(concat("[p, 4, d], f32", "[s, 4, d], f32", "[p + s, 4, d], f32", 0), {"past"}) ==
        "input 'past' cannot grow in place: it grows along its first dimension, so that no stride "
        "says how much room it has");
  CHECK(why(concat("[4, p, d], f32", "[4, s, d], f32", "[4, p + s, d], f32", 1), {"past"}) ==
        "input 'past' cannot grow in place: dimension 2, behind the one that grows, is 'd', which "
        "is no positive number");
  CHECK(why(concat("[d, p, 4], i4", "[d, s, 4], i4", "[d, p + s, 4], i4", 1), {"past"}) ==
        "input 'past' cannot grow in place: its elements share bytes");
  CHECK(why(concat("[p, 4, d], f32", "[s, 4, d], f32", "[p + s, 4, d], f32", 0), {}) ==
        "no input can grow in place: no output is an input with something behind it");
}
