// Programs built with weft::Builder: their types, text, names and numbers.

#include "mlir/Parser/Parser.h"
#include "test/compiler/checkpoint/ModuleTest.h"
#include "weft/builder.hpp"
#include <set>

using namespace weft;

static std::string dimsText(Builder &b, Value value) {
  std::string text;
  for (const Dim &dim : b.dims(value))
    text += (text.empty() ? "" : ", ") + dim.text();
  return "[" + text + "]";
}

/// The program's text without locations, and what it becomes when it is parsed and printed again.
static std::pair<std::string, std::string> roundTrip(const Module &module) {
  auto print = [](mlir::ModuleOp op) {
    std::string text;
    llvm::raw_string_ostream(text) << op;
    return text;
  };
  auto fresh = Module::Impl::create("again");
  auto again = mlir::parseSourceString<mlir::ModuleOp>(module.text(), fresh->context.get());
  REQUIRE(again);
  return {print(*module.get().module), print(*again)};
}

TEST_CASE("result types follow from the operands") {
  Builder b("types");
  Value x = b.input("x", Element::F32, {"batch", "4*s + 1", 64});
  CHECK(dimsText(b, x) == "[batch, 4*s + 1, 64]");
  Value w = b.fill(Element::F32, {10, 64}, 0.5);
  CHECK(dimsText(b, b.linear(x, w)) == "[batch, 4*s + 1, 10]");
  CHECK(dimsText(b, b.reduce(Reduction::Max, x, {-1, 0})) == "[4*s + 1]");
  CHECK(dimsText(b, b.reduce(Reduction::Max, x, {-1}, /*keepDims=*/true)) == "[batch, 4*s + 1, 1]");
  CHECK(dimsText(b, b.concat({x, x}, -2)) == "[batch, 8*s + 2, 64]");
  CHECK(dimsText(b, b.transpose(x, {2, 0, 1})) == "[64, batch, 4*s + 1]");
  CHECK(dimsText(b, b.reshape(x, {"batch", "4*s + 1", 8, 8})) == "[batch, 4*s + 1, 8, 8]");
  CHECK(dimsText(b, b.add(x, b.scalar(Element::F32, 1))) == "[batch, 4*s + 1, 64]");
  CHECK(b.element(b.compare(Relation::Less, x, x)) == Element::Bool);
  CHECK(b.element(b.contract("i k, j k -> i j", b.fill(Element::BF16, {2, 3}, 1),
                             b.fill(Element::BF16, {4, 3}, 1))) == Element::F32);
  CHECK(b.element(b.contract("i, i ->", b.fill(Element::I8, {2}, 1),
                             b.fill(Element::U8, {2}, 1))) == Element::I32);
  CHECK_FALSE(b.failed());
}

TEST_CASE("symbols are listed as the inputs name them, facts as they are given") {
  Builder b("signature");
  Value x = b.input("x", Element::F32, {"seq", "batch"});
  Value y = b.input("y", Element::I64, {"past + seq"});
  b.fact("1 <= seq");
  b.fact("past == 0 or mod(past, 16) == 0");
  b.output("x", x);
  b.output("rows", y);
  Module module = built(b.finish());
  CHECK(symbolsOf(module) == "seq batch past | 1 <= seq | past == 0 or mod(past, 16) == 0");
  CHECK(mainOf(module).getResultAttr(1, kNameAttr) ==
        mlir::StringAttr::get(mainOf(module).getContext(), "rows"));
  CHECK(mainOf(module).isPublic());
}

/// Uses every method; the text of one line each.
static void useEverything(Builder &b) {
  static const float bytes[6] = {1, 2, 3, 4, 5, 6};
  Value x = b.input("x", Element::F32, {"n", 3}), i = b.input("i", Element::I64, {"n"});
  Value yes = b.input("yes", Element::Bool, {"n", 3});
  std::vector<Value> made = {b.neg(x),
                             b.abs(x),
                             b.sign(x),
                             b.exp(x),
                             b.log(x),
                             b.sqrt(x),
                             b.rsqrt(x),
                             b.sin(x),
                             b.cos(x),
                             b.tanh(x),
                             b.erf(x),
                             b.floor(x),
                             b.ceil(x),
                             b.round(x),
                             b.bitNot(yes),
                             b.add(x, x),
                             b.sub(x, x),
                             b.mul(x, x),
                             b.div(x, x),
                             b.pow(x, x),
                             b.minimum(x, x),
                             b.maximum(x, x),
                             b.bitAnd(i, i),
                             b.bitOr(i, i),
                             b.bitXor(i, i),
                             b.rem(x, x),
                             b.rem(i, i, /*floor=*/true),
                             b.compare(Relation::GreaterEqual, x, x),
                             b.select(yes, x, x),
                             b.convert(x, Element::BF16),
                             b.activation(Activation::HardSigmoid, x, 0.2, 0.5),
                             b.reshape(x, {"3*n"}),
                             b.transpose(x, {1, 0}),
                             b.expand(x, {2, "n", 3}),
                             b.slice(x, {0, 2}, {"n", 2}, {1, -1}),
                             b.pad(x, b.scalar(Element::F32, 0), {1, "n"}, {0, 0}),
                             b.concat({x, x}, 0),
                             b.gather(x, i),
                             b.contract("n k, m k -> n m", x, x),
                             b.reduce(Reduction::Min, x, {0}),
                             b.softmax(x, /*logarithm=*/true),
                             b.iota(Element::I32, {"n", 3}, -1),
                             b.dimsValue({"n", "n*n"}),
                             b.dimValue("n")};
  WeightFile file = WeightFile::memory("six", bytes, sizeof bytes);
  Value scale = b.weight("scale", Element::F32, {3}, file, 12);
  made.push_back(
      b.normalize(x, scale, b.constant(Element::F32, {3}, {1, 2.5, -3}), 1e-5, /*center=*/false));
  made.push_back(
      b.operation("gather", {x, i}, "{axis = 1 : i64}", {"!weft.tensor<[n, n], f32>"})[0]);
  for (size_t k = 0; k < made.size(); ++k)
    b.output("y" + std::to_string(k), made[k]);
}

TEST_CASE("every operator can be built, verifies, and survives its text") {
  Builder b("everything");
  useEverything(b);
  Module module = built(b.finish());
  auto [printed, again] = roundTrip(module);
  CHECK(printed == again);
  std::set<std::string> names;
  mainOf(module).walk(
      [&](mlir::Operation *op) { names.insert(op->getName().stripDialect().str()); });
  std::set<std::string> expected = {
      "func",    "return",     "neg",       "abs",        "sign",     "exp",       "log",
      "sqrt",    "rsqrt",      "sin",       "cos",        "tanh",     "erf",       "floor",
      "ceil",    "round",      "not",       "add",        "sub",      "mul",       "div",
      "pow",     "minimum",    "maximum",   "and",        "or",       "xor",       "rem",
      "compare", "select",     "convert",   "activation", "reshape",  "transpose", "expand",
      "slice",   "pad",        "concat",    "gather",     "contract", "reduce",    "softmax",
      "iota",    "dims_value", "normalize", "constant",   "fill"};
  CHECK(names == expected);
}

TEST_CASE("scopes name operations, and nest") {
  Builder b("names");
  Value x = b.input("x", Element::F32, {"n"});
  {
    auto outer = b.scope("encoder");
    auto inner = b.scope("layer.3");
    CHECK(b.scopeName() == "encoder.layer.3");
    x = b.neg(x);
  }
  CHECK(b.scopeName() == "");
  b.output("y", x);
  CHECK_THAT(built(b.finish()).text(), Catch::Contains("loc(\"encoder.layer.3\")"));
}

TEST_CASE("numbers: a linear layer with a weight in memory, and integer edges") {
  static const float matrix[6] = {1, 2, 3, -1, 0, 10}; // [out, in] = [2, 3]
  Builder b("numbers");
  Value x = b.input("x", Element::F32, {"n", 3});
  WeightFile file = WeightFile::memory("matrix", matrix, sizeof matrix);
  Value w = b.weight("w", Element::F32, {2, 3}, file, 0);
  b.output("y", b.linear(x, w, b.constant(Element::F32, {2}, {100, 0.5})));
  b.output("floored", b.rem(b.scalar(Element::I8, -7), b.scalar(Element::I8, 3), /*floor=*/true));
  b.output("largest", b.scalar(Element::U64, ~uint64_t(0)));
  b.output("bools", b.constant(Element::Bool, {3}, {true, false, 1}));
  b.output("nibbles", b.constant(Element::I4, {2}, {-8, 7}));
  b.output("places", b.pad(b.dimsValue({"n", "n + 5"}), b.scalar(Element::I64, -1), {1}, {0}));
  Module module = built(b.finish());
  Run run(module);
  run.input<double>("x", {2, 3}, {1, 1, 1, 0, 2, 1});
  auto results = run.results();
  CHECK(results.at("y").reals == std::vector<double>{106, 9.5, 107, 10.5});
  CHECK(results.at("floored").integers == std::vector<int64_t>{2});
  CHECK(results.at("largest").integers == std::vector<int64_t>{-1}); // the same bits
  CHECK(results.at("bools").integers == std::vector<int64_t>{1, 0, 1});
  CHECK(results.at("nibbles").integers == std::vector<int64_t>{-8, 7});
  CHECK(results.at("places").integers == std::vector<int64_t>{-1, 2, 7});
}

TEST_CASE("a caller's warning comes with the module") {
  Builder b("warned");
  b.output("x", b.input("x", Element::F32, {}));
  b.report({Diagnostic::Warning, "W0000", "somewhere", "this is odd", ""});
  Result<Module> result = b.finish();
  REQUIRE(result);
  CHECK(findings(result.diagnostics()) == "somewhere: this is odd");
}
