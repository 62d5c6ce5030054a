//===- Histogram.h - How often what is read lies where ----------------------------------------===//
//
//   std::vector<float> thresholds = thresholdsOf({-3, 5}, 64);          // before it is counted
//   Histogram histogram = histogramOf({-3, 5}, thresholds, counts, zeros);
//
// Thresholds are the denser the nearer they are to 0, as a range that is cut is a part of what was
// seen, and what is far from its ends decides little:
//
//   -3 ── -1.5 ── -0.75 ─ … 0 … ─ 0.62 ── 1.25 ── 2.5 ── 5
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_RANGES_HISTOGRAM_H
#define WEFT_COMPILER_QUANTIZE_RANGES_HISTOGRAM_H

#include <cstddef>
#include <vector>

namespace weft {

/// `low` is at most 0 and `high` at least.
struct Range {
  double low = 0, high = 0;
  double width() const { return high - low; }
};

struct Histogram {
  /// Ascending; bin i is between the edges i and i + 1, and its elements lie there evenly.
  std::vector<double> edges;
  std::vector<double> counts; ///< by bin
  double all = 0;             ///< elements
  bool isEmpty() const { return !(all > 0); }
  double middle(size_t bin) const { return (edges[bin] + edges[bin + 1]) / 2; }
};

/// Ascending, `size` of them, at least 8; the last one is larger than every number.
std::vector<float> thresholdsOf(const Range &seen, size_t size);

/// `counts` are of elements at most as large as each threshold, of which `zeros` in the bin around
/// 0 are none: they stand where positions mean nothing. Elements may lie beyond the range that
/// thresholds were chosen for, but not beyond `seen`.
Histogram histogramOf(const Range &seen, const std::vector<float> &thresholds,
                      const std::vector<double> &counts, double zeros);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_RANGES_HISTOGRAM_H
