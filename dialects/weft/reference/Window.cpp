//===- Window.cpp - Reference semantics of conv, conv_transpose, pool and pool_index -----------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Walk.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

FailureOr<SmallVector<int64_t>> values(ReferenceCall &call, DimsAttr exprs) {
  SmallVector<int64_t> result;
  for (SymExpr expr : exprs.getDims()) {
    FailureOr<int64_t> value = call.value(expr);
    if (failed(value))
      return failure();
    result.push_back(*value);
  }
  return result;
}

/// Adds x*y to an element.
void addProduct(RefTensor &out, int64_t at, const Scalar &x, const Scalar &y) {
  if (out.kind == Scalar::Real)
    out.reals[at] += x.real * y.real;
  else
    out.set(at, Scalar::of(int64_t(uint64_t(out.integers[at]) +
                                   uint64_t(x.integer) * uint64_t(y.integer))));
}

/// Whether a result has symbolic elements, which these operators do not compute with.
bool isSymbolic(ReferenceCall &call) { return call.inputs[0]->kind == Scalar::Symbolic; }

} // namespace

Scalar ConvOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  return combineScalars(Combiner::Prod, getInput().getType().getElementType(), e[0], e[1]);
}

/// Scatters: every element of the operand adds its multiple of the filter to the result.
LogicalResult ConvTransposeOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  auto low = values(call, getLow());
  if (failed(dims) || failed(low))
    return failure();
  if (isSymbolic(call))
    return call.fail("a convolution of shapes");
  const RefTensor &input = *call.inputs[0], &filter = *call.inputs[1];
  RefTensor &out = call.outputs.emplace_back(getAccumulate(), *dims);
  int64_t perGroup = input.dims[1] / int64_t(getGroups());
  SmallVector<int64_t> taps(ArrayRef(filter.dims).drop_front());
  forBox(input.dims, [&](ArrayRef<int64_t> from) {
    Scalar x = input.at(rowMajor(from, input.dims));
    forBox(taps, [&](ArrayRef<int64_t> tap) {
      SmallVector<int64_t> to{from[0], from[1] / perGroup * taps[0] + tap[0]};
      for (size_t d = 0; d < low->size(); ++d) {
        int64_t position = from[d + 2] * getStrides()[d] + tap[d + 1] * getDilations()[d];
        to.push_back(position - (*low)[d]);
        if (to.back() < 0 || to.back() >= (*dims)[d + 2])
          return;
      }
      SmallVector<int64_t> weight{from[1]};
      llvm::append_range(weight, tap);
      addProduct(out, rowMajor(to, *dims), x, filter.at(rowMajor(weight, filter.dims)));
    });
  });
  return success();
}

/// The average is the sum by the rule, divided by the elements counted.
LogicalResult PoolOp::evaluate(ReferenceCall &call) {
  auto low = values(call, getLow()), high = values(call, getHigh());
  if (failed(low) || failed(high) || failed(evaluateByRule(*this, call)))
    return failure();
  if (getKind() != PoolKind::Average)
    return success();
  RefTensor &out = call.outputs[0];
  size_t outer = out.dims.size() - getKernel().size() - getChannelsLast();
  forBox(out.dims, [&](ArrayRef<int64_t> index) {
    int64_t count = 1;
    for (auto [d, size] : llvm::enumerate(getKernel())) {
      int64_t here = 0, start = index[outer + d] * getStrides()[d] - (*low)[d];
      int64_t from = getCountPadding() ? -(*low)[d] : 0;
      int64_t to = call.inputs[0]->dims[outer + d] + (getCountPadding() ? (*high)[d] : 0);
      for (int64_t x = 0; x < size; ++x)
        here += start + x * getDilations()[d] >= from && start + x * getDilations()[d] < to;
      count *= here;
    }
    out.reals[rowMajor(index, out.dims)] /= double(count);
  });
  return success();
}

LogicalResult PoolIndexOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  auto low = values(call, getLow());
  if (failed(dims) || failed(low))
    return failure();
  if (isSymbolic(call))
    return call.fail("a maximum of shapes");
  const RefTensor &input = *call.inputs[0];
  RefTensor &out = call.outputs.emplace_back(getResult().getType().getElementType(), *dims);
  size_t outer = dims->size() - getKernel().size();
  bool u = isUnsigned(input.element);
  auto larger = [&](const Scalar &a, const Scalar &b) {
    if (a.kind == Scalar::Real)
      return a.real > b.real || (std::isnan(a.real) && !std::isnan(b.real));
    return u ? uint64_t(a.integer) > uint64_t(b.integer) : a.integer > b.integer;
  };
  forBox(*dims, [&](ArrayRef<int64_t> index) {
    int64_t best = INT64_MAX;
    Scalar most;
    forBox(getKernel(), [&](ArrayRef<int64_t> x) {
      SmallVector<int64_t> from(index);
      int64_t position = 0;
      for (size_t d = 0; d < x.size(); ++d) {
        int64_t size = input.dims[outer + d], &at = from[outer + d];
        at = at * getStrides()[d] + x[d] * getDilations()[d] - (*low)[d];
        if (at < 0 || at >= size)
          return;
        position = position * size + at;
      }
      Scalar here = input.at(rowMajor(from, input.dims));
      if (best == INT64_MAX || larger(here, most))
        best = position, most = here;
    });
    out.integers[rowMajor(index, *dims)] = best;
  });
  return success();
}

} // namespace weft
