// Sizes around those of tiles and chunks: whole, ragged, empty, with operands in any order.
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// A program of these symbols with operands %x and %y, which returns %z.
std::string program(const std::string &x, const std::string &y, const std::string &z,
                    const std::string &body, const std::string &symbols = "m, n") {
  return "func.func @main(%x: " + x + ", %y: " + y + ") -> " + z +
         " attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n" + body +
         "  return %z : " + z + "\n}\n";
}

/// What is computed of a product stands behind it, and what it reads is computed on the way.
std::string product(const std::string &element, const std::string &lhs, const std::string &rhs) {
  std::string x = tensor(lhs, element), y = tensor(rhs, element), z = tensor("m, n", "f32");
  auto spaced = [](std::string dims) {
    dims.erase(dims.find(','), 1);
    return dims;
  };
  return program(x, y, z,
                 "  %a = weft.neg %x : (" + x + ") -> " + x + "\n  %p = weft.contract \"" +
                     spaced(lhs) + ", " + spaced(rhs) + " -> m n\" %a, %y accumulate f32 : (" + x +
                     ", " + y + ") -> " + z + "\n  %z = weft.tanh %p : (" + z + ") -> " + z + "\n",
                 "m, n, k");
}

void agree(const std::string &text, std::initializer_list<std::array<int64_t, 3>> all,
           double tolerance) {
  Program compiled(text, targetsToTry({"x86:host"}).front());
  INFO(compiled.error());
  REQUIRE(compiled.error().empty());
  for (auto [m, n, k] : all) {
    INFO("m=" << m << " n=" << n << " k=" << k << "\n" << text);
    Sizes sizes{{"m", m}, {"n", n}, {"k", k}};
    double difference = compiled.difference(sizes);
    INFO(compiled.error());
    REQUIRE(difference <= tolerance);
  }
}

} // namespace

TEST_CASE("products agree with the evaluator where tiles are whole, ragged or empty") {
  for (const char *element : {"f32", "f16", "bf16"})
    for (const char *lhs : {"m, k", "k, m"})
      for (const char *rhs : {"k, n", "n, k"})
        agree(product(element, lhs, rhs),
              {{0, 3, 5},
               {5, 0, 3},
               {3, 5, 0},
               {1, 1, 1},
               {16, 64, 32},
               {17, 65, 33},
               {15, 63, 31},
               {32, 80, 129},
               {33, 16, 130},
               {64, 24, 200},
               {65, 72, 17},
               {128, 72, 40},
               {128, 20, 7},
               {129, 40, 72},
               {130, 8, 64}},
              1e-4);
}

TEST_CASE("elements and lines agree with the evaluator where chunks are whole, ragged or empty") {
  for (const char *element : {"f32", "f16", "i64"}) {
    std::string x = tensor("m, n", element), y = tensor("n", element);
    agree(program(x, y, x, "  %z = weft.add %x, %y : (" + x + ", " + y + ") -> " + x + "\n"),
          {{0, 4, 1}, {3, 0, 1}, {1, 1, 1}, {5, 31, 1}, {5, 32, 1}, {3, 1024, 1}}, 1e-3);
  }
  std::string x = tensor("m, n", "f32"), y = tensor("n", "f32");
  agree(program(x, y, x, "  %z = weft.softmax %x : (" + x + ") -> " + x + "\n"),
        {{0, 4, 1}, {1, 1, 1}, {9, 31, 1}, {5, 128, 1}, {5, 132, 1}, {3, 1000, 1}}, 1e-5);
}
