//===- Observe.cpp ----------------------------------------------------------------------------===//

#include "compiler/quantize/Observe.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/quantize/Strategy.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/NodeNames.h"
#include "passes/quant/Observation.h"
#include "passes/quant/Passes.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

/// That are looked at however late it is: ranges of one call cut off what others have.
constexpr size_t kLeastCalls = 4;

/// What kThresholdsInput says of all edges.
std::vector<float> numbersOf(const std::vector<Edge> &edges, const FactorSets &sets,
                             const std::vector<EdgeThresholds> &thresholds) {
  std::vector<float> numbers;
  for (auto [i, edge] : llvm::enumerate(edges)) {
    size_t set = thresholds.empty() ? 0 : thresholds[i].set;
    for (int64_t k = 0; edge.channel && k < edge.channels; ++k)
      numbers.push_back(set > 0 ? 1 / sets[i][set][size_t(k)] : 1);
    if (thresholds.empty())
      numbers.insert(numbers.end(), size_t(kThresholds), 0);
    else
      llvm::append_range(numbers, thresholds[i].thresholds);
  }
  return numbers;
}

/// Results for an edge, in the order of the pass: least, most, squares, rows, counts, peaks.
size_t resultsOf(const Edge &edge) { return edge.hasRows ? 6 : 5; }

} // namespace

Histogram histogramOf(const Edge &edge, const EdgeStatistics &seen, const Range &range,
                      const EdgeThresholds &with) {
  if (seen.counts.empty())
    return {};
  double zeros = seen.counts.back() - seen.rows * double(edge.channels);
  return histogramOf(range, with.thresholds, seen.counts, std::max(zeros, 0.0));
}

std::string nodeNameOf(Operation *op) {
  auto names = nodeNames(op->getLoc());
  return names.empty() ? op->getName().getStringRef().str() : names.front();
}

/// Says in a program which results of layers are observed.
static void markResults(const Module &module, const ObservedResults &results) {
  Result<func::FuncOp> function = calledFunction(module);
  if (!function)
    return;
  std::vector<IntegerLayer> layers = integerLayers(*function);
  for (auto [i, behind] : llvm::enumerate(results))
    if (!behind.empty())
      layers[i].op->setAttr(
          kObservedBehindAttr,
          DenseI64ArrayAttr::get(layers[i].op->getContext(), llvm::to_vector_of<int64_t>(behind)));
}

Result<std::unique_ptr<Observer>> Observer::create(const Module &module,
                                                   const QuantizeOptions &options,
                                                   const std::vector<Edge> &edges,
                                                   std::vector<std::string> readers,
                                                   const ObservedResults &results) {
  Module copy(module.get().clone());
  markResults(copy, results);
  DiagnosticCollector collector(copy.get().context.get(), "W0300");
  PassManager manager(copy.get().context.get());
  ObserveEdgesOptions observe;
  observe.strengths = kFactorSets;
  observe.mask = options.mask;
  manager.addNestedPass<func::FuncOp>(createObserveEdges(observe));
  if (failed(manager.run(*copy.get().module)))
    return collector.take();
  Result<std::unique_ptr<Session>> session = Session::compile(copy, options, "observe");
  if (!session)
    return session.diagnostics();
  auto observer = std::make_unique<Observer>();
  observer->session = std::move(*session);
  observer->options = &options;
  observer->edges = &edges;
  observer->readers = std::move(readers);
  size_t outputs = 0;
  for (const Edge &edge : edges)
    outputs += resultsOf(edge);
  for (const std::vector<unsigned> &ofLayer : results) {
    observer->given.emplace_back(ofLayer.size());
    outputs += 2 * ofLayer.size();
  }
  observer->first = observer->session->outputs().size() - outputs;
  return observer;
}

Result<std::vector<EdgeStatistics>> Observer::observe(const Calls &calls, const FactorSets &sets,
                                                      const std::vector<EdgeThresholds> &thresholds,
                                                      const std::function<bool()> &isLate) {
  std::vector<float> levels = numbersOf(*edges, sets, thresholds);
  std::vector<float> inverses;
  for (auto [edge, ofEdge] : llvm::zip_equal(*edges, sets))
    if (edge.hasRows)
      for (const std::vector<float> &set : ofEdge)
        for (float factor : set)
          inverses.push_back(1 / factor);
  std::vector<EdgeStatistics> statistics(edges->size());
  count = 0;
  for (size_t i = 0; i < calls.count && (i < kLeastCalls || !isLate()); ++i) {
    if (options->cancelled && options->cancelled())
      return quantizeError("W0399", "interrupted");
    Result<Call> call = calls.read(i);
    if (!call)
      return call.diagnostics();
    Result<BoundCall> bound = session->bind(std::move(*call));
    if (!bound)
      return bound.diagnostics();
    if (!inverses.empty())
      bound->tensors.push_back(listOf(inverses.data(), WEFT_F32, inverses.size()));
    if (!levels.empty())
      bound->tensors.push_back(listOf(levels.data(), WEFT_F32, levels.size()));
    if (Result<void> done = session->call(*bound); !done)
      return done.diagnostics();
    if (Result<void> done = add(statistics, bound->call.name); !done)
      return done.diagnostics();
    ++count;
    if (options->onProgress)
      options->onProgress("observe", count, calls.count);
  }
  return statistics;
}

/// A list of numbers by element, each combined with what is there.
template <typename Combine>
static void combine(std::vector<double> &into, const weft_tensor_t &from, Combine &&combiner) {
  size_t count = size_t(elementsIn(from));
  bool isFirst = into.empty();
  into.resize(count);
  for (size_t i = 0; i < count; ++i)
    into[i] = isFirst ? double(floatsAt(from)[i]) : combiner(into[i], double(floatsAt(from)[i]));
}

Result<void> Observer::add(std::vector<EdgeStatistics> &statistics, const std::string &call) {
  const weft_tensor_t *output = session->outputs().data() + first;
  for (size_t i = 0; i < edges->size(); ++i) {
    EdgeStatistics &edge = statistics[i];
    int64_t rows = *static_cast<const int64_t *>(output[3].data);
    const float *squares = floatsAt(output[2]);
    if (!std::all_of(squares, squares + elementsIn(output[2]),
                     [](float v) { return std::isfinite(v); }))
      return quantizeError("W0321",
                           "what node '" + readers[i] +
                               "' reads is nan, infinite or larger than f32 can square",
                           call);
    bool hasRows = (*edges)[i].hasRows;
    if (rows > 0) {
      combine(edge.least, output[0], [](double a, double b) { return std::min(a, b); });
      combine(edge.most, output[1], [](double a, double b) { return std::max(a, b); });
      combine(edge.squares, output[2], std::plus<>());
      edge.counts.resize(size_t(kThresholds));
      for (auto [i, count] : llvm::enumerate(edge.counts))
        count += static_cast<const int32_t *>(output[4].data)[i];
      if (hasRows)
        combine(edge.peaks, output[5], std::plus<>());
      edge.rows += double(rows);
    }
    output += resultsOf((*edges)[i]);
  }
  addResults(output);
  return {};
}

void Observer::addResults(const weft_tensor_t *output) {
  for (std::vector<EdgeStatistics> &ofLayer : given)
    for (EdgeStatistics &result : ofLayer) {
      if (*floatsAt(output[0]) <= *floatsAt(output[1])) { // else there was nothing
        combine(result.least, output[0], [](double a, double b) { return std::min(a, b); });
        combine(result.most, output[1], [](double a, double b) { return std::max(a, b); });
      }
      output += 2;
    }
}

} // namespace weft
