//===- Histogram.cpp --------------------------------------------------------------------------===//

#include "compiler/quantize/ranges/Histogram.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weft {
namespace {

constexpr double kLeastPart = 1.0 / 512; ///< of the range: what is nearer to 0 is one bin

/// From `far` towards 0, each the same part of the one before, down to `near`.
void addSide(std::vector<double> &list, double far, double near, size_t size) {
  double part = size > 1 ? std::pow(near / std::fabs(far), 1.0 / double(size - 1)) : 1;
  for (size_t i = 0; i < size; ++i)
    list.push_back(far * std::pow(part, double(i)));
}

} // namespace

std::vector<float> thresholdsOf(const Range &seen, size_t size) {
  double near = seen.width() * kLeastPart;
  bool hasLow = -seen.low > near, hasHigh = seen.high > near;
  std::vector<double> list;
  size_t left = size - 1; // but for the last one
  if (hasLow)
    addSide(list, seen.low, near, hasHigh ? left / 2 : left);
  if (hasHigh)
    addSide(list, seen.high, near, left - list.size());
  list.resize(left, seen.high); // of what is always 0, all
  std::sort(list.begin(), list.end());
  std::vector<float> thresholds(list.begin(), list.end());
  thresholds.push_back(std::numeric_limits<float>::max());
  return thresholds;
}

Histogram histogramOf(const Range &seen, const std::vector<float> &thresholds,
                      const std::vector<double> &counts, double zeros) {
  Histogram histogram;
  double low = std::min(seen.low, double(thresholds[0])), before = 0;
  histogram.edges.push_back(low);
  for (size_t i = 0; i < thresholds.size(); ++i) {
    bool isLast = i + 1 == thresholds.size();
    double high = isLast ? std::max(seen.high, histogram.edges.back()) : double(thresholds[i]);
    double count = counts[i] - before;
    before = counts[i];
    bool hasZero = histogram.edges.back() < 0 ? high >= 0 : histogram.edges.size() == 1;
    if (hasZero && zeros > 0)
      count = std::max(0.0, count - std::exchange(zeros, 0.0));
    histogram.edges.push_back(high);
    histogram.counts.push_back(count);
    histogram.all += count;
  }
  return histogram;
}

} // namespace weft
