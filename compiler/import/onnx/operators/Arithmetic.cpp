//===- Arithmetic.cpp - Add, Mul, Pow, Cast and other functions of numbers --------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Quantization.h"
#include "dialects/weft/types/FloatFormat.h"

using namespace mlir;

namespace weft::onnx {
namespace {

template <typename Op> void convertUnary(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  n.result(n.unary<Op>(n.input(0)));
}

/// Below opset 7 broadcasting was asked for, and `axis` said where the second operand's dimensions go.
Value alignedOperand(NodeImport &n) {
  Value b = n.input(1);
  n.ignoreAttributes({"consumed_inputs"});
  if (n.opset >= 7 || !b)
    return b;
  bool broadcasts = n.intAttribute("broadcast", 0) != 0;
  std::optional<int64_t> axis = n.intAttribute("axis");
  if (!broadcasts || !axis)
    return b;
  unsigned first = n.axis(*axis, n.rank(0));
  if (first + rankOf(b) > n.rank(0))
    return n.wrong("axis " + Twine(*axis) + " leaves too few dimensions for the second operand");
  Dims dims(typeOf(b).getDims());
  dims.append(n.rank(0) - first - rankOf(b), n.constant(1));
  return n.reshape(b, dims);
}

template <typename Op> void convertBinary(NodeImport &n) {
  Value b = alignedOperand(n);
  n.result(n.binary<Op>(n.input(0), b));
}

template <typename Op> Value foldInputs(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  Value result;
  for (Value next : n.allInputs()) // none when one is missing
    result = result ? n.binary<Op>(result, next) : next;
  return result;
}

template <typename Op> void convertVariadic(NodeImport &n) { n.result(foldInputs<Op>(n)); }

void convertMean(NodeImport &n) {
  Value sum = foldInputs<AddOp>(n);
  n.result(n.div(sum, n.numberLike(sum, n.inputCount())));
}

void convertReciprocal(NodeImport &n) {
  Value x = n.input(0);
  n.ignoreAttributes({"consumed_inputs"});
  n.result(n.div(n.numberLike(x, 1), x));
}

/// The exponent when it is one small whole number.
std::optional<int64_t> wholeExponent(NodeImport &n, Value exponent, Value base) {
  const RefTensor *tensor = n.known(exponent);
  if (!tensor || tensor->size() != 1 || tensor->kind == Scalar::Symbolic ||
      rankOf(exponent) > rankOf(base))
    return std::nullopt;
  double value = tensor->at(0).asReal();
  return value == 1 || value == 2 || value == 3 ? std::optional(int64_t(value)) : std::nullopt;
}

void convertPow(NodeImport &n) {
  Value x = n.input(0), y = n.opset < 7 ? alignedOperand(n) : n.input(1);
  if (!x || !y)
    return;
  if (std::optional<int64_t> exponent = wholeExponent(n, y, x)) {
    Value power = x;
    for (int64_t i = 1; i < *exponent; ++i)
      power = n.mul(power, x);
    return n.result(power);
  }
  if (!isFloat(elementOf(x)) && isFloat(elementOf(y))) {
    Type wide = n.attributes().getF64Type();
    Value power = n.binary<PowOp>(n.convert(x, wide), n.convert(y, wide));
    return n.result(n.convert(power, elementOf(x)));
  }
  n.result(n.binary<PowOp>(x, n.convert(y, elementOf(x))));
}

void convertMod(NodeImport &n) {
  bool truncates = n.intAttribute("fmod", 0) != 0;
  SmallVector<NamedAttribute> attributes;
  if (!truncates)
    attributes.push_back(n.attribute("floor", n.attributes().getUnitAttr()));
  n.result(n.binary<RemOp>(n.input(0), n.input(1), attributes));
}

//===-- Casts ---------------------------------------------------------------------------------===//

/// weft.convert goes to the nearest power of two and gives nan outside the range; the other modes are a step from there.
Value castToPowers(NodeImport &n, Value x, Type element, bool saturate, StringRef mode) {
  if (mode != "up" && mode != "down" && mode != "nearest")
    return n.wrong("round_mode must be up, down or nearest");
  x = n.convert(x, n.f32());
  if (saturate)
    x = clampToLargest(n, x, element);
  Value nearest = n.convert(x, element);
  if (!nearest || mode == "nearest")
    return nearest;
  bool up = mode == "up";
  Value power = n.convert(nearest, n.f32());
  Value beyond = n.compare(up ? CompareKind::Less : CompareKind::Greater, power, x);
  Value next = n.mul(power, n.numberLike(power, up ? 2 : 0.5));
  return n.convert(n.select(beyond, next, power), element);
}

Value castTo(NodeImport &n, Value x, Type element) {
  bool saturate = n.intAttribute("saturate", 1) != 0;
  std::string mode = n.textAttribute("round_mode", "up");
  if (!x || !element)
    return {};
  const FloatFormat *format = floatFormatOf(element);
  if (format && format->isPowers() && elementOf(x) != element)
    return castToPowers(n, x, element, saturate, mode);
  bool narrow = format && format->bits() <= 8;
  if (narrow && saturate && isFloat(elementOf(x)) && elementOf(x) != element)
    x = clampToLargest(n, x, element);
  if (n.opset >= 25 && isPacked(element) && !narrow && isFloat(elementOf(x)))
    x = n.convert(x, n.i32()); // the newest tests expect integers to wrap, those before to saturate
  return n.convert(x, element);
}

void convertCast(NodeImport &n) {
  if (std::optional<int64_t> to = n.intAttribute("to"))
    n.result(castTo(n, n.input(0), n.elementType(*to)));
  else
    n.wrong("attribute 'to' is missing");
}

void convertCastLike(NodeImport &n) { n.result(castTo(n, n.input(0), n.element(1))); }

/// A bool is a byte of 0 or 1.
void convertBitCast(NodeImport &n) {
  Value x = n.input(0);
  std::optional<int64_t> to = n.intAttribute("to");
  Type element = to ? n.elementType(*to) : Type();
  if (!to)
    n.wrong("attribute 'to' is missing");
  if (!x || !element)
    return;
  Type byte = n.attributes().getIntegerType(8, /*isSigned=*/false);
  if (elementOf(x).isInteger(1))
    x = n.convert(x, byte);
  Value bits = n.elementwise<BitcastOp>(
      {x}, n.attribute("to", TypeAttr::get(element.isInteger(1) ? byte : element)));
  n.result(n.convert(bits, element));
}

} // namespace

void addArithmetic(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Abs", 1, newest, convertUnary<AbsOp>});
  table.add({"Ceil", 1, newest, convertUnary<CeilOp>});
  table.add({"Cos", 7, newest, convertUnary<CosOp>});
  table.add({"Erf", 9, newest, convertUnary<ErfOp>});
  table.add({"Exp", 1, newest, convertUnary<ExpOp>});
  table.add({"Floor", 1, newest, convertUnary<FloorOp>});
  table.add({"Log", 1, newest, convertUnary<LogOp>});
  table.add({"Neg", 1, newest, convertUnary<NegOp>});
  table.add({"Round", 11, newest, convertUnary<RoundOp>});
  table.add({"Sign", 9, newest, convertUnary<SignOp>});
  table.add({"Sin", 7, newest, convertUnary<SinOp>});
  table.add({"Sqrt", 1, newest, convertUnary<SqrtOp>});
  table.add({"Tanh", 1, newest, convertUnary<TanhOp>});
  table.add({"Reciprocal", 1, newest, convertReciprocal});
  table.add({"Tan", 7, newest, convertUnary<TanOp>});
  table.add({"Asin", 7, newest, convertUnary<AsinOp>});
  table.add({"Acos", 7, newest, convertUnary<AcosOp>});
  table.add({"Atan", 7, newest, convertUnary<AtanOp>});
  table.add({"Sinh", 9, newest, convertUnary<SinhOp>});
  table.add({"Cosh", 9, newest, convertUnary<CoshOp>});
  table.add({"Asinh", 9, newest, convertUnary<AsinhOp>});
  table.add({"Acosh", 9, newest, convertUnary<AcoshOp>});
  table.add({"Atanh", 9, newest, convertUnary<AtanhOp>});
  table.add({"Add", 1, newest, convertBinary<AddOp>, 2, 2});
  table.add({"Sub", 1, newest, convertBinary<SubOp>, 2, 2});
  table.add({"Mul", 1, newest, convertBinary<MulOp>, 2, 2});
  table.add({"Div", 1, newest, convertBinary<DivOp>, 2, 2});
  table.add({"Pow", 1, newest, convertPow, 2, 2});
  table.add({"Mod", 10, newest, convertMod, 2, 2});
  table.add({"Max", 1, newest, convertVariadic<MaximumOp>, 1, kAnyNumber});
  table.add({"Min", 1, newest, convertVariadic<MinimumOp>, 1, kAnyNumber});
  table.add({"Sum", 1, newest, convertVariadic<AddOp>, 1, kAnyNumber});
  table.add({"Mean", 1, newest, convertMean, 1, kAnyNumber});
  table.add({"Cast", 6, newest, convertCast});
  table.add({"CastLike", 15, newest, convertCastLike, 2, 2});
  table.add({"BitCast", 26, newest, convertBitCast});
}

} // namespace weft::onnx
