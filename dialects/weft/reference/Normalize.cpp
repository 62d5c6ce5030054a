//===- Normalize.cpp - Reference semantics of softmax, normalize -------------------------------===//

#include "dialects/weft/Weft.h"
#include <cmath>

using namespace mlir;

namespace weft {

/// Calls `line` for every line of the last dimension.
static void forLines(const RefTensor &in, RefTensor &out,
                     function_ref<void(ArrayRef<double>, MutableArrayRef<double>)> line) {
  int64_t width = in.dims.back();
  for (int64_t at = 0, count = in.size(); width > 0 && at < count; at += width)
    line(ArrayRef(in.reals).slice(at, width), MutableArrayRef(out.reals).slice(at, width));
}

LogicalResult SoftmaxOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0];
  bool logarithm = getLogarithm();
  RefTensor &out = call.outputs.emplace_back(in.element, in.dims);
  forLines(in, out, [&](ArrayRef<double> x, MutableArrayRef<double> y) {
    double largest = -INFINITY, sum = 0;
    for (double v : x)
      largest = std::isnan(v) || v > largest ? v : largest;
    for (double v : x)
      sum += std::exp(v - largest);
    for (auto [v, r] : llvm::zip(x, y))
      r = logarithm ? v - largest - std::log(sum) : std::exp(v - largest) / sum;
  });
  return success();
}

LogicalResult NormalizeOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0], &scale = *call.inputs[1], &shift = *call.inputs[2];
  RefTensor &out = call.outputs.emplace_back(in.element, in.dims);
  bool center = getCenter();
  double epsilon = getEpsilon().convertToDouble();
  forLines(in, out, [&](ArrayRef<double> x, MutableArrayRef<double> y) {
    double mean = 0, square = 0;
    if (center)
      for (double v : x)
        mean += v / x.size();
    for (double v : x)
      square += (v - mean) * (v - mean) / x.size();
    double factor = 1 / std::sqrt(square + epsilon);
    for (size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i] - mean) * factor * scale.reals[i] + shift.reals[i];
  });
  return success();
}

} // namespace weft
