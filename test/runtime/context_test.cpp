#include <catch2/catch.hpp>

#include <unistd.h>

#include <vector>

#include "test/runtime/artifact_builder.h"

using namespace weft_test;

TEST_CASE("a call computes what the code says") {
  int fd = open_bytes(make_sample().seal());
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  REQUIRE(weft_module_open_fd(nullptr, fd, &module, &err) == WEFT_OK);
  close(fd);
  weft_context_t *context = nullptr;
  REQUIRE(weft_context_create(module, nullptr, &context, &err) == WEFT_OK);
  std::vector<float> x(2 * 41, 2.0f), mask(2 * 41, 3.0f);
  int64_t dim[2] = {2, 41};
  weft_tensor_t in[2] = {weft_tensor_of(x.data(), WEFT_F32, 2, dim),
                         weft_tensor_of(mask.data(), WEFT_F32, 2, dim)};
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  weft_status_t status = weft_call(context, nullptr, in, 2, out, 2, &err);
  INFO(err.message);
  REQUIRE(status == WEFT_OK);
  REQUIRE(out[0].rank == 2);
  REQUIRE(out[0].dim[1] == 41);
  REQUIRE(((float *)out[0].data)[40] == 46.0f);
  REQUIRE(((float *)out[1].data)[1] == 6 * 41 + 820);
  weft_tensor_release(context, &out[0]);
  weft_tensor_release(context, &out[1]);
  weft_context_release(context);
  weft_module_release(module);
}
