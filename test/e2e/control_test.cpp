// Loops, branches and sizes that data decide, compiled and compared with the reference evaluator.
#include "test/support/EmulatedCall.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft::test;

static void agrees(const std::string &text, std::initializer_list<Sizes> all) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &sizes : all) {
      std::string where;
      for (auto &[name, value] : sizes)
        where += name + "=" + std::to_string(value) + " ";
      double difference = program.difference(sizes);
      INFO(where << program.error());
      CHECK(difference <= 1e-5);
    }
  }
}

TEST_CASE("a counted loop carries and stacks, and may run no time") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n, 4], f32>) -> (!weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>)
    attributes {weft.symbols = #weft.symbols<n bound i : "i <= n">} {
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[4], f32>
  %sum, %each = weft.loop "i" trips [n] (%zero) : (!weft.tensor<[4], f32>) -> (!weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>) {
  ^bb0(%s: !weft.tensor<[4], f32>):
    %row = weft.slice %x from [i, 0] size [1, 4] step [1, 1] : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[1, 4], f32>
    %r = weft.reshape %row to [4] : (!weft.tensor<[1, 4], f32>) -> !weft.tensor<[4], f32>
    %next = weft.add %s, %r : (!weft.tensor<[4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[4], f32>
    weft.yield %next, %next : !weft.tensor<[4], f32>, !weft.tensor<[4], f32>
  }
  return %sum, %each : !weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>
})",
      {{{"n", 0}}, {{"n", 1}}, {{"n", 2}}, {{"n", 9}}});
}

TEST_CASE("carried values may change places, and what is read in every turn is kept") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n], f32>, %y: !weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>)
    attributes {weft.symbols = #weft.symbols<n bound i, k>} {
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %a, %b = weft.loop "i" trips [5] (%x, %y) : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) {
  ^bb0(%p: !weft.tensor<[n], f32>, %q: !weft.tensor<[n], f32>):
    %inner = weft.loop "k" trips [3] (%p) : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> {
    ^bb0(%r: !weft.tensor<[n], f32>):
      %t = weft.tanh %r : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
      %u = weft.mul %t, %e : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
      weft.yield %u : !weft.tensor<[n], f32>
    }
    weft.yield %q, %inner : !weft.tensor<[n], f32>, !weft.tensor<[n], f32>
  }
  return %b, %a : !weft.tensor<[n], f32>, !weft.tensor<[n], f32>
})",
      {{{"n", 0}}, {{"n", 1}}, {{"n", 40}}});
}

TEST_CASE("a condition ends a loop; how often it ran is a size") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[], f32>, !weft.tensor<[c, n], f32>)
    attributes {weft.symbols = #weft.symbols<n bound i, c : "i <= 50", "c <= 50">} {
  %one = weft.fill 1.0 : f32 -> !weft.tensor<[], f32>
  %limit = weft.fill 30.0 : f32 -> !weft.tensor<[], f32>
  %begin = weft.compare lt %one, %limit : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
  %last, %all = weft.loop "i" trips [50] (%begin, %one) attributes {count = "c"}
      : (!weft.tensor<[], i1>, !weft.tensor<[], f32>) -> (!weft.tensor<[], f32>, !weft.tensor<[c, n], f32>) {
  ^bb0(%v: !weft.tensor<[], f32>):
    %twice = weft.add %v, %v : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], f32>
    %more = weft.compare lt %twice, %limit : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
    %line = weft.mul %x, %twice : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n], f32>
    weft.yield %more, %twice, %line : !weft.tensor<[], i1>, !weft.tensor<[], f32>, !weft.tensor<[n], f32>
  }
  return %last, %all : !weft.tensor<[], f32>, !weft.tensor<[c, n], f32>
})",
      {{{"n", 1}}, {{"n", 19}}});
}

/// Counts the positive elements, takes that many from the front, and branches on whether they are more than half.
static const char *kSelect =
    R"(func.func @main(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[u], f32>, !weft.tensor<[j], f32>)
    attributes {weft.symbols = #weft.symbols<n bound u, j : "u <= n", "j <= 2*n">} {
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
  %m = weft.compare gt %x, %zero : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n], i1>
  %ones = weft.convert %m to i64 : (!weft.tensor<[n], i1>) -> !weft.tensor<[n], i64>
  %count = weft.reduce sum %ones [0] : (!weft.tensor<[n], i64>) -> !weft.tensor<[], i64>
  weft.bind "u" %count : !weft.tensor<[], i64>
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %front = weft.slice %e from [0] size [u] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[u], f32>
  %r = weft.neg %front : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>
  %twice = weft.add %count, %count : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i64>
  %all = weft.dims_value [n] : !weft.tensor<[1], i64>
  %size = weft.reshape %all to [] : (!weft.tensor<[1], i64>) -> !weft.tensor<[], i64>
  %c = weft.compare gt %twice, %size : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i1>
  %y = weft.if %c attributes {binds = ["j"]} : (!weft.tensor<[], i1>) -> !weft.tensor<[j], f32> {
    %a = weft.tanh %r : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>
    weft.yield %a : !weft.tensor<[u], f32>
  } else {
    %b = weft.concat %x, %e dim 0 : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[2*n], f32>
    weft.yield %b : !weft.tensor<[2*n], f32>
  }
  return %r, %y : !weft.tensor<[u], f32>, !weft.tensor<[j], f32>
})";

TEST_CASE("data decide sizes and branches") {
  agrees(kSelect, {{{"n", 0}},
                   {{"n", 1}},
                   {{"n", 2}},
                   {{"n", 3}},
                   {{"n", 4}},
                   {{"n", 5}},
                   {{"n", 6}},
                   {{"n", 100}}});
}

TEST_CASE("a symbol is bound once, declared, and seen only where it has a value") {
  auto refusal = [](const std::string &symbols, const std::string &body) {
    return Program("func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[], i64>) -> "
                   "!weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<" +
                       symbols + ">} {\n" + body + "\n  return %x : !weft.tensor<[n], f32>\n}",
                   "x86:v2")
        .error();
  };
  std::string bind = "weft.bind \"u\" %k : !weft.tensor<[], i64>\n",
              use = "%f = weft.fill 0.0 : f32 -> !weft.tensor<[u], f32>\n";
  CHECK(refusal("n", bind).find(
            "binds 'u', which 'weft.symbols' of the function does not list as bound") !=
        std::string::npos);
  CHECK(refusal("n bound u", bind + bind).find("binds 'u' a second time") != std::string::npos);
  CHECK(refusal("n bound u", use + bind).find("symbol 'u' has no value here") != std::string::npos);
  CHECK(refusal("n bound u",
                bind + "%y = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>")
            .empty());
  CHECK(refusal("n bound u", bind + use +
                                 "%g = weft.exp %f : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], "
                                 "f32>\nweft.bind \"u\" %k : !weft.tensor<[], i64>")
            .find("a second time") != std::string::npos);
}

TEST_CASE("a stack needs a number of turns that something limits before the first") {
  std::string error =
      Program(R"(func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[c, n], f32>
    attributes {weft.symbols = #weft.symbols<n bound i, c>} {
  %begin = weft.fill true -> !weft.tensor<[], i1>
  %all = weft.loop "i" trips [2147483647] (%begin) attributes {count = "c"} : (!weft.tensor<[], i1>) -> !weft.tensor<[c, n], f32> {
    %line = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %begin, %line : !weft.tensor<[], i1>, !weft.tensor<[n], f32>
  }
  %y = weft.neg %all : (!weft.tensor<[c, n], f32>) -> !weft.tensor<[c, n], f32>
  return %y : !weft.tensor<[c, n], f32>
})",
              "x86:v2")
          .error();
  CHECK(error.find("needs memory for '4*c*n' bytes before the contents of tensors decide how many "
                   "they are") != std::string::npos);
}

TEST_CASE("memory is planned for the most that a size can be, also where it is subtracted") {
  // n - floordiv(u, 2) is largest where u is 0; 3*n - pos(u - 5) where u is at most 5.
  std::string text = kSelect;
  auto replace = [&](const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("%r = weft.neg %front : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>",
          "%r = weft.neg %front : (!weft.tensor<[u], f32>) -> !weft.tensor<[u], f32>\n"
          "  %wide = weft.fill 1.0 : f32 -> !weft.tensor<[n - floordiv(u, 2)], f32>\n"
          "  %long = weft.fill 2.0 : f32 -> !weft.tensor<[3*n - max(u - 5, 0)], f32>\n"
          "  %all2 = weft.concat %wide, %long dim 0 : (!weft.tensor<[n - floordiv(u, 2)], f32>, "
          "!weft.tensor<[3*n - max(u - 5, 0)], f32>) -> "
          "!weft.tensor<[4*n - floordiv(u, 2) - max(u - 5, 0)], f32>\n"
          "  %sums = weft.cumulate sum %all2 axis 0 : (!weft.tensor<[4*n - floordiv(u, 2) - max(u "
          "- 5, 0)], f32>) -> "
          "!weft.tensor<[4*n - floordiv(u, 2) - max(u - 5, 0)], f32>\n"
          "  %total = weft.reduce max %sums [0] : (!weft.tensor<[4*n - floordiv(u, 2) - max(u - 5, "
          "0)], f32>) -> !weft.tensor<[], f32>");
  replace("return %r, %y :", "return %total, %y :");
  replace("!weft.tensor<[u], f32>, !weft.tensor<[j], f32>\n}",
          "!weft.tensor<[], f32>, !weft.tensor<[j], f32>\n}");
  replace("-> (!weft.tensor<[u], f32>, !weft.tensor<[j], f32>)",
          "-> (!weft.tensor<[], f32>, !weft.tensor<[j], f32>)");
  agrees(text, {{{"n", 1}}, {{"n", 2}}, {{"n", 9}}, {{"n", 50}}});
}
