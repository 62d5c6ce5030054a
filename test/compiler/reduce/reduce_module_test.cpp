// Programs that fail by a property of their operators, made as small as the property allows.
#include "compiler/import/text/ImportText.h"
#include "compiler/reduce/ReduceModule.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft;

static Module parse(const std::string &text) {
  Result<Module> module = importText("test.mlir", text);
  INFO((module ? "" : module.diagnostics()[0].text));
  REQUIRE(module);
  return *module;
}

template <typename Op> static size_t count(const Module &module) {
  size_t found = 0;
  module.get().module->walk([&](Op) { ++found; });
  return found;
}

static mlir::func::FuncOp mainOf(const Module &module) {
  return *module.get().module->getOps<mlir::func::FuncOp>().begin();
}

static const char *kChain = R"(
func.func @main(%x: !weft.tensor<[m, n], f32>, %y: !weft.tensor<[n], f32>) -> (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>)
    attributes {weft.symbols = #weft.symbols<m, n : "n <= 64", "m <= 8">} {
  %c = weft.constant dense<2.0> : tensor<f32> -> !weft.tensor<[], f32>
  %0 = weft.mul %x, %c : (!weft.tensor<[m, n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.exp %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.tanh %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %3 = weft.add %2, %y : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  %4 = weft.sqrt %3 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %5 = weft.mul %4, %1 : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %5, %4 : !weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>
})";

TEST_CASE("one guilty operator is all that is left") {
  Module module = parse(kChain);
  std::string before = module.text();
  Module small =
      reduceModule(module, [](const Module &candidate) { return count<TanhOp>(candidate) > 0; });
  INFO(small.text());
  CHECK(countOperators(small) == 1);
  CHECK(count<TanhOp>(small) == 1);
  CHECK(mainOf(small).getNumArguments() == 1);
  CHECK(mainOf(small).getNumResults() == 1);
  CHECK(symbolsOf(mainOf(small)).getFactAttributes().empty());
  CHECK(module.text() == before); // the given one stays as it is
  weft::test::Program program(small);
  INFO(program.error());
  CHECK(program.difference({{"m", 3}, {"n", 5}}) <= 1e-5);
}

TEST_CASE("operators that only fail together stay connected") {
  auto fails = [](const Module &candidate) {
    bool found = false;
    candidate.get().module->walk([&](SqrtOp op) {
      for (mlir::Value at = op->getOperand(0); at && at.getDefiningOp();
           at = at.getDefiningOp()->getNumOperands() ? at.getDefiningOp()->getOperand(0)
                                                     : mlir::Value())
        found |= mlir::isa<ExpOp>(at.getDefiningOp());
    });
    return found;
  };
  Module small = reduceModule(parse(kChain), fails);
  INFO(small.text());
  CHECK(countOperators(small) == 2);
  CHECK(mainOf(small).getNumResults() == 1);
}

TEST_CASE("what is refused as a program is never asked about") {
  Module small = reduceModule(parse(kChain), [](const Module &candidate) {
    CHECK(parse(candidate.text()).text().size() > 0);
    return count<ConstantOp>(candidate) + count<FillOp>(candidate) > 0;
  });
  INFO(small.text());
  CHECK(count<ConstantOp>(small) == 0); // a fill of zeros does
}

TEST_CASE("a symbol that nothing binds any more belongs to the signature") {
  Module module = parse(R"(
func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[], i64>) -> !weft.tensor<[u0], f32>
    attributes {weft.symbols = #weft.symbols<n bound u0 : "u0 <= n">} {
  weft.bind "u0" %k : !weft.tensor<[], i64>
  %0 = weft.slice %x from [0] size [u0] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[u0], f32>
  %1 = weft.exp %0 : (!weft.tensor<[u0], f32>) -> !weft.tensor<[u0], f32>
  return %1 : !weft.tensor<[u0], f32>
})");
  Module small =
      reduceModule(module, [](const Module &candidate) { return count<ExpOp>(candidate) > 0; });
  INFO(small.text());
  CHECK(countOperators(small) == 1);
  SymbolsAttr symbols = symbolsOf(mainOf(small));
  CHECK(symbols.getBoundNames().empty());
  REQUIRE(symbols.getNames().size() == 1);
  CHECK(symbols.getNames()[0] == "u0");
  weft::test::Program program(small);
  INFO(program.error());
  CHECK(program.difference({{"u0", 7}}) <= 1e-5);
}

TEST_CASE("a branch takes the place of its condition") {
  Module module = parse(R"(
func.func @main(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i1>) -> !weft.tensor<[n], f32>
    attributes {weft.symbols = #weft.symbols<n>} {
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[n], f32> {
    %0 = weft.tanh %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %0 : !weft.tensor<[n], f32>
  } else {
    %0 = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    %1 = weft.sqrt %0 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %1 : !weft.tensor<[n], f32>
  }
  return %y : !weft.tensor<[n], f32>
})");
  Module small =
      reduceModule(module, [](const Module &candidate) { return count<ExpOp>(candidate) > 0; });
  INFO(small.text());
  CHECK(count<IfOp>(small) == 0);
  CHECK(countOperators(small) == 1);
  CHECK(mainOf(small).getNumArguments() == 1);
}

TEST_CASE("of several functions the failing one stays") {
  Module module = parse(R"(
func.func @first(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.tanh %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %0 : !weft.tensor<[n], f32>
}
func.func @second(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %0 : !weft.tensor<[n], f32>
})");
  Module small =
      reduceModule(module, [](const Module &candidate) { return count<ExpOp>(candidate) > 0; });
  CHECK(count<mlir::func::FuncOp>(small) == 1);
  CHECK(mainOf(small).getName() == "second");
}
