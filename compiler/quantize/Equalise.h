//===- Equalise.h - What channels are divided by, and the scales that follow ------------------===//
//
//   sets = factorSetsOf(edge, extent, seen);            // before rows are observed under them
//   counted = thresholdsOf(extent, sets, seen);         // before elements are counted
//   std::vector<EdgeChoice> choices = choicesOf(edge, extent, sets, seen, counted);
//
// SmoothQuant's factors: a channel is divided by largest(x)^a / largest(w)^(1 - a), and the
// weight's row is multiplied by it. Which strength a, or none, is decided for every edge and way to
// round by itself, by the error of the products that it leads to: a strength that helps one layer
// ruins another.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_EQUALISE_H
#define WEFT_COMPILER_QUANTIZE_EQUALISE_H

#include "compiler/quantize/Observe.h"
#include "compiler/quantize/ranges/RangeMethods.h"
#include "passes/quant/LayerChoice.h"
#include <map>

namespace weft {

/// What the weights of all layers that read an edge are like along its channels.
struct WeightExtent {
  std::vector<double> largest; ///< magnitude by channel, over all layers
  std::vector<double> squares; ///< sums by channel
  /// Of each layer: its columns' largest magnitudes by channel would be a matrix, so elements are
  /// kept where they lie.
  struct Matrix {
    std::vector<float> elements;
    size_t channels, channelStride, columns, columnStride;
    /// Whether each column reads one channel, its own.
    bool isDepthwise() const { return channels > 1 && channelStride == columnStride; }
  };
  std::vector<Matrix> layers;
};
WeightExtent extentOf(const Edge &edge, const std::vector<IntegerLayer> &layers,
                      const std::function<const char *(llvm::StringRef)> &weight);

/// Which bytes one scale rounds to.
struct InputRounding {
  bool isSigned = false;       ///< as ByteRounding
  bool isSymmetric = false;    ///< zero is in the middle, and the largest magnitude 127 away
  bool hasPowersOfTwo = false; ///< scales are
  bool operator==(const InputRounding &other) const {
    return isSigned == other.isSigned && isSymmetric == other.isSymmetric &&
           hasPowersOfTwo == other.hasPowersOfTwo;
  }
};

/// By what a static choice may round.
struct StaticRange {
  float scale;
  int64_t zero;
  double part;    ///< of what was seen, that the scale reaches
  std::string by; ///< the method that chose it (ranges/RangeMethods.h)
};

/// One way to round an edge, for all layers that read it.
struct EdgeChoice {
  LayerChoice choice;
  double strength = -1; ///< -1: none
  /// Of a static one: candidates, the first of which reaches all that was seen.
  std::vector<StaticRange> ranges = {};
  StaticRange range = {1, 0, 1, ""}; ///< of a static one that was taken
  /// Of one with small weights: the position of the same choice with all that a byte holds, whose
  /// range it takes.
  std::optional<unsigned> like = std::nullopt;
  void take(const StaticRange &taken) {
    range = taken;
    choice.scale = taken.scale;
    choice.zero = taken.zero;
  }
  /// Of blocks, by layer: numbers that were rounded by what is read (Moments.h). A layer without
  /// any is rounded to nearest.
  std::map<size_t, std::shared_ptr<const PackedBlocks>> rounded = {};
  /// Of a static one, by layer whose results are rounded, too; the nearest first.
  std::map<size_t, std::vector<RoundedResult>> results = {};
  std::vector<RoundedResult> resultsOf(size_t layer) const {
    auto found = results.find(layer);
    return found == results.end() ? std::vector<RoundedResult>() : found->second;
  }
};

/// How what a layer gave, as of one channel, is rounded; nothing where it gave nothing.
std::optional<RoundedResult> resultOf(const EdgeStatistics &given, unsigned behind,
                                      const InputRounding &rounding);

/// A choice with one of the sets of factors; the first has none.
EdgeChoice withSet(LayerChoice choice, const std::vector<std::vector<float>> &sets, size_t set);
/// An equalisation leaves at most this much of the error, else there is none: one that costs
/// nothing, and one that needs a node of its own where others compute it.
constexpr double kWorthIt = 0.9, kWorthNode = 0.5;
/// The position of the set with the least error; the first unless another is worth it.
size_t bestSet(size_t sets, llvm::function_ref<double(size_t)> errorOfSet, double worth = kWorthIt);

/// Candidates for an edge with channels: ones, then one set for each strength; nothing for others.
std::vector<std::vector<float>> factorSetsOf(const Edge &edge, const WeightExtent &extent,
                                             const EdgeStatistics &seen);

/// What a static choice's elements are to be counted by; its factors follow from extremes alone.
EdgeThresholds thresholdsOf(const WeightExtent &extent, const std::vector<std::vector<float>> &sets,
                            const EdgeStatistics &seen, double worth = kWorthIt);

/// By one scale, for the layers alone or for whatever reads the edge, and by rows where the edge
/// has them, each with the factors whose error is the least. Ranges of elements that were counted
/// with other factors are not taken from the counts.
std::vector<EdgeChoice> choicesOf(const Edge &edge, const WeightExtent &extent,
                                  const std::vector<std::vector<float>> &sets,
                                  const EdgeStatistics &seen, const EdgeThresholds &counted,
                                  const InputRounding &rounding = {});

/// Rows of 16 bits, with the factors whose error is the least; nothing where the edge has no rows,
/// or nothing was read.
std::optional<EdgeChoice> wideRowsOf(const Edge &edge, const WeightExtent &extent,
                                     const std::vector<std::vector<float>> &sets,
                                     const EdgeStatistics &seen);

/// Weights in blocks, what is read stays as it is; channels are divided by the factors whose error
/// is the least, so that those that much is read of are rounded finely (AWQ). Nothing where a layer
/// that reads the edge has no blocks, or nothing was read.
std::optional<EdgeChoice> blocksOf(const Edge &edge, const std::vector<IntegerLayer> &layers,
                                   const WeightExtent &extent,
                                   const std::vector<std::vector<float>> &sets,
                                   const EdgeStatistics &seen);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_EQUALISE_H
