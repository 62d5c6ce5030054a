//===- Resize.cpp - Reference semantics of resize -----------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Walk.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

struct Neighbour {
  int64_t position;
  double weight;
};

double coordinateOf(ResizeCoordinates kind, double i, double n, double m, double s) {
  double halfPixel = (i + 0.5) / s - 0.5;
  switch (kind) {
  case ResizeCoordinates::HalfPixel:
    return halfPixel;
  case ResizeCoordinates::PytorchHalfPixel:
    return m > 1 ? halfPixel : 0;
  case ResizeCoordinates::Asymmetric:
    return i / s;
  case ResizeCoordinates::AlignCorners:
    return m > 1 ? i * (n - 1) / (m - 1) : 0;
  case ResizeCoordinates::HalfPixelSymmetric:
    return n * 0.5 * (1 - m / (s * n)) + halfPixel;
  }
  llvm_unreachable("closed set of coordinates");
}

double nearestTo(ResizeRounding kind, double x) {
  switch (kind) {
  case ResizeRounding::PreferFloor:
    return std::ceil(x - 0.5);
  case ResizeRounding::PreferCeil:
    return std::floor(x + 0.5);
  case ResizeRounding::Floor:
    return std::floor(x);
  case ResizeRounding::Ceil:
    return std::ceil(x);
  }
  llvm_unreachable("closed set of roundings");
}

/// Keys' kernel at a distance.
double cubic(double a, double x) {
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

SmallVector<Neighbour> neighbours(ResizeOp op, double x, int64_t size) {
  auto clamped = [&](double at) { return int64_t(std::max(0.0, std::min(at, double(size - 1)))); };
  if (op.getMode() == ResizeMode::Nearest)
    return {{clamped(nearestTo(op.getRounding(), x)), 1}};
  double low = std::floor(x), total = 0;
  bool linear = op.getMode() == ResizeMode::Linear;
  SmallVector<Neighbour> list;
  for (int k = linear ? 0 : -1; k < (linear ? 2 : 3); ++k) {
    double distance = std::fabs(x - (low + k));
    double weight = linear ? 1 - distance : cubic(op.getCubicA().convertToDouble(), distance);
    if (op.getExcludeOutside() && (low + k < 0 || low + k >= size))
      weight = 0;
    list.push_back({clamped(low + k), weight});
    total += weight;
  }
  if (op.getExcludeOutside())
    for (Neighbour &neighbour : list)
      neighbour.weight /= total;
  return list;
}

} // namespace

LogicalResult ResizeOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  if (failed(dims))
    return failure();
  const RefTensor &input = *call.inputs[0];
  RefTensor &out = call.outputs.emplace_back(input.element, *dims, input.kind == Scalar::Symbolic);
  if (input.size() == 0)
    return success();
  SmallVector<std::vector<SmallVector<Neighbour>>> samples(dims->size()); // by dimension and index
  for (auto [d, m] : llvm::enumerate(*dims))
    for (int64_t i = 0; i < m; ++i) {
      double n = input.dims[d], scale = getScales()[d] == 0 ? m / n : getScales()[d];
      double x = coordinateOf(getCoordinates(), i, n, m, scale);
      samples[d].push_back(keepsDim(d) ? SmallVector<Neighbour>{{i, 1}} : neighbours(*this, x, n));
    }
  forBox(*dims, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> choices, from(index);
    for (auto [d, i] : llvm::enumerate(index))
      choices.push_back(samples[d][i].size());
    double sum = 0;
    int64_t at = rowMajor(index, *dims);
    forBox(choices, [&](ArrayRef<int64_t> choice) {
      double weight = 1;
      for (auto [d, k] : llvm::enumerate(choice)) {
        from[d] = samples[d][index[d]][k].position;
        weight *= samples[d][index[d]][k].weight;
      }
      Scalar element = input.at(rowMajor(from, input.dims));
      if (getMode() == ResizeMode::Nearest)
        out.set(at, element);
      else
        sum += weight * element.real;
    });
    if (getMode() != ResizeMode::Nearest)
      out.reals[at] = sum;
  });
  return success();
}

} // namespace weft
