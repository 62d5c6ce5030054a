//===- ConvolutionShape.cpp - Recognises convolutions and how their results are indexed --------------===//

#include "targets/common/match/ConvolutionShape.h"
#include "targets/common/match/WalkOrder.h"

using namespace mlir;

namespace weft {
namespace {

/// Products and sums as the schedules compute them.
bool hasElements(ConvOp op) {
  auto element = [](Value value) { return cast<SymTensorType>(value.getType()).getElementType(); };
  Type input = element(op.getInput()), filter = element(op.getFilter()),
       sum = element(op.getResult());
  auto rounding = op.getFilter().getDefiningOp<ConvertOp>(); // of a filter, while it is packed
  if (rounding && !(isHalf(filter) && element(rounding.getInput()).isF32()))
    return false;
  if (sum.isF32())
    return input == filter && (input.isF32() || isHalf(input));
  return op.getChannelsLast() && isa<IntegerType>(input) && isa<IntegerType>(filter) &&
         elementBits(input) == 8 && elementBits(filter) == 8 && sum.isInteger(32);
}

} // namespace

Match<ConvolutionShape> ConvolutionShape::match(func::FuncOp spec, bool channelsLast) {
  Match<ConvOp> root = onlyRoot<ConvOp>(spec, "there is no convolution");
  if (!root)
    return root.decline();
  ConvOp op = *root;
  if (op.getChannelsLast() != channelsLast)
    return Decline::otherKind(channelsLast ? "channels are not the last dimension"
                                           : "channels are the last dimension");
  auto rounding = op.getFilter().getDefiningOp<ConvertOp>();
  auto filter = dyn_cast<BlockArgument>(rounding ? rounding.getInput() : op.getFilter());
  auto in = cast<SymTensorType>(op.getInput().getType()),
       out = cast<SymTensorType>(op.getResult().getType());
  if (!filter || !spec.getArgAttr(filter.getArgNumber(), kWeightAttr))
    return Decline{"the filter is no constant in memory"};
  if (!hasElements(op))
    return Decline{"elements are neither floats of 16 or 32 bits nor bytes summed in i32"};
  if (out.getRank() > 4)
    return Decline{"the window has more than two dimensions"};
  if (Decline why = unlessResultsHave(out, spec))
    return why;
  std::optional<SmallVector<int64_t>> sizes =
      cast<SymTensorType>(filter.getType()).getConstantDims();
  if (!sizes || llvm::is_contained(*sizes, 0))
    return Decline{"the filter's sizes are no positive constants"};
  ConvolutionShape s;
  s.op = op;
  s.filter = filter.getArgNumber(), s.roundsFilter = bool(rounding);
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

Decline ConvolutionShape::unlessDepthwise(Value image) const {
  if (channels != 1 || filters != groups || groups == 1)
    return Decline::otherKind("the channels do not have a filter each");
  return isa<BlockArgument>(image) ? Decline{} : Decline{kImageIsComputed};
}

Decline ConvolutionShape::unlessThreeByThree(bool ofBytes) const {
  for (const ConvolutionWindow &each : window)
    if (each.kernel != 3 || each.stride != 1 || each.dilation != 1)
      return {"windows are not of 3 by 3 elements, one apart"};
  if (hasBytes() != ofBytes)
    return Decline::otherKind(ofBytes ? "floats are multiplied" : "bytes are multiplied");
  if (groups != 1)
    return {kHasGroups};
  return llvm::isa<BlockArgument>(op.getInput()) ? Decline{} : Decline{kImageIsComputed};
}

std::optional<ConvolutionShape::Bias> ConvolutionShape::bias() const {
  Value result = op.getResult();
  auto add = result.hasOneUse() ? dyn_cast<AddOp>(*result.user_begin()) : AddOp();
  if (!add || !op.getChannelsLast() || add.getType() != result.getType())
    return {};
  auto added = dyn_cast<BlockArgument>(add.getLhs() == result ? add.getRhs() : add.getLhs());
  auto spec = op->getParentOfType<func::FuncOp>();
  if (!added || !spec.getArgAttr(added.getArgNumber(), kWeightAttr))
    return {};
  auto type = cast<SymTensorType>(added.getType());
  bool isPerChannel = type.getRank() > 0 && type.getDim(type.getRank() - 1).isConstant(filters) &&
                      type.getElements().isConstant(filters);
  if (!isPerChannel || !type.getElementType().isF32())
    return {};
  return Bias{add.getResult(), added};
}

bool ConvolutionShape::walksPixelsInOrder() const {
  return walksInOrder(op, /*behind=*/0, isLine ? 1 : 2);
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
