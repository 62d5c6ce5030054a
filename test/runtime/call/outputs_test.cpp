#include <catch2/catch.hpp>

#include "runtime/src/call/entry_check.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

static const opened &sample_module() {
  static const opened o(make_sample().seal());
  return o;
}

TEST_CASE("outputs without memory get some, aligned, and it is released once") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(make_sample().seal(), &env);
  running r(o);
  main_call c(3, 5);
  c.out[0] = WEFT_TENSOR_EMPTY;
  c.out[1] = WEFT_TENSOR_EMPTY;
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(c.out[0].capacity == 60);
  REQUIRE(uintptr_t(c.out[0].data) % 64 == 0);
  int live = memory.live;
  weft_tensor_release(r.context, &c.out[0]);
  weft_tensor_release(r.context, &c.out[0]);
  REQUIRE(c.out[0].data == nullptr);
  REQUIRE(memory.live == live - 1);
  weft_tensor_release(r.context, &c.out[1]);
  weft_tensor_release(r.context, nullptr);
}

TEST_CASE("memory of the caller is never released by the library") {
  running r(sample_module());
  main_call c(3, 5);
  REQUIRE(c.call(r) == WEFT_OK);
  weft_tensor_release(r.context, &c.out[0]);
  REQUIRE(c.out[0].data == c.y.data.data());
}

TEST_CASE("an output of a call can be the input of the next, and be used again as output") {
  running r(sample_module());
  main_call c(3, 5);
  c.out[0] = WEFT_TENSOR_EMPTY;
  REQUIRE(c.call(r) == WEFT_OK);
  void *first = c.out[0].data;
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.out[0].data == first);
  main_call next(3, 5);
  next.in[0] = c.out[0];
  REQUIRE(next.call(r) == WEFT_OK);
  // A larger shape does not fit; the old memory stays the caller's.
  main_call larger(4, 5);
  larger.out[0] = c.out[0];
  REQUIRE(larger.call(r) == WEFT_INVALID);
  REQUIRE(larger.out[0].data == first);
  weft_tensor_release(r.context, &c.out[0]);
}

TEST_CASE("given outputs must be large enough, aligned and without gaps") {
  running r(sample_module());
  main_call c(3, 5);
  auto with = [&](const std::function<void(weft_tensor_t *)> &change) {
    weft_tensor_t before[2] = {c.out[0], c.out[1]};
    change(c.out);
    std::string text = c.call(r) ? text_of(r.err) : "ok";
    c.out[0] = before[0], c.out[1] = before[1];
    return text;
  };
  REQUIRE(with([](weft_tensor_t *) {}) == "ok");
  REQUIRE(with([](weft_tensor_t *out) { out[0].capacity = 59; }) ==
          "W0423 output 'y': it needs 60 bytes, but capacity is 59 | pass data NULL to let the "
          "library allocate");
  REQUIRE(with([](weft_tensor_t *out) { out[0].capacity = 0; }).find("W0423") == 0);
  REQUIRE(with([](weft_tensor_t *out) { out[0].capacity = -1; }) ==
          "W0407 output 'y': capacity is -1");
  REQUIRE(with([](weft_tensor_t *out) { out[1].data = (char *)out[1].data + 2; }) ==
          "W0405 output 'total': data is not aligned to 4 bytes");
  REQUIRE(with([](weft_tensor_t *out) { out[0].stride[0] = 5, out[0].stride[1] = 1; }) == "ok");
  REQUIRE(with([](weft_tensor_t *out) { out[0].stride[0] = 1, out[0].stride[1] = 3; }) ==
          "W0406 output 'y': it has gaps or another order of dimensions");
  REQUIRE(with([](weft_tensor_t *out) { out[0].struct_size = 0; }).find("W0407") == 0);
  REQUIRE(with([](weft_tensor_t *out) { out[0].device = 1; }).find("W0407") == 0);
  REQUIRE(with([](weft_tensor_t *out) { out[0].flags = WEFT_TENSOR_FRESH; }).find("W0407") == 0);
}

TEST_CASE("an output must not share bytes with another tensor of the call") {
  running r(sample_module());
  main_call c(3, 5);
  c.out[0].data = c.x.data.data();
  REQUIRE(c.call(r) == WEFT_INVALID);
  REQUIRE(text_of(r.err) == "W0407 output 'y': it overlaps input 'ids'");
  c.out[0] = c.y.tensor;
  c.out[1].data = c.y.data.data() + 14;
  REQUIRE(c.call(r) == WEFT_INVALID);
  REQUIRE(text_of(r.err) == "W0407 output 'total': it overlaps output 'y'");
  // Neighbours are fine.
  array<float> both(WEFT_F32, {18});
  c.out[0].data = both.data.data();
  c.out[1].data = both.data.data() + 15;
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
}

TEST_CASE("the shape of outputs is the library's to say") {
  running r(sample_module());
  main_call c(3, 5);
  c.out[0].element = 77;
  c.out[0].rank = 9;
  c.out[0].dim[0] = -5;
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(c.out[0].dim[2] == 0);
}
