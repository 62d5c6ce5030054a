// Composites mean the same when they are written with smaller operators.
#include "mlir/Pass/PassManager.h"
#include "passes/kernel/Passes.h"
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

/// Results of the only function of a module on one operand [3, 5] and two of [5].
std::vector<double> resultOf(mlir::ModuleOp module) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  std::vector<RefTensor> inputs;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor = mlir::cast<SymTensorType>(type);
    RefTensor &input = inputs.emplace_back(tensor.getElementType(), *tensor.getConstantDims());
    for (int64_t i = 0; i < input.size(); ++i)
      input.set(i, Scalar::of(double((i * 7 + int64_t(inputs.size())) % 11) / 4 - 1));
  }
  auto computed = evaluateFunction(function, inputs, {});
  if (!computed)
    throw std::runtime_error(llvm::toString(computed.takeError()));
  return computed->front().reals;
}

/// Compares an operator with its decomposition; `most` is what rounding between the steps may
/// change.
void agrees(const std::string &op, const std::vector<std::string> &inputs, double most) {
  INFO(op << " of " << inputs[0]);
  std::string error;
  auto module = parse(functionOf(op, inputs, {inputs[0]}, ""), error);
  INFO(error);
  REQUIRE(module);
  std::vector<double> whole = resultOf(*module);
  mlir::PassManager pm(&context());
  pm.addNestedPass<mlir::func::FuncOp>(createDecomposeComposites({}));
  REQUIRE(mlir::succeeded(pm.run(*module)));
  module->walk([](CompositeOpInterface op) {
    FAIL("is still there: " << op->getName().getStringRef().str());
  });
  std::vector<double> pieces = resultOf(*module);
  REQUIRE(whole.size() == pieces.size());
  for (size_t i = 0; i < whole.size(); ++i)
    CHECK(pieces[i] == Approx(whole[i]).margin(most));
}

} // namespace

TEST_CASE("softmaxes and normalisations equal their decompositions") {
  for (const char *op : {"softmax %a", "softmax %a {logarithm}"}) {
    agrees(op, {"[3, 5], f32"}, 1e-6);
    agrees(op, {"[3, 5], f64"}, 1e-12);
    agrees(op, {"[3, 5], f16"}, 2e-3);
    agrees(op, {"[5], f32"}, 1e-6);
    agrees(op, {"[3, 0], f32"}, 0);
  }
  for (const char *center : {"true", "false"}) {
    std::string op =
        "normalize %a, %b, %c {epsilon = 1.0e-5 : f64, center = " + std::string(center) + "}";
    agrees(op, {"[3, 5], f32", "[5], f32", "[5], f32"}, 1e-5);
    agrees(op, {"[2, 3, 5], f32", "[5], f32", "[5], f32"}, 1e-5);
    agrees(op, {"[3, 5], bf16", "[5], f32", "[5], bf16"}, 4e-2);
  }
}
