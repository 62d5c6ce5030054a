// Attention in the forms that models have it: one kernel, compared with the reference evaluator.
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft::test;

/// `kernels`: attention, and what makes its masks.
static void isOneKernel(const std::string &text, unsigned kernels = 1) {
  const Sizes all[] = {{{"b", 1}, {"s", 1}, {"t", 1}},   {{"b", 2}, {"s", 31}, {"t", 45}},
                       {{"b", 1}, {"s", 14}, {"t", 64}}, {{"b", 1}, {"s", 15}, {"t", 257}},
                       {{"b", 1}, {"s", 3}, {"t", 0}},   {{"b", 0}, {"s", 3}, {"t", 5}}};
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text);
    INFO(program.error());
    REQUIRE(program.error().empty());
    if (!program.emulated) {
      weft_module_info_t info = {sizeof info};
      REQUIRE(weft_module_info(program.artifact, &info) == WEFT_OK);
      CHECK(info.kernels == kernels);
    }
    for (const Sizes &sizes : all) {
      INFO("b=" << sizes.at("b") << " s=" << sizes.at("s") << " t=" << sizes.at("t"));
      double difference = program.difference(sizes);
      INFO(program.error());
      CHECK(difference <= 1e-5);
    }
  }
}

static std::string tensor(const std::string &dims, const std::string &element = "f32") {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

TEST_CASE("attention with its mask and scale") {
  isOneKernel(
      R"(func.func @main(%q: !weft.tensor<[b, s, 3, 32], f32>, %k: !weft.tensor<[b, t, 3, 32], f32>, %v: !weft.tensor<[b, t, 3, 32], f32>,
      %mask: !weft.tensor<[b, 1, 1, t], f32>) -> !weft.tensor<[b, s, 3, 32], f32> attributes {weft.symbols = #weft.symbols<b, s, t>} {
  %0 = weft.contract "b s h d, b t h d -> b h s t" %q, %k accumulate f32 : (!weft.tensor<[b, s, 3, 32], f32>, !weft.tensor<[b, t, 3, 32], f32>) -> !weft.tensor<[b, 3, s, t], f32>
  %c = weft.fill 0.17 : f32 -> !weft.tensor<[], f32>
  %1 = weft.mul %0, %c : (!weft.tensor<[b, 3, s, t], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, 3, s, t], f32>
  %2 = weft.add %1, %mask : (!weft.tensor<[b, 3, s, t], f32>, !weft.tensor<[b, 1, 1, t], f32>) -> !weft.tensor<[b, 3, s, t], f32>
  %3 = weft.softmax %2 : (!weft.tensor<[b, 3, s, t], f32>) -> !weft.tensor<[b, 3, s, t], f32>
  %4 = weft.contract "b h s t, b t h d -> b s h d" %3, %v accumulate f32 : (!weft.tensor<[b, 3, s, t], f32>, !weft.tensor<[b, t, 3, 32], f32>) -> !weft.tensor<[b, s, 3, 32], f32>
  return %4 : !weft.tensor<[b, s, 3, 32], f32>
})");
}

/// Attention of `heads` heads whose keys and values are `kv`, made from inputs %k and %v of type `from` by `views`.
static std::string withViews(const std::string &from, const std::string &views, int heads, int d,
                             int e, const std::string &fromV) {
  std::string h = std::to_string(heads), q = tensor("b, " + h + ", s, " + std::to_string(d)),
              k = tensor("b, " + h + ", t, " + std::to_string(d)),
              v = tensor("b, " + h + ", t, " + std::to_string(e)),
              scores = tensor("b, " + h + ", s, t"),
              out = tensor("b, " + h + ", s, " + std::to_string(e));
  return "func.func @main(%q: " + q + ", %k: " + from + ", %v: " + fromV + ") -> " + out +
         " attributes {weft.symbols = #weft.symbols<b, s, t>} {\n" + views +
         "  %0 = weft.contract \"b h s d, b h t d -> b h s t\" %q, %keys accumulate f32 : (" + q +
         ", " + k + ") -> " + scores + "\n  %1 = weft.softmax %0 : (" + scores + ") -> " + scores +
         "\n  %2 = weft.contract \"b h s t, b h t d -> b h s d\" %1, %values accumulate f32 : (" +
         scores + ", " + v + ") -> " + out + "\n  return %2 : " + out + "\n}\n";
}

TEST_CASE("grouped queries: keys and values are repeated over heads") {
  std::string two = tensor("b, 2, t, 24"), split = tensor("b, 2, 1, t, 24"),
              repeated = tensor("b, 2, 3, t, 24"), six = tensor("b, 6, t, 24");
  auto views = [&](const std::string &name, const std::string &to) {
    return "  %" + name + "1 = weft.reshape %" + name + " to [b, 2, 1, t, 24] : (" + two + ") -> " +
           split + "\n  %" + name + "2 = weft.expand %" + name + "1 to [b, 2, 3, t, 24] : (" +
           split + ") -> " + repeated + "\n  %" + to + " = weft.reshape %" + name +
           "2 to [b, 6, t, 24] : (" + repeated + ") -> " + six + "\n";
  };
  isOneKernel(withViews(two, views("k", "keys") + views("v", "values"), 6, 24, 24, two));
}

TEST_CASE("keys and values inside longer buffers are read where they are") {
  auto buffer = [](int d) { return tensor("b, 2, t + 3, " + std::to_string(d)); };
  auto slice = [&](const std::string &from, const std::string &to, int start, int d) {
    std::string size = "b, 2, t, " + std::to_string(d);
    return "  %" + to + " = weft.slice %" + from + " from [0, 0, " + std::to_string(start) +
           ", 0] size [" + size + "] step [1, 1, 1, 1] : (" + buffer(d) + ") -> " + tensor(size) +
           "\n";
  };
  isOneKernel(withViews(buffer(24), slice("k", "keys", 3, 24) + slice("v", "values", 2, 32), 2, 24,
                        32, buffer(32)));
}

TEST_CASE("heads narrower than a vector, keys stored as columns") {
  std::string k = tensor("b, 2, 5, t"), keys = tensor("b, 2, t, 5"), v = tensor("b, t, 2, 7"),
              values = tensor("b, 2, t, 7");
  isOneKernel(withViews(k,
                        "  %keys = weft.transpose %k [0, 1, 3, 2] : (" + k + ") -> " + keys +
                            "\n  %values = weft.transpose %v [0, 2, 1, 3] : (" + v + ") -> " +
                            values + "\n",
                        2, 5, 7, v));
}

TEST_CASE("lines that are masked as a whole, put right behind the softmax; scaled keys") {
  isOneKernel(
      R"(func.func @main(%q: !weft.tensor<[b, 2, s, 16], f32>, %k: !weft.tensor<[b, 2, t, 16], f32>, %v: !weft.tensor<[b, 2, t, 16], f32>,
      %mask: !weft.tensor<[b, 1, s, 1], f32>) -> !weft.tensor<[b, 2, s, 16], f32> attributes {weft.symbols = #weft.symbols<b, s, t>} {
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
  %c = weft.fill 0.25 : f32 -> !weft.tensor<[], f32>
  %low = weft.fill 0xFF800000 : f32 -> !weft.tensor<[], f32>
  %scaled = weft.mul %k, %c : (!weft.tensor<[b, 2, t, 16], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, 2, t, 16], f32>
  %0 = weft.contract "b h s d, b h t d -> b h s t" %q, %scaled accumulate f32 : (!weft.tensor<[b, 2, s, 16], f32>, !weft.tensor<[b, 2, t, 16], f32>) -> !weft.tensor<[b, 2, s, t], f32>
  %1 = weft.compare lt %mask, %zero : (!weft.tensor<[b, 1, s, 1], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, 1, s, 1], i1>
  %2 = weft.select %1, %low, %0 : (!weft.tensor<[b, 1, s, 1], i1>, !weft.tensor<[], f32>, !weft.tensor<[b, 2, s, t], f32>) -> !weft.tensor<[b, 2, s, t], f32>
  %3 = weft.softmax %2 : (!weft.tensor<[b, 2, s, t], f32>) -> !weft.tensor<[b, 2, s, t], f32>
  %4 = weft.is_nan %3 : (!weft.tensor<[b, 2, s, t], f32>) -> !weft.tensor<[b, 2, s, t], i1>
  %5 = weft.select %4, %zero, %3 : (!weft.tensor<[b, 2, s, t], i1>, !weft.tensor<[], f32>, !weft.tensor<[b, 2, s, t], f32>) -> !weft.tensor<[b, 2, s, t], f32>
  %6 = weft.contract "b h s t, b h t d -> b h s d" %5, %v accumulate f32 : (!weft.tensor<[b, 2, s, t], f32>, !weft.tensor<[b, 2, t, 16], f32>) -> !weft.tensor<[b, 2, s, 16], f32>
  return %6 : !weft.tensor<[b, 2, s, 16], f32>
})",
      2);
}

TEST_CASE("an attention that the target refuses leaves the one beside it alone") {
  auto attention = [](const std::string &name, const std::string &d) {
    std::string q = tensor("b, 2, s, " + d), k = tensor("b, 2, t, " + d), x = "%" + name,
                scores = tensor("b, 2, s, t");
    return "  " + x + "0 = weft.contract \"b h s d, b h t d -> b h s t\" " + x + "q, " + x +
           "k accumulate f32 : (" + q + ", " + k + ") -> " + scores + "\n  " + x +
           "1 = weft.softmax " + x + "0 : (" + scores + ") -> " + scores + "\n  " + x +
           "2 = weft.contract \"b h s t, b h t d -> b h s d\" " + x + "1, " + x +
           "v accumulate f32 : (" + scores + ", " + k + ") -> " + q + "\n";
  };
  auto arguments = [](const std::string &name, const std::string &d) {
    return "%" + name + "q: " + tensor("b, 2, s, " + d) + ", %" + name +
           "k: " + tensor("b, 2, t, " + d) + ", %" + name + "v: " + tensor("b, 2, t, " + d);
  };
  std::string taken = "16", refused = "t + 1", // no schedule takes heads of a symbolic size
      results = tensor("b, 2, s, " + taken) + ", " + tensor("b, 2, s, " + refused),
              text = "func.func @main(" + arguments("x", taken) + ", " + arguments("y", refused) +
                     ") -> (" + results +
                     ") attributes {weft.symbols = #weft.symbols<b, s, t>} {\n" +
                     attention("x", taken) + attention("y", refused) +
                     "  return %x2, %y2 : " + results + "\n}\n";
  isOneKernel(text, 4);
  Program program(text);
  for (const char *schedule : {"attention", "product", "row"}) // and a second product
    CHECK(uses(program, schedule));
}
