//===- Quantization.cpp - Integers that stand for reals -----------------------------------------===//

#include "compiler/import/onnx/operators/Quantization.h"
#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/types/FloatFormat.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// How a scale or zero point lies beside the data: one number, one per index of an axis, or one per
/// block along it.
struct Granularity {
  int64_t axis = 1, block = 0;
};

Granularity readGranularity(NodeImport &n) {
  return {n.intAttribute("axis", 1), n.opset >= 21 ? n.intAttribute("block_size", 0) : 0};
}

/// One value per block as one per element.
Value repeatBlocks(NodeImport &n, Value parameter, Value x, const Granularity &g) {
  unsigned axis = n.axis(g.axis, rankOf(x));
  if (n.refused() || rankOf(parameter) != rankOf(x))
    return n.wrong("a blockwise scale must have the rank of the data");
  Dims dims(typeOf(parameter).getDims()), apart = dims, joined = dims;
  apart.insert(apart.begin() + axis + 1, n.constant(1));
  Value repeated = n.reshape(parameter, apart);
  apart[axis + 1] = n.constant(g.block);
  joined[axis] = dims[axis] * g.block;
  repeated = n.reshape(n.expandTo(repeated, apart), joined);
  SymExpr size = typeOf(x).getDim(axis);
  if (!n.requireAtMost(size, joined[axis], "the blocks along axis " + Twine(axis)))
    return {};
  return n.sliceDim(repeated, axis, n.constant(0), size);
}

/// A scale or zero point with dimensions that broadcast against the data.
Value alignParameter(NodeImport &n, Value parameter, Value x, const Granularity &g) {
  if (!parameter || !x)
    return {};
  if (typeOf(parameter).getElements().isConstant(1) && g.block == 0)
    return n.reshape(parameter, {});
  if (g.block > 0)
    return repeatBlocks(n, parameter, x, g);
  if (rankOf(parameter) != 1)
    return rankOf(parameter) == 0 ? parameter : n.wrong("a scale must be one number or a list");
  unsigned axis = n.axis(g.axis, rankOf(x));
  if (n.refused())
    return {};
  Dims dims(rankOf(x) - axis, n.constant(1));
  dims[0] = typeOf(parameter).getDim(0);
  return n.reshape(parameter, dims);
}

/// Whether `x` is a constant with blocks of its own scale: its elements then stay what is stored.
bool isBlockwiseWeight(Value x, Value scale, Value zero, const Granularity &g) {
  auto same = [&](Value v) { return !v || rankOf(v) == rankOf(x); };
  return g.block > 0 && x.getDefiningOp<ConstantOp>() && same(scale) && same(zero) &&
         elementBits(elementOf(x)) <= 8;
}

/// x - zero of narrow floats.
Value centered(NodeImport &n, Value x, Value zero) {
  Value wide = n.convert(x, n.f32());
  return zeroPointMatters(n, zero) ? n.sub(wide, n.convert(zero, n.f32())) : wide;
}

/// Parameters broadcast against `x`.
Value dequantized(NodeImport &n, Value x, Value scale, Value zero) {
  if (!zero && x)
    zero = n.number(elementOf(x), 0.0);
  if (zero && elementOf(zero) != elementOf(x))
    return n.wrong("the zero point has another type than the data");
  return n.elementwise<DequantizeOp>({x, scale, zero}, {});
}

void convertDequantize(NodeImport &n) {
  Granularity g = readGranularity(n);
  Value x = n.input(0), scale = n.input(1);
  int64_t declared = n.opset >= 23 ? n.intAttribute("output_dtype", 0) : 0;
  Type element = declared ? n.elementType(declared) : n.element(1);
  if (!x || !scale || !element)
    return;
  if (Value zero = n.optionalInput(2); isBlockwiseWeight(x, scale, zero, g))
    return n.result(
        n.convert(buildDequantizeBlocks(n, x, scale, zeroPointMatters(n, zero) ? zero : Value(),
                                        n.axis(g.axis, rankOf(x)), g.block),
                  element));
  Value zero = n.hasInput(2) ? alignParameter(n, n.input(2), x, g) : Value();
  Value factor = n.convert(alignParameter(n, scale, x, g), n.f32());
  if (isFloat(elementOf(x)))
    return n.result(n.convert(n.mul(centered(n, x, zero), factor), element));
  n.result(n.convert(dequantized(n, x, factor, zero), element));
}

} // namespace

Value buildDequantize(NodeImport &n, Value x, Value scale, Value zero, int64_t axis) {
  Granularity g{axis};
  return dequantized(n, x, n.convert(alignParameter(n, scale, x, g), n.f32()),
                     zero ? alignParameter(n, zero, x, g) : Value());
}

Value buildDequantizeBlocks(NodeImport &n, Value x, Value scale, Value zero, int64_t axis,
                            int64_t block) {
  SmallVector<Value, 3> operands{x, scale};
  if (zero)
    operands.push_back(zero);
  OpBuilder &b = n.attributes();
  return n.emit<DequantizeBlocksOp>(operands, {n.attribute("axis", b.getI64IntegerAttr(axis)),
                                               n.attribute("block", b.getI64IntegerAttr(block))});
}

Value buildQuantize(NodeImport &n, Value x, Value scale, Value zero, Type element, bool saturate) {
  if (!x || !scale || !element)
    return {};
  if (isFloat(element) ? !floatFormatOf(element)
                       : element.isInteger(1) || elementBits(element) > 16)
    return n.wrong("reals are quantised as integers of 2 to 16 bits and as floats of 4 to 16 bits");
  Value wide = n.convert(x, n.f32()), step = n.convert(scale, n.f32());
  if (!isFloat(element))
    return n.elementwise<QuantizeOp>({wide, step, zero ? zero : n.number(element, 0.0)}, {});
  Value ratio = n.div(wide, step);
  if (zeroPointMatters(n, zero))
    ratio = n.add(ratio, n.convert(zero, n.f32()));
  return n.convert(saturate ? clampToLargest(n, ratio, element) : ratio, element);
}

Value clampToLargest(NodeImport &n, Value x, Type element) {
  const FloatFormat &format = *floatFormatOf(element);
  double most = format.decode(format.largest()), least = format.isPowers() ? 1 / most : -most;
  return n.minimum(n.maximum(x, n.numberLike(x, least)), n.numberLike(x, most));
}

SmallVector<Value> buildDynamicQuantize(NodeImport &n, Value x) {
  SmallVector<int64_t> leading =
      llvm::to_vector(llvm::seq<int64_t>(0, std::max<int64_t>(rankOf(x), 1) - 1));
  auto extremum = [&](CombinerKind kind) { // of each line first, in vectors
    Value lines = rankOf(x) == 0 ? x : n.reduce(kind, x, {int64_t(rankOf(x)) - 1}, false);
    return n.reduce(kind, lines, leading, false);
  };
  Value none = n.numberLike(x, 0), steps = n.numberLike(x, 255);
  Value high = n.maximum(extremum(CombinerKind::Max), none);
  Value low = n.minimum(extremum(CombinerKind::Min), none);
  Value scale = n.div(n.sub(high, low), steps);
  Value empty = n.compare(CompareKind::Equal, scale, none),
        divisor = n.select(empty, n.numberLike(x, 1), scale);
  Value zero = n.unary<RoundOp>(n.neg(n.div(low, divisor)));
  zero = n.convert(n.minimum(n.maximum(zero, none), steps),
                   n.elementType(int64_t(OnnxElementType::UInt8)));
  return {buildQuantize(n, x, divisor, zero, zero ? elementOf(zero) : Type()), scale, zero};
}

bool hasConstantWeight(NodeImport &n) {
  return llvm::all_of(llvm::seq<unsigned>(3, 6), [&](unsigned i) {
    return n.hasInput(i) && isa_and_nonnull<ConstantOp, FillOp>(n.input(i).getDefiningOp());
  });
}

bool zeroPointMatters(GraphBuilder &g, Value zero) {
  auto fill = zero ? zero.getDefiningOp<FillOp>() : FillOp();
  if (auto number = fill ? dyn_cast<IntegerAttr>(fill.getValue()) : IntegerAttr())
    return !number.getValue().isZero();
  const RefTensor *tensor = zero ? g.known(zero) : nullptr;
  return zero && !(tensor && tensor->kind != Scalar::Symbolic &&
                   llvm::all_of(llvm::seq<int64_t>(0, tensor->size()),
                                [&](int64_t i) { return tensor->at(i).asReal() == 0; }));
}

namespace {

void convertQuantize(NodeImport &n) {
  Granularity g = readGranularity(n);
  Value x = n.input(0), scale = n.input(1);
  int64_t declared = n.opset >= 21 ? n.intAttribute("output_dtype", 0) : 0;
  n.ignoreAttributes({"precision"}); // the ratio is computed in float, as by default
  bool saturate = n.intAttribute("saturate", 1) != 0;
  Type element = n.hasInput(2)
                     ? n.element(2)
                     : n.elementType(declared ? declared : int64_t(OnnxElementType::UInt8));
  if (!x || !scale || !element)
    return;
  Value zero = n.hasInput(2) ? alignParameter(n, n.input(2), x, g) : Value();
  n.result(buildQuantize(n, x, alignParameter(n, scale, x, g), zero, element, saturate));
}

void convertDynamicQuantize(NodeImport &n) {
  if (Value x = n.input(0))
    n.results = buildDynamicQuantize(n, x);
}

/// Products with a constant are written as a model with QuantizeLinear and DequantizeLinear says them, and become ones of integers there.
Value productWithWeight(NodeImport &n) {
  Value a = buildDequantize(n, n.input(0), n.input(1), n.input(2), 0);
  Value b = buildDequantize(n, n.input(3), n.input(4), n.input(5), n.rank(3) - 1);
  return a && b ? buildMatMul(n, a, b, n.f32()) : Value();
}

/// One number, or one per row (column) of a matrix, as floats.
Value besideMatrix(NodeImport &n, Value parameter, bool perRow) {
  Value wide = n.convert(parameter, n.f32());
  return wide && rankOf(wide) == 1 && perRow ? n.unsqueeze(wide, int64_t(1)) : wide;
}

/// Neither operand is constant: integers as floats, whose sums are exact up to 2^24 and then as exact as any in f32.
Value productOfTwo(NodeImport &n) {
  auto centred = [&](unsigned i, bool perRow) {
    Value x = n.convert(n.input(i), n.f32());
    return x && zeroPointMatters(n, n.input(i + 2))
               ? n.sub(x, besideMatrix(n, n.input(i + 2), perRow))
               : x;
  };
  Value a = centred(0, /*perRow=*/true), b = centred(3, /*perRow=*/false);
  if (!a || !b)
    return {};
  Value product = n.mul(buildMatMul(n, a, b, n.f32()), besideMatrix(n, n.input(1), true));
  return n.mul(product, besideMatrix(n, n.input(4), false));
}

void convertQLinearMatMul(NodeImport &n) {
  bool isLayer = hasConstantWeight(n) && n.rank(3) == 2 && n.input(1) &&
                 typeOf(n.input(1)).getElements().isConstant(1);
  Value real = isLayer ? productWithWeight(n) : productOfTwo(n);
  Value zero = n.input(7);
  n.result(buildQuantize(n, real, besideMatrix(n, n.input(6), /*perRow=*/true), zero,
                         zero ? elementOf(zero) : Type()));
}

} // namespace

void addQuantization(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"DequantizeLinear", 10, newest, convertDequantize, 2, 3});
  table.add({"QuantizeLinear", 10, newest, convertQuantize, 2, 3});
  table.add({"DynamicQuantizeLinear", 11, newest, convertDynamicQuantize, 1, 1, 3});
  constexpr int64_t microsoft = kNewestMicrosoftOpset;
  table.add({"DequantizeLinear", 1, microsoft, convertDequantize, 2, 3, 1, "com.microsoft"});
  table.add({"QuantizeLinear", 1, microsoft, convertQuantize, 2, 3, 1, "com.microsoft"});
  table.add({"QLinearMatMul", 10, newest, convertQLinearMatMul, 8, 8});
}

} // namespace weft::onnx
