//===- QuantizedOperators.cpp - Operators on quantised tensors: com.microsoft ----------------------===//
//
// An operand is three inputs: integers, scale and zero point. Most operators restore reals, compute and
// quantise again, as models with QuantizeLinear and DequantizeLinear say it; products are of integers.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Quantization.h"
#include "dialects/weft/ops/Quantize.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// The operand whose integers are input `i`, as reals.
Value restored(NodeImport &n, unsigned i) {
  Value x = n.input(i), scale = n.input(i + 1), zero = n.optionalInput(i + 2);
  if (!x || !scale)
    return {};
  if (isFloat(elementOf(x)) || elementBits(elementOf(x)) > 16)
    return n.wrong("input " + Twine(i) + " must be integers of 16 bits or fewer");
  if (zero && elementOf(zero) != elementOf(x))
    return n.wrong("input " + Twine(i + 2) + " has another element type than what it is for");
  if (!zero)
    zero = n.number(elementOf(x), 0.0);
  return n.elementwise<DequantizeOp>({x, n.convert(scale, n.f32()), zero}, {});
}

/// Reals with the scale of input `i` and the zero point behind it; without one elements are like those of input `like`.
Value stored(NodeImport &n, Value reals, unsigned i, unsigned like) {
  Value zero = n.optionalInput(i + 1);
  return buildQuantize(n, reals, n.input(i), zero, zero ? elementOf(zero) : n.element(like));
}

template <typename Op> void convertBinary(NodeImport &n) {
  n.result(stored(n, n.binary<Op>(restored(n, 0), restored(n, 3)), 6, 0));
}

void convertSigmoid(NodeImport &n) {
  n.result(stored(n, n.activation(ActivationKind::Sigmoid, restored(n, 0)), 3, 0));
}

void convertLeakyRelu(NodeImport &n) {
  double alpha = n.floatAttribute("alpha", 0.01f);
  n.result(stored(n, n.activation(ActivationKind::LeakyRelu, restored(n, 0), alpha), 3, 0));
}

void convertSoftmax(NodeImport &n) {
  unsigned rank = n.rank(0), axis = n.axis(n.intAttribute("axis", -1), rank);
  bool flat = n.intAttribute("opset", 13) < 13;
  if (flat && axis + 1 != rank)
    return (void)n.refuse("lines of several dimensions are not supported");
  if (n.refused())
    return;
  Value lines = n.moveDim(restored(n, 0), axis, rank - 1);
  n.result(stored(n, lines ? n.moveDim(n.softmax(lines), rank - 1, axis) : Value(), 3, 0));
}

void convertGlobalAveragePool(NodeImport &n) {
  bool last = n.intAttribute("channels_last", 0) != 0;
  Value x = restored(n, 0);
  if (!x)
    return;
  if (rankOf(x) < 3)
    return (void)n.wrong("the input must have rank 3 or more");
  SmallVector<int64_t> axes;
  SymExpr count = n.constant(1);
  for (unsigned d = last ? 1 : 2; d < rankOf(x) - (last ? 1 : 0); ++d) {
    axes.push_back(d);
    count = count * typeOf(x).getDim(d);
  }
  Value sum = n.reduce(CombinerKind::Sum, x, axes, /*keepDims=*/true);
  n.result(stored(n, n.div(sum, n.number(n.f32(), count)), 3, 0));
}

/// Output scale and zero point come first.
void convertConcat(NodeImport &n) {
  std::optional<int64_t> axis = n.intAttribute("axis");
  if (!axis || n.inputCount() % 3 != 2)
    return (void)n.wrong(axis ? "the inputs must be a scale, a zero point, and three per tensor"
                              : "attribute 'axis' is missing");
  SmallVector<Value> parts;
  for (unsigned i = 2; i < n.inputCount(); i += 3)
    parts.push_back(restored(n, i));
  if (n.refused() || llvm::is_contained(parts, Value()))
    return;
  n.result(stored(n, n.concat(parts, n.axis(*axis, rankOf(parts[0]))), 0, 2));
}

//===-- Products ------------------------------------------------------------------------------===//

/// Sums of integers as reals.
Value scaledSum(NodeImport &n, Value sum, Value scaleA, Value scaleB) {
  Value scale = n.mul(n.convert(scaleA, n.f32()), n.convert(scaleB, n.f32()));
  return n.mul(n.convert(sum, n.f32()), scale);
}

void convertGemm(NodeImport &n) {
  bool transA = n.intAttribute("transA", 0) != 0, transB = n.intAttribute("transB", 0) != 0;
  double alpha = n.floatAttribute("alpha", 1);
  Value a = n.input(0), b = n.input(3);
  if (!a || !b)
    return;
  if (rankOf(a) != 2 || rankOf(b) != 2)
    return (void)n.wrong("both operands must be matrices");
  Value sum = buildIntegerMatMul(n, transA ? n.transpose(a, {1, 0}) : a,
                                 transB ? n.transpose(b, {1, 0}) : b, n.optionalInput(2),
                                 n.optionalInput(5));
  if (n.hasInput(6)) // of the sum's scale
    sum = n.add(sum, n.convert(n.input(6), n.i32()));
  Value reals = scaledSum(n, sum, n.input(1), n.input(4));
  if (alpha != 1)
    reals = n.mul(reals, n.number(n.f32(), alpha));
  n.result(n.hasInput(7) ? stored(n, reals, 7, 0) : reals);
}

void convertMatMulIntegerToFloat(NodeImport &n) {
  Value sum = buildIntegerMatMul(n, n.input(0), n.input(1), n.optionalInput(4), n.optionalInput(5));
  Value reals = scaledSum(n, sum, n.input(2), n.input(3));
  n.result(n.hasInput(6) ? n.add(reals, n.input(6)) : reals);
}

void convertDynamicQuantizeMatMul(NodeImport &n) {
  Value a = n.input(0), b = n.input(1), scale = n.input(2);
  if (!a || !b || !scale)
    return;
  SmallVector<Value> quantized = buildDynamicQuantize(n, a); // integers, scale, zero point
  Value sum = buildIntegerMatMul(n, quantized[0], b, quantized[2], n.optionalInput(3));
  Value reals = scaledSum(n, sum, quantized[1], scale);
  n.result(n.hasInput(4) ? n.add(reals, n.input(4)) : reals);
}

} // namespace

void addQuantizedOperators(OperatorTable &table) {
  auto add = [&](StringRef name, Converter convert, unsigned least, unsigned most) {
    table.add({name, 1, kNewestMicrosoftOpset, convert, least, most, 1, "com.microsoft"});
  };
  add("QLinearAdd", convertBinary<AddOp>, 7, 8);
  add("QLinearMul", convertBinary<MulOp>, 7, 8);
  add("QLinearSigmoid", convertSigmoid, 4, 5);
  add("QLinearLeakyRelu", convertLeakyRelu, 4, 5);
  add("QLinearSoftmax", convertSoftmax, 4, 5);
  add("QLinearGlobalAveragePool", convertGlobalAveragePool, 4, 5);
  add("QLinearConcat", convertConcat, 4, kAnyNumber);
  add("QGemm", convertGemm, 6, 9);
  add("MatMulIntegerToFloat", convertMatMulIntegerToFloat, 4, 7);
  add("DynamicQuantizeMatMul", convertDynamicQuantizeMatMul, 3, 5);
}

} // namespace weft::onnx
