//===- Elementwise.cpp - Code of elementwise operators ----------------------------------------===//
//
// Code of one element, or of a vector of them. Most operators are one operation; those that are
// not:
//
//   a / b, a mod b of integers: c = b, but 1 where b is 0, or -1 with a sign  [division]
//     a / c; -a or 0 where b was -1, 0 where b was 0
//   remainder of a floored quotient: r + b where r has the other sign         [floored]
//   a << b, a >> b: by the last bit's number at most                          [shift]
//     then 0 where b was larger, but not for a signed a >> b
//   float to integer: c = x inside the range, else 0                          [saturate]
//     c converted; the least or the largest integer where x is beyond
//   to a narrow float: rounded to its bits, and back to f32                   [round]
//   bits of another type: narrow floats become their bits first               [bits]
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {

using Builder = ImplicitLocOpBuilder;

static bool floating(Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }

/// Float and integer forms of a binary operation.
template <typename FloatOp, typename IntOp> static Value either(Builder &b, ValueRange e) {
  return floating(e[0]) ? Value(b.create<FloatOp>(e[0], e[1])) : Value(b.create<IntOp>(e[0], e[1]));
}

/// [division] Runs `divide` with a divisor that cannot trap; 0 where the divisor was 0. `overflow`
/// guards INT_MIN / -1 for signed types.
static Value safeDivision(Builder &b, Value lhs, Value rhs, bool u,
                          function_ref<Value(Value, Value)> divide, Value whenMinusOne) {
  Value zero = number(b, rhs.getType(), 0), one = number(b, rhs.getType(), 1);
  Value isZero = compareInt(b, arith::CmpIPredicate::eq, rhs, zero);
  Value divisor = select(b, isZero, one, rhs);
  Value minusOne;
  if (!u) {
    minusOne = compareInt(b, arith::CmpIPredicate::eq, rhs, number(b, rhs.getType(), -1));
    divisor = select(b, minusOne, one, divisor);
  }
  Value result = divide(lhs, divisor);
  if (!u)
    result = select(b, minusOne, whenMinusOne, result);
  return select(b, isZero, zero, result);
}

Value NegOp::emitScalar(Builder &b, ValueRange e) {
  return floating(e[0]) ? Value(b.create<arith::NegFOp>(e[0]))
                        : b.create<arith::SubIOp>(number(b, e[0].getType(), 0), e[0]);
}
Value AbsOp::emitScalar(Builder &b, ValueRange e) {
  if (floating(e[0]))
    return b.create<math::AbsFOp>(e[0]);
  return isUnsigned(elementOf(getInput())) ? e[0] : Value(b.create<math::AbsIOp>(e[0]));
}
Value SignOp::emitScalar(Builder &b, ValueRange e) {
  Type type = e[0].getType();
  Value zero = number(b, type, 0), one = number(b, type, 1), minus = number(b, type, -1);
  if (floating(e[0]))
    return select(b, compareFloat(b, arith::CmpFPredicate::OGT, e[0], zero), one,
                  select(b, compareFloat(b, arith::CmpFPredicate::OLT, e[0], zero), minus, e[0]));
  bool u = isUnsigned(elementOf(getInput()));
  Value below =
      u ? zero : select(b, compareInt(b, arith::CmpIPredicate::slt, e[0], zero), minus, zero);
  return select(
      b, compareInt(b, u ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, e[0], zero), one,
      below);
}
Value ExpOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::ExpOp>(e[0]); }
Value LogOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::LogOp>(e[0]); }
Value SqrtOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::SqrtOp>(e[0]); }
Value RsqrtOp::emitScalar(Builder &b, ValueRange e) {
  return b.create<arith::DivFOp>(number(b, e[0].getType(), 1), b.create<math::SqrtOp>(e[0]));
}
Value SinOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::SinOp>(e[0]); }
Value CosOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::CosOp>(e[0]); }
Value TanOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::TanOp>(e[0]); }
Value AsinOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AsinOp>(e[0]); }
Value AcosOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AcosOp>(e[0]); }
Value AtanOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AtanOp>(e[0]); }
Value SinhOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::SinhOp>(e[0]); }
Value CoshOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::CoshOp>(e[0]); }
Value AsinhOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AsinhOp>(e[0]); }
Value AcoshOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AcoshOp>(e[0]); }
Value AtanhOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::AtanhOp>(e[0]); }
Value TanhOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::TanhOp>(e[0]); }
Value ErfOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::ErfOp>(e[0]); }
Value FloorOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::FloorOp>(e[0]); }
Value CeilOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::CeilOp>(e[0]); }
Value RoundOp::emitScalar(Builder &b, ValueRange e) { return b.create<math::RoundEvenOp>(e[0]); }
Value NotOp::emitScalar(Builder &b, ValueRange e) {
  return b.create<arith::XOrIOp>(e[0], number(b, e[0].getType(), -1));
}

Value AddOp::emitScalar(Builder &b, ValueRange e) {
  return either<arith::AddFOp, arith::AddIOp>(b, e);
}
Value SubOp::emitScalar(Builder &b, ValueRange e) {
  return either<arith::SubFOp, arith::SubIOp>(b, e);
}
Value MulOp::emitScalar(Builder &b, ValueRange e) {
  return either<arith::MulFOp, arith::MulIOp>(b, e);
}
Value DivOp::emitScalar(Builder &b, ValueRange e) {
  if (floating(e[0]))
    return b.create<arith::DivFOp>(e[0], e[1]);
  bool u = isUnsigned(elementOf(getLhs()));
  Value negated = b.create<arith::SubIOp>(number(b, e[0].getType(), 0), e[0]);
  return safeDivision(
      b, e[0], e[1], u,
      [&](Value a, Value c) {
        return u ? Value(b.create<arith::DivUIOp>(a, c)) : Value(b.create<arith::DivSIOp>(a, c));
      },
      negated);
}
/// [floored] Of floats and of integers; a remainder of 0 stays.
Value RemOp::emitScalar(Builder &b, ValueRange e) {
  Type type = e[0].getType();
  Value zero = number(b, type, 0);
  if (floating(e[0])) {
    Value r = b.create<arith::RemFOp>(e[0], e[1]);
    if (!getFloor())
      return r;
    Value signs = b.create<arith::XOrIOp>(compareFloat(b, arith::CmpFPredicate::OLT, r, zero),
                                          compareFloat(b, arith::CmpFPredicate::OLT, e[1], zero));
    Value wrong =
        b.create<arith::AndIOp>(signs, compareFloat(b, arith::CmpFPredicate::ONE, r, zero));
    return select(b, wrong, b.create<arith::AddFOp>(r, e[1]), r);
  }
  bool u = isUnsigned(elementOf(getLhs()));
  return safeDivision(
      b, e[0], e[1], u,
      [&](Value a, Value c) -> Value {
        if (u)
          return b.create<arith::RemUIOp>(a, c);
        Value r = b.create<arith::RemSIOp>(a, c);
        if (!getFloor())
          return r;
        Value signs = b.create<arith::XOrIOp>(compareInt(b, arith::CmpIPredicate::slt, r, zero),
                                              compareInt(b, arith::CmpIPredicate::slt, c, zero));
        Value wrong =
            b.create<arith::AndIOp>(signs, compareInt(b, arith::CmpIPredicate::ne, r, zero));
        return select(b, wrong, b.create<arith::AddIOp>(r, c), r);
      },
      zero);
}
Value PowOp::emitScalar(Builder &b, ValueRange e) {
  if (floating(e[0]) || !isUnsigned(elementOf(getLhs())))
    return either<math::PowFOp, math::IPowIOp>(b, e);
  // x^y is (x^(y/2))^2, times x where y is odd: half of an exponent without a sign is one that 'ipowi' knows
  Value one = number(b, e[1].getType(), 1);
  Value root = b.create<math::IPowIOp>(e[0], b.create<arith::ShRUIOp>(e[1], one));
  Value square = b.create<arith::MulIOp>(root, root);
  Value odd = compareInt(b, arith::CmpIPredicate::ne, b.create<arith::AndIOp>(e[1], one),
                         number(b, e[1].getType(), 0));
  return select(b, odd, b.create<arith::MulIOp>(square, e[0]), square);
}
Value MinimumOp::emitScalar(Builder &b, ValueRange e) {
  return emitCombine(b, Combiner::Min, elementOf(getLhs()), e[0], e[1]);
}
Value MaximumOp::emitScalar(Builder &b, ValueRange e) {
  return emitCombine(b, Combiner::Max, elementOf(getLhs()), e[0], e[1]);
}
Value AndOp::emitScalar(Builder &b, ValueRange e) { return b.create<arith::AndIOp>(e[0], e[1]); }
Value OrOp::emitScalar(Builder &b, ValueRange e) { return b.create<arith::OrIOp>(e[0], e[1]); }
Value XorOp::emitScalar(Builder &b, ValueRange e) { return b.create<arith::XOrIOp>(e[0], e[1]); }

Value CompareOp::emitScalar(Builder &b, ValueRange e) {
  static constexpr arith::CmpFPredicate floats[] = {
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
      arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
  static constexpr arith::CmpIPredicate ints[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,  arith::CmpIPredicate::slt,
      arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate unsignedInts[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,  arith::CmpIPredicate::ult,
      arith::CmpIPredicate::ule, arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  unsigned kind = unsigned(getKind());
  if (floating(e[0]))
    return compareFloat(b, floats[kind], e[0], e[1]);
  return compareInt(b, isUnsigned(elementOf(getLhs())) ? unsignedInts[kind] : ints[kind], e[0],
                    e[1]);
}

Value IsNanOp::emitScalar(Builder &b, ValueRange e) {
  return compareFloat(b, arith::CmpFPredicate::UNO, e[0], e[0]);
}

Value IsInfOp::emitScalar(Builder &b, ValueRange e) {
  Value high =
      compareFloat(b, arith::CmpFPredicate::OEQ, e[0], number(b, e[0].getType(), INFINITY));
  Value low =
      compareFloat(b, arith::CmpFPredicate::OEQ, e[0], number(b, e[0].getType(), -INFINITY));
  if (getPositive() != getNegative())
    return getPositive() ? high : low;
  return getPositive() ? Value(b.create<arith::OrIOp>(high, low)) : number(b, high.getType(), 0);
}

/// [shift] Shifts by at least the width have no value in LLVM: all bits are moved out by hand.
Value ShiftOp::emitScalar(Builder &b, ValueRange e) {
  Type type = e[0].getType();
  Value zero = number(b, type, 0), last = number(b, type, elementBits(elementOf(getLhs())) - 1);
  Value far = compareInt(b, arith::CmpIPredicate::ugt, e[1], last), by = select(b, far, last, e[1]);
  if (getKind() == ShiftKind::Right && !isUnsigned(elementOf(getLhs())))
    return b.create<arith::ShRSIOp>(e[0], by);
  if (getKind() == ShiftKind::Right)
    return select(b, far, zero, b.create<arith::ShRUIOp>(e[0], by));
  return select(b, far, zero, b.create<arith::ShLIOp>(e[0], by));
}

Value MultiplyAddOp::emitScalar(Builder &b, ValueRange e) {
  return b.create<math::FmaOp>(e[0], e[1], e[2]);
}
Value SelectOp::emitScalar(Builder &b, ValueRange e) { return select(b, e[0], e[1], e[2]); }

/// [saturate] Float to integer: truncates, saturates, nan gives 0.
static Value saturate(Builder &b, Value x, Type to, Type toLanes) {
  unsigned width = elementBits(to);
  bool u = isUnsigned(to);
  Type type = x.getType();
  double low = u ? 0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, u ? width : width - 1);
  Value inside = b.create<arith::AndIOp>(
      compareFloat(b, arith::CmpFPredicate::OGT, x, number(b, type, low - 1)),
      compareFloat(b, arith::CmpFPredicate::OLT, x, number(b, type, high)));
  if (!u && width > 24) // low - 1 rounds to low in the float type: compare with low itself
    inside = b.create<arith::AndIOp>(
        compareFloat(b, arith::CmpFPredicate::OGE, x, number(b, type, low)),
        compareFloat(b, arith::CmpFPredicate::OLT, x, number(b, type, high)));
  Value safe = select(b, inside, x, number(b, type, 0));
  Value converted = u ? Value(b.create<arith::FPToUIOp>(toLanes, safe))
                      : b.create<arith::FPToSIOp>(toLanes, safe);
  Type integer = getElementTypeOrSelf(toLanes);
  auto limit = [&](llvm::APInt value) {
    TypedAttr attribute = IntegerAttr::get(integer, value);
    if (auto vector = dyn_cast<VectorType>(toLanes))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return b.create<arith::ConstantOp>(attribute);
  };
  Value largest =
      limit(u ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width));
  Value smallest =
      limit(u ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width));
  Value above = compareFloat(b, arith::CmpFPredicate::OGE, x, number(b, type, high));
  Value below = compareFloat(b, arith::CmpFPredicate::OLT, x, number(b, type, low));
  return select(b, above, largest, select(b, below, smallest, converted));
}

Value ConvertOp::emitScalar(Builder &b, ValueRange e) {
  Type from = elementOf(getInput()), to = getTo(), scalar = computeType(to), type = scalar;
  if (auto vector = dyn_cast<VectorType>(e[0].getType()))
    type = vector.clone(scalar);
  Value x = e[0];
  if (to.isInteger(1)) {
    Value zero = number(b, x.getType(), 0);
    return floating(x) ? compareFloat(b, arith::CmpFPredicate::UNE, x, zero)
                       : compareInt(b, arith::CmpIPredicate::ne, x, zero);
  }
  if (isFloat(to)) {
    if (!isFloat(from))
      x = isUnsigned(from) ? Value(b.create<arith::UIToFPOp>(type, x))
                           : b.create<arith::SIToFPOp>(type, x);
    else if (from.isF64() && !to.isF64())
      x = b.create<arith::TruncFOp>(type, x);
    else if (to.isF64() && !from.isF64())
      x = b.create<arith::ExtFOp>(type, x);
    if (to == scalar || to == from)
      return x;
    // [round] Narrow types are computed in f32.
    return decodeFloat(b, to, encodeFloat(b, to, x));
  }
  if (isFloat(from))
    return saturate(b, x, to, type);
  unsigned have = elementBits(from), want = elementBits(to);
  if (have == want)
    return x;
  if (have > want)
    return b.create<arith::TruncIOp>(type, x);
  return isUnsigned(from) ? Value(b.create<arith::ExtUIOp>(type, x))
                          : b.create<arith::ExtSIOp>(type, x);
}

/// [bits] Elements as the integers and floats that hold their bits: narrow floats are computed in
/// f32.
Value BitcastOp::emitScalar(Builder &b, ValueRange e) {
  Type from = elementOf(getInput()), to = getTo();
  Value bits = e[0];
  if (from == to)
    return bits;
  if (isFloat(from) && elementBits(from) < 32)
    bits = encodeFloat(b, from, bits);
  if (isFloat(to) && elementBits(to) < 32)
    return decodeFloat(b, to, bits);
  Type type = computeType(to);
  if (auto vector = dyn_cast<VectorType>(bits.getType()))
    type = vector.clone(type);
  return bits.getType() == type ? bits : b.create<arith::BitcastOp>(type, bits);
}

} // namespace weft
