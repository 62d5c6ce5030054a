//===- PartsInside.cpp - Kernels that cut their part out of a whole weight themselves -------------------===//
//
//   %part = weft.slice %w from [0, 24*min(2*rank_tp, 3)] …                kernel (%w) {
//   kernel (%part) { … }                                           ->       %part = weft.slice %w from … } …
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/PartsInside.h"
#include "dialects/plan/WeightParts.h"
#include "mlir/IR/IRMapping.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/kernel/Specification.h"

using namespace mlir;

namespace weft {
namespace {

/// Whether the input's memory is a range of what is stored.
bool isRange(const ConstantPart &part, Value input, const WeightLayout &layout) {
  bool isAsStored = layout.isRows() || input == baseOf(input);
  return isAsStored && partDistances(layout, part.type, part.sizes);
}

/// Copies what stands between a constant and a value into a kernel, in front of all.
Value copyInside(OpBuilder &builder, Value value, ConstantOp constant, Value inside) {
  if (value == constant.getResult())
    return inside;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  mapping.map(op->getOperand(0), copyInside(builder, op->getOperand(0), constant, inside));
  return builder.clone(*op, mapping)->getResult(0);
}

} // namespace

bool takePartsInside(KernelOp kernel, ArrayRef<WeightLayout> layouts) {
  bool any = false;
  Block &body = kernel.getBody().front();
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    Value input = kernel.getInputs()[i];
    std::optional<ConstantPart> part = constantPart(baseOf(input));
    if (!part || !part->differ || isRange(*part, input, layout))
      continue;
    BlockArgument argument = body.getArgument(i);
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    Value inside = copyInside(builder, input, part->whole, argument);
    for (OpOperand *use : uses)
      use->set(inside);
    argument.setType(part->whole.getType());
    kernel.getInputsMutable().slice(i, 1).assign(part->whole.getResult());
    any = true;
  }
  return any;
}

} // namespace weft
