//===- Equalise.cpp ---------------------------------------------------------------------------===//

#include "compiler/quantize/Equalise.h"
#include "passes/quant/BlockWeight.h"
#include "passes/quant/Observation.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr double kMostByte = 127, kMostShort = 32767, kLevels = 255;
constexpr int64_t kMiddle = 128; ///< the zero point of symmetric bytes
constexpr double kLeastScale = std::numeric_limits<float>::min();

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

WeightExtent::Matrix matrixOf(const IntegerLayer &layer, std::vector<float> elements) {
  SmallVector<int64_t> dims = *typeOf(layer.weight.getResult()).getConstantDims();
  auto strideOf = [&](unsigned dim) {
    return size_t(
        std::accumulate(dims.begin() + dim + 1, dims.end(), int64_t(1), std::multiplies<>()));
  };
  size_t channels = layer.weightChannel ? size_t(dims[*layer.weightChannel]) : 1;
  size_t channelStride = layer.weightChannel ? strideOf(*layer.weightChannel) : 1;
  return {std::move(elements), channels, channelStride, size_t(dims[layer.column]),
          strideOf(layer.column)};
}

/// What is read when channels are divided by factors: least and largest of all, with 0 between
/// them.
Range rangeOf(const EdgeStatistics &seen, ArrayRef<float> factors) {
  double least = 0, most = 0;
  for (size_t k = 0; k < seen.least.size(); ++k) {
    double factor = factors.empty() ? 1 : factors[k];
    least = std::min(least, seen.least[k] / factor);
    most = std::max(most, seen.most[k] / factor);
  }
  return {least, most};
}

double stepOf(double width, double levels) {
  double step = width / levels;
  return step >= kLeastScale && std::isfinite(step) ? step : 1;
}

double staticStep(const EdgeStatistics &seen, ArrayRef<float> factors) {
  return stepOf(rangeOf(seen, factors).width(), kLevels);
}

/// The squared error of all products of an edge, for a mean row: of what is read, whose channels
/// are rounded by a step (what is smaller than the step vanishes and costs no more than itself),
/// and of the weights.
double errorOf(const WeightExtent &extent, const EdgeStatistics &seen, ArrayRef<float> factors,
               double squaredStep) {
  double error = 0;
  size_t channels = seen.squares.size();
  std::vector<double> power(channels);
  for (size_t k = 0; k < channels; ++k) {
    double factor = factors.empty() ? 1 : factors[k];
    power[k] = seen.squares[k] / seen.rows / (factor * factor);
    error += std::min(squaredStep / 12, power[k]) * extent.squares[k] * factor * factor;
  }
  double all = std::accumulate(power.begin(), power.end(), 0.0);
  for (const WeightExtent::Matrix &matrix : extent.layers) {
    std::vector<double> largest(matrix.columns, 0);
    for (size_t i = 0; i < matrix.elements.size(); ++i) {
      double factor = factors.empty() ? 1 : factors[i / matrix.channelStride % matrix.channels];
      double &most = largest[i / matrix.columnStride % matrix.columns];
      most = std::max(most, std::fabs(matrix.elements[i] * factor));
    }
    for (auto [column, most] : llvm::enumerate(largest))
      error += (matrix.isDepthwise() ? power[column] : all) * (most / kMostByte) *
               (most / kMostByte) / 12;
  }
  return error;
}

/// Whose bytes reach a range.
StaticRange roundingOf(const NamedRange &named, const InputRounding &rounding) {
  const Range &range = named.range;
  double step = stepOf(range.width(), kLevels);
  if (rounding.isSymmetric)
    step = stepOf(std::max(-range.low, range.high), kMostByte);
  if (rounding.hasPowersOfTwo)
    step = powerOfTwoFrom(step);
  int64_t zero = rounding.isSymmetric
                     ? kMiddle
                     : int64_t(std::clamp(std::nearbyint(-range.low / step), 0.0, kLevels));
  return {float(step), zero, 1, named.by};
}

/// By one scale, of what is read when channels are divided by factors. Ranges that end at the same
/// scale and zero point are one.
EdgeChoice wholeOf(const EdgeStatistics &seen, ArrayRef<float> factors, const Histogram *histogram,
                   const InputRounding &rounding) {
  EdgeChoice whole;
  whole.choice.rounding.isSigned = rounding.isSigned;
  Range all = rangeOf(seen, factors);
  std::vector<NamedRange> candidates = rangeCandidates(all, histogram);
  if (rounding.hasPowersOfTwo) // whatever the others end at, this is another one
    candidates.push_back({{all.low / 2, all.high / 2}, "50 % of the extremes"});
  for (const NamedRange &named : candidates) {
    StaticRange range = roundingOf(named, rounding);
    bool isKnown = llvm::any_of(whole.ranges, [&](const StaticRange &each) {
      return each.scale == range.scale && each.zero == range.zero;
    });
    if (isKnown)
      continue;
    if (!whole.ranges.empty())
      range.part = double(range.scale) / double(whole.ranges[0].scale);
    whole.ranges.push_back(std::move(range));
  }
  whole.take(whole.ranges[0]);
  return whole;
}

/// The one of a static choice with the least error.
size_t staticSetOf(const WeightExtent &extent, const std::vector<std::vector<float>> &sets,
                   const EdgeStatistics &seen, double worth) {
  auto errorOfSet = [&](size_t set) {
    ArrayRef<float> factors = set ? ArrayRef(sets[set]) : ArrayRef<float>();
    double step = staticStep(seen, factors);
    return errorOf(extent, seen, factors, step * step);
  };
  return bestSet(std::max<size_t>(sets.size(), 1), errorOfSet, worth);
}

} // namespace

size_t bestSet(size_t sets, llvm::function_ref<double(size_t)> errorOfSet, double worth) {
  double plain = errorOfSet(0), least = plain * worth;
  size_t best = 0;
  for (size_t set = 1; set < sets; ++set)
    if (double error = errorOfSet(set); error < least) {
      least = error;
      best = set;
    }
  return best;
}

EdgeChoice withSet(LayerChoice choice, const std::vector<std::vector<float>> &sets, size_t set) {
  if (set > 0)
    choice.factors = sets[set];
  return {std::move(choice), set > 0 ? kStrengths[set - 1] : -1};
}

WeightExtent extentOf(const Edge &edge, const std::vector<IntegerLayer> &layers,
                      const std::function<const char *(StringRef)> &weight) {
  WeightExtent extent;
  extent.largest.assign(size_t(edge.channels), 0);
  extent.squares.assign(size_t(edge.channels), 0);
  for (size_t index : edge.layers) {
    const WeightExtent::Matrix &matrix =
        extent.layers.emplace_back(matrixOf(layers[index], floatsOf(layers[index].weight, weight)));
    for (size_t i = 0; i < matrix.elements.size(); ++i) {
      size_t k = i / matrix.channelStride % matrix.channels;
      double element = matrix.elements[i];
      extent.largest[k] = std::max(extent.largest[k], std::fabs(element));
      extent.squares[k] += element * element;
    }
  }
  return extent;
}

std::vector<std::vector<float>> factorSetsOf(const Edge &edge, const WeightExtent &extent,
                                             const EdgeStatistics &seen) {
  size_t channels = size_t(edge.channels);
  std::vector<std::vector<float>> sets;
  if (!edge.channel || channels < 2)
    return sets;
  sets.emplace_back(channels, 1.0f);
  for (double strength : kStrengths) {
    std::vector<float> &set = sets.emplace_back(channels, 1.0f);
    for (size_t k = 0; k < channels && !seen.least.empty(); ++k) {
      double read = std::max(std::fabs(seen.least[k]), std::fabs(seen.most[k]));
      double factor = std::pow(read, strength) / std::pow(extent.largest[k], 1 - strength);
      if (read > 0 && extent.largest[k] > 0 && std::isnormal(float(factor)) &&
          std::isnormal(float(1 / factor)))
        set[k] = float(factor);
    }
  }
  return sets;
}

std::optional<RoundedResult> resultOf(const EdgeStatistics &given, unsigned behind,
                                      const InputRounding &rounding) {
  if (given.least.empty())
    return std::nullopt;
  LayerChoice whole = wholeOf(given, {}, nullptr, rounding).choice;
  return RoundedResult{behind, whole.scale, whole.zero};
}

EdgeThresholds thresholdsOf(const WeightExtent &extent, const std::vector<std::vector<float>> &sets,
                            const EdgeStatistics &seen, double worth) {
  EdgeThresholds with;
  Range range;
  if (!seen.least.empty()) {
    with.set = staticSetOf(extent, sets, seen, worth);
    range = rangeOf(seen, with.set ? ArrayRef(sets[with.set]) : ArrayRef<float>());
  }
  with.thresholds = thresholdsOf(range, size_t(kThresholds));
  return with;
}

/// Rows whose largest magnitude becomes `most`.
static EdgeChoice rowsOf(LayerChoice::Form form, double most, const WeightExtent &extent,
                         const std::vector<std::vector<float>> &sets, const EdgeStatistics &seen) {
  size_t best = bestSet(sets.size(), [&](size_t set) {
    return errorOf(extent, seen, set ? ArrayRef(sets[set]) : ArrayRef<float>(),
                   seen.peaks[set] / seen.rows / (most * most));
  });
  LayerChoice rows;
  rows.form = form;
  return withSet(rows, sets, best);
}

std::vector<EdgeChoice> choicesOf(const Edge &edge, const WeightExtent &extent,
                                  const std::vector<std::vector<float>> &sets,
                                  const EdgeStatistics &seen, const EdgeThresholds &counted,
                                  const InputRounding &rounding) {
  if (seen.least.empty()) // no call read anything there
    return {};
  auto factorsOf = [&](size_t set) { return set ? ArrayRef(sets[set]) : ArrayRef<float>(); };
  // Calls that were not looked at before may have read more.
  Range range = rangeOf(seen, factorsOf(counted.set));
  Histogram histogram = histogramOf(edge, seen, range, counted);
  auto wholeWith = [&](size_t set) {
    return wholeOf(seen, factorsOf(set), set == counted.set ? &histogram : nullptr, rounding);
  };
  EdgeChoice whole = wholeWith(counted.set);
  EdgeChoice equalised = withSet(whole.choice, sets, counted.set);
  equalised.ranges = whole.ranges;
  equalised.range = whole.range;
  std::vector<EdgeChoice> choices{std::move(equalised)};
  if (edge.hasOthers) { // which read no equalised channels
    EdgeChoice all = wholeWith(0);
    all.choice.everywhere = true;
    choices.push_back(std::move(all));
  }
  if (!edge.hasRows)
    return choices;
  choices.push_back(rowsOf(LayerChoice::Rows, kMostByte, extent, sets, seen));
  return choices;
}

std::optional<EdgeChoice> wideRowsOf(const Edge &edge, const WeightExtent &extent,
                                     const std::vector<std::vector<float>> &sets,
                                     const EdgeStatistics &seen) {
  if (!edge.hasRows || seen.least.empty())
    return std::nullopt;
  return rowsOf(LayerChoice::WideRows, kMostShort, extent, sets, seen);
}

std::optional<EdgeChoice> blocksOf(const Edge &edge, const std::vector<IntegerLayer> &layers,
                                   const WeightExtent &extent,
                                   const std::vector<std::vector<float>> &sets,
                                   const EdgeStatistics &seen) {
  bool allHaveBlocks =
      llvm::all_of(edge.layers, [&](size_t layer) { return layers[layer].hasBlocks; });
  if (!allHaveBlocks || seen.least.empty())
    return std::nullopt;
  std::vector<double> power;
  for (double squares : seen.squares)
    power.push_back(squares / seen.rows);
  size_t best = bestSet(std::max<size_t>(sets.size(), 1), [&](size_t set) {
    double error = 0;
    for (auto [layer, matrix] : llvm::zip_equal(edge.layers, extent.layers))
      error += errorOfBlocks(layers[layer], matrix.elements,
                             set ? ArrayRef(sets[set]) : ArrayRef<float>(), power);
    return error;
  });
  LayerChoice blocks;
  blocks.form = LayerChoice::Blocks;
  return withSet(blocks, sets, best);
}

} // namespace weft
