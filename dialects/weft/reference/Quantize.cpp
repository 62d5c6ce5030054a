//===- Quantize.cpp - Reference semantics of quantize, dequantize, fake_quantize, look_up ------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Infer.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

/// The integer that stands for x, as a real.
double quantized(double x, double scale, double zero, Type element) {
  auto [low, high] = integerRange(element);
  double value = std::nearbyint(x / scale) + zero;
  return std::isnan(value) ? low : std::min(std::max(value, low), high);
}

bool isSymbolic(ArrayRef<Scalar> e) {
  return llvm::any_of(e, [](const Scalar &s) { return s.kind == Scalar::Symbolic; });
}

} // namespace

Scalar QuantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
    return Scalar::of(SymExpr());
  return Scalar::of(
      int64_t(quantized(e[0].asReal(), e[1].asReal(), e[2].asReal(), elementOf(getResult()))));
}

Scalar FakeQuantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
    return Scalar::of(SymExpr());
  double zero = e[2].asReal();
  return Scalar::of((quantized(e[0].asReal(), e[1].asReal(), zero, elementOf(getZero())) - zero) *
                    e[3].asReal());
}

Scalar DequantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
    return Scalar::of(SymExpr());
  return Scalar::of(double(e[0].integer - e[2].integer) * e[1].asReal());
}

LogicalResult LookUpOp::evaluate(ReferenceCall &call) {
  const RefTensor &input = *call.inputs[0], &table = *call.inputs[1];
  RefTensor &out = call.outputs.emplace_back(table.element, input.dims);
  if (input.kind != Scalar::Integer || table.kind != Scalar::Integer)
    return call.fail("a table of symbolic bytes");
  for (int64_t i = 0, count = out.size(); i < count; ++i)
    out.set(i, table.at(uint8_t(input.integers[i])));
  return success();
}

} // namespace weft
