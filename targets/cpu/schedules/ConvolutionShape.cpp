//===- ConvolutionShape.cpp - Recognises convolutions and how their results are indexed --------------===//

#include "targets/cpu/schedules/ConvolutionShape.h"

using namespace mlir;

namespace weft {
namespace {

/// Products and sums as the schedules compute them.
bool hasElements(ConvOp op) {
  auto element = [](Value value) { return cast<SymTensorType>(value.getType()).getElementType(); };
  Type input = element(op.getInput()), filter = element(op.getFilter()),
       sum = element(op.getResult());
  if (sum.isF32())
    return input.isF32() && filter.isF32();
  return op.getChannelsLast() && isa<IntegerType>(input) && isa<IntegerType>(filter) &&
         elementBits(input) == 8 && elementBits(filter) == 8 && sum.isInteger(32);
}

/// The convolution, when no other operation of the kernel is a root.
ConvOp onlyRoot(func::FuncOp spec) {
  ConvOp op;
  for (Operation &each : spec.getBody().front()) {
    auto conv = dyn_cast<ConvOp>(each);
    auto element = dyn_cast<ElementOpInterface>(each);
    if (conv ? op != ConvOp()
             : element && element.rootKind() != RootKind::Loop &&
                   element.rootKind() != RootKind::View)
      return {};
    if (conv)
      op = conv;
  }
  return op;
}

/// Dimension `fromRight` of a tensor; 1 when it has fewer.
bool isOne(SymTensorType type, unsigned fromRight) {
  return fromRight >= type.getRank() || type.getDim(type.getRank() - 1 - fromRight).isConstant(1);
}

/// Whether the last `count` dimensions of the operation's result are walked in order, or not at all, by each operand.
bool walksInOrder(Operation *op, unsigned count) {
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule || op->getNumResults() != 1)
    return false;
  IterationRule bound = rule.rule();
  ArrayRef<Access> result = bound.result(0);
  auto resultType = cast<SymTensorType>(op->getResult(0).getType());
  for (unsigned i = 0; i < bound.operandCount(); ++i) {
    ArrayRef<Access> operand = bound.operand(i);
    auto type = cast<SymTensorType>(op->getOperand(i).getType());
    bool all = true, none = true;
    for (unsigned d = 0; d < count; ++d) {
      bool one = isOne(type, d),
           same = d < type.getRank() && d < resultType.getRank() && one == isOne(resultType, d);
      if (!one) {
        const Access &a = operand[operand.size() - 1 - d];
        if (!same || a.kind != AccessKind::Point ||
            result[result.size() - 1 - d].kind != AccessKind::Point ||
            a.factor() != result[result.size() - 1 - d].factor())
          return false;
      }
      all &= same, none &= one;
    }
    if (!all && !none)
      return false;
  }
  return true;
}

} // namespace

std::optional<ConvolutionShape> ConvolutionShape::match(func::FuncOp spec, bool channelsLast) {
  ConvOp op = onlyRoot(spec);
  if (!op)
    return std::nullopt;
  auto filter = dyn_cast<BlockArgument>(op.getFilter());
  auto in = cast<SymTensorType>(op.getInput().getType()),
       out = cast<SymTensorType>(op.getResult().getType());
  if (!filter || !spec.getArgAttr(filter.getArgNumber(), "weft.weight") || !hasElements(op) ||
      op.getChannelsLast() != channelsLast || out.getRank() > 4)
    return std::nullopt;
  for (Type result : spec.getResultTypes())
    if (cast<SymTensorType>(result).getDimAttributes() != out.getDimAttributes())
      return std::nullopt;
  std::optional<SmallVector<int64_t>> sizes =
      cast<SymTensorType>(filter.getType()).getConstantDims();
  if (!sizes || llvm::is_contained(*sizes, 0))
    return std::nullopt;
  ConvolutionShape s;
  s.op = op;
  s.filter = filter.getArgNumber();
  s.groups = op.getGroups(), s.filters = (*sizes)[0], s.channels = (*sizes)[1];
  s.batch = out.getDim(0);
  s.isLine = out.getRank() == 3;
  SymExpr zero = SymExpr::constant(spec.getContext(), 0),
          one = SymExpr::constant(spec.getContext(), 1);
  s.window[0] = {1, 1, 1, zero, zero, one, one};
  for (unsigned d = 2; d < out.getRank(); ++d)
    s.window[d - out.getRank() + 2] = {(*sizes)[d],
                                       op.getStrides()[d - 2],
                                       op.getDilations()[d - 2],
                                       op.getLow()[d - 2],
                                       op.getHigh()[d - 2],
                                       in.getDim(d - channelsLast),
                                       out.getDim(d - channelsLast)};
  return s;
}

bool ConvolutionShape::walksPixelsInOrder() const {
  for (Operation &each : *op->getBlock()) {
    if (&each == op || each.hasTrait<OpTrait::IsTerminator>() || isa<FillOp, ConstantOp>(each))
      continue;
    if (each.getNumOperands() == 0 || !walksInOrder(&each, isLine ? 1 : 2))
      return false;
  }
  return true;
}

SmallVector<IndexValue> ConvolutionShape::at(ElementBuilder &e, IndexValue n, IndexValue channel,
                                             IndexValue pixel) const {
  IndexValue zero = e.constant(0);
  if (isLine)
    return {n, channel, pixel};
  return window[1].out.isConstant(1) ? SmallVector<IndexValue>{n, channel, pixel, zero}
                                     : SmallVector<IndexValue>{n, channel, zero, pixel};
}

SmallVector<IndexValue> ConvolutionShape::rowAndColumn(ElementBuilder &e, IndexValue n,
                                                       IndexValue channel, IndexValue pixel) const {
  if (isLine)
    return {n, channel, pixel};
  auto [row, column] = e.divmod(pixel, e.symbolic(window[1].out));
  return {n, channel, row, column};
}

} // namespace weft
