//===- Compare.cpp ----------------------------------------------------------------------------===//
#include "tools/weft/cli/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace weft::cli {

Summary summarize(const HostTensor &tensor) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Summary summary{nan, nan, nan, 0};
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double value = tensor.get(i);
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  int64_t numbers = tensor.count() - summary.nans;
  if (numbers)
    summary = {low, sum / static_cast<double>(numbers), high, summary.nans};
  return summary;
}

static double errorOf(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  double difference = std::fabs(got - expected);
  if (!std::isfinite(difference))
    return std::numeric_limits<double>::infinity();
  return difference / std::max(1.0, std::fabs(expected));
}

static std::vector<int64_t> indexOf(int64_t position, const std::vector<int64_t> &dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = position % dims[d];
    position /= dims[d];
  }
  return index;
}

Comparison compareTensors(const HostTensor &got, const HostTensor &expected, double tolerance) {
  if (tolerance < 0)
    tolerance = isFloat(got.element()) ? kDefaultTolerance : 0;
  Comparison result{true, 0, {}, 0, 0, 0};
  bool sameType = got.element() == expected.element();
  int64_t worstAt = got.count() ? 0 : -1;
  for (int64_t i = 0; i < got.count(); ++i) {
    if (sameType && got.sameBits(expected, i))
      continue;
    double error = errorOf(got.get(i), expected.get(i));
    // Whole numbers beyond 2^53 may look alike as doubles; their bits say that they are not.
    if (sameType && error == 0 && !isFloat(got.element()))
      error = std::numeric_limits<double>::min();
    result.wrong += error > tolerance;
    if (error > result.worst) {
      result.worst = error;
      worstAt = i;
    }
  }
  if (worstAt >= 0) {
    result.index = indexOf(worstAt, got.dims());
    result.got = got.get(worstAt);
    result.expected = expected.get(worstAt);
  }
  result.good = result.wrong == 0;
  return result;
}

std::string printSummary(const Summary &summary) {
  char text[160];
  snprintf(text, sizeof text, "min %-10.4g  mean %-10.4g  max %-10.4g  nan %lld", summary.min,
           summary.mean, summary.max, static_cast<long long>(summary.nans));
  return text;
}

} // namespace weft::cli
