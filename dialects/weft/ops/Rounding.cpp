//===- Rounding.cpp - round_blocks --------------------------------------------------------------===//

#include "dialects/weft/ops/Rounding.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace weft {

LogicalResult RoundBlocksOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = tensorType(adaptor.getInput());
  int64_t block = adaptor.getBlock();
  if (!type.getElementType().isF32() || type.getRank() == 0 ||
      !type.getDim(type.getRank() - 1).asConstant()) // R1
    return emitOptionalError(
        location,
        "'weft.round_blocks' needs lines of f32 with a constant length, but its operand is ", type);
  if (block < 1 || block > (int64_t(1) << 31)) // R2
    return emitOptionalError(location, "'weft.round_blocks' cannot have blocks of ", block);
  results.push_back(type);
  return success();
}

bool RoundBlocksOp::isRegular(SymTensorType rows, int64_t block) {
  constexpr int64_t lanes = 16, most = 256;
  auto length = rows.getRank() ? rows.getDim(rows.getRank() - 1).asConstant() : std::nullopt;
  return length && block > 0 && block % lanes == 0 && block <= most && *length % block == 0;
}

/// Regular rows in memory are rounded where they are read, so that the product that reads them sees what is rounded. Others become a tensor
/// in memory: every element costs a walk over its block.
RootKind RoundBlocksOp::rootKind() {
  Operation *source = getInput().getDefiningOp();
  while (auto reshape = dyn_cast_if_present<ReshapeOp>(source))
    source = reshape.getInput().getDefiningOp();
  auto element = dyn_cast_if_present<ElementOpInterface>(source);
  bool moved = element && element.rootKind() == RootKind::View;
  return isRegular(tensorType(getInput()), getBlock()) && !moved ? RootKind::View : RootKind::Loop;
}

LogicalResult RoundBlocksOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0];
  RefTensor &out = call.outputs.emplace_back(in.element, in.dims);
  int64_t width = in.dims.back(), length = getBlock();
  for (int64_t line = 0; width > 0 && line < in.size(); line += width)
    for (int64_t first = 0; first < width; first += length) {
      int64_t begin = line + first, end = line + std::min(width, first + length);
      double largest = 0;
      for (int64_t i = begin; i < end; ++i)
        if (double size = std::fabs(in.reals[i]); size > largest || std::isnan(size))
          largest = size;
      double step = float(largest / 127), inverse = float(127 / largest);
      if (std::isinf(inverse))
        inverse = 0;
      for (int64_t i = begin; i < end; ++i)
        out.reals[i] = std::nearbyint(in.reals[i] * inverse) * step;
    }
  return success();
}

namespace {

/// `value` in all lanes of `like`.
Value spreadLike(ImplicitLocOpBuilder &b, Value like, TypedAttr value) {
  TypedAttr all = value;
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    all = DenseElementsAttr::get(vector.clone(value.getType()), Attribute(value));
  return b.create<arith::ConstantOp>(all);
}
Type typeLike(Value like, Type scalar) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(scalar)) : scalar;
}

} // namespace

Value magnitudeBits(ImplicitLocOpBuilder &b, Value x) {
  Value bits = b.create<arith::BitcastOp>(typeLike(x, b.getI32Type()), x);
  return b.create<arith::AndIOp>(bits, spreadLike(b, x, b.getI32IntegerAttr(0x7fffffff)));
}

BlockStep blockStep(ImplicitLocOpBuilder &b, Value largestBits) {
  Value largest = b.create<arith::BitcastOp>(typeLike(largestBits, b.getF32Type()), largestBits);
  auto number = [&](float value) { return spreadLike(b, largest, b.getF32FloatAttr(value)); };
  Value quotient = b.create<arith::DivFOp>(number(127), largest);
  Value overflows = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, quotient, number(INFINITY));
  return {b.create<arith::DivFOp>(largest, number(127)),
          b.create<arith::SelectOp>(overflows, number(0), quotient)};
}

/// A number so large that its last place is 1 takes the fraction away; the product is not rounded before.
Value roundedBits(ImplicitLocOpBuilder &b, Value x, Value inverse) {
  Value large = spreadLike(b, x, b.getF32FloatAttr(kRoundingTerm));
  return b.create<arith::BitcastOp>(typeLike(x, b.getI32Type()),
                                    b.create<math::FmaOp>(x, inverse, large));
}

Value roundedReal(ImplicitLocOpBuilder &b, Value x, const BlockStep &step) {
  Value sum = b.create<arith::BitcastOp>(x.getType(), roundedBits(b, x, step.inverse));
  Value whole = b.create<arith::SubFOp>(sum, spreadLike(b, x, b.getF32FloatAttr(kRoundingTerm)));
  return b.create<arith::MulFOp>(whole, step.size);
}

/// Every element looks at its whole block again; schedules that know the operator round blocks at once.
Value RoundBlocksOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto &b = e.builder();
  auto type = tensorType(getInput());
  SymExpr size = type.getDim(type.getRank() - 1),
          length = SymExpr::constant(getContext(), getBlock());
  IndexValue first =
      e.mul(e.divmod(index.back(), e.constant(getBlock())).first, e.constant(getBlock()));
  SmallVector<IndexValue> at(index);
  Value none = e.constantData(b.getI32Type(), b.getI32IntegerAttr(0));
  Value largest = e.fold({length}, none, [&](ArrayRef<IndexValue> inBlock, Value largest) -> Value {
    at.back() = e.add(first, inBlock[0]);
    auto bits = [&] { return magnitudeBits(b, e.operand(0, at)); };
    bool whole = *size.asConstant() % getBlock() == 0;
    Value here = whole ? bits() : e.guarded(e.less(at.back(), e.symbolic(size)), bits, none);
    return b.create<arith::MaxUIOp>(largest, here);
  });
  return roundedReal(b, e.operand(0, index), blockStep(b, largest));
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/RoundingOps.cpp.inc"
