// Operators and kernels of more tensors than one call hands over.
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft;
using test::Program;

namespace {

constexpr int kMany = 100; ///< WEFT_MAX_WORDS is 64

/// "ITEM0, ITEM1, …" where `@` in the item is the number.
std::string listed(std::string item, int count = kMany) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string one = item;
    for (size_t at; (at = one.find('@')) != std::string::npos;)
      one.replace(at, 1, std::to_string(i));
    text += (i ? ", " : "") + one;
  }
  return text;
}

/// A function of %x0 to %x99.
std::string function(const std::string &body, const std::string &result) {
  return "func.func @main(" + listed("%x@: !weft.tensor<[n, 3], f32>") + ") -> (" + result +
         ") attributes {weft.symbols = #weft.symbols<n>} {\n" + body + "}\n";
}

/// %s0 = %x0 + %x0, %s1 = %s0 + %x1, …
std::string running(const std::string &op) {
  std::string body, type = "!weft.tensor<[n, 3], f32>";
  for (int i = 0; i < kMany; ++i)
    body += "  %s" + std::to_string(i) + " = weft." + op + " " +
            (i ? "%s" + std::to_string(i - 1) : "%x0") + ", %x" + std::to_string(i) + " : (" +
            type + ", " + type + ") -> " + type + "\n";
  return body;
}

void check(const std::string &text) {
  Program program(text);
  INFO(program.error());
  REQUIRE(program.error().empty());
  for (int64_t n : {0, 1, 17})
    CHECK(program.difference({{"n", n}}) <= 1e-5);
}

} // namespace

TEST_CASE("a hundred tensors are put together") {
  const std::string type = "!weft.tensor<[" + std::to_string(kMany) + "*n, 3], f32>";
  const std::string all = "  %c = weft.concat " + listed("%x@") + " dim 0 : (" +
                          listed("!weft.tensor<[n, 3], f32>") + ") -> " + type + "\n";
  check(function(all + "  return %c : " + type + "\n", type));
  INFO("and rows of them normalised in the same kernel");
  check(function(all + "  %r = weft.softmax %c : (" + type + ") -> " + type +
                     "\n  return %r : " + type + "\n",
                 type));
}

TEST_CASE("tensors of thirty lengths are put together") {
  std::string type = "!weft.tensor<[n0";
  for (int i = 1; i < 30; ++i)
    type += " + n" + std::to_string(i);
  type += "], f32>";
  Program program("func.func @main(" + listed("%x@: !weft.tensor<[n@], f32>", 30) + ") -> " + type +
                  " attributes {weft.symbols = #weft.symbols<" + listed("n@", 30) +
                  ">} {\n  %c = weft.concat " + listed("%x@", 30) + " dim 0 : (" +
                  listed("!weft.tensor<[n@], f32>", 30) + ") -> " + type +
                  "\n  return %c : " + type + "\n}\n");
  INFO(program.error());
  REQUIRE(program.error().empty());
  test::Sizes sizes;
  for (int i = 0; i < 30; ++i)
    sizes["n" + std::to_string(i)] = i % 4;
  CHECK(program.difference(sizes) == 0);
}

TEST_CASE("a hundred tensors are added up, and every sum is a result") {
  const std::string type = "!weft.tensor<[n, 3], f32>";
  check(function(running("add") + "  return %s99 : " + type + "\n", type));
  check(function(running("maximum") + "  return " + listed("%s@") + " : " + listed(type) + "\n",
                 listed(type)));
}
