//===- LaneExpr.cpp - Write lane-wise arithmetic as C++ expressions ---------------------------===//
//
// Most functions here are one operation. Those that are a formula:
//
//   x = 2^e * m, m >= threshold: e = (bits of x - those of it) >> 23 or 52  [exponent]
//   c0 + x * (c1 + x * (c2 + ...)), the last first                          [horner]
//   n = (x * factor + 1.5 * 2^23) - 1.5 * 2^23, or 2^52                     [round]
//   p * 2^n = (p * 2^(n/2)) * 2^(n - n/2)                                   [scale]
//   a + b = s + t: s = a + b, t what its rounding lost                      [exact sum]
//   a * b = p + t: p = a * b, t = a * b - p, fused or of halves             [exact product]
//   a / b = q + (a - b * q) * r, q = a * r: r the estimate of 1 / b         [divide]
//   then(), where any lane is set, else what there was                      [if any]
//   while any lane is set: step()                                           [while any]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/LaneExpr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;

namespace weft::lanes {

//===- Types and constants --------------------------------------------------------------------===//

int64_t Lanes::laneCount() const {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 0;
}

Type Lanes::typeWith(Type element) const {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

static Value splat(Lanes like, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return like.builder().create<arith::ConstantOp>(like.loc(), type, element);
}

Real constant(Real like, double value) {
  auto element = like.builder().getFloatAttr(like.elementType(), value);
  return {like.emitter, splat(like, like.value.getType(), element)};
}

Int constant(Int like, int64_t value) {
  auto element = like.builder().getIntegerAttr(like.elementType(), value);
  return {like.emitter, splat(like, like.value.getType(), element)};
}

//===- Arithmetic -----------------------------------------------------------------------------===//

template <typename Op, typename T> static T binary(T a, T b) {
  return {a.emitter, a.builder().template create<Op>(a.loc(), a.value, b.value)};
}
template <typename Op> static Real unary(Real a) {
  return {a.emitter, a.builder().create<Op>(a.loc(), a.value)};
}

Real operator+(Real a, Real b) { return binary<arith::AddFOp>(a, b); }
Real operator-(Real a, Real b) { return binary<arith::SubFOp>(a, b); }
Real operator*(Real a, Real b) { return binary<arith::MulFOp>(a, b); }
Real operator/(Real a, Real b) { return binary<arith::DivFOp>(a, b); }
Real operator-(Real a) { return unary<arith::NegFOp>(a); }

Real mulAdd(Real a, Real b, Real c) {
  if (!a.emitter->machine.hasFma())
    return a * b + c;
  return {a.emitter, a.builder().create<math::FmaOp>(a.loc(), a.value, b.value, c.value)};
}

static Mask compare(arith::CmpFPredicate predicate, Real a, Real b) {
  return {a.emitter, a.builder().create<arith::CmpFOp>(a.loc(), predicate, a.value, b.value)};
}
static Mask compare(arith::CmpIPredicate predicate, Int a, Int b) {
  return {a.emitter, a.builder().create<arith::CmpIOp>(a.loc(), predicate, a.value, b.value)};
}
Mask operator<(Real a, Real b) { return compare(arith::CmpFPredicate::OLT, a, b); }
Mask operator<=(Real a, Real b) { return compare(arith::CmpFPredicate::OLE, a, b); }
Mask operator==(Real a, Real b) { return compare(arith::CmpFPredicate::OEQ, a, b); }
Mask unordered(Real a, Real b) { return compare(arith::CmpFPredicate::UNO, a, b); }
Mask operator<(Int a, Int b) { return compare(arith::CmpIPredicate::slt, a, b); }
Mask operator==(Int a, Int b) { return compare(arith::CmpIPredicate::eq, a, b); }
Mask isNegative(Real a) {
  Int encoded = bits(a);
  return encoded < constant(encoded, 0);
}

Mask operator&(Mask a, Mask b) { return binary<arith::AndIOp>(a, b); }
Mask operator|(Mask a, Mask b) { return binary<arith::OrIOp>(a, b); }
Mask operator^(Mask a, Mask b) { return binary<arith::XOrIOp>(a, b); }
Mask operator!(Mask a) {
  Value all = splat(a, a.value.getType(), a.builder().getBoolAttr(true));
  return a ^ Mask {
    { a.emitter, all }
  };
}

template <typename T> static T selectLanes(Mask mask, T yes, T no) {
  auto op =
      yes.builder().template create<arith::SelectOp>(yes.loc(), mask.value, yes.value, no.value);
  return {yes.emitter, op};
}
Real select(Mask mask, Real yes, Real no) { return selectLanes(mask, yes, no); }
Int select(Mask mask, Int yes, Int no) { return selectLanes(mask, yes, no); }

Real atMost(Real x, double bound) { return select(x > bound, bound, x); }
Real atLeast(Real x, double bound) { return select(x < bound, bound, x); }

Real abs(Real a) { return unary<math::AbsFOp>(a); }
Real copySign(Real magnitude, Real sign) { return binary<math::CopySignOp>(magnitude, sign); }
Real sqrt(Real a) { return unary<math::SqrtOp>(a); }
Real trunc(Real a) { return unary<math::TruncOp>(a); }
Real roundEven(Real a) { return unary<math::RoundEvenOp>(a); }

Int operator+(Int a, Int b) { return binary<arith::AddIOp>(a, b); }
Int operator-(Int a, Int b) { return binary<arith::SubIOp>(a, b); }
Int operator*(Int a, Int b) { return binary<arith::MulIOp>(a, b); }
Int operator&(Int a, Int b) { return binary<arith::AndIOp>(a, b); }
Int operator|(Int a, Int b) { return binary<arith::OrIOp>(a, b); }
Int operator^(Int a, Int b) { return binary<arith::XOrIOp>(a, b); }
Int remainder(Int a, Int b) { return binary<arith::RemUIOp>(a, b); }
Int shiftLeft(Int a, Int amount) { return binary<arith::ShLIOp>(a, amount); }
Int shiftRight(Int a, Int amount) { return binary<arith::ShRUIOp>(a, amount); }
Int shiftRightSigned(Int a, Int amount) { return binary<arith::ShRSIOp>(a, amount); }

//===- Conversions ----------------------------------------------------------------------------===//

template <typename Op, typename To> static To convert(Lanes a, Type element) {
  return {a.emitter, a.builder().create<Op>(a.loc(), a.typeWith(element), a.value)};
}

Int bits(Real a) {
  unsigned width = a.elementType().getIntOrFloatBitWidth();
  return convert<arith::BitcastOp, Int>(a, a.builder().getIntegerType(width));
}
Real fromBits(Int a, Type element) { return convert<arith::BitcastOp, Real>(a, element); }
Real fromBits(Int a) {
  OpBuilder &b = a.builder();
  return fromBits(a, a.width() == 64 ? Type(b.getF64Type()) : Type(b.getF32Type()));
}
int64_t bitsOf(Real like, double value) {
  if (like.isDouble())
    return llvm::bit_cast<int64_t>(value);
  return llvm::bit_cast<int32_t>(static_cast<float>(value));
}

Real extendTo(Real a, Type element) { return convert<arith::ExtFOp, Real>(a, element); }
Real roundTo(Real a, Type element) { return convert<arith::TruncFOp, Real>(a, element); }
Real widen(Real a) { return extendTo(a, a.builder().getF64Type()); }
Real narrow(Real a) { return roundTo(a, a.builder().getF32Type()); }
Int extendZero(Int a, unsigned width) {
  return convert<arith::ExtUIOp, Int>(a, a.builder().getIntegerType(width));
}
Int extendSign(Int a, unsigned width) {
  return convert<arith::ExtSIOp, Int>(a, a.builder().getIntegerType(width));
}
Int truncate(Int a, unsigned width) {
  return convert<arith::TruncIOp, Int>(a, a.builder().getIntegerType(width));
}
Int upperHalves(Int a) {
  ImplicitLocOpBuilder b(a.loc(), a.builder());
  return {a.emitter, a.emitter->machine.upperHalves(b, a.value)};
}

Real toReal(Int a) {
  if (a.width() == 32)
    return convert<arith::SIToFPOp, Real>(a, a.builder().getF32Type());
  // Few processors convert 64-bit lanes: add to the significand of 1.5*2^52 instead.
  const double magic = 0x1.8p52;
  return fromBits(a + llvm::bit_cast<int64_t>(magic)) - magic;
}

Real toDouble(Int a) { return convert<arith::SIToFPOp, Real>(a, a.builder().getF64Type()); }

//===- Building blocks ------------------------------------------------------------------------===//

/// [exponent] Lanes of 64 bits have a logical shift everywhere.
Int exponentAbove(Int encoded, double threshold) {
  Real like = fromBits(encoded);
  Int relative = encoded - bitsOf(like, threshold);
  if (!like.isDouble())
    return shiftRightSigned(relative, like.mantissaBits());
  // Not every processor has an arithmetic shift of 64-bit lanes: add the bias first.
  Int biased = relative + (static_cast<int64_t>(like.bias()) << like.mantissaBits());
  return shiftRight(biased, like.mantissaBits()) - like.bias();
}

/// [horner] One multiply-add for each coefficient.
Real horner(Real x, Coefficients coefficients) {
  Real result = constant(x, coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = mulAdd(result, x, coefficient);
  return result;
}

/// [round] The low bits of the sum are the number, with an offset that the caller needs.
Rounded roundToInt(Real x, double factor, int64_t offset) {
  // Adding 1.5*2^23 leaves no bits for a fraction: the sum's low bits are the rounded integer.
  double magic = std::ldexp(1.5, x.mantissaBits()) + static_cast<double>(offset);
  Real sum = mulAdd(x, factor, magic);
  return {sum - magic, bits(sum)};
}

/// [scale] One instruction on some machines.
Real scaleByPowerOfTwo(Real p, Real n, Int biased) {
  if (splitsFloats(p)) {
    ImplicitLocOpBuilder b(p.loc(), p.builder());
    return {p.emitter, p.emitter->machine.scaleByPower(b, p.value, n.value)};
  }
  // 2^n may lie outside the format although the product does not, so multiply by two halves of it;
  // only the second multiplication can round.
  Int first = shiftRight(biased, 1);
  Int second = biased - first;
  return p * fromBits(shiftLeft(first, p.mantissaBits())) *
         fromBits(shiftLeft(second, p.mantissaBits()));
}

/// [exact sum] Neither has to be the larger one; quickTwoSum needs that, and half as many steps.
HighLow twoSum(Real a, Real b) {
  Real sum = a + b;
  Real bRounded = sum - a;
  return {sum, (a - (sum - bRounded)) + (b - bRounded)};
}

HighLow quickTwoSum(Real a, Real b) {
  Real sum = a + b;
  return {sum, b - (sum - a)};
}

/// The upper half of the significand and the rest (Veltkamp).
static HighLow splitInHalves(Real a) {
  Real scaled = a * (std::ldexp(1.0, (a.mantissaBits() + 2) / 2) + 1.0);
  Real high = scaled - (scaled - a);
  return {high, a - high};
}

/// [exact product] Without a fused multiply-add, products of halves have no error.
HighLow twoProduct(Real a, Real b) {
  Real product = a * b;
  if (a.emitter->machine.hasFma())
    return {product, mulAdd(a, b, -product)};
  HighLow x = splitInHalves(a), y = splitInHalves(b);
  Real error = x.high * y.high - product;
  error = error + x.high * y.low + x.low * y.high;
  return {product, error + x.low * y.low};
}

//===- What some machines have ----------------------------------------------------------------===//

/// Where the operations of the machine go.
static ImplicitLocOpBuilder builderAt(const Lanes &a) {
  ImplicitLocOpBuilder b(a.loc(), a.builder());
  return b;
}

bool splitsFloats(Real a) { return a.emitter->machine.splitsFloats(a.value.getType()); }

Real exponentOf(Real x) {
  ImplicitLocOpBuilder b = builderAt(x);
  return {x.emitter, x.emitter->machine.exponentOf(b, x.value)};
}

Real mantissaNearOne(Real x) {
  ImplicitLocOpBuilder b = builderAt(x);
  return {x.emitter, x.emitter->machine.mantissaNearOne(b, x.value)};
}

bool hasTableLookUp(Real a) { return a.emitter->machine.looksUp(a.value.getType()); }

Real lookUp(llvm::ArrayRef<float> table, Int index) {
  ImplicitLocOpBuilder b = builderAt(index);
  return {index.emitter, index.emitter->machine.lookUp(b, table, index.value)};
}

/// [divide] Where the estimate is good, for f32; a division elsewhere.
Real quickDivide(Real a, Real b) {
  if (a.isDouble() || !splitsFloats(a))
    return a / b;
  ImplicitLocOpBuilder builder = builderAt(b);
  Real estimate{b.emitter, b.emitter->machine.estimateReciprocal(builder, b.value)};
  Real quotient = a * estimate;
  Real remainder = mulAdd(-b, quotient, a);
  return mulAdd(remainder, estimate, quotient);
}

//===- Control flow ---------------------------------------------------------------------------===//

Value anyLane(Mask mask) {
  if (!isa<VectorType>(mask.value.getType()))
    return mask.value;
  return mask.builder().create<vector::ReductionOp>(mask.loc(), vector::CombiningKind::OR,
                                                    mask.value);
}

/// [if any] Rare arguments cost one test.
llvm::SmallVector<Value> ifAnyLane(Mask mask, ValueRange otherwise,
                                   llvm::function_ref<llvm::SmallVector<Value>()> then) {
  OpBuilder &b = mask.builder();
  auto op = b.create<scf::IfOp>(mask.loc(), otherwise.getTypes(), anyLane(mask),
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  llvm::SmallVector<Value> results = then();
  b.create<scf::YieldOp>(mask.loc(), results);
  b.setInsertionPointToStart(op.elseBlock());
  b.create<scf::YieldOp>(mask.loc(), otherwise);
  return op.getResults();
}

/// [while any] Lanes that are done go on: a step must not change what they have.
llvm::SmallVector<Value>
whileAnyLane(Emitter &emitter, ValueRange state, llvm::function_ref<Mask(ValueRange)> condition,
             llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> step) {
  OpBuilder &b = emitter.builder;
  OpBuilder::InsertionGuard guard(b);
  auto loop = b.create<scf::WhileOp>(
      emitter.loc, TypeRange(state), state,
      [&](OpBuilder &, Location loc, ValueRange arguments) {
        Value again = anyLane(condition(arguments));
        b.create<scf::ConditionOp>(loc, again, arguments);
      },
      [&](OpBuilder &, Location loc, ValueRange arguments) {
        llvm::SmallVector<Value> next = step(arguments);
        b.create<scf::YieldOp>(loc, next);
      });
  return loop.getResults();
}

} // namespace weft::lanes
