//===- Moments.cpp ----------------------------------------------------------------------------===//

#include "compiler/quantize/Moments.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kBatchBytes = 256 << 20; ///< of the moments of edges that are observed at once
constexpr int64_t kSampledColumns = 64;   ///< that tell which factors are the best

size_t momentBytes(const Edge &edge) {
  return size_t(edge.channels) * size_t(edge.channels) * sizeof(double);
}

/// The choice of blocks, or null.
EdgeChoice *blocksAmong(Decision &decision) {
  for (EdgeChoice &choice : decision.choices)
    if (choice.choice.form == LayerChoice::Blocks)
      return &choice;
  return nullptr;
}

/// Edges whose layers may become blocks, as many together as may be in memory.
std::vector<std::vector<size_t>> batchesOf(const std::vector<Edge> &edges,
                                           std::vector<Decision> &decisions) {
  std::vector<std::vector<size_t>> batches;
  size_t bytes = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!blocksAmong(decisions[i]) || decisions[i].layers.empty() ||
        edges[i].channels > kMostMomentChannels)
      continue;
    if (batches.empty() || bytes + momentBytes(edges[i]) > kBatchBytes) {
      batches.emplace_back();
      bytes = 0;
    }
    batches.back().push_back(i);
    bytes += momentBytes(edges[i]);
  }
  return batches;
}

/// Some columns of a weight, as a matrix whose channels lead.
struct Sample {
  Sample(const WeightGrid &whole, ArrayRef<float> weight)
      : grid{whole.channels, std::min(whole.columns, kSampledColumns), true, whole.bits},
        share(double(whole.columns) / double(grid.columns)) {
    for (int64_t channel = 0; channel < grid.channels; ++channel)
      for (int64_t column = 0; column < grid.columns; ++column)
        elements.push_back(
            weight[size_t(whole.element(channel, column * whole.columns / grid.columns))]);
  }

  WeightGrid grid;
  double share; ///< columns of the weight for each that is here
  std::vector<float> elements;
};

/// Of matrices that are their own transposes.
void addLowerHalf(std::vector<double> &sums, const float *moments, size_t channels) {
  for (size_t row = 0; row < channels; ++row)
    for (size_t at = row * channels; at <= row * channels + row; ++at)
      sums[at] += double(moments[at]);
}

/// One program for a batch.
Result<std::unique_ptr<Session>> compile(const Module &module, const QuantizeOptions &options,
                                         ArrayRef<size_t> batch) {
  Module copy(module.get().clone());
  DiagnosticCollector collector(copy.get().context.get(), "W0300");
  PassManager manager(copy.get().context.get());
  SmallVector<int64_t> list(batch.begin(), batch.end());
  ObserveMomentsOptions observe;
  observe.edges = list;
  observe.mask = options.mask;
  manager.addNestedPass<func::FuncOp>(createObserveMoments(observe));
  if (failed(manager.run(*copy.get().module)))
    return collector.take();
  return Session::compile(copy, options, "moments");
}

} // namespace

MomentRounding::MomentRounding(const Module &module, const QuantizeOptions &options,
                               const std::vector<Edge> &edges,
                               const std::vector<IntegerLayer> &layers, const FactorSets &sets,
                               const std::vector<EdgeStatistics> &seen)
    : module(module), options(options), edges(edges), layers(layers), sets(sets), seen(seen),
      pool(std::make_unique<llvm::DefaultThreadPool>(
          llvm::hardware_concurrency(options.compile.jobs))) {}

Result<void> MomentRounding::run(std::vector<Decision> &decisions,
                                 const std::function<bool()> &isLate) {
  std::vector<std::vector<size_t>> batches = batchesOf(edges, decisions);
  size_t done = 0, all = 0;
  for (const std::vector<size_t> &batch : batches)
    all += batch.size();
  if (options.onProgress && all > 0)
    options.onProgress("moments", 0, all);
  for (const std::vector<size_t> &batch : batches) {
    if (isLate())
      break;
    Result<Sums> sums = observe(batch, isLate);
    if (!sums)
      return sums.diagnostics();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (options.cancelled && options.cancelled())
        return quantizeError("W0399", "interrupted");
      MomentFactor moments(std::move((*sums)[i]), size_t(edges[batch[i]].channels),
                           seen[batch[i]].rows);
      if (moments.isUsable())
        round(sets[batch[i]], moments, decisions[batch[i]]);
      if (options.onProgress)
        options.onProgress("moments", ++done, all);
    }
  }
  return {};
}

Result<MomentRounding::Sums> MomentRounding::observe(ArrayRef<size_t> batch,
                                                     const std::function<bool()> &isLate) {
  Result<std::unique_ptr<Session>> session = compile(module, options, batch);
  if (!session)
    return session.diagnostics();
  Sums sums;
  for (size_t edge : batch)
    sums.emplace_back(momentBytes(edges[edge]) / sizeof(double), 0.0);
  for (size_t i = 0; i < options.calibration.count && (i == 0 || !isLate()); ++i) {
    if (options.cancelled && options.cancelled())
      return quantizeError("W0399", "interrupted");
    Result<Call> call = options.calibration.read(i);
    if (!call)
      return call.diagnostics();
    Result<BoundCall> bound = (*session)->bind(std::move(*call));
    if (!bound)
      return bound.diagnostics();
    if (Result<void> called = (*session)->call(*bound); !called)
      return called.diagnostics();
    workers()(batch.size(), [&](size_t edge) {
      addLowerHalf(sums[edge], floatsAt((*session)->outputs()[edge]),
                   size_t(edges[batch[edge]].channels));
    });
  }
  return sums;
}

std::vector<float> MomentRounding::weightOf(size_t layer) const {
  return floatsOf(layers[layer].weight,
                  [&](StringRef name) { return module.get().weightBytes(name); });
}

/// What is rounded in parallel is the same whoever rounds it.
Workers MomentRounding::workers() const {
  return [this](size_t count, const std::function<void(size_t)> &job) {
    for (size_t i = 0; i < count; ++i)
      pool->async([&job, i] { job(i); });
    pool->wait();
  };
}

/// By the error of some columns, rounded the better way.
size_t MomentRounding::bestFactors(const std::vector<std::vector<float>> &factorSets,
                                   const MomentFactor &moments, const Decision &decision) const {
  std::vector<Sample> samples;
  for (size_t layer : decision.layers)
    samples.emplace_back(gridOf(layers[layer]), weightOf(layer));
  return bestSet(std::max<size_t>(factorSets.size(), 1), [&](size_t set) {
    ArrayRef<float> factors = set ? ArrayRef(factorSets[set]) : ArrayRef<float>();
    double error = 0;
    for (const auto &[grid, share, elements] : samples) {
      auto nearest = roundBlocks(grid, elements, factors);
      auto rounded = roundByMoments(grid, elements, factors, moments, workers());
      error +=
          share * std::min(errorByMoments(grid, elements, factors, nearest, moments, workers()),
                           errorByMoments(grid, elements, factors, rounded, moments, workers()));
    }
    return error;
  });
}

void MomentRounding::round(const std::vector<std::vector<float>> &factorSets,
                           const MomentFactor &moments, Decision &decision) const {
  size_t set = bestFactors(factorSets, moments, decision);
  std::map<int64_t, EdgeChoice> byBits; // choices of as many bits have the same numbers
  for (EdgeChoice &each : decision.choices) {
    if (!each.choice.hasBlocks())
      continue;
    LayerChoice choice;
    choice.form = each.choice.form;
    choice.bits = each.choice.bits;
    each = withSet(choice, factorSets, set);
    auto [known, isNew] = byBits.emplace(choice.bits, each);
    if (isNew)
      round(moments, decision.layers, byBits.begin()->second, known->second);
    each.rounded = known->second.rounded;
  }
}

/// Layers where that is better than to round to nearest, which the choice of the fewest bits tells.
void MomentRounding::round(const MomentFactor &moments, llvm::ArrayRef<size_t> members,
                           const EdgeChoice &fewest, EdgeChoice &into) const {
  ArrayRef<float> factors = into.choice.factors;
  for (size_t layer : members) {
    if (&fewest != &into && !fewest.rounded.count(layer))
      continue;
    WeightGrid grid = gridOf(layers[layer], into.choice.bits);
    std::vector<float> weight = weightOf(layer);
    auto errorOf = [&](const BlockWeight &rounded) {
      return errorByMoments(grid, weight, factors, rounded, moments, workers());
    };
    BlockWeight rounded = roundByMoments(grid, weight, factors, moments, workers());
    if (&fewest != &into || errorOf(rounded) < errorOf(roundBlocks(grid, weight, factors)))
      into.rounded[layer] = std::make_shared<const PackedBlocks>(packed(rounded, grid.bits));
  }
}

} // namespace weft
