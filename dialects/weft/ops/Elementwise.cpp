//===- Elementwise.cpp - Types and code of elementwise operators --------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace weft {

//===-- Types ------------------------------------------------------------------------------------===//

static constexpr StringLiteral kBinaryRule = "..., ... -> ...";

static LogicalResult inferUnary(Value input, SmallVectorImpl<Type> &results) {
  results.push_back(input.getType());
  return success();
}

static LogicalResult inferReal(StringRef name, std::optional<Location> location, Value input,
                               SmallVectorImpl<Type> &results) {
  if (!isFloat(elementOf(input)))
    return emitOptionalError(location, "'weft.", name,
                             "' needs floats, but its operand has elements ", elementOf(input));
  return inferUnary(input, results);
}

static LogicalResult requireBits(StringRef name, std::optional<Location> location, Value operand) {
  if (isa<IntegerType>(elementOf(operand)))
    return success();
  return emitOptionalError(location, "'weft.", name,
                           "' combines bits, but its operand has elements ", elementOf(operand));
}

static LogicalResult inferBinary(StringRef name, std::optional<Location> location, Value lhs,
                                 Value rhs, SmallVectorImpl<Type> &results) {
  if (elementOf(lhs) != elementOf(rhs)) // R1
    return emitOptionalError(location, "'weft.", name,
                             "' operands must have one element type, but 'lhs' is ", elementOf(lhs),
                             " and 'rhs' is ", elementOf(rhs));
  auto dims = inferDims(kBinaryRule, {lhs.getType(), rhs.getType()}, location, name);
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, elementOf(lhs)));
  if (dims->empty())
    results.back() = SymTensorType::get(lhs.getContext(), ArrayRef<Attribute>(), elementOf(lhs));
  return success();
}

#define WEFT_INFER_UNARY(OP)                                                                       \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,      \
                                     SmallVectorImpl<Type> &results) {                             \
    return inferUnary(adaptor.getInput(), results);                                                \
  }
#define WEFT_INFER_BINARY(OP)                                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> location,              \
                                     Adaptor adaptor, SmallVectorImpl<Type> &results) {            \
    return inferBinary(getOperationName().drop_front(5), location, adaptor.getLhs(),               \
                       adaptor.getRhs(), results);                                                 \
  }

/// Functions that integers do not have.
#define WEFT_INFER_REAL(OP)                                                                        \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> location,              \
                                     Adaptor adaptor, SmallVectorImpl<Type> &results) {            \
    return inferReal(getOperationName().drop_front(5), location, adaptor.getInput(), results);     \
  }

/// Functions of bits.
#define WEFT_INFER_BITS(OP)                                                                        \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> location,              \
                                     Adaptor adaptor, SmallVectorImpl<Type> &results) {            \
    StringRef name = getOperationName().drop_front(5);                                             \
    if (failed(requireBits(name, location, adaptor.getLhs())))                                     \
      return failure();                                                                            \
    return inferBinary(name, location, adaptor.getLhs(), adaptor.getRhs(), results);               \
  }

LogicalResult NotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(requireBits("not", location, adaptor.getInput())))
    return failure();
  return inferUnary(adaptor.getInput(), results);
}

WEFT_INFER_REAL(TanOp)
WEFT_INFER_REAL(AsinOp)
WEFT_INFER_REAL(AcosOp)
WEFT_INFER_REAL(AtanOp)
WEFT_INFER_REAL(SinhOp)
WEFT_INFER_REAL(CoshOp)
WEFT_INFER_REAL(AsinhOp)
WEFT_INFER_REAL(AcoshOp)
WEFT_INFER_REAL(AtanhOp)
WEFT_INFER_UNARY(NegOp)
WEFT_INFER_UNARY(AbsOp)
WEFT_INFER_UNARY(SignOp)
WEFT_INFER_REAL(ExpOp)
WEFT_INFER_REAL(LogOp)
WEFT_INFER_REAL(SqrtOp)
WEFT_INFER_REAL(RsqrtOp)
WEFT_INFER_REAL(SinOp)
WEFT_INFER_REAL(CosOp)
WEFT_INFER_REAL(TanhOp)
WEFT_INFER_REAL(ErfOp)
WEFT_INFER_REAL(FloorOp)
WEFT_INFER_REAL(CeilOp)
WEFT_INFER_REAL(RoundOp)
WEFT_INFER_REAL(ActivationOp)
WEFT_INFER_BINARY(AddOp)
WEFT_INFER_BINARY(SubOp)
WEFT_INFER_BINARY(MulOp)
WEFT_INFER_BINARY(DivOp)
WEFT_INFER_BINARY(RemOp)
WEFT_INFER_BINARY(PowOp)
WEFT_INFER_BINARY(MinimumOp)
WEFT_INFER_BINARY(MaximumOp)
WEFT_INFER_BITS(AndOp)
WEFT_INFER_BITS(OrOp)
WEFT_INFER_BITS(XorOp)

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(inferBinary("compare", location, adaptor.getLhs(), adaptor.getRhs(), results)))
    return failure();
  results[0] = cast<SymTensorType>(results[0]).withElement(IntegerType::get(context, 1));
  return success();
}

/// A test of floats.
static LogicalResult inferTest(StringRef name, std::optional<Location> location, Value input,
                               SmallVectorImpl<Type> &results) {
  if (failed(inferReal(name, location, input, results)))
    return failure();
  results[0] = cast<SymTensorType>(results[0]).withElement(IntegerType::get(input.getContext(), 1));
  return success();
}

LogicalResult IsNanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  return inferTest("is_nan", location, adaptor.getInput(), results);
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  return inferTest("is_inf", location, adaptor.getInput(), results);
}

LogicalResult ShiftOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (!isa<IntegerType>(elementOf(adaptor.getLhs())) ||
      elementOf(adaptor.getLhs()).isInteger(1)) // R1
    return emitOptionalError(location,
                             "'weft.shift' moves bits of integers, but its operand has elements ",
                             elementOf(adaptor.getLhs()));
  return inferBinary("shift", location, adaptor.getLhs(), adaptor.getRhs(), results);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Value yes = adaptor.getYes(), no = adaptor.getNo();
  if (elementOf(yes) != elementOf(no))
    return emitOptionalError(location,
                             "'weft.select' values must have one element type, but they are ",
                             elementOf(yes), " and ", elementOf(no));
  if (!elementOf(adaptor.getCondition()).isInteger(1))
    return emitOptionalError(location, "'weft.select' condition must be i1, but is ",
                             elementOf(adaptor.getCondition()));
  auto dims =
      inferDims("..., ..., ... -> ...", adaptor.getOperands().getTypes(), location, "select");
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, elementOf(yes)));
  return success();
}

LogicalResult MultiplyAddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type element = elementOf(adaptor.getLhs());
  if (!isFloat(element) || llvm::any_of(adaptor.getOperands(), [&](Value operand) {
        return elementOf(operand) != element;
      })) // R1
    return emitOptionalError(location, "'weft.multiply_add' operands must have one float type");
  auto dims = inferDims("..., ..., ... -> ...", adaptor.getOperands().getTypes(), location,
                        "multiply_add"); // R2
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, element));
  return success();
}

LogicalResult ConvertOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (std::string why = refuseElement(adaptor.getTo()); !why.empty())
    return emitOptionalError(location, "'weft.convert': ", why);
  results.push_back(tensorType(adaptor.getInput()).withElement(adaptor.getTo()));
  return success();
}

/// A constant, as it is or seen through views and conversions.
static bool isConstantSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ConstantOp>(op))
      return true;
    if (op->getNumOperands() != 1) // asked first: what 'dequantize' is depends on who reads it
      return false;
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!isa<ConvertOp>(op) && !(element && element.rootKind() == RootKind::View))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Floats of a constant are converted where they are read: they stay as narrow as they are stored.
RootKind ConvertOp::rootKind() {
  Type from = elementOf(getInput());
  bool narrow =
      isFloat(from) && isFloat(getTo()) && elementBits(from) <= 32 && elementBits(getTo()) <= 32;
  return narrow && isConstantSource(getInput()) ? RootKind::View : RootKind::Loop;
}

LogicalResult BitcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type from = elementOf(adaptor.getInput()), to = adaptor.getTo();
  if (std::string why = refuseElement(to); !why.empty())
    return emitOptionalError(location, "'weft.bitcast': ", why);
  if (elementBits(from) != elementBits(to)) // R1
    return emitOptionalError(location, "'weft.bitcast' cannot read elements of ", from, " as ", to,
                             ", which have another width");
  results.push_back(tensorType(adaptor.getInput()).withElement(to));
  return success();
}

//===-- Code -------------------------------------------------------------------------------------===//

using Builder = ImplicitLocOpBuilder;

static Value number(Builder &b, Type like, double value) {
  Type scalar = getElementTypeOrSelf(like);
  TypedAttr attribute = isa<FloatType>(scalar) ? TypedAttr(FloatAttr::get(scalar, value))
                                               : IntegerAttr::get(scalar, int64_t(value));
  if (auto vector = dyn_cast<VectorType>(like))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return b.create<arith::ConstantOp>(attribute);
}

static bool floating(Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }

/// Float and integer forms of a binary operation.
template <typename FloatOp, typename IntOp> static Value either(Builder &b, ValueRange e) {
  return floating(e[0]) ? Value(b.create<FloatOp>(e[0], e[1])) : Value(b.create<IntOp>(e[0], e[1]));
}

static Value compareInt(Builder &b, arith::CmpIPredicate p, Value a, Value c) {
  return b.create<arith::CmpIOp>(p, a, c);
}
static Value compareFloat(Builder &b, arith::CmpFPredicate p, Value a, Value c) {
  return b.create<arith::CmpFOp>(p, a, c);
}
static Value select(Builder &b, Value c, Value yes, Value no) {
  return b.create<arith::SelectOp>(c, yes, no);
}

/// Runs `divide` with a divisor that cannot trap; 0 where the divisor was 0. `overflow` guards INT_MIN / -1 for signed types.
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
  return floating(e[0]) ? Value(b.create<math::AbsFOp>(e[0])) : b.create<math::AbsIOp>(e[0]);
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
  return either<math::PowFOp, math::IPowIOp>(b, e);
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

/// Shifts by at least the width have no value in LLVM: all bits are moved out by hand.
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

/// Float to integer: truncates, saturates, nan gives 0.
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
    return decodeFloat(b, to,
                       encodeFloat(b, to, x)); // round where narrow types are computed in f32
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

/// Elements as the integers and floats that hold their bits: narrow floats are computed in f32.
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

static Value emitSigmoid(Builder &b, Value x) {
  Value one = number(b, x.getType(), 1);
  return b.create<arith::DivFOp>(
      one, b.create<arith::AddFOp>(one, b.create<math::ExpOp>(b.create<arith::NegFOp>(x))));
}

static Value larger(Builder &b, Value x, double least) {
  return emitCombine(b, Combiner::Max, getElementTypeOrSelf(x), x, number(b, x.getType(), least));
}
static Value smaller(Builder &b, Value x, double most) {
  return emitCombine(b, Combiner::Min, getElementTypeOrSelf(x), x, number(b, x.getType(), most));
}

static Value emitClamp01(Builder &b, Value x) { return smaller(b, larger(b, x, 0), 1); }

/// x * (1 + y) / 2
static Value emitGate(Builder &b, Value x, Value y) {
  Value half = b.create<arith::MulFOp>(x, number(b, x.getType(), 0.5));
  return b.create<arith::MulFOp>(half, b.create<arith::AddFOp>(number(b, x.getType(), 1), y));
}

Value ActivationOp::emitScalar(Builder &b, ValueRange e) {
  Value x = e[0];
  Type type = x.getType();
  double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  auto mul = [&](Value a, Value c) -> Value { return b.create<arith::MulFOp>(a, c); };
  auto add = [&](Value a, Value c) -> Value { return b.create<arith::AddFOp>(a, c); };
  Value zero = number(b, type, 0), one = number(b, type, 1);
  auto negative = [&] { return compareFloat(b, arith::CmpFPredicate::OLT, x, zero); };
  switch (getKind()) {
  case ActivationKind::Relu:
    return larger(b, x, 0);
  case ActivationKind::Sigmoid:
    return emitSigmoid(b, x);
  case ActivationKind::Gelu:
    return emitGate(b, x, b.create<math::ErfOp>(mul(x, number(b, type, M_SQRT1_2))));
  case ActivationKind::GeluTanh: {
    Value cube = mul(mul(x, x), mul(x, number(b, type, 0.044715)));
    return emitGate(b, x,
                    b.create<math::TanhOp>(mul(number(b, type, 0.7978845608028654), add(x, cube))));
  }
  case ActivationKind::Silu:
    return mul(x, emitSigmoid(b, x));
  case ActivationKind::LeakyRelu:
    return select(b, negative(), mul(x, number(b, type, alpha)), x);
  case ActivationKind::Elu:
    return select(b, negative(), mul(number(b, type, alpha), b.create<math::ExpM1Op>(x)), x);
  case ActivationKind::HardSigmoid:
    return emitClamp01(b, add(mul(x, number(b, type, alpha)), number(b, type, beta)));
  case ActivationKind::HardSwish:
    return mul(x, emitClamp01(b, add(mul(x, number(b, type, 1.0 / 6)), number(b, type, 0.5))));
  case ActivationKind::Softplus: { // max(x, 0) + log(1 + e^-|x|)
    Value small = b.create<math::ExpOp>(b.create<arith::NegFOp>(b.create<math::AbsFOp>(x)));
    return add(larger(b, x, 0), b.create<math::LogOp>(add(one, small)));
  }
  case ActivationKind::Selu: {
    Value elu = select(b, negative(), mul(number(b, type, alpha), b.create<math::ExpM1Op>(x)), x);
    return mul(number(b, type, beta), elu);
  }
  case ActivationKind::Celu: {
    Value power = b.create<math::ExpM1Op>(b.create<arith::DivFOp>(x, number(b, type, alpha)));
    return select(b, negative(), mul(number(b, type, alpha), power), x);
  }
  case ActivationKind::
      Mish: { // tanh(log(1 + w)) = n / (n + 2) with n = w * (w + 2); 1 where w would overflow
    Value w = b.create<math::ExpOp>(smaller(b, x, 20));
    Value n = mul(w, add(w, number(b, type, 2)));
    return mul(x, b.create<arith::DivFOp>(n, add(n, number(b, type, 2))));
  }
  case ActivationKind::Softsign:
    return b.create<arith::DivFOp>(x, add(one, b.create<math::AbsFOp>(x)));
  case ActivationKind::ThresholdedRelu:
    return select(b, compareFloat(b, arith::CmpFPredicate::OGT, x, number(b, type, alpha)), x,
                  zero);
  case ActivationKind::Shrink: {
    Value above = compareFloat(b, arith::CmpFPredicate::OGT, x, number(b, type, alpha));
    Value below = compareFloat(b, arith::CmpFPredicate::OLT, x, number(b, type, -alpha));
    Value raised = select(b, below, add(x, number(b, type, beta)), zero);
    return select(b, above, add(x, number(b, type, -beta)), raised);
  }
  }
  llvm_unreachable("closed set of activations");
}

} // namespace weft
