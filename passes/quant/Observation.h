//===- Observation.h - What a program returns that --weft-observe-edges made ----------------------===//
#ifndef WEFT_PASSES_QUANT_OBSERVATION_H
#define WEFT_PASSES_QUANT_OBSERVATION_H

#include "passes/quant/IntegerLayers.h"

namespace weft {

/// What names of inputs begin with that a model does not have itself.
constexpr llvm::StringLiteral kOwnInputs = "quantize.";

/// The input with inverses of factors: of each edge with rows one set after the other, each with a number for every channel.
constexpr llvm::StringLiteral kFactorsInput = "quantize.factors";

/// On a layer whose results are observed: behind how many operators each, as RoundedResult.
constexpr llvm::StringLiteral kObservedBehindAttr = "weft.observed_behind";

/// The channels of all edges with rows.
int64_t peakChannels(const std::vector<Edge> &edges);

/// The input with what is counted by: of each edge one inverse of a factor for every channel, then the thresholds that elements are compared
/// with.
constexpr llvm::StringLiteral kThresholdsInput = "quantize.thresholds";
constexpr int64_t kThresholds = 64;
/// Its numbers for one edge.
inline int64_t thresholdNumbers(const Edge &edge) {
  return (edge.channel ? edge.channels : 0) + kThresholds;
}

} // namespace weft

#endif // WEFT_PASSES_QUANT_OBSERVATION_H
