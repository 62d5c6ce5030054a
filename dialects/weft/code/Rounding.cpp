//===- Rounding.cpp - Code of round_blocks -----------------------------------------------------===//

#include "dialects/weft/code/Rounding.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/ops/Rounding.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {
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
