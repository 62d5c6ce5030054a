//===- Moments.h - Weights in blocks that are rounded by what calls read ----------------------===//
//
//   MomentRounding rounding{module, options, edges, layers, sets};
//   if (Result<void> done = rounding.run(decisions, isLate); !done) …   // choices have numbers now
//
// Second moments are taken of as many edges at once as a bounded memory holds, by a program that is
// called with all calls, and are gone when the weights that read these edges are rounded.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_MOMENTS_H
#define WEFT_COMPILER_QUANTIZE_MOMENTS_H

#include "compiler/quantize/RoundByMoments.h"
#include "compiler/quantize/Strategy.h"
#include "llvm/Support/ThreadPool.h"

namespace weft {

/// Edges with more channels have blocks that are rounded to nearest.
constexpr int64_t kMostMomentChannels = 4096;

class MomentRounding {
public:
  /// By edge `sets` of factors, as factorSetsOf gives them, and what was `seen`.
  MomentRounding(const Module &module, const QuantizeOptions &options,
                 const std::vector<Edge> &edges, const std::vector<IntegerLayer> &layers,
                 const FactorSets &sets, const std::vector<EdgeStatistics> &seen);

  /// Decisions are by edge, in order. Each that may become blocks gets the factors, and each of its
  /// layers the numbers, that leave the least error; where nearest leaves less, there are none.
  /// Once `isLate`, what is left is rounded to nearest.
  Result<void> run(std::vector<Decision> &decisions, const std::function<bool()> &isLate);

private:
  using Sums = std::vector<std::vector<double>>; ///< by edge of a batch
  /// At least of one call, however late it is.
  Result<Sums> observe(llvm::ArrayRef<size_t> batch, const std::function<bool()> &isLate);
  void round(const std::vector<std::vector<float>> &factorSets, const MomentFactor &moments,
             Decision &decision) const;
  void round(const MomentFactor &moments, llvm::ArrayRef<size_t> members, const EdgeChoice &fewest,
             EdgeChoice &into) const;
  size_t bestFactors(const std::vector<std::vector<float>> &factorSets, const MomentFactor &moments,
                     const Decision &decision) const;
  std::vector<float> weightOf(size_t layer) const;
  Workers workers() const;

  const Module &module;
  const QuantizeOptions &options;
  const std::vector<Edge> &edges;
  const std::vector<IntegerLayer> &layers;
  const FactorSets &sets;
  const std::vector<EdgeStatistics> &seen;
  std::unique_ptr<llvm::ThreadPoolInterface> pool;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_MOMENTS_H
