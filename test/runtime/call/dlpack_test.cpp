#include <catch2/catch.hpp>

#include "test/runtime/fixture.h"
#include "weft/dlpack.h"

using namespace weft_test;

namespace {

const opened &sample_module() {
  static const opened o(make_sample().seal());
  return o;
}

/// A tensor as another library has it.
struct foreign {
  int64_t shape[2], strides[2];
  DLTensor tensor;

  foreign(void *data, int64_t rows, int64_t columns)
      : shape{rows, columns}, strides{columns, 1}, tensor{data,  {kDLCPU, 0}, 2, {2, 32, 1},
                                                          shape, nullptr,     0} {}
};

std::string refused(running &r, const DLTensor &given) {
  weft_tensor_t tensor = WEFT_TENSOR_EMPTY;
  if (weft_from_dlpack(r.context, &given, &tensor, &r.err))
    return text_of(r.err);
  return "ok";
}

} // namespace

TEST_CASE("a tensor of another library is read where it lies") {
  running r(sample_module());
  main_call c(3, 5);
  std::vector<float> shifted(3 * 5 + 4);
  std::copy_n(c.x.data.data(), 15, shifted.data() + 4);
  foreign x(shifted.data(), 3, 5);
  x.tensor.byte_offset = 16;
  for (bool has_strides : {false, true}) {
    x.tensor.strides = has_strides ? x.strides : nullptr;
    REQUIRE(weft_from_dlpack(r.context, &x.tensor, &c.in[0], &r.err) == WEFT_OK);
    REQUIRE(c.in[0].data == shifted.data() + 4);
    REQUIRE(c.in[0].device == -1);
    REQUIRE(c.call(r) == WEFT_OK);
    REQUIRE(c.is_right());
  }
  x.strides[1] = 2;
  REQUIRE(weft_from_dlpack(r.context, &x.tensor, &c.in[0], &r.err) == WEFT_OK);
  REQUIRE(c.call(r) == WEFT_INVALID);
  REQUIRE(text_of(r.err).find("W0406 input 'ids': it has gaps") == 0);
}

TEST_CASE("one element that strides repeat is not taken for many") {
  running r(sample_module());
  float one = 1;
  foreign x(&one, 3, 5);
  x.tensor.strides = x.strides;
  x.strides[0] = x.strides[1] = 0;
  REQUIRE(refused(r, x.tensor) == "W0408 DLPack: the tensor repeats one element: copy it first");
  x.shape[0] = 0;
  REQUIRE(refused(r, x.tensor) == "ok");
}

TEST_CASE("what a call allocated belongs to the tensor that it is given as") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(make_sample().seal(), &env);
  running r(o);
  main_call c(3, 5);
  c.out[0] = WEFT_TENSOR_EMPTY;
  REQUIRE(c.call(r) == WEFT_OK);
  void *data = c.out[0].data;
  DLManagedTensor *made = nullptr;
  REQUIRE(weft_to_dlpack(r.context, &c.out[0], &made, &r.err) == WEFT_OK);
  REQUIRE(c.out[0].data == nullptr);
  const DLTensor &tensor = made->dl_tensor;
  REQUIRE(tensor.data == data);
  REQUIRE(tensor.ndim == 2);
  REQUIRE((tensor.shape[0] == 3 && tensor.shape[1] == 5));
  REQUIRE((tensor.strides[0] == 5 && tensor.strides[1] == 1));
  REQUIRE((tensor.dtype.code == 2 && tensor.dtype.bits == 32 && tensor.dtype.lanes == 1));
  REQUIRE(tensor.device.device_type == kDLCPU);
  int live = memory.live;
  weft_tensor_release(r.context, &c.out[0]);
  REQUIRE(memory.live == live);
  made->deleter(made);
  REQUIRE(memory.live == live - 1);
  // Memory of the caller stays the caller's.
  REQUIRE(weft_to_dlpack(r.context, &c.y.tensor, &made, &r.err) == WEFT_OK);
  REQUIRE(made->dl_tensor.data == c.y.data.data());
  made->deleter(made);
  REQUIRE(memory.live == live - 1);
}

TEST_CASE("every type of whole bytes comes back as itself") {
  running r(sample_module());
  int64_t dim = 3, words[4] = {};
  int whole = 0;
  for (uint32_t element = WEFT_BOOL; weft_element_bits(element); ++element) {
    INFO(weft_element_name(element));
    weft_tensor_t tensor = weft_tensor_of(words, weft_element_t(element), 1, &dim), back;
    DLManagedTensor *made = nullptr;
    weft_status_t status = weft_to_dlpack(r.context, &tensor, &made, &r.err);
    REQUIRE((status == WEFT_OK) == (weft_element_bits(element) >= 8));
    if (status) {
      REQUIRE(text_of(r.err) == "W0408 DLPack: there is no type for these elements");
      continue;
    }
    REQUIRE(weft_from_dlpack(r.context, &made->dl_tensor, &back, &r.err) == WEFT_OK);
    REQUIRE(back.element == element);
    made->deleter(made);
    ++whole;
  }
  REQUIRE(whole == 18);
}

TEST_CASE("tensors that calls cannot read are refused in one line") {
  running r(sample_module());
  float data[6] = {};
  foreign x(data, 2, 3);
  REQUIRE(refused(r, x.tensor) == "ok");
  x.tensor.dtype.lanes = 4;
  REQUIRE(refused(r, x.tensor) == "W0408 DLPack: there are no elements of this type");
  x.tensor.dtype = {5, 64, 1}; // complex
  REQUIRE(refused(r, x.tensor) == "W0408 DLPack: there are no elements of this type");
  x.tensor.dtype = {2, 32, 1};
  x.tensor.ndim = 9;
  REQUIRE(refused(r, x.tensor) == "W0408 DLPack: a tensor has 8 dimensions at most");
  x.tensor.ndim = 2;
  for (DLDeviceType type : {kDLCUDA, kDLExtDev}) {
    x.tensor.device.device_type = type;
    REQUIRE(refused(r, x.tensor) ==
            "W0408 DLPack: the tensor is on a device that the context does not use");
  }
  for (DLDeviceType type : {kDLCUDAHost, kDLCUDAManaged}) { // the host reads both
    x.tensor.device.device_type = type;
    REQUIRE(refused(r, x.tensor) == "ok");
  }
  REQUIRE(weft_from_dlpack(nullptr, &x.tensor, nullptr, &r.err) == WEFT_INVALID);
}
