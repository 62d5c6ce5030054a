#include <catch2/catch.hpp>

#include "runtime/src/call/entry_check.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

namespace {
const opened &sample_module() {
  static const opened o(make_sample().seal());
  return o;
}

/// What calling 'main' with these shapes says.
std::string call_main(std::vector<int64_t> ids, std::vector<int64_t> mask,
                      const std::function<void(weft_tensor_t *)> &change = nullptr) {
  running r(sample_module());
  array<float> x(WEFT_F32, ids), m(WEFT_F32, mask);
  weft_tensor_t in[2] = {x.tensor, m.tensor};
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  if (change)
    change(in);
  weft_status_t status = weft_call(r.context, "main", in, 2, out, 2, &r.err);
  REQUIRE(status == r.err.status);
  if (!status) {
    weft_tensor_release(r.context, &out[0]);
    weft_tensor_release(r.context, &out[1]);
    return "ok";
  }
  REQUIRE(out[0].data == nullptr);
  return text_of(r.err);
}

/// What calling 'halve' with these sizes says.
std::string call_halve(int64_t x, int64_t z, int64_t c, int64_t l) {
  running r(sample_module());
  array<int32_t> ax(WEFT_I32, {x}), az(WEFT_I32, {z}), ac(WEFT_I32, {c}), al(WEFT_I32, {l});
  weft_tensor_t in[4] = {ax.tensor, az.tensor, ac.tensor, al.tensor};
  weft_tensor_t out = WEFT_TENSOR_EMPTY;
  if (weft_call(r.context, "halve", in, 4, &out, 1, &r.err))
    return text_of(r.err);
  weft_tensor_release(r.context, &out);
  return "ok";
}
} // namespace

TEST_CASE("a dimension that another input determines") {
  REQUIRE(call_main({2, 41}, {2, 41}) == "ok");
  REQUIRE(call_main({2, 41}, {2, 37}) ==
          "W0411 input 'mask': dimension 1 is 37, but 'seq' is 41 (bound by input 'ids', "
          "dimension 1)");
  REQUIRE(call_main({2, 41}, {3, 41}) ==
          "W0411 input 'mask': dimension 0 is 3, but 'b' is 2 (bound by input 'ids', dimension 0)");
}

TEST_CASE("ranges of symbols, with the node that needs them") {
  REQUIRE(call_main({1, 600}, {1, 600}) ==
          "W0413 input 'ids': dimension 1 is 600, but 'seq' is at most 512 | "
          "needed by /embeddings/position");
  REQUIRE(call_main({1, 0}, {1, 0}) ==
          "W0412 input 'ids': dimension 1 is 0, but 'seq' is at least 1");
  REQUIRE(call_main({100001, 1}, {100001, 1}) ==
          "W0413 input 'ids': dimension 0 is 100001, but 'b' is at most 100000");
}

TEST_CASE("dimensions that are formulas") {
  // n = 4, m = 3
  REQUIRE(call_halve(8, 7, 4, 10) == "ok");
  REQUIRE(call_halve(7, 7, 4, 10) ==
          "W0415 input 'x': dimension 0 is 7, but it is '2*n', and no 'n' gives 7");
  REQUIRE(call_halve(6, 7, 4, 10) ==
          "W0414 input 'x': dimension 0 is 6, so 'n' is 3, but 'n' is a multiple of 2");
  REQUIRE(call_halve(2400, 7, 4, 10) ==
          "W0413 input 'x': dimension 0 is 2400, so 'n' is 1200, but 'n' is at most 1000");
  REQUIRE(call_halve(8, 2, 4, 10) ==
          "W0412 input 'z': dimension 0 is 2, so 'm' is -2, but 'm' is at least 0");
  REQUIRE(call_halve(8, 7, 5, 10) == "W0411 input 'c': dimension 0 is 5, but 4 is needed");
  REQUIRE(call_halve(8, 7, 4, 11) ==
          "W0411 input 'long': dimension 0 is 11, but 'n + 2*m' is 10 (n = 4, m = 3)");
}

TEST_CASE("facts and sizes name all symbols") {
  REQUIRE(call_halve(8, 101, 4, 0) ==
          "W0416 'n + m <= 100' does not hold (n = 4, m = 97) | needed by /attention");
  REQUIRE(call_halve(8, 81, 4, 0) ==
          "W0422 this call needs a tensor of more than 2^62 bytes (n = 4, m = 77)");
}

TEST_CASE("elements, ranks and memory of inputs") {
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].element = WEFT_F64; }) ==
          "W0403 input 'ids': element type is f64, but f32 is needed");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].element = 999; }) ==
          "W0403 input 'ids': element type is ?, but f32 is needed");
  REQUIRE(call_main({2, 3}, {6}) ==
          "W0404 input 'mask': rank is 1, but 2 is needed | the shape is [b, seq]");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].rank = 40000; }).find("W0404") ==
          0);
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[1].data = nullptr; }) ==
          "W0405 input 'mask': data is NULL");
  REQUIRE(call_main({0, 3}, {0, 3}, [](weft_tensor_t *in) { in[1].data = nullptr; }) == "ok");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) {
            in[1].data = (char *)in[1].data + 1;
          }) == "W0405 input 'mask': data is not aligned to 4 bytes");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[1].capacity = 23; }) ==
          "W0405 input 'mask': its shape needs 24 bytes, but capacity is 23");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[1].capacity = 0; }) == "ok");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].dim[1] = -3; }) ==
          "W0407 input 'ids': dimension 1 is -3");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) {
            in[0].dim[0] = in[0].dim[1] = 1ll << 40;
          }) == "W0407 input 'ids': its size overflows");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].struct_size = 8; }) ==
          "W0407 input 'ids': struct_size is 8 instead of 160");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].device = 0; }) ==
          "W0407 input 'ids': device is 0, but only host memory (-1) is possible");
  REQUIRE(call_main({2, 3}, {2, 3}, [](weft_tensor_t *in) { in[0].flags = 2; }) ==
          "W0407 input 'ids': flags 0x2 are not known");
}

TEST_CASE("strides may be left out or describe row-major memory") {
  auto with = [](int64_t first, int64_t second) {
    return call_main({2, 3}, {2, 3}, [=](weft_tensor_t *in) {
      in[0].stride[0] = first;
      in[0].stride[1] = second;
    });
  };
  REQUIRE(with(0, 0) == "ok");
  REQUIRE(with(3, 1) == "ok");
  for (auto [first, second] : {std::pair<int64_t, int64_t>{1, 2}, {4, 1}, {3, 0}, {-3, 1}})
    REQUIRE(with(first, second) ==
            "W0406 input 'ids': it has gaps or another order of dimensions | copy it to row-major "
            "memory, with strides of 0 or without gaps");
  // The stride of a dimension of size 1 is never used, and an empty tensor has no order.
  REQUIRE(call_main({1, 3}, {1, 3},
                    [](weft_tensor_t *in) { in[0].stride[0] = 77, in[0].stride[1] = 1; }) == "ok");
  REQUIRE(call_main({0, 3}, {0, 3}, [](weft_tensor_t *in) { in[0].stride[0] = 77; }) == "ok");
}

TEST_CASE("the number of tensors") {
  running r(sample_module());
  array<float> x(WEFT_F32, {1, 1});
  weft_tensor_t in[3] = {x.tensor, x.tensor, x.tensor}, out[3] = {x.tensor, x.tensor, x.tensor};
  REQUIRE(weft_call(r.context, "main", in, 1, out, 2, &r.err) == WEFT_INVALID);
  REQUIRE(text_of(r.err) == "W0402 function 'main' has 2 inputs (ids, mask), but 1 is given");
  REQUIRE(weft_call(r.context, "main", in, 2, out, 3, &r.err) == WEFT_INVALID);
  REQUIRE(text_of(r.err) == "W0402 function 'main' has 2 outputs (y, total), but 3 are given");
  REQUIRE(weft_call(r.context, "main", nullptr, 2, out, 2, &r.err) == WEFT_INVALID);
  REQUIRE(weft_call(r.context, "main", in, 2, nullptr, 2, &r.err) == WEFT_INVALID);
  REQUIRE(weft_call(r.context, "nobody", in, 2, out, 2, &r.err) == WEFT_INVALID);
  REQUIRE(text_of(r.err) == "W0401 there is no function 'nobody'");
  REQUIRE(weft_call_function(r.context, 99, in, 2, out, 2, &r.err) == WEFT_INVALID);
  REQUIRE(weft_call_function(r.context, -1, in, 2, out, 2, nullptr) == WEFT_INVALID);
}

TEST_CASE("a row that is not there is a fault of the compiler, not a crash") {
  weft_function_v1 f = {};
  REQUIRE(weft_module_function(sample_module().module, 0, &f));
  weft_error_t err = WEFT_ERROR_INIT;
  for (int32_t row : {6, -1, INT32_MAX, INT32_MIN})
    REQUIRE(weft_report_check(sample_module().module, f, row, nullptr, nullptr, &err) ==
            WEFT_BAD_ARTIFACT);
}

TEST_CASE("symbol values of a caller are checked against their ranges") {
  weft_function_v1 f = {};
  weft_error_t err = WEFT_ERROR_INIT;
  const weft_module_t *module = sample_module().module;
  REQUIRE(weft_module_function(module, 1, &f));
  auto check = [&](int64_t n, int64_t m) {
    int64_t symbols[2] = {n, m};
    return weft_check_symbols(module, f, symbols, &err) ? text_of(err) : "ok";
  };
  REQUIRE(check(4, 3) == "ok");
  REQUIRE(check(-2, 3) == "W0412 'n' is -2, but is at least 0");
  REQUIRE(check(4, 1001) == "W0413 'm' is 1001, but is at most 1000");
  REQUIRE(check(3, 0) == "W0414 'n' is 3, but is a multiple of 2");
  REQUIRE(weft_check_symbols(module, f, nullptr, &err) == WEFT_INVALID);
}
