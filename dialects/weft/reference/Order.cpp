//===- Order.cpp - Reference semantics of arg_reduce, cumulate and top_k ------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Walk.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

/// A tensor as lines along one dimension: element j of line i is at start(i) + j * stride.
struct Lines {
  int64_t count = 1, length, stride = 1;
  Lines(ArrayRef<int64_t> dims, int64_t axis) : length(dims[axis]) {
    for (auto [d, dim] : llvm::enumerate(dims))
      if (int64_t(d) != axis)
        count *= dim;
    for (int64_t dim : dims.drop_front(axis + 1))
      stride *= dim;
  }
  int64_t at(int64_t line, int64_t j) const {
    return (line / stride * length + j) * stride + line % stride;
  }
};

/// a < b; nan is larger than all others.
bool isLess(Type element, const Scalar &a, const Scalar &b) {
  if (a.kind == Scalar::Real)
    return a.real < b.real || (!std::isnan(a.real) && std::isnan(b.real));
  return isUnsigned(element) ? uint64_t(a.integer) < uint64_t(b.integer) : a.integer < b.integer;
}

} // namespace

LogicalResult ArgReduceOp::evaluate(ReferenceCall &call) {
  const RefTensor &input = *call.inputs[0];
  if (input.kind == Scalar::Symbolic)
    return call.fail("an extremum of shapes");
  SmallVector<int64_t, 4> dims = input.dims;
  dims.erase(dims.begin() + getAxis());
  RefTensor &out = call.outputs.emplace_back(getResult().getType().getElementType(), dims);
  Lines lines(input.dims, getAxis());
  Combiner combiner = getKind() == ExtremumKind::Max ? Combiner::Max : Combiner::Min;
  auto isNan = [](const Scalar &s) { return s.kind == Scalar::Real && std::isnan(s.real); };
  for (int64_t line = 0; line < lines.count; ++line) {
    Scalar best = identityScalar(combiner, input.element);
    for (int64_t j = 0; j < lines.length; ++j)
      best = combineScalars(combiner, input.element, best, input.at(lines.at(line, j)));
    int64_t found = getSelectLast() ? -1 : INT64_MAX;
    for (int64_t j = 0; j < lines.length; ++j) {
      Scalar here = input.at(lines.at(line, j));
      bool same = isNan(here) || (here.real == best.real && here.integer == best.integer);
      if (same && (getSelectLast() || found == INT64_MAX))
        found = j;
    }
    out.integers[line] = found;
  }
  return success();
}

LogicalResult CumulateOp::evaluate(ReferenceCall &call) {
  const RefTensor &input = *call.inputs[0];
  RefTensor &out =
      call.outputs.emplace_back(input.element, input.dims, input.kind == Scalar::Symbolic);
  Lines lines(input.dims, getAxis());
  for (int64_t line = 0; line < lines.count; ++line) {
    Scalar total = identityScalar(Combiner(getKind()), input.element);
    for (int64_t j = 0; j < lines.length; ++j) {
      int64_t at = lines.at(line, getReverse() ? lines.length - 1 - j : j);
      Scalar next = combineScalars(Combiner(getKind()), input.element, total, input.at(at));
      out.set(at, getExclusive() ? total : next);
      total = next;
    }
  }
  return success();
}

LogicalResult TopKOp::evaluate(ReferenceCall &call) {
  const RefTensor &input = *call.inputs[0];
  auto dims = call.dims(getValues().getType());
  if (failed(dims))
    return failure();
  if (input.kind == Scalar::Symbolic)
    return call.fail("an order of shapes");
  Lines lines(input.dims, getAxis()), kept(*dims, getAxis());
  RefTensor best(input.element, *dims), positions(getPositions().getType().getElementType(), *dims);
  for (int64_t line = 0; line < lines.count; ++line) {
    std::vector<int64_t> order(lines.length);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      Scalar x = input.at(lines.at(line, i)), y = input.at(lines.at(line, j));
      if (getSmallest())
        std::swap(x, y);
      if (isLess(input.element, y, x) || isLess(input.element, x, y))
        return isLess(input.element, y, x);
      return i < j;
    });
    for (int64_t j = 0; j < kept.length; ++j) {
      bool there = j < lines.length;
      positions.integers[kept.at(line, j)] = there ? order[j] : -1;
      if (there)
        best.set(kept.at(line, j), input.at(lines.at(line, order[j])));
    }
  }
  call.outputs.push_back(std::move(best));
  call.outputs.push_back(std::move(positions));
  return success();
}

} // namespace weft
