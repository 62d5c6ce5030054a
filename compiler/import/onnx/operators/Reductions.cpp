//===- Reductions.cpp - ReduceSum and its family, global pooling ------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

/// The input and the dimensions that a Reduce operator combines.
struct Reduction {
  Value x;
  SmallVector<int64_t> axes;
  bool keepDims = true;
};

/// Axes: an attribute until opset 17 (12 for ReduceSum), then an input. None means all, unless
/// `noop_with_empty_axes`.
std::optional<Reduction> readReduction(NodeImport &n) {
  Reduction r;
  r.x = n.input(0);
  r.keepDims = n.intAttribute("keepdims", 1) != 0;
  bool noneMeansNone = n.intAttribute("noop_with_empty_axes", 0) != 0;
  auto list = n.axesOperand("axes", 1);
  if (n.refused())
    return std::nullopt;
  int64_t rank = n.rank(0);
  if (list && !list->empty())
    r.axes = n.axes(*list, rank);
  else if (!noneMeansNone)
    r.axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return n.refused() ? std::nullopt : std::optional(r);
}

bool isNarrowFloat(Type element) { return isFloat(element) && elementBits(element) < 32; }

/// Sums of narrow floats are kept in f32 until the result is complete.
Value widened(NodeImport &n, Value x) {
  return x && isNarrowFloat(elementOf(x)) ? n.convert(x, n.f32()) : x;
}

Value sum(NodeImport &n, Value x, const Reduction &r) {
  return n.reduce(CombinerKind::Sum, x, r.axes, r.keepDims);
}

void finish(NodeImport &n, Value value) { n.result(n.convert(value, n.element(0))); }

void convertReduceSum(NodeImport &n) {
  if (auto r = readReduction(n))
    finish(n, sum(n, widened(n, r->x), *r));
}

void convertReduceSumSquare(NodeImport &n) {
  auto r = readReduction(n);
  if (!r)
    return;
  Value x = widened(n, r->x);
  finish(n, sum(n, n.mul(x, x), *r));
}

void convertReduceL1(NodeImport &n) {
  if (auto r = readReduction(n))
    finish(n, sum(n, n.abs(widened(n, r->x)), *r));
}

void convertReduceL2(NodeImport &n) {
  auto r = readReduction(n);
  if (!r)
    return;
  Value x =
      isFloat(elementOf(r->x)) ? widened(n, r->x) : n.convert(r->x, n.attributes().getF64Type());
  finish(n, n.sqrt(sum(n, n.mul(x, x), *r)));
}

void convertReduceMean(NodeImport &n) {
  auto r = readReduction(n);
  if (!r)
    return;
  Value total = sum(n, widened(n, r->x), *r);
  SymExpr count = n.constant(1);
  for (int64_t axis : r->axes)
    count = count * typeOf(r->x).getDim(axis);
  finish(n, total ? n.div(total, n.number(elementOf(total), count)) : Value());
}

void convertReduceLogSum(NodeImport &n) {
  if (auto r = readReduction(n))
    finish(n, n.log(sum(n, widened(n, r->x), *r)));
}

/// log(sum(e^(x - m))) + m with m the largest element, or 0 where that is infinite.
void convertReduceLogSumExp(NodeImport &n) {
  auto r = readReduction(n);
  if (!r)
    return;
  Value x =
      isFloat(elementOf(r->x)) ? widened(n, r->x) : n.convert(r->x, n.attributes().getF64Type());
  Value most = n.reduce(CombinerKind::Max, x, r->axes, /*keepDims=*/true);
  Value infinite = n.compare(CompareKind::Equal, n.abs(most), n.numberLike(x, INFINITY));
  most = n.select(infinite, n.numberLike(x, 0), most);
  Value result =
      n.log(n.reduce(CombinerKind::Sum, n.exp(n.sub(x, most)), r->axes, /*keepDims=*/true));
  result = n.add(result, most);
  if (result && !r->keepDims) {
    Dims dims(typeOf(result).getDims());
    for (int64_t axis : llvm::reverse(r->axes))
      dims.erase(dims.begin() + axis);
    result = n.reshape(result, dims);
  }
  finish(n, result);
}

/// Of booleans the largest is `or`, the smallest `and`.
template <CombinerKind kind> void convertReduceOf(NodeImport &n) {
  auto r = readReduction(n);
  if (!r)
    return;
  CombinerKind used = kind;
  if (elementOf(r->x).isInteger(1))
    used = kind == CombinerKind::Max ? CombinerKind::Or : CombinerKind::And;
  n.result(n.reduce(used, r->x, r->axes, r->keepDims));
}

void convertReduceProd(NodeImport &n) {
  if (auto r = readReduction(n))
    finish(n, n.reduce(CombinerKind::Prod, widened(n, r->x), r->axes, r->keepDims));
}

//===-- Pooling over everything ---------------------------------------------------------------===//

SmallVector<int64_t> spatialAxes(NodeImport &n) {
  if (n.rank(0) < 3 && !n.refused())
    n.wrong("the input must have rank 3 or more");
  return llvm::to_vector(llvm::seq<int64_t>(2, std::max<int64_t>(n.rank(0), 2)));
}

void convertGlobalAveragePool(NodeImport &n) {
  SmallVector<int64_t> axes = spatialAxes(n);
  if (n.refused())
    return;
  Value total = n.reduce(CombinerKind::Sum, widened(n, n.input(0)), axes, /*keepDims=*/true);
  SymExpr count = n.constant(1);
  for (int64_t axis : axes)
    count = count * n.dim(0, axis);
  finish(n, total ? n.div(total, n.number(elementOf(total), count)) : Value());
}

void convertGlobalMaxPool(NodeImport &n) {
  SmallVector<int64_t> axes = spatialAxes(n);
  n.result(n.reduce(CombinerKind::Max, n.input(0), axes, /*keepDims=*/true));
}

} // namespace

void addReductions(OperatorTable &table) {
  auto add = [&](StringRef name, Converter convert, int64_t inputSince = 18) {
    table.add({name, 1, inputSince - 1, convert});
    table.add({name, inputSince, kNewestOpset, convert, 1, 2});
  };
  add("ReduceSum", convertReduceSum, 13);
  add("ReduceSumSquare", convertReduceSumSquare);
  add("ReduceMean", convertReduceMean);
  add("ReduceL1", convertReduceL1);
  add("ReduceL2", convertReduceL2);
  add("ReduceLogSum", convertReduceLogSum);
  add("ReduceLogSumExp", convertReduceLogSumExp);
  add("ReduceMax", convertReduceOf<CombinerKind::Max>);
  add("ReduceMin", convertReduceOf<CombinerKind::Min>);
  add("ReduceProd", convertReduceProd);
  table.add({"GlobalAveragePool", 1, kNewestOpset, convertGlobalAveragePool});
  table.add({"GlobalMaxPool", 1, kNewestOpset, convertGlobalMaxPool});
}

} // namespace weft::onnx
