//===- Resize.cpp - resize: types --------------------------------------------------------------===//

#include "dialects/weft/ops/Resize.h"
#include "dialects/weft/ops/Infer.h"
#include <cmath>

using namespace mlir;

namespace weft {

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  if (adaptor.getSizes().size() != input.getRank() || adaptor.getScales().size() != input.getRank())
    return emitOptionalError(location,
                             "'weft.resize' needs a size and a scale for each of the ", // R1
                             input.getRank(), " dimensions");
  if (llvm::any_of(adaptor.getScales(), [](double scale) { return !(scale >= 0); }))
    return emitOptionalError(location, "'weft.resize' scales must not be negative");
  if (adaptor.getMode() != ResizeMode::Nearest && !isFloat(input.getElementType())) // R2
    return emitOptionalError(location, "'weft.resize ", stringifyResizeMode(adaptor.getMode()),
                             "' needs floats, but its operand has elements ",
                             input.getElementType());
  results.push_back(
      SymTensorType::get(context, adaptor.getSizes().getDimAttributes(), input.getElementType()));
  return success();
}

/// Several neighbours are read per element, one with `nearest`.
RootKind ResizeOp::rootKind() {
  return getMode() == ResizeMode::Nearest ? RootKind::Loop : RootKind::Window;
}

/// The integer k for which `to` is k times `from`.
static std::optional<int64_t> timesOf(SymExpr from, SymExpr to, double scale) {
  std::optional<int64_t> a = from.asConstant(), c = to.asConstant();
  double times = scale != 0 ? scale : a && c && *a > 0 ? double(*c) / double(*a) : 0;
  bool isWhole = times >= 1 && times <= 1024 && times == std::floor(times);
  return isWhole && from * int64_t(times) == to ? std::optional(int64_t(times)) : std::nullopt;
}

/// With a scale of k, results k*q to k*q + k - 1 have coordinates from q on, or around q: these are the ways to round that take q for all.
std::optional<int64_t> repeatsOf(ResizeOp op, unsigned d) {
  if (op.getMode() != ResizeMode::Nearest)
    return std::nullopt;
  ResizeCoordinates at = op.getCoordinates();
  ResizeRounding to = op.getRounding();
  bool isFirst = at == ResizeCoordinates::Asymmetric && to == ResizeRounding::Floor;
  bool isMiddle =
      (at == ResizeCoordinates::HalfPixel || at == ResizeCoordinates::HalfPixelSymmetric) &&
      (to == ResizeRounding::PreferFloor || to == ResizeRounding::PreferCeil);
  if (!isFirst && !isMiddle)
    return std::nullopt;
  return timesOf(tensorType(op.getInput()).getDim(d), op.getSizes()[d], op.getScales()[d]);
}

/// Where the operand has no elements and the result some, these are 0, whatever a function of it would be.
static bool takesNearest(ResizeOp op) {
  if (op.getMode() != ResizeMode::Nearest)
    return false;
  return llvm::all_of(llvm::seq<unsigned>(0, op.getSizes().size()), [&](unsigned d) {
    SymExpr size = tensorType(op.getInput()).getDim(d);
    return op.keepsDim(d) || repeatsOf(op, d) || size.asConstant().value_or(0) > 0;
  });
}

bool movesElements(Operation *op) {
  if (auto resize = dyn_cast_or_null<ResizeOp>(op))
    return takesNearest(resize);
  auto element = dyn_cast_or_null<ElementOpInterface>(op);
  auto rule = dyn_cast_or_null<RuleOpInterface>(op);
  return element && element.rootKind() == RootKind::View && op->getNumOperands() == 1 &&
         !(rule && rule.scalarCost() > 0);
}

bool ResizeOp::keepsDim(unsigned d) {
  double scale = getScales()[d];
  return tensorType(getInput()).getDim(d) == getSizes()[d] && (scale == 0 || scale == 1);
}

} // namespace weft
