// Sizes that data decide and nothing limits: memory is asked for when they are known.
#include "test/support/EmulatedCall.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace weft::test;

static Tensor integers(Program &program, unsigned argument, std::vector<int64_t> dims,
                       std::vector<int64_t> values) {
  Tensor tensor = program.generate({{"n", 0}}, 1)[argument];
  tensor.dims = dims;
  tensor.bytes.resize(values.size() * 8);
  memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

static Tensor number(Program &program, unsigned argument, int64_t value) {
  return integers(program, argument, {}, {value});
}

/// Compiled results equal evaluated ones, in shape and value.
static void agree(Program &program, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> have = program.run(inputs);
  INFO(program.error());
  REQUIRE(program.error().empty());
  std::vector<weft::RefTensor> want = program.evaluate(inputs);
  REQUIRE(have.size() == want.size());
  for (size_t i = 0; i < have.size(); ++i) {
    weft::RefTensor got = have[i].reference();
    REQUIRE(std::vector<int64_t>(got.dims.begin(), got.dims.end()) ==
            std::vector<int64_t>(want[i].dims.begin(), want[i].dims.end()));
    for (int64_t k = 0; k < got.size(); ++k) {
      weft::Scalar a = got.at(k), b = want[i].at(k);
      if (got.kind == weft::Scalar::Real)
        REQUIRE(std::fabs(a.real - b.real) <= 1e-4 * std::max(1.0, std::fabs(b.real)));
      else
        REQUIRE(a.integer == b.integer);
    }
  }
}

/// A table of u rows made from x, its softmax along u, and sums along either side.
static const char *kTable =
    R"(func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[], i64>)
    -> (!weft.tensor<[u, n], f32>, !weft.tensor<[n], f32>, !weft.tensor<[u], f32>)
    attributes {weft.symbols = #weft.symbols<n bound u>} {
  weft.bind "u" %k : !weft.tensor<[], i64>
  %i = weft.iota dim 0 : !weft.tensor<[u], f32>
  %e = weft.sin %i : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>
  %c = weft.reshape %e to [u, 1] : (!weft.tensor<[u], f32>) -> !weft.tensor<[u, 1], f32>
  %t = weft.mul %c, %x : (!weft.tensor<[u, 1], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[u, n], f32>
  %a = weft.transpose %t [1, 0] : (!weft.tensor<[u, n], f32>) -> !weft.tensor<[n, u], f32>
  %s = weft.softmax %a : (!weft.tensor<[n, u], f32>) -> !weft.tensor<[n, u], f32>
  %b = weft.transpose %s [1, 0] : (!weft.tensor<[n, u], f32>) -> !weft.tensor<[u, n], f32>
  %r = weft.reduce sum %a [1] : (!weft.tensor<[n, u], f32>) -> !weft.tensor<[n], f32>
  %q = weft.reduce sum %b [1] : (!weft.tensor<[u, n], f32>) -> !weft.tensor<[u], f32>
  return %b, %r, %q : !weft.tensor<[u, n], f32>, !weft.tensor<[n], f32>, !weft.tensor<[u], f32>
})";

TEST_CASE("memory follows sizes that grow and shrink from call to call") {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v2"}))
    for (int threads : {1, 2}) {
      Program program(kTable, target, threads);
      INFO(target << " " << program.error());
      REQUIRE(program.error().empty());
      for (int64_t u : {3, 0, 1, 700, 17, 5000, 2})
        for (int64_t n : {0, 1, 7}) {
          std::vector<Tensor> inputs = program.generate({{"n", n}}, 1);
          inputs[1] = number(program, 1, u);
          agree(program, inputs);
        }
    }
}

TEST_CASE("a size that is none ends the call, and the next one works") {
  Program program(kTable);
  REQUIRE(program.error().empty());
  std::vector<Tensor> inputs = program.generate({{"n", 3}}, 1);
  auto refusal = [&](int64_t u) {
    inputs[1] = number(program, 1, u);
    REQUIRE(program.run(inputs).empty());
    return program.error();
  };
  CHECK(refusal(-1) == "'u', which the contents of tensors decide, is -1");
  CHECK(refusal(INT64_MIN) == "'u', which the contents of tensors decide, is -9223372036854775808");
  CHECK(refusal(int64_t(1) << 31) == "'u', which the contents of tensors decide, is 2147483648, "
                                     "but sizes are at most 2147483647");
  CHECK(refusal(int64_t(1) << 40).find("is 1099511627776, but sizes") != std::string::npos);
  inputs[1] = number(program, 1, 4);
  agree(program, inputs);
}

/// In a branch and in a loop; the sizes of the first are known behind it.
static const char *kRegions =
    R"(func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[3], i64>) -> (!weft.tensor<[j], f32>, !weft.tensor<[3], f32>)
    attributes {weft.symbols = #weft.symbols<n bound u, v, j, i, w : "i <= 3">} {
  %k0 = weft.slice %k from [0] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
  %k1 = weft.slice %k from [1] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
  %zero = weft.fill 0 : i64 -> !weft.tensor<[1], i64>
  %odd = weft.compare gt %k0, %zero : (!weft.tensor<[1], i64>, !weft.tensor<[1], i64>) -> !weft.tensor<[1], i1>
  %y = weft.if %odd attributes {binds = ["j"]} : (!weft.tensor<[1], i1>) -> !weft.tensor<[j], f32> {
    weft.bind "u" %k0 : !weft.tensor<[1], i64>
    %a = weft.iota dim 0 : !weft.tensor<[u], f32>
    %b = weft.sin %a : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>
    weft.yield %b : !weft.tensor<[u], f32>
  } else {
    weft.bind "v" %k1 : !weft.tensor<[1], i64>
    %a = weft.iota dim 0 : !weft.tensor<[v], f32>
    %b = weft.neg %a : (!weft.tensor<[v], f32>) -> !weft.tensor<[v], f32>
    %c = weft.concat %b, %x dim 0 : (!weft.tensor<[v], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[v + n], f32>
    weft.yield %c : !weft.tensor<[v + n], f32>
  }
  %sums = weft.loop "i" trips [3] () : () -> !weft.tensor<[3], f32> {
    %ki = weft.slice %k from [i] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
    %p = weft.abs %ki : (!weft.tensor<[1], i64>) -> !weft.tensor<[1], i64>
    weft.bind "w" %p : !weft.tensor<[1], i64>
    %l = weft.iota dim 0 : !weft.tensor<[w], f32>
    %m = weft.softmax %l : (!weft.tensor<[w], f32>) -> !weft.tensor<[w], f32>
    %o = weft.mul %m, %l : (!weft.tensor<[w], f32>, !weft.tensor<[w], f32>) -> !weft.tensor<[w], f32>
    %s = weft.reduce sum %o [0] : (!weft.tensor<[w], f32>) -> !weft.tensor<[], f32>
    weft.yield %s : !weft.tensor<[], f32>
  }
  %z = weft.tanh %y : (!weft.tensor<[j], f32>) -> !weft.tensor<[j], f32>
  return %z, %sums : !weft.tensor<[j], f32>, !weft.tensor<[3], f32>
})";

TEST_CASE("regions ask for memory each time they run") {
  for (int threads : {1, 2}) {
    Program program(kRegions, "x86:host", threads);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (std::vector<int64_t> k : std::vector<std::vector<int64_t>>{
             {5, 1, 900}, {-2, 0, 3}, {0, 70, 1}, {1200, 3, 0}, {0, 0, 0}})
      for (int64_t n : {0, 4}) {
        std::vector<Tensor> inputs = program.generate({{"n", n}}, 2);
        inputs[1] = integers(program, 1, {3}, k);
        agree(program, inputs);
      }
  }
}

/// What is asked for of one allocator; `limit` bytes at most are given at once.
struct Counter {
  int64_t now = 0, limit = INT64_MAX, allocations = 0;
  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto &self = *static_cast<Counter *>(user);
    void *memory = nullptr;
    if (self.now + int64_t(bytes) > self.limit || posix_memalign(&memory, alignment, bytes))
      return nullptr;
    self.now += bytes;
    ++self.allocations;
    return memory;
  }
  static void release(void *user, void *memory, size_t bytes) {
    static_cast<Counter *>(user)->now -= bytes;
    free(memory);
  }
};

/// The artifact of `program` opened with an allocator of ours.
struct Opened {
  Opened(Program &program, int threads, int64_t limit) {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.user = &counter;
    env.allocate = Counter::allocate;
    env.release = Counter::release;
    weft_context_options_t options = {sizeof options, threads, -1, limit};
    REQUIRE(weft_module_open(&env, program.path.c_str(), &module, nullptr) == WEFT_OK);
    REQUIRE(weft_context_create(module, &options, &context, nullptr) == WEFT_OK);
  }
  ~Opened() {
    weft_context_release(context);
    weft_module_release(module);
    CHECK(counter.now == 0);
  }
  /// Three outputs, of which those with memory are `given`.
  weft_status_t call(int64_t n, int64_t u, weft_tensor_t *out) {
    std::vector<float> x(n, 0.5f);
    int64_t dims[1] = {n};
    weft_tensor_t in[2] = {weft_tensor_of(x.data(), WEFT_F32, 1, dims),
                           weft_tensor_of(&u, WEFT_I64, 0, nullptr)};
    error = WEFT_ERROR_INIT;
    return weft_call(context, nullptr, in, 2, out, 3, &error);
  }
  Counter counter;
  weft_module_t *module = nullptr;
  weft_context_t *context = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
};

TEST_CASE("a warm call of the same or a smaller size allocates nothing") {
  Program program(kTable);
  REQUIRE(program.error().empty());
  Opened opened(program, 2, 0);
  std::vector<float> a(4000 * 5), b(5), c(4000);
  auto call = [&](int64_t u) {
    weft_tensor_t out[3] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
    for (auto [i, vector] : {std::pair(0, &a), std::pair(1, &b), std::pair(2, &c)}) {
      out[i].data = vector->data();
      out[i].capacity = vector->size() * sizeof(float);
    }
    REQUIRE(opened.call(5, u, out) == WEFT_OK);
    CHECK(out[0].dim[0] == u);
    CHECK(out[0].dim[1] == 5);
    CHECK(out[2].dim[0] == u);
  };
  call(4000);
  int64_t allocations = opened.counter.allocations, held = opened.counter.now;
  for (int64_t u : {4000, 1, 0, 3999})
    call(u);
  CHECK(opened.counter.allocations == allocations);
  CHECK(opened.counter.now == held);
}

TEST_CASE("a given output that is too small is refused before it is written") {
  Program program(kTable);
  Opened opened(program, 1, 0);
  std::vector<float> a(20, -7.0f);
  weft_tensor_t out[3] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  out[0].data = a.data();
  out[0].capacity = 19 * sizeof(float);
  REQUIRE(opened.call(4, 5, out) == WEFT_INVALID);
  CHECK(std::string(opened.error.code) == "W0423");
  CHECK(std::string(opened.error.message) ==
        "output 'output0': it needs 80 bytes, but capacity is 76");
  CHECK(a == std::vector<float>(20, -7.0f));
  CHECK(out[1].data == nullptr); // what the library gave is taken back
  CHECK(out[2].data == nullptr);
  out[0].capacity = 20 * sizeof(float);
  out[2].data = a.data() + 19; // the last element of the first
  out[2].capacity = 5 * sizeof(float);
  REQUIRE(opened.call(4, 5, out) == WEFT_INVALID);
  CHECK(std::string(opened.error.message).find("it overlaps output") != std::string::npos);
}

TEST_CASE("memory above the limit, or more than there is, ends the call") {
  Program program(kTable);
  Opened opened(program, 1, 1 << 16);
  weft_tensor_t out[3] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  REQUIRE(opened.call(3, 1 << 20, out) == WEFT_OVER_LIMIT);
  CHECK(std::string(opened.error.code) == "W0421");
  std::string message = opened.error.message;
  CHECK(message.find("this call needs ") == 0);
  CHECK(message.find("(n = 3, u = 1048576) but the limit is 64 KiB") != std::string::npos);
  REQUIRE(opened.call(3, 10, out) == WEFT_OK);
  for (weft_tensor_t &each : out)
    weft_tensor_release(opened.context, &each);

  Opened poor(program, 1, 0);
  poor.counter.limit = poor.counter.now + (1 << 20);
  int64_t held = poor.counter.now;
  REQUIRE(poor.call(3, 1 << 24, out) == WEFT_OUT_OF_MEMORY);
  CHECK(std::string(poor.error.code) == "W0424");
  CHECK(poor.counter.now <= held + (1 << 20));
}

TEST_CASE("sizes are judged before integers wrap") {
  // Three sizes whose product is 2^64 or 2^62, of a tensor, and of the count that a fact compares.
  std::string text =
      R"(func.func @main(%k: !weft.tensor<[3], i64>) -> !weft.tensor<[], f32>
    attributes {weft.symbols = #weft.symbols<bound u, v, w FACT>} {
  %k0 = weft.slice %k from [0] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
  %k1 = weft.slice %k from [1] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
  %k2 = weft.slice %k from [2] size [1] step [1] : (!weft.tensor<[3], i64>) -> !weft.tensor<[1], i64>
  weft.bind "u" %k0 : !weft.tensor<[1], i64>
  weft.bind "v" %k1 : !weft.tensor<[1], i64>
  weft.bind "w" %k2 : !weft.tensor<[1], i64>
  %t = weft.iota dim 0 : !weft.tensor<[u, v, w], f32>
  %s = weft.softmax %t : (!weft.tensor<[u, v, w], f32>) -> !weft.tensor<[u, v, w], f32>
  %r = weft.reduce sum %s [0, 1, 2] : (!weft.tensor<[u, v, w], f32>) -> !weft.tensor<[], f32>
  return %r : !weft.tensor<[], f32>
})";
  for (const char *fact : {"", ": \"u*v*w <= 64\""}) {
    std::string with = text;
    with.replace(with.find(" FACT"), 5, fact);
    Program program(with);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (std::vector<int64_t> sizes : std::vector<std::vector<int64_t>>{
             {1 << 22, 1 << 21, 1 << 21}, {1 << 21, 1 << 21, 1 << 20}, {1 << 30, 1 << 30, 16}}) {
      std::vector<Tensor> inputs = program.generate({}, 1);
      inputs[0] = integers(program, 0, {3}, sizes);
      CHECK(program.run(inputs).empty());
      CHECK(program.error().find("this call needs a tensor of more than 2^62 bytes (u = ") == 0);
    }
    std::vector<Tensor> inputs = program.generate({}, 1);
    inputs[0] = integers(program, 0, {3}, {4, 3, 5});
    agree(program, inputs);
  }
}
