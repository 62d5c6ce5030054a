// What weft::Builder refuses, and how it says so.

#include "test/compiler/checkpoint/ModuleTest.h"
#include "weft/builder.hpp"
#include <functional>

using namespace weft;

/// Builds a program with the input x : [n, 3] f32 and gives the findings of finish().
static std::string refusal(const std::function<void(Builder &, Value)> &build) {
  Builder b("program");
  Value x = b.input("x", Element::F32, {"n", 3});
  build(b, x);
  b.output("x", x);
  Result<Module> result = b.finish();
  CHECK_FALSE(result);
  return findings(result.diagnostics());
}

TEST_CASE("an operation that does not fit is reported once, where it is") {
  std::string text = refusal([](Builder &b, Value x) {
    auto scope = b.scope("layer.0");
    Value sum = b.add(x, b.scalar(Element::I64, 1));
    CHECK_FALSE(sum);
    CHECK(b.failed());
    b.output("y", b.softmax(b.mul(sum, b.exp(sum)))); // says nothing more
  });
  CHECK(text == "layer.0: 'weft.add' operands must have one element type, but 'lhs' is 'f32' and "
                "'rhs' is 'i64'");
}

TEST_CASE("independent errors are all reported") {
  std::string text = refusal([](Builder &b, Value x) {
    b.gather(x, b.scalar(Element::F32, 0));
    b.reshape(x, {"n", 4});
  });
  CHECK_THAT(text, Catch::Contains("'weft.gather' indices must be i32 or i64, but are 'f32'\n"));
  CHECK_THAT(text, Catch::Contains("'weft.reshape' cannot make"));
}

TEST_CASE("operations are refused by their own rules") {
  CHECK_THAT(refusal([](Builder &b, Value x) { b.add(x, b.fill(Element::F32, {4}, 0)); }),
             Catch::Contains("'weft.add': dimension"));
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.contract("n k, k -> n j", x, b.fill(Element::F32, {3}, 0));
             }),
             Catch::Contains("nothing determines factor 'j'"));
  CHECK_THAT(refusal([](Builder &b, Value x) { b.contract("no arrow", x, x); }),
             Catch::Contains("has no '->'"));
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.transpose(x, {0, 0});
             }),
             Catch::Contains("each of the 2 dimensions once"));
  CHECK_THAT(refusal([](Builder &b, Value x) { b.reduce(Reduction::Sum, x, {2}); }),
             Catch::Equals("program: 'reduce' has no axis 2 in a tensor of rank 2"));
  CHECK_THAT(refusal([](Builder &b, Value x) { b.concat({}, 0); }),
             Catch::Contains("at least one value"));
  CHECK_THAT(refusal([](Builder &b, Value x) { b.iota(Element::I64, {"n"}, 1); }),
             Catch::Contains("has no dimension 1"));
  CHECK_THAT(refusal([](Builder &b, Value x) { b.slice(x, {0}, {1}); }),
             Catch::Contains("for each of the 2 dimensions"));
}

TEST_CASE("sizes and facts must be expressions over the inputs' symbols") {
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.reshape(x, {"n *", 3});
             }),
             Catch::Contains("size 'n *' is not an expression"));
  CHECK(refusal([](Builder &b, Value x) {
          b.expand(x, {"m", "n", 3});
        }) == "program: size 'm' speaks of 'm', but no input has that symbol");
  CHECK_THAT(refusal([](Builder &b, Value x) { b.fill(Element::F32, {-1}, 0); }),
             Catch::Contains("dimension 0 is -1"));
  CHECK_THAT(refusal([](Builder &b, Value) { b.fact("n < "); }),
             Catch::Contains("fact 'n < ' is not a predicate"));
  CHECK_THAT(refusal([](Builder &b, Value) { b.fact("m <= 3"); }),
             Catch::Contains("speaks of 'm', but no input has that symbol"));
}

TEST_CASE("numbers must fit their element type") {
  CHECK(refusal([](Builder &b, Value) { b.scalar(Element::I8, 128); }) ==
        "program: 128 is not a number of type i8");
  CHECK(refusal([](Builder &b, Value) { b.scalar(Element::I32, 0.5); }) ==
        "program: 0.5 is not a number of type i32");
  CHECK(refusal([](Builder &b, Value) { b.scalar(Element::U64, -1); }) ==
        "program: -1 is not a number of type ui64");
  CHECK(refusal([](Builder &b, Value) { b.scalar(Element::I64, ~uint64_t(0)); }) ==
        "program: 18446744073709551615 is not a number of type i64");
  CHECK_THAT(refusal([](Builder &b, Value) {
               b.constant(Element::F32, {2, 2}, {1, 2, 3});
             }),
             Catch::Contains("is given 3 elements"));
  CHECK_THAT(refusal([](Builder &b, Value) {
               b.constant(Element::F32, {int64_t(1) << 40, int64_t(1) << 40}, {});
             }),
             Catch::Contains("is given 0 elements"));
}

TEST_CASE("weights must lie in their file and have names of their own") {
  static const char bytes[16] = {};
  WeightFile file = WeightFile::memory("small", bytes, sizeof bytes);
  CHECK(refusal([&](Builder &b, Value) { b.weight("w", Element::F32, {4}, file, 4); }) ==
        "program: weight 'w' needs bytes 4 to 20 of 'small', which has 16");
  CHECK_THAT(
      refusal([&](Builder &b, Value) { b.weight("w", Element::F32, {1}, file, ~uint64_t(0)); }),
      Catch::Contains("of 'small'"));
  CHECK_THAT(refusal([&](Builder &b, Value) {
               b.weight("w", Element::F32, {int64_t(1) << 62, 8}, file, 0);
             }),
             Catch::Contains("too many elements"));
  CHECK_THAT(refusal([&](Builder &b, Value) {
               b.weight("w", Element::F32, {4}, file, 0);
               b.weight("w", Element::F32, {4}, file, 0);
             }),
             Catch::Contains("called 'w' already"));
  static const char others[16] = {};
  CHECK_THAT(refusal([&](Builder &b, Value) {
               b.weight("v", Element::F32, {4}, file, 0);
               b.weight("w", Element::F32, {4}, WeightFile::memory("small", others, sizeof others),
                        0);
             }),
             Catch::Contains("two files are called 'small'"));
  Result<WeightFile> missing = WeightFile::open("no/such/file");
  REQUIRE_FALSE(missing);
  CHECK_THAT(findings(missing.diagnostics()), Catch::Contains("no/such/file"));
}

TEST_CASE("values belong to one builder") {
  Builder other("other");
  Value foreign = other.input("x", Element::F32, {"n"});
  CHECK(refusal([&](Builder &b, Value x) { b.add(x, foreign); }) ==
        "program: 'weft.add' is given a value of another builder");
  CHECK(refusal([](Builder &b, Value x) { b.add(x, Value()); }) ==
        "program: 'weft.add' is given an empty value");
}

TEST_CASE("signatures are complete and finished once") {
  CHECK(refusal([](Builder &b, Value) { b.input("x", Element::F32, {}); }) ==
        "program: two inputs are called 'x'");
  CHECK(refusal([](Builder &b, Value x) { b.output("x", x); }) ==
        "program: two outputs are called 'x'");
  Builder empty("empty");
  CHECK(findings(empty.finish().diagnostics()) == "empty: the program has no output");
  CHECK_THAT(findings(empty.finish().diagnostics()), Catch::Contains("finish() was called before"));
}

TEST_CASE("any operator by name is checked as the others") {
  CHECK_THAT(refusal([](Builder &b, Value x) { b.operation("frobnicate", {x}); }),
             Catch::Contains("no operator called 'weft.frobnicate'"));
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.operation("gather", {x, x}, "", {"!weft.tensor<[n], f32>"});
             }),
             Catch::Contains("requires attribute 'axis'"));
  CHECK_THAT(
      refusal([](Builder &b, Value x) { b.operation("neg", {x}, "", {"!weft.tensor<[n], f32>"}); }),
      Catch::Contains("incompatible with return type"));
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.operation("neg", {x, x}, "", {"!weft.tensor<[n, 3], f32>"});
             }),
             Catch::Contains("requires a single operand"));
  CHECK_THAT(refusal([](Builder &b, Value x) {
               b.operation("neg", {x}, "3", {"!weft.tensor<[n, 3], f32>"});
             }),
             Catch::Contains("needs its attributes in braces"));
}
