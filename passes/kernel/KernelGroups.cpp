//===- KernelGroups.cpp - Which operators share a kernel --------------------------------------------------===//

#include "passes/kernel/KernelGroups.h"
#include "dialects/weft/ops/Quantize.h"

using namespace mlir;

namespace weft {

bool isFree(Operation *op) {
  if (isa<FillOp, IotaOp, DimsValueOp>(op))
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat() && !op->hasAttr(kParameterAttr);
  }
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.rootKind() == RootKind::View;
}

bool isStored(Operation *op) { return isa<ConstantOp, KernelOp>(op) && !isFree(op); }

void storedSources(Value value, SetVector<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    storedSources(operand, sources);
}

SetVector<Value> sourcesOf(Value value) {
  SetVector<Value> sources;
  storedSources(value, sources);
  return sources;
}

} // namespace weft
