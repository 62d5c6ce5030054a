// Inputs with room: the forms of buffers, what a call does with them, and descriptors that lie about them.
#include <catch2/catch.hpp>

#include <cstring>

#include "runtime/src/call/in_place.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

namespace {
sample with_grow() {
  sample s = make_sample();
  s.description.functions.push_back(make_grow());
  return s;
}

/// A view [b, p, 2] of a buffer [b, room, 2].
weft_tensor_t view_of(float *data, int64_t b, int64_t p, int64_t room) {
  int64_t dims[] = {b, p, 2};
  weft_tensor_t tensor = weft_tensor_of(data, WEFT_F32, 3, dims);
  tensor.stride[0] = room * 2, tensor.stride[1] = 2, tensor.stride[2] = 1;
  return tensor;
}

bool is_buffer(std::vector<int64_t> dims, std::vector<int64_t> strides, uint32_t dim) {
  weft_tensor_t tensor = weft_tensor_of(nullptr, WEFT_F32, uint16_t(dims.size()), dims.data());
  for (size_t d = 0; d < strides.size(); ++d)
    tensor.stride[d] = strides[d];
  return weft_is_buffer(tensor, dim);
}

/// What opening a module says whose function 'grow' was changed.
std::string after(const std::function<void(function &)> &change) {
  sample s = with_grow();
  change(s.description.functions.back());
  opened o(s.seal());
  return o.module ? "" : o.err.message;
}
} // namespace

TEST_CASE("forms of buffers with room") {
  REQUIRE(is_buffer({2, 3, 5, 4}, {}, 2));             // no strides: no room
  REQUIRE(is_buffer({2, 3, 5, 4}, {60, 20, 4, 1}, 2)); // none, either
  REQUIRE(is_buffer({2, 3, 5, 4}, {96, 32, 4, 1}, 2));
  REQUIRE(is_buffer({1, 1, 5, 4}, {7, 32, 4, 1}, 2)); // a single line may be anywhere
  REQUIRE(is_buffer({2, 3, 0, 4}, {96, 32, 4, 1}, 2));
  REQUIRE(is_buffer({2, 3, 1, 4}, {96, 32, 99, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {97, 32, 4, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {99, 33, 4, 1}, 2)); // no whole number of places
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {48, 16, 4, 1}, 2)); // shorter than what is in use
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {96, 32, 8, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {96, 32, 4, 2}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 5, 4}, {-96, -32, 4, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 0, 4}, {-96, -32, 4, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, INT64_MAX / 2, 5, 4}, {96, 32, 4, 1}, 2));
  REQUIRE_FALSE(is_buffer({2, 3, 5, INT64_MAX}, {96, 32, 4, 1}, 1));
}

TEST_CASE(
    "outputs in place get the input's memory and the buffer's strides; steps allocate nothing") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(with_grow().seal(), &env);
  REQUIRE(o.module);
  running r(o);
  float buffer[2 * 10 * 2] = {}, rows[2 * 3 * 2], twice[2];
  weft_tensor_t past = view_of(buffer, 2, 0, 10), out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  int before = 0;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 12; ++i)
      rows[i] = float(100 * step + i);
    int64_t dims[] = {2, 3, 2};
    weft_tensor_t in[2] = {past, weft_tensor_of(rows, WEFT_F32, 3, dims)};
    out[0] = WEFT_TENSOR_EMPTY;
    out[1].data = twice, out[1].capacity = sizeof twice;
    REQUIRE(weft_call(r.context, "grow", in, 2, out, 2, &r.err) == WEFT_OK);
    REQUIRE((step == 0 || memory.calls == before));
    before = memory.calls;
    REQUIRE(out[0].data == buffer);
    REQUIRE((out[0].dim[1] == 3 * (step + 1) && out[0].stride[0] == 20 && out[0].stride[1] == 2));
    REQUIRE(buffer[(10 + 3 * step) * 2 + 1] == float(100 * step + 7));
    past = out[0];
    weft_tensor_release(r.context, &out[0]); // not the library's: nothing happens
    REQUIRE(out[0].data == buffer);
  }
  REQUIRE(buffer[9 * 2] == 0);
  int64_t one[] = {2, 2, 2};
  weft_tensor_t in[2] = {past, weft_tensor_of(rows, WEFT_F32, 3, one)};
  out[0] = WEFT_TENSOR_EMPTY;
  REQUIRE(weft_call(r.context, "grow", in, 2, out, 2, &r.err) == WEFT_INVALID);
  REQUIRE(out[0].data == nullptr);
  REQUIRE(text_of(r.err) ==
          "W0418 input 'past': dimension 1 has room for 10, but 11 are needed (p = 9, s = 2) | "
          "give a view of a buffer that is longer along dimension 1: its strides say how long");
}

TEST_CASE("queries know pairs and rooms") {
  opened o(with_grow().seal());
  int32_t grow = o.function("grow");
  weft_in_place_info_t info = {sizeof info};
  REQUIRE(weft_in_place_info(o.module, grow, 0, &info) == WEFT_OK);
  REQUIRE((info.input == 0 && info.output == 0 && info.dim == 1 && info.symbol == 3));
  REQUIRE(weft_in_place_info(o.module, grow, 1, &info) == WEFT_INVALID);
  REQUIRE(weft_in_place_info(o.module, o.function("main"), 0, &info) == WEFT_INVALID);
  char text[200];
  REQUIRE(weft_check_text(o.module, grow, 1, text, sizeof text) == WEFT_OK);
  REQUIRE(std::string(text) == "input 'past': dimension 1 has room for p + s");
  int64_t dims[] = {2, 3, 2};
  weft_error_t err = WEFT_ERROR_INIT;
  weft_tensor_t in[2] = {view_of(nullptr, 2, 4, 9), weft_tensor_of(nullptr, WEFT_F32, 3, dims)};
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  REQUIRE(weft_query_outputs(o.module, grow, in, 2, out, 2, &err) == WEFT_OK);
  REQUIRE((out[0].dim[1] == 7 && out[0].stride[0] == 18 && !out[0].data));
  in[0] = view_of(nullptr, 2, 4, INT64_MAX / 4);
  REQUIRE(weft_query_outputs(o.module, grow, in, 2, out, 2, &err) == WEFT_INVALID);
  REQUIRE(text_of(err) == "W0407 input 'past': its size overflows");
}

TEST_CASE("descriptors whose pairs do not fit are refused") {
  REQUIRE(after([](function &) {}) == "");
  auto reason = [](const std::function<void(function &)> &change) {
    std::string text = after(change);
    size_t at = text.find("function 'grow': ");
    return at == std::string::npos ? text : text.substr(at + 17);
  };
  const std::string names = "pair 0 in place names no input, output or symbol",
                    shares = "pair 0 in place cannot share memory";
  REQUIRE(reason([](function &f) { f.in_place.clear(); }) ==
          "2 arguments are in place, in 0 pairs");
  REQUIRE(reason([](function &f) { f.inputs[0].flags = 0; }) ==
          "1 arguments are in place, in 1 pairs");
  REQUIRE(reason([](function &f) { f.inputs[0].flags = WEFT_ARGUMENT_LATE; }) ==
          "inputs: flags 0x1 are not known");
  REQUIRE(reason([](function &f) { f.in_place[0].input = 2; }) == names);
  REQUIRE(reason([](function &f) { f.in_place[0].output = 2; }) == names);
  REQUIRE(reason([](function &f) { f.in_place[0].symbol = 4; }) == names);
  REQUIRE(reason([](function &f) { f.in_place[0].input = 1; }) == shares);
  REQUIRE(reason([](function &f) { f.in_place[0].output = 1; }) == shares);
  REQUIRE(reason([](function &f) { f.in_place[0].dim = 0; }) == shares);
  REQUIRE(reason([](function &f) { f.in_place[0].dim = 3; }) == shares);
  REQUIRE(reason([](function &f) { f.inputs[0].element = WEFT_I32; }) == shares);
  REQUIRE(reason([](function &f) { f.inputs[0].element = f.outputs[0].element = WEFT_I4; }) ==
          shares);
  REQUIRE(reason([](function &f) { f.outputs[0].flags |= WEFT_ARGUMENT_LATE; }) == shares);
  REQUIRE(reason([](function &f) { f.outputs[0].dims.pop_back(); }) == shares);
  auto twice = [](function &f) {
    f.in_place.push_back({1, 0, 1, 3});
    f.inputs[1].flags = f.outputs[1].flags = WEFT_ARGUMENT_IN_PLACE;
  };
  REQUIRE(reason(twice) == "pair 1 in place cannot share memory");
  REQUIRE(reason([&](function &f) {
            twice(f);
            f.in_place[1].input = 0;
          }) == "pair 1 in place names no input, output or symbol");
  REQUIRE(reason([](function &f) { f.checks[1].kind = WEFT_CHECK_ROOM + 1; }) ==
          "check 1 has the unknown kind 10");
  REQUIRE(reason([](function &f) { f.checks[1].symbol = 4; }) == "check 1: symbol 4 of 4");
}
