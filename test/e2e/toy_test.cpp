// A family of targets that is no part of Weft: what a new processor needs is its folder and one row of the registry.
#include "test/support/Program.h"
#include "test/targets/toy/ToyFamily.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

const bool kIsKnown = [] {
  addFamily(toyFamily());
  return true;
}();

void agrees(const std::string &text, std::initializer_list<Sizes> all, double tolerance = 1e-5) {
  REQUIRE(kIsKnown);
  Program program(text, "toy:scalar");
  INFO(text << program.error());
  REQUIRE(program.error().empty());
  for (const Sizes &sizes : all) {
    double difference = program.difference(sizes);
    INFO(program.error());
    CHECK(difference <= tolerance);
  }
}

/// `body` computes %r of type $t from %x of type $x.
std::string function(std::string body, const std::string &from, const std::string &to) {
  for (auto [sign, dims] : {std::pair("$x", from), std::pair("$t", to)})
    for (size_t at; (at = body.find(sign)) != std::string::npos;)
      body.replace(at, 2, "!weft.tensor<" + dims + ">");
  return "func.func @main(%x: !weft.tensor<" + from + ">) -> !weft.tensor<" + to +
         "> attributes {weft.symbols = #weft.symbols<m, n>} {\n" + body +
         "\n  return %r : !weft.tensor<" + to + ">\n}\n";
}

const std::initializer_list<Sizes> kSizes = {
    {{"m", 0}, {"n", 5}}, {{"m", 1}, {"n", 1}}, {{"m", 7}, {"n", 33}}, {{"m", 19}, {"n", 64}}};

} // namespace

TEST_CASE("toy: products, biases and activations") {
  agrees(
      R"(func.func @main(%a: !weft.tensor<[m, 24], f32>, %b: !weft.tensor<[24, n], f32>, %c: !weft.tensor<[n], f32>)
    -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %c : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.activation gelu %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %2 : !weft.tensor<[m, n], f32>
})",
      kSizes);
}

TEST_CASE("toy: lines, columns and views") {
  agrees(function("  %r = weft.softmax %x : ($x) -> $t", "[m, n], f32", "[m, n], f32"), kSizes);
  agrees(function("  %r = weft.reduce sum %x [0] : ($x) -> $t", "[m, n], f32", "[n], f32"), kSizes);
  agrees(function("  %r = weft.transpose %x [1, 0] : ($x) -> $t", "[m, n], i64", "[n, m], i64"),
         kSizes, 0);
}

TEST_CASE("toy: integers, and code with loops of its own") {
  agrees(function("  %0 = weft.mul %x, %x : ($x, $x) -> $x\n"
                  "  %r = weft.maximum %0, %x : ($x, $x) -> $t",
                  "[m, n], i32", "[m, n], i32"),
         kSizes, 0);
  agrees(function("  %r = weft.cumulate sum %x axis 1 : ($x) -> $t", "[m, n], f32", "[m, n], f32"),
         kSizes);
}

TEST_CASE("toy: its name is among those of targets, and says what an artifact is for") {
  REQUIRE(kIsKnown);
  std::string text = function("  %r = weft.neg %x : ($x) -> $t", "[m, n], f32", "[m, n], f32");
  Program program(text, "toy:scalar");
  weft_module_info_t info = {};
  REQUIRE(program.artifact);
  info.struct_size = sizeof info;
  REQUIRE(!weft_module_info(program.artifact, &info));
  CHECK(std::string(info.target) == "toy:scalar");
  CHECK(Program(text, "toy:vector").error().find("toy:scalar") != std::string::npos);
}
