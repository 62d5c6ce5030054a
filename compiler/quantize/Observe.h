//===- Observe.h - What layers read in the calls ----------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_OBSERVE_H
#define WEFT_COMPILER_QUANTIZE_OBSERVE_H

#include "compiler/quantize/Session.h"
#include "compiler/quantize/ranges/Histogram.h"
#include "passes/quant/IntegerLayers.h"

namespace weft {

/// Strengths that equalisations are looked for among; before them stands none.
constexpr double kStrengths[] = {0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
constexpr size_t kFactorSets = 1 + sizeof kStrengths / sizeof *kStrengths;

/// Of one edge, over all calls.
struct EdgeStatistics {
  std::vector<double> least, most, squares; ///< by channel; sums of squares
  double rows = 0;                          ///< how many elements each channel had
  std::vector<double> peaks;  ///< by set of factors: sums of squares of rows' largest magnitudes
  std::vector<double> counts; ///< by threshold: elements that are no larger
};

/// What elements of an edge are compared with, when its channels are divided by a set of factors.
struct EdgeThresholds {
  size_t set = 0;
  std::vector<float> thresholds;
};
/// Of what was counted with them and lies in a range. Positions that a mask leaves out are zeros.
Histogram histogramOf(const Edge &edge, const EdgeStatistics &seen, const Range &range,
                      const EdgeThresholds &with);

/// Sets of what channels are divided by: for every edge with channels `kFactorSets` lists, the
/// first of ones.
using FactorSets = std::vector<std::vector<std::vector<float>>>;

/// By layer, behind how many operators what it gives is observed, too.
using ObservedResults = std::vector<std::vector<unsigned>>;

/// Calls the program that --weft-observe-edges made. Its memory does not depend on the number of
/// calls.
class Observer {
public:
  /// `readers` names the node that reads each edge first. Edges and options live as long as the
  /// observer.
  static Result<std::unique_ptr<Observer>>
  create(const Module &module, const QuantizeOptions &options, const std::vector<Edge> &edges,
         std::vector<std::string> readers, const ObservedResults &results = {});
  /// By edge. `sets` and `thresholds` by edge, too; sets are empty for edges without rows, and
  /// without thresholds counts mean nothing. Once `isLate`, no further call is looked at.
  Result<std::vector<EdgeStatistics>> observe(const Calls &calls, const FactorSets &sets,
                                              const std::vector<EdgeThresholds> &thresholds,
                                              const std::function<bool()> &isLate);
  /// Least and largest of what layers gave in all calls, as of one channel, by layer and result.
  const std::vector<std::vector<EdgeStatistics>> &results() const { return given; }
  /// How many calls were looked at.
  size_t observed() const { return count; }

private:
  Result<void> add(std::vector<EdgeStatistics> &statistics, const std::string &call);
  void addResults(const weft_tensor_t *output);

  std::unique_ptr<Session> session;
  const QuantizeOptions *options;
  const std::vector<Edge> *edges;
  std::vector<std::string> readers;               ///< of the nodes that read each edge first
  std::vector<std::vector<EdgeStatistics>> given; ///< as their outputs are ordered
  size_t first = 0;                               ///< output that belongs to edges
  size_t count = 0;                               ///< calls
};

/// The node that an operation comes from, for people.
std::string nodeNameOf(mlir::Operation *op);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_OBSERVE_H
