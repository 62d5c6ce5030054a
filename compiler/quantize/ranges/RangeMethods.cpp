//===- RangeMethods.cpp -----------------------------------------------------------------------===//

#include "compiler/quantize/ranges/RangeMethods.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace weft {
namespace {

constexpr double kLevels = 255;
constexpr double kAlike = 0.02; ///< of the width: ranges whose ends are no further apart are one
constexpr double kParts[] = {0.85, 0.7, 0.55};
constexpr double kLeastPart = 0.2, kPartStep = 0.98; ///< that entropy tries

struct Method {
  const char *name;
  std::function<Range(const Histogram &)> rangeOf;
};

const std::vector<Method> &methods() {
  static const std::vector<Method> list = {
      {"least squares", leastSquaresRange},
      {"entropy", entropyRange},
      {"percentile 99.99", [](const Histogram &h) { return percentileRange(h, 1e-4); }},
      {"percentile 99.9", [](const Histogram &h) { return percentileRange(h, 1e-3); }},
  };
  return list;
}

bool isAlike(const Range &a, const Range &b) {
  double most = kAlike * std::max(a.width(), b.width());
  return std::fabs(a.low - b.low) <= most && std::fabs(a.high - b.high) <= most;
}

void addUnlessAlike(std::vector<NamedRange> &list, NamedRange candidate) {
  bool isKnown = std::any_of(list.begin(), list.end(), [&](const NamedRange &each) {
    return isAlike(each.range, candidate.range);
  });
  if (!isKnown && candidate.range.width() > 0)
    list.push_back(std::move(candidate));
}

/// Below it are so many elements.
double positionOf(const Histogram &histogram, double below) {
  for (size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    double count = histogram.counts[bin];
    if (below <= count && count > 0)
      return histogram.edges[bin] +
             below / count * (histogram.edges[bin + 1] - histogram.edges[bin]);
    below -= count;
  }
  return histogram.edges.back();
}

/// The sum of squares of how far elements of a bin are behind an end that lies at or before it.
double squaresBehind(double end, double from, double to, double count) {
  double near = std::fabs(from - end), far = std::fabs(to - end);
  return count * (near * near + near * far + far * far) / 3;
}

} // namespace

std::vector<NamedRange> rangeCandidates(const Range &seen, const Histogram *histogram) {
  std::vector<NamedRange> list{{seen, "extremes"}};
  for (double part : kParts)
    addUnlessAlike(list, {{part * seen.low, part * seen.high},
                          std::to_string(std::lround(100 * part)) + " % of the extremes"});
  if (histogram && !histogram->isEmpty())
    for (const Method &method : methods()) {
      Range range = method.rangeOf(*histogram);
      addUnlessAlike(
          list, {{std::clamp(range.low, seen.low, 0.0), std::clamp(range.high, 0.0, seen.high)},
                 method.name});
    }
  return list;
}

Range percentileRange(const Histogram &histogram, double share) {
  double cut = share / 2 * histogram.all;
  return {std::min(0.0, positionOf(histogram, cut)),
          std::max(0.0, positionOf(histogram, histogram.all - cut))};
}

/// Each end may be any edge of a bin, or 0. What cutting at it costs is known before, and what
/// rounding costs is a count times a twelfth of the step's square. The bin around 0 costs nothing:
/// what is always 0 is rounded exactly, and little else is in it.
Range leastSquaresRange(const Histogram &histogram) {
  struct End {
    double at, cut, kept; ///< squares of what is behind it; elements between 0 and it
  };
  auto endsOf = [&](bool isHigh) {
    std::vector<End> ends{{0, 0, 0}};
    for (double at : histogram.edges)
      if (isHigh ? at > 0 : at < 0)
        ends.push_back({at, 0, 0});
    for (End &end : ends)
      for (size_t bin = 0; bin < histogram.counts.size(); ++bin) {
        double from = histogram.edges[bin], to = histogram.edges[bin + 1];
        if (isHigh ? to <= 0 : from >= 0)
          continue;
        bool isAtZero = from <= 0 && to >= 0, isBehind = isHigh ? from >= end.at : to <= end.at;
        if (isBehind)
          end.cut += squaresBehind(end.at, from, to, histogram.counts[bin]);
        else if (!isAtZero)
          end.kept += histogram.counts[bin];
      }
    return ends;
  };
  Range best{histogram.edges.front(), histogram.edges.back()};
  double least = INFINITY;
  std::vector<End> highs = endsOf(true);
  for (const End &low : endsOf(false))
    for (const End &high : highs) {
      double step = (high.at - low.at) / kLevels;
      double error = low.cut + high.cut + (low.kept + high.kept) * step * step / 12;
      if (high.at > low.at && error < least) {
        least = error;
        best = {low.at, high.at};
      }
    }
  return best;
}

/// As TensorRT's calibrator: what is cut off counts at the ends of the elements' distribution, and
/// not in that of the rounded ones, which is even over all bins that one level takes together.
static double divergence(const Histogram &histogram, const Range &range) {
  struct Level {
    double count = 0, width = 0;
  };
  size_t bins = histogram.counts.size(), first = bins, last = 0;
  std::vector<double> inside(bins, 0);
  std::map<long, Level> levels;
  auto levelOf = [&](size_t bin) {
    return std::lround(histogram.middle(bin) / (range.width() / kLevels));
  };
  auto widthOf = [&](size_t bin) {
    return std::max(histogram.edges[bin + 1] - histogram.edges[bin], 1e-30);
  };
  double before = 0, behind = 0, all = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    double middle = histogram.middle(bin), count = histogram.counts[bin];
    if (!(count > 0))
      continue;
    if (middle < range.low || middle > range.high) {
      (middle < 0 ? before : behind) += count;
      continue;
    }
    first = std::min(first, bin);
    last = bin;
    inside[bin] = count;
    all += count;
    levels[levelOf(bin)].count += count;
    levels[levelOf(bin)].width += widthOf(bin);
  }
  if (first == bins)
    return INFINITY;
  double sum = 0;
  for (size_t bin = first; bin <= last; ++bin) {
    if (!(inside[bin] > 0))
      continue;
    double is = inside[bin] + (bin == first ? before : 0) + (bin == last ? behind : 0);
    const Level &level = levels[levelOf(bin)];
    double rounded = level.count * widthOf(bin) / level.width / all;
    is /= histogram.all;
    sum += is * std::log(is / rounded);
  }
  return sum;
}

Range entropyRange(const Histogram &histogram) {
  Range seen{std::min(0.0, histogram.edges.front()), std::max(0.0, histogram.edges.back())};
  Range best = seen;
  double least = INFINITY;
  for (double part = 1; part >= kLeastPart; part *= kPartStep) {
    Range range{part * seen.low, part * seen.high};
    if (double is = divergence(histogram, range); is < least) {
      least = is;
      best = range;
    }
  }
  return best;
}

} // namespace weft
