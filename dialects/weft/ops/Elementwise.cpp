//===- Elementwise.cpp - Types of elementwise operators ----------------------------------------===//

#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

static constexpr StringLiteral kBinaryRule = "..., ... -> ...";

static LogicalResult inferUnary(Value input, SmallVectorImpl<Type> &results) {
  results.push_back(input.getType());
  return success();
}

static LogicalResult inferReal(StringRef name, std::optional<Location> location, Value input,
                               SmallVectorImpl<Type> &results) {
  if (failed(requireReal(name, location, input)))
    return failure();
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
    return refuseBeside(location, rhs, "rhs", "'weft.", name,
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
    return refuseBeside(location, no, "no",
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
  if (failed(requireElement("'weft.convert': ", location, adaptor.getTo())))
    return failure();
  results.push_back(tensorType(adaptor.getInput()).withElement(adaptor.getTo()));
  return success();
}

/// A constant, as it is or seen through views and conversions.
static bool isConstantSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ConstantOp>(op))
      return true;
    if (Value whole = gatheredFrom(value)) {
      value = whole;
      continue;
    }
    if (op->getNumOperands() != 1) // asked first: what 'dequantize' is depends on who reads it
      return false;
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!isa<ConvertOp>(op) && !(element && element.rootKind() == RootKind::View))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// What was rounded to a float of 16 bits, as it is or seen through views, and is read once by each of its readers.
static bool isRestored(ConvertOp op) {
  auto readsOnce = [](Operation *user) {
    auto element = dyn_cast<ElementOpInterface>(user);
    return element && (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::Row);
  };
  Value source = op.getInput();
  while (auto view = source.getDefiningOp<ElementOpInterface>()) {
    if (auto rounding = source.getDefiningOp<ConvertOp>())
      return elementOf(rounding.getInput()) == op.getTo() &&
             llvm::all_of(op->getUsers(), readsOnce);
    if (view->getNumOperands() != 1 || view.rootKind() != RootKind::View)
      break;
    source = view->getOperand(0);
  }
  return false;
}

/// Floats of a constant are converted where they are read: they stay as narrow as they are stored. So are floats that were rounded.
RootKind ConvertOp::rootKind() {
  Type from = elementOf(getInput());
  bool narrow =
      isFloat(from) && isFloat(getTo()) && elementBits(from) <= 32 && elementBits(getTo()) <= 32;
  bool costsNothing = narrow && (isConstantSource(getInput()) ||
                                 (isHalf(from) && getTo().isF32() && isRestored(*this)));
  return costsNothing ? RootKind::View : RootKind::Loop;
}

LogicalResult BitcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type from = elementOf(adaptor.getInput()), to = adaptor.getTo();
  if (failed(requireElement("'weft.bitcast': ", location, to)))
    return failure();
  if (elementBits(from) != elementBits(to)) // R1
    return emitOptionalError(location, "'weft.bitcast' cannot read elements of ", from, " as ", to,
                             ", which have another width");
  results.push_back(tensorType(adaptor.getInput()).withElement(to));
  return success();
}

} // namespace weft
