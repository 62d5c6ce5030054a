//===- DeclaredPrices.cpp ---------------------------------------------------------------------===//

#include "compiler/quantize/DeclaredPrices.h"
#include "compiler/quantize/CallSizes.h"

using namespace mlir;

namespace weft {

/// How often a call runs an operation, as far as sizes say it, which become those half way through
/// its loops.
static double turnsOf(Operation *op, SymValues &sizes) {
  auto loop = op->getParentOfType<LoopOp>();
  if (!loop)
    return 1;
  double around = turnsOf(loop, sizes);
  FailureOr<int64_t> times = loop.times().evaluate(sizes);
  sizes[loop.getIndexAttr()] = succeeded(times) ? *times / 2 : 0;
  return around * (succeeded(times) ? double(*times) : 1);
}

Result<DeclaredPrices> declaredPrices(const Module &module, const HardwareLimits &limits,
                                      const std::vector<IntegerLayer> &layers,
                                      const std::vector<Decision> &decisions,
                                      const std::vector<BoundCall> &calls) {
  Result<func::FuncOp> function = calledFunction(module);
  if (!function)
    return function.diagnostics();
  DeclaredPrices prices;
  std::vector<double> work(layers.size(), 0);
  for (const BoundCall &call : calls) {
    SymValues values = sizesOf(*function, call);
    for (auto [layer, multiplyAdds] : llvm::zip_equal(layers, work)) {
      SymValues inside = values;
      double turns = turnsOf(layer.op, inside);
      FailureOr<int64_t> points = IterationRule::of(layer.op).points().evaluate(inside);
      if (failed(points))
        return quantizeError("W0332",
                             "only data say how large it is, so declared rates give it no price",
                             nodeNameOf(layer.op));
      multiplyAdds += turns * double(*points);
    }
  }
  for (auto [layer, multiplyAdds] : llvm::zip_equal(layers, work))
    prices.plainSeconds += limits.secondsOf(multiplyAdds, layer, nullptr);
  for (const Decision &decision : decisions) {
    std::vector<double> &savings = prices.savings.emplace_back(decision.choices.size(), 0.0);
    for (auto [saving, each] : llvm::zip_equal(savings, decision.choices))
      for (size_t layer : decision.layers)
        saving += limits.secondsOf(work[layer], layers[layer], nullptr) -
                  limits.secondsOf(work[layer], layers[layer], &each.choice);
  }
  return prices;
}

} // namespace weft
