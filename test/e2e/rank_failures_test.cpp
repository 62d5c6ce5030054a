//===- rank_failures_test.cpp - What is refused where ranks compute together, and how they fail ------------===//
//
// Groups that do not fit are refused with how to start the program; a rank that goes away or opened another file ends the others with its name
// and the user's node. A call with its outputs given allocates nothing.
//===------------------------------------------------------------------------------------------===//

#include "test/support/RankProgram.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

using namespace weft;
using namespace weft::test;
using Catch::Matchers::Contains;

namespace {

std::string summed(const std::string &function = "main", const std::string &mesh = "tp = 2",
                   const std::string &node = "/encoder/dense") {
  std::string type = "!weft.tensor<[n], f32>";
  return "func.func @" + function + "(%x: " + type + ") -> " + type +
         " attributes {weft.mesh = #weft.mesh<" + mesh + ">, weft.symbols = #weft.symbols<n>} {\n" +
         "  %0 = weft.neg %x : (" + type + ") -> " + type +
         "\n  %1 = weft.all_reduce sum %0 over<" + mesh + "> : (" + type + ") -> " + type +
         " loc(\"" + node + "\")\n  return %1 : " + type + "\n}\n";
}

std::string alone() {
  return "func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes "
         "{weft.symbols = #weft.symbols<n>} {\n  %0 = weft.neg %x : (!weft.tensor<[n], f32>) -> "
         "!weft.tensor<[n], f32>\n  return %0 : !weft.tensor<[n], f32>\n}\n";
}

/// Making a context only.
std::string join(weft_module_t *module, weft_group_t *group) {
  weft_context_options_t options = {sizeof options, 1, -1, 0, group};
  weft_context_t *context = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_create(module, &options, &context, &error);
  weft_context_release(context);
  return error.message;
}

/// What each rank of a group is told.
std::vector<std::string> joinAll(const RankProgram &program, int32_t world) {
  std::vector<std::string> texts(world);
  onRanks(world, [&](weft_group_t *group, weft_error_t *) {
    texts[weft_group_rank(group)] = join(program.module, group);
    return WEFT_OK;
  });
  return texts;
}

} // namespace

TEST_CASE("a function for several ranks needs a group of as many") {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  CHECK(join(program.module, nullptr) ==
        "function 'main' is for 2 ranks (tp = 2), but the context has no group");
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_t *context;
  CHECK(weft_context_create(program.module, nullptr, &context, &error) == WEFT_INVALID);
  CHECK_THAT(error.hint, Contains("'weft run FILE --ranks 2' starts them"));
  for (const std::string &text : joinAll(program, 3))
    CHECK(text == "function 'main' is for 2 ranks (tp = 2), but the group has 3");
  for (const std::string &text : joinAll(program, 2))
    CHECK(text == "");
}

TEST_CASE("a file for one rank takes no group") {
  RankProgram program(alone());
  REQUIRE(program.failure.empty());
  for (const std::string &text : joinAll(program, 2))
    CHECK_THAT(text, Contains("is for one rank, but options.group is a group of 2"));
  CHECK(join(program.module, nullptr) == "");
}

TEST_CASE("functions of a file are for the same ranks, or for one") {
  CHECK(RankProgram(summed() + summed("other", "tp = 4")).failure ==
        "has #weft.mesh<tp = 4>, but another function of the file has #weft.mesh<tp = 2>");
  CHECK(RankProgram(summed() + summed("other")).failure == "");
  std::string whole = alone();
  CHECK(RankProgram(summed("other") + whole).failure == "");
}

TEST_CASE("arguments and results are whole") {
  std::string text = "func.func @main(%x: !weft.tensor<[n + rank_tp], f32>) -> !weft.tensor<[n + "
                     "rank_tp], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = "
                     "#weft.symbols<n, rank_tp>} {\n  return %x : !weft.tensor<[n + rank_tp], "
                     "f32>\n}";
  CHECK_THAT(RankProgram(text).failure, Contains("input 'input0' has another size on every rank"));
}

TEST_CASE("ranks that have opened different files are told so") {
  RankProgram one(summed()), other(summed("main", "tp = 2", "/other"));
  REQUIRE(one.failure + other.failure == "");
  for (const std::string &text : onRanks(2, [&](weft_group_t *group, weft_error_t *error) {
         Values result;
         RankProgram &own = weft_group_rank(group) == 0 ? one : other;
         return own.callTwice(group, {3}, numbers(3), result, error);
       }))
    CHECK(text == "W0434 ranks 0 and 1 have opened different files");
}

TEST_CASE(
    "a rank that leaves, or has another size, ends the call of the others with the user's node") {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  std::vector<std::string> left =
      onRanks(2, [&](weft_group_t *group, weft_error_t *error) -> weft_status_t {
        Values result;
        if (weft_group_rank(group) == 0)
          return program.callTwice(group, {3}, numbers(3), result, error);
        join(program.module, group); // and is gone
        return WEFT_OK;
      });
  CHECK(left[0] == "W0605 all_gather after 'the inputs': rank 1 has left the group, which had "
                   "not begun a collective");
  std::vector<std::string> sizes = onRanks(2, [&](weft_group_t *group, weft_error_t *error) {
    Values result;
    int64_t size = weft_group_rank(group) == 0 ? 3 : 4;
    return program.callTwice(group, {size}, numbers(size), result, error);
  });
  for (const std::string &text : sizes)
    CHECK(text == "W0435 rank 1 has n = 4, the others 3 (input 'input0', dimension 0)");
}

TEST_CASE("of several ranks the one that has another size, or calls another function, is named; "
          "later calls are made") {
  std::string text = summed("main", "tp = 3") + summed("other", "tp = 3"), symbols = "symbols<n>";
  for (size_t at; (at = text.find(symbols)) != std::string::npos;) // what they send depends on it
    text.replace(at, symbols.size(), "symbols<n, rank_tp : \"rank_tp <= 2\">");
  RankProgram program(text);
  REQUIRE(program.failure == "");
  std::vector<std::string> texts(3), functions(3), later(3);
  onRanks(3, [&](weft_group_t *group, weft_error_t *error) {
    int32_t rank = weft_group_rank(group);
    weft_context_options_t options = {sizeof options, 1, -1, 0, group};
    weft_context_t *context = nullptr;
    if (weft_status_t status = weft_context_create(program.module, &options, &context, error))
      return status;
    auto call = [&](const char *function, int64_t size) {
      std::vector<float> x(size_t(size), 1);
      weft_tensor_t in = weft_tensor_of(x.data(), WEFT_F32, 1, &size), out = WEFT_TENSOR_EMPTY;
      weft_error_t failure = WEFT_ERROR_INIT;
      weft_call(context, function, &in, 1, &out, 1, &failure);
      weft_tensor_release(context, &out);
      return std::string(failure.code) + " " + failure.message;
    };
    texts[rank] = call("main", rank == 0 ? 41 : 37);
    functions[rank] = call(rank == 2 ? "other" : "main", 5);
    later[rank] = call("main", 7);
    weft_context_release(context);
    return WEFT_OK;
  });
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(texts[rank] == "W0435 rank 0 has n = 41, the others 37 (input 'input0', dimension 0)");
    CHECK(functions[rank] == "W0435 rank 2 calls function 'other', rank 0 calls 'main'");
    CHECK(later[rank] == " ");
  }
}

/// What creating contexts with options of each rank's own ends with, on both ranks.
static std::vector<std::string>
refusals(const std::function<void(int32_t rank, weft_context_options_t &)> &differ) {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  std::vector<std::string> texts(2);
  onRanks(2, [&](weft_group_t *group, weft_error_t *) {
    int32_t rank = weft_group_rank(group);
    weft_context_options_t options = {};
    options.struct_size = sizeof options;
    options.threads = 1;
    options.spin_us = -1;
    options.group = group;
    differ(rank, options);
    weft_context_t *context = nullptr;
    weft_error_t failure = WEFT_ERROR_INIT;
    weft_context_create(program.module, &options, &context, &failure);
    weft_context_release(context);
    texts[rank] = failure.message;
    return WEFT_OK;
  });
  return texts;
}

TEST_CASE("ranks with other limits are told so") {
  for (const std::string &text : refusals([](int32_t rank, weft_context_options_t &options) {
         options.memory_limit = (1 + rank) << 20;
       }))
    CHECK(text == "ranks 0 and 1 have memory limits of 1048576 and 2097152 bytes");
}

TEST_CASE("ranks of which one computes while it exchanges and another does not are told so") {
  for (const std::string &text : refusals(
           [](int32_t rank, weft_context_options_t &options) { options.exchanges_apart = rank; }))
    CHECK(text == "ranks 0 and 1 have 0 and 1 as options.exchanges_apart");
}

TEST_CASE("a rank that lacks an input fails alone, and the others are told that it left") {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  std::vector<std::string> ends = onRanks(2, [&](weft_group_t *group, weft_error_t *error) {
    weft_context_options_t options = {sizeof options, 1, -1, 0, group};
    weft_context_t *context = nullptr;
    weft_status_t status = weft_context_create(program.module, &options, &context, error);
    float x = 1;
    int64_t one = 1;
    weft_tensor_t in = weft_tensor_of(&x, WEFT_F32, 1, &one), out = WEFT_TENSOR_EMPTY;
    if (!status)
      status = weft_call(context, nullptr, &in, weft_group_rank(group) == 0, &out, 1, error);
    weft_tensor_release(context, &out);
    weft_context_release(context);
    return status;
  });
  CHECK(ends[0] == "W0605 all_gather after 'the inputs': rank 1 has left the group, which had "
                   "not begun a collective");
  CHECK_THAT(ends[1], Contains("1 input"));
}

TEST_CASE("cancelling the call of one rank ends the calls of all") {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  std::atomic<weft_context_t *> waiting{nullptr};
  std::vector<std::string> ends = onRanks(2, [&](weft_group_t *group, weft_error_t *error) {
    weft_context_options_t options = {sizeof options, 1, -1, 0, group};
    weft_context_t *context = nullptr;
    weft_status_t status = weft_context_create(program.module, &options, &context, error);
    if (weft_group_rank(group) == 1) {
      while (!waiting)
        std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      weft_cancel(waiting);
    } else if (!status) {
      waiting = context;
      float x = 1;
      int64_t one = 1;
      weft_tensor_t in = weft_tensor_of(&x, WEFT_F32, 1, &one), out = WEFT_TENSOR_EMPTY;
      status = weft_call(context, nullptr, &in, 1, &out, 1, error);
    }
    // Rank 1 stays until the call of rank 0 is over: it has not left, but was cancelled.
    while (weft_group_rank(group) == 1 && waiting)
      std::this_thread::yield();
    waiting = nullptr;
    weft_context_release(context);
    return status;
  });
  CHECK(ends[0] == "W0432 the call was cancelled");
  CHECK(ends[1] == "");
}

namespace {
std::atomic<int> allocations{0};

void *allocate(void *, size_t bytes, size_t alignment) {
  ++allocations;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void release(void *, void *pointer, size_t) { free(pointer); }
} // namespace

TEST_CASE("a call with its outputs given allocates nothing after weft_reserve") {
  RankProgram program(summed());
  REQUIRE(program.failure.empty());
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.allocate = allocate;
  env.release = release;
  weft_module_t *module = nullptr;
  weft_error_t opened = WEFT_ERROR_INIT;
  REQUIRE(weft_module_open(&env, program.path.c_str(), &module, &opened) == WEFT_OK);
  std::atomic<int> ready{0}, done{0}, during{0}, right{0};
  std::vector<std::string> ends = onRanks(2, [&](weft_group_t *group, weft_error_t *error) {
    weft_context_options_t options = {sizeof options, 1, -1, 0, group};
    weft_context_t *context = nullptr;
    weft_status_t status = weft_context_create(module, &options, &context, error);
    int64_t size = 1000;
    if (!status)
      status = weft_reserve(context, 0, &size, error);
    Values x = numbers(size), y(size);
    ++ready;
    while (ready < 2)
      std::this_thread::yield();
    int before = allocations;
    weft_tensor_t in = weft_tensor_of(x.data(), WEFT_F32, 1, &size),
                  out = weft_tensor_of(y.data(), WEFT_F32, 1, &size);
    out.capacity = y.size() * sizeof(float);
    if (!status)
      status = weft_call(context, nullptr, &in, 1, &out, 1, error);
    during += allocations - before;
    right += y[3] == -2 * x[3];
    ++done;
    while (done < 2)
      std::this_thread::yield();
    weft_context_release(context);
    return status;
  });
  for (const std::string &text : ends)
    CHECK(text == "");
  CHECK(during == 0);
  CHECK(right == 2);
  weft_module_release(module);
}
