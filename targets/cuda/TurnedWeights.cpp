//===- TurnedWeights.cpp --------------------------------------------------------------------------===//
//
//   who reads a weight, behind what computes elements one by one                   [reader]
//   whether its first dimension is the last of the reader's result, and no other   [turned]
//   panels: as many columns as a warp has threads, or as there are, if fewer       [panels]
//   an element's place: panel, then all other dimensions as one, then column       [place]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/TurnedWeights.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/IndexFacts.h"

using namespace mlir;

namespace weft {

/// [reader] Null where there are several, or where dimensions change on the way.
static OpOperand *readerOf(Value weight) {
  while (weight.hasOneUse()) {
    OpOperand &use = *weight.use_begin();
    Operation *op = use.getOwner();
    if (!isa<RuleOpInterface>(op) || op->getNumResults() != 1)
      return nullptr;
    auto type = dyn_cast<SymTensorType>(op->getResult(0).getType());
    if (!type ||
        type.getDimAttributes() != cast<SymTensorType>(weight.getType()).getDimAttributes() ||
        !IterationRule::of(op).isPointwise())
      return &use;
    weight = op->getResult(0);
  }
  return nullptr;
}

/// [turned]
static bool isTurned(Value weight) {
  OpOperand *use = readerOf(weight);
  if (!use)
    return false;
  IterationRule rule = IterationRule::of(use->getOwner());
  ArrayRef<Access> result = rule.result(0), own = rule.operand(use->getOperandNumber());
  if (result.empty() || own.size() < 2 || result.back().kind != AccessKind::Point ||
      own.front().kind != AccessKind::Point || own.front().factor() != result.back().factor())
    return false;
  return llvm::none_of(own.drop_front(), [&](const Access &access) {
    return llvm::any_of(access.terms, [&](const Access::Term &term) {
      return term.factor == own.front().factor();
    });
  });
}

/// Of elements as they are stored; nothing for those that panels would change.
static std::optional<WeightLayout::Form> formOf(Type element) {
  if (element.isF32())
    return WeightLayout::F32;
  if (element.isF16())
    return WeightLayout::F16;
  if (element.isInteger(8))
    return WeightLayout::Bytes;
  return std::nullopt;
}

/// [panels]
void turnWeights(func::FuncOp spec, SmallVectorImpl<WeightLayout> &layouts) {
  for (BlockArgument argument : spec.getArguments()) {
    WeightLayout &layout = layouts[argument.getArgNumber()];
    auto type = cast<SymTensorType>(argument.getType());
    std::optional<WeightLayout::Form> form = formOf(type.getElementType());
    if (!layout.isRows() || !form || !type.getConstantDims() ||
        !spec.getArgAttr(argument.getArgNumber(), kWeightAttr) || !isTurned(argument))
      continue;
    SmallVector<int64_t> dims = *type.getConstantDims();
    auto columns = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(dims[0], 1))));
    if (type.getElements().isConstant(dims[0]) || dims[0] < 1)
      continue;
    layout = WeightLayout::panels(std::min(columns, SimtMachine::kWarp), WeightLayout::WidthByDepth,
                                  *form);
  }
}

/// [place] Neighbours stay neighbours where lanes begin with a multiple of their count.
static Value elementOf(SimtKernel &k, Value pointer, SymTensorType type, int64_t columns,
                       ArrayRef<IndexValue> index) {
  ImplicitLocOpBuilder &b = k.b;
  const IndexValue &first = index.front();
  bool isRun =
      first.isUniform() || (!first.lanes && first.stride == 1 && k.e.laneCount() <= columns &&
                            divisorOf(first.base) % k.e.laneCount() == 0);
  IndexValue panel, column, step = k.e.constant(0);
  if (isRun) {
    panel = {b.createOrFold<arith::DivUIOp>(first.base, constantI64(b, columns))};
    column = {b.createOrFold<arith::AndIOp>(first.base, constantI64(b, columns - 1)), first.stride};
  } else {
    std::tie(panel, column) = k.e.divmod(first, k.e.constant(columns));
  }
  int64_t depth = 1;
  SmallVector<int64_t> dims = *type.getConstantDims();
  for (auto [size, at] : llvm::zip_equal(ArrayRef(dims).drop_front(), index.drop_front())) {
    if (size != 1)
      step = k.e.add(k.e.mul(step, k.e.constant(size)), at);
    depth *= size;
  }
  MLIRContext *context = type.getContext();
  auto size = [&](int64_t n) { return SymExpr::constant(context, n); };
  auto panels =
      SymTensorType::get({size(llvm::divideCeil(dims[0], columns)), size(depth), size(columns)},
                         type.getElementType());
  return k.e.loadConstant(pointer, panels, {panel, step, column});
}

void readTurnedWeights(SimtKernel &k, ArrayRef<WeightLayout> layouts) {
  for (BlockArgument argument : k.spec.getArguments()) {
    const WeightLayout &layout = layouts[argument.getArgNumber()];
    if (layout.kind != WeightLayout::Panels)
      continue;
    Value pointer = k.inputs[argument.getArgNumber()];
    auto type = cast<SymTensorType>(argument.getType());
    k.e.provide(argument,
                [&k, pointer, type, columns = layout.columns](ArrayRef<IndexValue> index) {
                  return elementOf(k, pointer, type, columns, index);
                });
  }
}

} // namespace weft
