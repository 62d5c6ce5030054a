// Tensors that stay on a device between calls: inputs and outputs there, freely mixed with those of the host, without a copy.
#include "test/support/Program.h"
#include "weft/dlpack.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace weft::test;

namespace {

const std::string target = "cuda:sm_80";
const std::string device =
    std::getenv("WEFT_TEST_DEVICE") ? std::getenv("WEFT_TEST_DEVICE") : "emulated";
const bool onEmulated = device == "emulated";

/// y = x + w, z = the sums of y's lines.
const char *kSums = R"(
func.func @main(%x: !weft.tensor<[m, n], f32> {weft.name = "x"}, %w: !weft.tensor<[n], f32> {weft.name = "w"})
    -> (!weft.tensor<[m, n], f32> {weft.name = "y"}, !weft.tensor<[m], f32> {weft.name = "z"}) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.add %x, %w : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.reduce sum %0 [1] : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m], f32>
  return %0, %1 : !weft.tensor<[m, n], f32>, !weft.tensor<[m], f32>
})";

/// As many copies of x as k says, which nobody knows before.
const char *kCopies = R"(
func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "x"}, %k: !weft.tensor<[], i64> {weft.name = "k"}) -> (!weft.tensor<[u, n], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<n bound u>} {
  weft.bind "u" %k : !weft.tensor<[], i64>
  %0 = weft.expand %x to [u, n] : (!weft.tensor<[n], f32>) -> !weft.tensor<[u, n], f32>
  return %0 : !weft.tensor<[u, n], f32>
})";

/// Every line of the cache, longer by what is new.
const char *kGrowing = R"(
func.func @main(%x: !weft.tensor<[b, 1, 4], f32> {weft.name = "x"}, %c: !weft.tensor<[b, p, 4], f32> {weft.name = "past"})
    -> (!weft.tensor<[b, 4], f32> {weft.name = "sum"}, !weft.tensor<[b, p + 1, 4], f32> {weft.name = "present"}) attributes {weft.symbols = #weft.symbols<b, p>} {
  %0 = weft.concat %c, %x dim 1 : (!weft.tensor<[b, p, 4], f32>, !weft.tensor<[b, 1, 4], f32>) -> !weft.tensor<[b, p + 1, 4], f32>
  %1 = weft.reduce sum %0 [1] : (!weft.tensor<[b, p + 1, 4], f32>) -> !weft.tensor<[b, 4], f32>
  return %1, %0 : !weft.tensor<[b, 4], f32>, !weft.tensor<[b, p + 1, 4], f32>
})";

weft_error_t error = WEFT_ERROR_INIT;

/// A tensor over numbers of the host.
weft_tensor_t here(std::vector<float> &data, std::vector<int64_t> dims) {
  weft_tensor_t tensor =
      weft_tensor_of(data.data(), WEFT_F32, static_cast<uint16_t>(dims.size()), dims.data());
  tensor.capacity = static_cast<int64_t>(data.size() * sizeof(float));
  return tensor;
}

/// A copy on the device, which whoever asked releases.
weft_tensor_t there(weft_context_t *context, const weft_tensor_t &from) {
  weft_tensor_t tensor = from;
  tensor.data = nullptr;
  tensor.device = 0;
  REQUIRE(weft_tensor_allocate(context, &tensor, &error) == WEFT_OK);
  REQUIRE(weft_tensor_copy(context, &from, &tensor, &error) == WEFT_OK);
  return tensor;
}

/// The numbers of a tensor, wherever it lies.
std::vector<float> numbers(weft_context_t *context, weft_tensor_t tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor.rank; ++d)
    count *= tensor.dim[d];
  std::vector<float> data(static_cast<size_t>(count));
  weft_tensor_t to = tensor;
  to.data = data.data(), to.device = -1, to.capacity = 0, to.flags = 0;
  REQUIRE(weft_tensor_copy(context, &tensor, &to, &error) == WEFT_OK);
  return data;
}

weft_copied_t copied(const weft_context_t *context) {
  weft_copied_t all = {sizeof all, 0, 0, 0};
  REQUIRE(weft_context_copied(context, &all) == WEFT_OK);
  return all;
}

std::string refused(weft_status_t status) {
  return status == WEFT_OK ? "ok" : std::string(error.code) + " " + error.message;
}

/// A program on the device, and x [2, 3], w [3] for it.
struct Sums {
  Program program{kSums, target};
  weft_context_t *context = program.context;
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, w = {10, 20, 30};
  weft_tensor_t in[2] = {here(x, {2, 3}), here(w, {3})};
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};

  Sums() { REQUIRE(program.error() == ""); }
  weft_status_t call() { return weft_call(context, nullptr, in, 2, out, 2, &error); }
  std::string refusal() { return refused(call()); }
};

const std::vector<float> kY = {11, 22, 33, 14, 25, 36}, kZ = {66, 75};

} // namespace

TEST_CASE("inputs and outputs lie on the host or the device as the caller says, and only those of "
          "the host are copied") {
  for (int places = 0; places < 16; ++places) {
    Sums sums;
    INFO("places " << places);
    weft_tensor_t given[2] = {sums.in[0], sums.in[1]};
    for (int i = 0; i < 2; ++i)
      if (places >> i & 1)
        sums.in[i] = there(sums.context, given[i]);
    for (int i = 0; i < 2; ++i)
      sums.out[i].device = places >> (2 + i) & 1 ? 0 : -1;
    weft_copied_t before = copied(sums.context);
    REQUIRE(sums.refusal() == "ok");
    weft_copied_t after = copied(sums.context);
    CHECK(after.to_device - before.to_device == (places & 1 ? 0u : 24u) + (places & 2 ? 0u : 12u));
    CHECK(after.from_device - before.from_device ==
          (places & 4 ? 0u : 24u) + (places & 8 ? 0u : 8u));
    CHECK(numbers(sums.context, sums.out[0]) == kY);
    CHECK(numbers(sums.context, sums.out[1]) == kZ);
    for (int i = 0; i < 2; ++i) {
      weft_tensor_release(sums.context, &sums.out[i]);
      CHECK(sums.out[i].data == nullptr);
      weft_tensor_release(sums.context, &sums.in[i]);
      CHECK((sums.in[i].data == nullptr) == bool(places >> i & 1)); // the host's is the caller's
    }
  }
}

TEST_CASE("what one call leaves on the device is another's input, also of another module") {
  Sums first, second;
  first.out[0].device = 0;
  REQUIRE(first.refusal() == "ok");
  second.in[0] = first.out[0];
  second.in[0].flags = 0;
  REQUIRE(second.refusal() == "ok");
  CHECK(numbers(second.context, second.out[0]) == std::vector<float>{21, 42, 63, 24, 45, 66});
  weft_tensor_release(first.context, &first.out[0]);
}

TEST_CASE("outputs are computed in memory of the device that the caller gave") {
  Sums sums;
  std::vector<float> room(8, -1);
  weft_tensor_t buffer = there(sums.context, here(room, {8}));
  sums.out[0].device = 0, sums.out[0].data = buffer.data, sums.out[0].capacity = 24;
  REQUIRE(sums.refusal() == "ok");
  CHECK(numbers(sums.context, buffer) == std::vector<float>{11, 22, 33, 14, 25, 36, -1, -1});
  sums.out[0].capacity = 20;
  CHECK(sums.refusal() == "W0423 output 'y': it needs 24 bytes, but capacity is 20");
  sums.out[0].data = static_cast<float *>(buffer.data) + 4, sums.out[0].capacity = 24;
  CHECK(sums.refusal() ==
        "W0407 output 'y': 24 bytes are needed at data, but its memory on the device has 16");
  weft_tensor_release(sums.context, &buffer);
}

TEST_CASE("outputs whose size the call finds lie on the device, too") {
  Program program(kCopies, target);
  REQUIRE(program.error() == "");
  std::vector<float> x = {1, 2, 3};
  int64_t count = 5;
  weft_tensor_t in[2] = {there(program.context, here(x, {3})),
                         weft_tensor_of(&count, WEFT_I64, 0, nullptr)};
  weft_tensor_t out = WEFT_TENSOR_EMPTY;
  out.device = 0;
  for (int64_t many : {5, 2, 0}) {
    count = many;
    weft_copied_t before = copied(program.context);
    REQUIRE(refused(weft_call(program.context, nullptr, in, 2, &out, 1, &error)) == "ok");
    CHECK(copied(program.context).from_device == before.from_device); // k is the host's
    CHECK(out.dim[0] == many);
    std::vector<float> have = numbers(program.context, out);
    for (size_t i = 0; i < have.size(); ++i)
      CHECK(have[i] == x[i % 3]);
    weft_tensor_release(program.context, &out);
  }
  std::vector<float> room(6);
  weft_tensor_t buffer = there(program.context, here(room, {6}));
  count = 3;
  out.data = buffer.data, out.capacity = 24;
  CHECK(refused(weft_call(program.context, nullptr, in, 2, &out, 1, &error)) ==
        "W0423 output 'y': it needs 36 bytes, but capacity is 24");
  weft_tensor_release(program.context, &buffer);
  weft_tensor_release(program.context, &in[0]);
}

TEST_CASE("a cache on the device grows where it is") {
  weft::CompileOptions options;
  options.target = target;
  options.inPlace = true;
  Program program(kGrowing, options);
  REQUIRE(program.error() == "");
  const int64_t room = 20;
  std::vector<float> nothing(room * 4), x(4);
  weft_tensor_t buffer = there(program.context, here(nothing, {1, room, 4}));
  weft_tensor_t in[2] = {here(x, {1, 1, 4}), buffer},
                out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  in[1].flags = 0, in[1].dim[1] = 0;
  in[1].stride[0] = room * 4, in[1].stride[1] = 4, in[1].stride[2] = 1;
  weft_copied_t before = copied(program.context);
  for (int step = 1; step <= room; ++step) {
    x.assign(4, static_cast<float>(step));
    out[1] = WEFT_TENSOR_EMPTY;
    REQUIRE(refused(weft_call(program.context, nullptr, in, 2, out, 2, &error)) == "ok");
    CHECK(static_cast<float *>(out[0].data)[3] == static_cast<float>(step * (step + 1) / 2));
    CHECK(out[1].device == 0);
    CHECK(out[1].data == buffer.data);
    in[1] = out[1];
    weft_tensor_release(program.context, &out[0]);
  }
  CHECK(copied(program.context).to_device - before.to_device == 16 * room);
  CHECK(copied(program.context).from_device - before.from_device == 16 * room);
  CHECK(refused(weft_call(program.context, nullptr, in, 2, out, 2, &error)).find("W0418") == 0);
  in[1].dim[1] = 1;
  out[1].data = buffer.data, out[1].device = -1;
  CHECK(refused(weft_call(program.context, nullptr, in, 2, out, 2, &error)) ==
        "W0407 output 'present': data lies on device 0, but device is -1");
  weft_tensor_release(program.context, &buffer);
}

TEST_CASE("a tensor that does not lie where it says is refused in one line") {
  Sums sums;
  weft_tensor_t given = sums.in[0], on_device = there(sums.context, given);
  sums.in[0] = on_device;
  sums.in[0].device = 1;
  CHECK(sums.refusal() ==
        "W0407 input 'x': device is 1, but only host memory (-1) and device 0 are possible");
  sums.in[0].device = -1;
  CHECK(sums.refusal() == "W0407 input 'x': data lies on device 0, but device is -1");
  sums.in[0] = given;
  sums.in[0].device = 0;
  CHECK(sums.refusal() == "W0407 input 'x': data does not lie on device 0");
  sums.in[0] = on_device;
  sums.in[0].data = static_cast<float *>(on_device.data) + 1;
  CHECK(sums.refusal() ==
        "W0407 input 'x': 24 bytes are needed at data, but its memory on the device has 20");
  sums.in[0] = given;
  sums.out[1].device = -2;
  CHECK(sums.refusal() ==
        "W0407 output 'z': device is -2, but only host memory (-1) and device 0 are possible");
  weft_tensor_release(sums.context, &on_device);
}

TEST_CASE("DLPack hands tensors of the device on without a copy") {
  Sums sums;
  weft_copied_t before = copied(sums.context);
  sums.out[0].device = 0;
  REQUIRE(sums.refusal() == "ok");
  DLManagedTensor *made = nullptr;
  REQUIRE(weft_to_dlpack(sums.context, &sums.out[0], &made, &error) == WEFT_OK);
  CHECK(made->dl_tensor.device.device_type == (onEmulated ? kDLExtDev : kDLCUDA));
  REQUIRE(weft_from_dlpack(sums.context, &made->dl_tensor, &sums.in[0], &error) == WEFT_OK);
  CHECK(sums.in[0].device == 0);
  REQUIRE(sums.refusal() == "ok");
  CHECK(copied(sums.context).to_device - before.to_device == 24 + 12 + 12); // x once
  CHECK(numbers(sums.context, sums.out[0]) == std::vector<float>{21, 42, 63, 24, 45, 66});
  made->deleter(made);
  weft_tensor_release(sums.context, &sums.out[0]);
  made = nullptr;
  DLTensor elsewhere = {
      sums.x.data(), {onEmulated ? kDLCUDA : kDLExtDev, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
  CHECK(refused(weft_from_dlpack(sums.context, &elsewhere, &sums.in[0], &error)) ==
        "W0408 DLPack: the tensor is on a device that the context does not use");
}

TEST_CASE("calls are submitted one behind the other, in the order of the caller's stream") {
  Sums sums;
  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  std::string first = device + ":0"; // the module has it already
  options.device = first.c_str();
  options.stream =
      onEmulated ? &options : nullptr; // a device that does everything at once looks at none
  weft_context_t *context = nullptr;
  REQUIRE(weft_context_create(sums.program.artifact, &options, &context, &error) == WEFT_OK);
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  out[0].device = out[1].device = 0;
  REQUIRE(weft_submit(context, 0, sums.in, 2, out, 2, &error) == WEFT_OK);
  weft_tensor_t in[2] = {out[0], sums.in[1]}, next[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  in[0].flags = 0;
  next[1].device = 0;
  REQUIRE(weft_submit(context, 0, in, 2, next, 2, &error) == WEFT_OK);
  REQUIRE(weft_wait(context, &error) == WEFT_OK);
  CHECK(numbers(context, next[0]) == std::vector<float>{21, 42, 63, 24, 45, 66});
  CHECK(numbers(context, next[1]) == std::vector<float>{126, 135});
  for (weft_tensor_t *each : {&out[0], &out[1], &next[0], &next[1]})
    weft_tensor_release(context, each);
  weft_context_release(context);
}

TEST_CASE("memory and copies are asked for with tensors that make sense") {
  Sums sums;
  CHECK(std::string(weft_context_device(sums.context)) == device);
  weft_tensor_t tensor = sums.in[0], other = sums.in[1];
  CHECK(refused(weft_tensor_allocate(sums.context, &tensor, &error)) ==
        "W0407 a tensor: it has data already");
  tensor.data = nullptr;
  CHECK(refused(weft_tensor_copy(sums.context, &tensor, &sums.in[0], &error)) ==
        "W0407 a tensor: data is NULL");
  CHECK(refused(weft_tensor_copy(sums.context, &sums.in[0], &other, &error)) ==
        "W0407 tensors of other shapes are not copied");
  tensor.device = 3;
  CHECK(refused(weft_tensor_allocate(sums.context, &tensor, &error)) ==
        "W0407 a tensor: device is 3, but only host memory (-1) and device 0 are possible");
  tensor.device = 0;
  tensor.dim[0] = 1ll << 50;
  CHECK(weft_tensor_allocate(sums.context, &tensor, &error) == WEFT_OUT_OF_MEMORY);
  tensor.stride[0] = 1, tensor.stride[1] = 2;
  CHECK(refused(weft_tensor_allocate(sums.context, &tensor, &error)) ==
        "W0407 a tensor: it has gaps or another order of dimensions");
  CHECK(weft_context_copied(nullptr, nullptr) == WEFT_INVALID);
}
