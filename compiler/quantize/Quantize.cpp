//===- Quantize.cpp - weft::Compiler::quantize ------------------------------------------------===//
//
//   layers and edges → what calls read there → choices → losses, prices, strategy → the program
//
// Everything that is measured runs as compiled code, on this machine.
//===------------------------------------------------------------------------------------------===//

#include "compiler/hardware/FindHardware.h"
#include "compiler/hardware/SumBound.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/quantize/Attempts.h"
#include "compiler/quantize/DecisionKinds.h"
#include "compiler/quantize/Moments.h"
#include "compiler/quantize/RoundedCaches.h"
#include "compiler/quantize/Search.h"
#include "compiler/quantize/StrategyFile.h"
#include "compiler/quantize/WriteOnnx.h"
#include "compiler/reduce/WriteProgram.h"
#include "passes/quant/BlockWeight.h"
#include "passes/quant/ByteTables.h"
#include "passes/quant/NodeNames.h"
#include "passes/quant/PositionMask.h"
#include "targets/common/Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kHeldBack = 5; ///< every so many-th call is kept for the evaluation
constexpr double kDefaultCosine = 0.995;
/// With which two products with unsigned bytes fit 16 bits.
constexpr int64_t kSmallWeight = INT16_MAX / (2 * UINT8_MAX);

/// Some of the calls.
Calls partOf(const Calls &calls, std::vector<size_t> which) {
  size_t count = which.size();
  return {count,
          [read = calls.read, which = std::move(which)](size_t i) { return read(which[i]); }};
}

class Quantizer {
public:
  Quantizer(const Module &module, const QuantizeOptions &given)
      : asIs(module), module(module), options(given), deadline(given.seconds) {}

  Result<Quantization> run() {
    for (auto step : {&Quantizer::readOptions, &Quantizer::readMachine, &Quantizer::roundCaches,
                      &Quantizer::readHardware, &Quantizer::findLayers, &Quantizer::observe})
      if (Result<void> done = (this->*step)(); !done)
        return done.diagnostics();
    Search search(module, options, deadline, decisions, kindsOf(decisions, layers, tables, values));
    if (limits && limits->hasDeclaredPrices())
      search.setDeclared([this](const std::vector<BoundCall> &calls) {
        return declaredPrices(module, *limits, layers, decisions, calls);
      });
    search.setMachine(elsewhere ? &*elsewhere : nullptr);
    search.setReference(reference);
    Attempts attempts(module, options, decisions, elsewhere ? &*elsewhere : nullptr, search);
    if (Result<void> done = attempts.prepare(); !done)
      return done.diagnostics();
    if (Result<void> done = search.prepare(); !done)
      return done.diagnostics();
    if (Result<void> done = search.run(); !done)
      return done.diagnostics();
    return finish(search, attempts);
  }

private:
  Result<void> readOptions() {
    if (!options.compile.kernelCode) // most of what is compiled has kernels of what was before
      options.compile.kernelCode = std::make_shared<KernelCode>();
    if (options.calibration.count == 0)
      return quantizeError("W0320", "there are no calls to calibrate with");
    if (Result<void> done = checkBudgets(options.budgets); !done)
      return done;
    if (options.budgets.empty())
      options.budgets = {{QuantizeBudget::Cosine, kDefaultCosine}};
    if (options.evaluation.count > 0)
      return {};
    std::vector<size_t> kept, others;
    for (size_t i = 0; i < options.calibration.count; ++i)
      (i % kHeldBack == kHeldBack - 1 ? kept : others).push_back(i);
    Calls all = options.calibration;
    isJudgedByCalibration = kept.empty(); // too few to keep any
    if (kept.empty())
      kept = others;
    options.evaluation = partOf(all, std::move(kept));
    options.calibration = partOf(all, std::move(others));
    return {};
  }

  /// What is for another machine is called here with the code of this one: integers are the same.
  Result<void> readMachine() {
    target = options.compile.target;
    if (options.machine) {
      elsewhere.emplace(options);
      target = elsewhere->target();
      options.compile.target = CompileOptions().target;
    }
    llvm::Expected<std::vector<FoundTarget>> found = findTargets(target);
    if (!found)
      return quantizeError("W0308", llvm::toString(found.takeError()));
    targetName = found->front().kernels->name().str();
    sumsPairs = found->front().kernels->multipliesBytePairs();
    multipliesHalves = found->front().kernels->halfProductRate() > 1;
    addsShortPairs = found->front().kernels->addsShortPairs();
    multipliesBlocks = found->front().kernels->multipliesByteBlocks();
    return {};
  }

  /// From here on the model is the one that has rounded them, and calls are of that one.
  Result<void> roundCaches() {
    if (options.cache.empty())
      return {};
    if (!options.onnxFile.empty())
      return quantizeError("W0326", "rounded caches are not written into ONNX files");
    if (!options.peers.empty())
      return quantizeError("W0328", "files of others have no rounded caches to compare with");
    Result<std::unique_ptr<RoundedCaches>> rounded = RoundedCaches::create(module, options);
    if (!rounded)
      return rounded.diagnostics();
    caches = std::move(*rounded);
    module = caches->program();
    reference = {&asIs, options.calibration, options.evaluation};
    for (Calls *calls : {&options.calibration, &options.evaluation, &options.timed})
      *calls = caches->callsOf(*calls);
    return {};
  }

  /// A model that breaks the description as it is, as one with an operator that the hardware has
  /// not in floats, is none for it whatever the search finds.
  Result<void> readHardware() {
    if (!options.hardware)
      return {};
    Result<HardwareData> usable = usableOn(*options.hardware, target);
    if (!usable)
      return usable.diagnostics();
    for (const HardwareOperator &way : options.hardware->operators)
      for (const std::string &name : way.names)
        if (!usable->lists(name))
          return quantizeError("W0332", "'" + nameOf(options.hardware) + "' computes " + name +
                                            " with " + llvm::join(way.features, " and ") +
                                            ", which '" + target + "' lacks");
    if (usable->hasDeclaredPrices && !options.peers.empty())
      return quantizeError("W0332",
                           "with declared prices nothing is timed, so files of others have "
                           "no times to compare with");
    if (usable->hasDeclaredPrices && options.machine)
      return quantizeError("W0332", "'" + nameOf(options.hardware) +
                                        "' declares prices, which leaves nothing to predict for '" +
                                        nameOf(options.machine) + "'");
    limits.emplace(std::move(*usable),
                   [this](StringRef name) { return module.get().weightBytes(name); });
    return keepsToHardware(module, caches ? "the model with such caches" : "the model");
  }

  Result<void> keepsToHardware(const Module &program, const std::string &what) const {
    Result<HardwareCheck> check = checkHardware(program, options.hardware, target);
    if (!check)
      return check.diagnostics();
    if (check->findings.empty())
      return {};
    const HardwareFinding &first = check->findings.front();
    size_t others = check->findings.size() - 1;
    return quantizeError("W0332",
                         what + " breaks the description '" + nameOf(options.hardware) +
                             "': " + first.operation + ": " + first.reason +
                             (others > 0 ? ", and " + std::to_string(others) + " more" : ""),
                         first.where, "'weft check --hardware' names them all");
  }

  Result<void> findLayers() {
    Result<func::FuncOp> function = calledFunction(module);
    if (!function)
      return function.diagnostics();
    layers = integerLayers(*function);
    edges = edgesOf(layers);
    tables = byteTables(*function);
    values = valueProducts(*function);
    if (Result<void> done = checkMask(*function); !done)
      return done;
    stays.assign(layers.size(), "");
    tableStays.assign(tables.size(), "");
    valuesStay.assign(values.size(), whyNoHalves());
    for (const std::string &text : options.keepF32) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return quantizeError(
            "W0309", "'" + text + "' is no pattern: " + llvm::toString(pattern.takeError()));
      bool isUsed = false;
      for (size_t i = 0; i < layers.size(); ++i)
        if (matchesNode(*pattern, layers[i].op->getLoc()))
          isUsed = true, stays[i] = "kept";
      for (size_t i = 0; i < tables.size(); ++i)
        if (matchesNode(*pattern, tables[i].read.getLoc()))
          isUsed = true, tableStays[i] = "kept";
      for (size_t i = 0; i < values.size(); ++i)
        if (llvm::any_of(values[i].products,
                         [&](Operation *op) { return matchesNode(*pattern, op->getLoc()); }))
          isUsed = true, valuesStay[i] = "kept";
      if (!isUsed)
        return quantizeError(
            "W0309",
            "'" + text + "' names no product or convolution that could become anything else");
    }
    for (size_t i = 0; limits && i < layers.size(); ++i)
      if (stays[i].empty())
        stays[i] = limits->whyNot(layers[i]);
    if (limits && !limits->hasTables())
      leaveTables("the hardware has no such table");
    if (!asksSize()) // they save no time
      leaveTables("no size is asked for");
    if (layers.empty() && tables.empty())
      return noLayers(*function);
    return options.onnxFile.empty() ? Result<void>() : exceptUnwritable();
  }

  Result<void> noLayers(func::FuncOp function) const {
    std::string others = otherWeights(function);
    return quantizeError("W0323",
                         "there is no product or convolution with a constant weight of f32" +
                             (others.empty() ? "" : ": weights are " + others),
                         module.get().name,
                         others.empty() ? "" : "quantise the model in f32 that it was made of");
  }

  Result<void> checkMask(func::FuncOp function) {
    DiagnosticCollector collector(function.getContext(), "W0320");
    FailureOr<PositionMask> mask = PositionMask::of(function, options.mask);
    if (failed(mask))
      return collector.take();
    bool isAny = llvm::any_of(edges, [&](const Edge &edge) { return mask->covers(edge.value); });
    if (!options.mask.empty() && !isAny)
      return quantizeError("W0320", "no product or convolution reads something with the positions "
                                    "of input '" +
                                        options.mask + "'");
    return {};
  }

  void leaveTables(const char *reason) {
    for (size_t i = 0; i < tables.size(); ++i)
      if (tableStays[i].empty())
        tableStays[i] = reason;
  }

  /// What the ONNX file cannot say is not looked for.
  Result<void> exceptUnwritable() {
    llvm::Expected<OnnxLimits> file = limitsOfOnnx(module, layers, stays, options.onnxFile);
    if (!file)
      return quantizeError("W0326", llvm::toString(file.takeError()));
    for (size_t i = 0; i < layers.size(); ++i)
      if (stays[i].empty() && !file->layers[i].empty())
        stays[i] = "its node " + file->layers[i];
    onnx = std::move(*file);
    leaveTables("tables are not written into ONNX files");
    return {};
  }

  /// Once to know the channels, and once more to know the rows when channels are divided by
  /// factors, and how often what lies between the extremes.
  Result<void> observe() {
    std::vector<std::string> readers;
    std::vector<WeightExtent> extents;
    FactorSets sets;
    auto weight = [&](StringRef name) { return module.get().weightBytes(name); };
    for (const Edge &edge : edges) {
      readers.push_back(nodeNameOf(layers[edge.layers[0]].op));
      extents.push_back(extentOf(edge, layers, weight));
      sets.push_back(factorSetsOf(edge, extents.back(), {}));
    }
    Result<std::unique_ptr<Observer>> observer =
        Observer::create(module, options, edges, std::move(readers), onnx.results);
    if (!observer)
      return observer.diagnostics();
    Result<std::vector<EdgeStatistics>> seen = (*observer)->observe(
        options.calibration, sets, {}, [&] { return deadline.isOver(Deadline::kObserve); });
    if (!seen)
      return seen.diagnostics();
    observed = (*observer)->observed();
    std::vector<EdgeThresholds> thresholds;
    for (size_t i = 0; i < edges.size(); ++i) {
      if (divisionOf(edges[i]) != OnnxLimits::None) // else they stay ones
        sets[i] = factorSetsOf(edges[i], extents[i], (*seen)[i]);
      thresholds.push_back(thresholdsOf(extents[i], sets[i], (*seen)[i], worthOf(edges[i])));
    }
    if (!edges.empty())
      seen = (*observer)->observe(options.calibration, sets, thresholds,
                                  [&] { return deadline.isOver(Deadline::kObserveCounts); });
    if (!seen)
      return seen.diagnostics();
    for (size_t i = 0; i < edges.size(); ++i) {
      const EdgeStatistics &edge = (*seen)[i];
      ranges.emplace_back(0, 0);
      if (!edge.least.empty())
        ranges.back() = {*std::min_element(edge.least.begin(), edge.least.end()),
                         *std::max_element(edge.most.begin(), edge.most.end())};
      InputRounding rounding;
      if (limits)
        rounding = limits->inputOf(decidingLayers(edges[i]), std::min(ranges.back().first, 0.0));
      std::vector<EdgeChoice> choices =
          choicesOf(edges[i], extents[i], sets[i], edge, thresholds[i], rounding);
      addResults(edges[i], rounding, (*observer)->results(), choices);
      if (hasWideRows())
        if (auto rows = wideRowsOf(edges[i], extents[i], sets[i], edge))
          choices.push_back(*rows);
      if (asksBlocks())
        addBlocks(edges[i], blocksOf(edges[i], layers, extents[i], sets[i], edge), choices);
      if (hasHalfChoice(edges[i], choices))
        choices.emplace_back().choice.form = LayerChoice::Half;
      decide(edges[i], std::move(choices));
    }
    if (Result<void> done = roundBlocks(sets, *seen); !done)
      return done;
    for (size_t i = 0; i < tables.size(); ++i)
      decisions.push_back({{}, std::vector<EdgeChoice>(tableStays[i].empty()), i, {}});
    EdgeChoice half;
    half.choice.form = LayerChoice::Half;
    for (size_t i = 0; i < values.size(); ++i)
      decisions.push_back({{}, std::vector<EdgeChoice>(valuesStay[i].empty(), half), {}, i});
    return {};
  }

  /// Hardware that is described has them where it says so; ONNX files say no rows.
  bool hasWideRows() const { return options.onnxFile.empty() && (limits || addsShortPairs); }

  /// Why there are no products of bf16, or empty.
  const char *whyNoHalves() const {
    return limits                      ? "the hardware multiplies no bf16"
           : !options.onnxFile.empty() ? "bf16 is not written into ONNX files"
           : !multipliesHalves         ? "bf16 is not multiplied faster"
                                       : "";
  }

  /// What is read stays as it is, or becomes bytes where the target multiplies these with blocks.
  void addBlocks(const Edge &edge, const std::optional<EdgeChoice> &blocks,
                 std::vector<EdgeChoice> &choices) const {
    if (!blocks)
      return;
    choices.push_back(*blocks);
    if (limits || !multipliesBlocks || !llvm::all_of(edge.layers, [&](size_t layer) {
          return canHave(layers[layer], LayerChoice::ByteBlocks);
        }))
      return;
    for (int64_t bits = kBlockBits; bits <= kMostBlockBits; ++bits) {
      choices.push_back(*blocks);
      choices.back().choice.form = LayerChoice::ByteBlocks;
      choices.back().choice.bits = bits;
    }
  }

  bool hasHalfChoice(const Edge &edge, const std::vector<EdgeChoice> &choices) const {
    return !*whyNoHalves() && !choices.empty() && llvm::all_of(edge.layers, [&](size_t layer) {
      return canHave(layers[layer], LayerChoice::Half);
    });
  }

  /// What divides the channels that are read, in a file for other engines the dearest of its
  /// layers.
  OnnxLimits::Division divisionOf(const Edge &edge) const {
    OnnxLimits::Division division =
        !limits || limits->hasFactors() ? OnnxLimits::Maker : OnnxLimits::None;
    for (size_t layer : onnx.divisions.empty() ? std::vector<size_t>() : edge.layers)
      if (stays[layer].empty())
        division = std::min(division, onnx.divisions[layer]);
    return division;
  }

  /// What is left of an error that is worth dividing channels.
  double worthOf(const Edge &edge) const {
    return divisionOf(edge) == OnnxLimits::Node ? kWorthNode : kWorthIt;
  }

  /// Other engines compute some layers in integers only where their results are rounded, too.
  void addResults(const Edge &edge, const InputRounding &rounding,
                  const std::vector<std::vector<EdgeStatistics>> &given,
                  std::vector<EdgeChoice> &choices) {
    for (size_t layer : onnx.results.empty() ? std::vector<size_t>() : edge.layers)
      for (EdgeChoice &choice : choices)
        for (auto [behind, seen] : llvm::zip_equal(onnx.results[layer], given[layer]))
          if (choice.choice.form == LayerChoice::Static)
            if (auto result = resultOf(seen, behind, rounding))
              choice.results[layer].push_back(*result);
  }

  /// By what is read, where that is known.
  Result<void> roundBlocks(const FactorSets &sets, const std::vector<EdgeStatistics> &seen) {
    if (options.withoutRanges)
      return {};
    return MomentRounding(module, options, edges, layers, sets, seen).run(decisions, [&] {
      return deadline.isOver(Deadline::kMoments);
    });
  }

  HardwareLimits::Layers decidingLayers(const Edge &edge) const {
    HardwareLimits::Layers deciding;
    for (size_t layer : edge.layers)
      if (stays[layer].empty())
        deciding.push_back(&layers[layer]);
    return deciding;
  }

  /// Layers that read an edge decide together, but for those that are to stay.
  void decide(const Edge &edge, std::vector<EdgeChoice> choices) {
    Decision decision;
    bool allHaveRows = options.onnxFile.empty(); // which cannot say rows
    for (size_t layer : edge.layers)
      if (stays[layer].empty()) {
        decision.layers.push_back(layer);
        allHaveRows &= layers[layer].hasRows;
      }
    // What is to stay in f32 reads no bytes, and an ONNX file may not say it.
    bool canBeEverywhere = decision.layers.size() == edge.layers.size() &&
                           llvm::all_of(edge.layers, [&](size_t layer) {
                             return onnx.everywhere.empty() || onnx.everywhere[layer].empty();
                           });
    llvm::erase_if(choices, [&](const EdgeChoice &c) {
      return (!allHaveRows && c.choice.hasRowScales()) || (!canBeEverywhere && c.choice.everywhere);
    });
    if (options.withoutRanges)
      choices = withoutRanges(std::move(choices));
    if (!limits)
      boundWideRows(decidingLayers(edge), choices);
    if (limits && !choices.empty()) {
      choices = limits->kept(choices, decidingLayers(edge), std::min(ranges.back().first, 0.0));
      for (size_t layer : choices.empty() ? decision.layers : std::vector<size_t>())
        stays[layer] = "the hardware has no bytes for all that reads it";
    }
    // What else reads it computes in bytes then, which other engines gain more by than Weft.
    bool isAllInBytes = !options.onnxFile.empty() && options.search.kind == QuantizeSearch::All;
    if (isRoundedResult(edge) || isAllInBytes)
      roundOnce(choices);
    bool hasTimeForTwice = !deadline.isOver(Deadline::kObserveCounts);
    if (!limits && sumsPairs && hasTimeForTwice)
      addSmallWeights(decidingLayers(edge), choices);
    decision.choices = std::move(choices);
    decisions.push_back(std::move(decision));
  }

  /// Whether layers read what a layer gives that is rounded for whoever reads it.
  bool isRoundedResult(const Edge &edge) const {
    for (auto [i, results] : llvm::enumerate(onnx.results))
      for (unsigned behind : results)
        if (stays[i].empty() && valueGivenBehind(layers[i].op, behind) == edge.value)
          return true;
    return false;
  }

  /// What is rounded for all is not rounded by another scale for layers, where one can be for all.
  static void roundOnce(std::vector<EdgeChoice> &choices) {
    if (llvm::any_of(choices, [](const EdgeChoice &each) { return each.choice.everywhere; }))
      llvm::erase_if(choices, [](const EdgeChoice &each) {
        return each.choice.form == LayerChoice::Static && !each.choice.everywhere;
      });
  }

  /// Some processors multiply bytes faster where sums of two products fit 16 bits (PairSums.h): the
  /// same choices with weights so small that all do. Kernels of convolutions in groups multiply no
  /// pairs.
  static void addSmallWeights(const HardwareLimits::Layers &deciding,
                              std::vector<EdgeChoice> &choices) {
    bool isInGroups = llvm::any_of(deciding, [](const IntegerLayer *layer) {
      return !sizesOf(layer->op).groups.isConstant(1);
    });
    for (unsigned like = 0, count = isInGroups ? 0 : unsigned(choices.size()); like < count; ++like)
      if (choices[like].choice.hasBytes()) {
        EdgeChoice &small = choices.emplace_back(choices[like]);
        small.choice.rounding.mostWeight = kSmallWeight;
        small.like = like;
        small.ranges.clear();
      }
  }

  /// Weights that meet rows of 16 bits are so small that no row makes a sum of more than 32; where
  /// that rounds too much away, there are no such rows.
  void boundWideRows(const HardwareLimits::Layers &deciding,
                     std::vector<EdgeChoice> &choices) const {
    auto weight = [&](StringRef name) { return module.get().weightBytes(name); };
    llvm::erase_if(choices, [&](EdgeChoice &each) {
      int64_t &most = each.choice.rounding.mostWeight;
      for (const IntegerLayer *layer :
           each.choice.form == LayerChoice::WideRows ? deciding : HardwareLimits::Layers())
        most = mostWeightOf(*layer, each.choice, HardwareSum(), weight).value_or(0);
      return most < kSmallWeight;
    });
  }

  static std::vector<EdgeChoice> withoutRanges(std::vector<EdgeChoice> choices) {
    std::vector<EdgeChoice> kept;
    for (const EdgeChoice &choice : choices)
      if (choice.choice.form != LayerChoice::Static) {
        kept.emplace_back().choice.form = choice.choice.form;
        kept.back().choice.bits = choice.choice.bits;
      }
    return kept;
  }

  bool asksSize() const {
    return llvm::any_of(options.budgets, [](const QuantizeBudget &budget) {
      return budget.metric == QuantizeBudget::Size;
    });
  }

  /// Blocks of few bits make a file small, and a product faster where reading its weight takes the
  /// time: with weights that caches hold their products are no faster than those of bytes.
  bool asksBlocks() const {
    return options.onnxFile.empty() && (asksSize() || haveManyWeights(layers));
  }

  Result<Quantization> finish(Search &search, Attempts &attempts) {
    Result<std::unique_ptr<Attempt>> attempt = attempts.withinBudgets();
    if (attempt && (*attempt)->taken.other > (*attempt)->taken.base && !asksSize()) {
      search.stayPlain();
      attempt = attempts.once();
    }
    if (!attempt)
      return attempt.diagnostics();
    if (options.hardware)
      if (Result<void> keeps = keepsToHardware((*attempt)->program, "what was found"); !keeps)
        return keeps.diagnostics();
    Session *session = (*attempt)->session.get();
    Result<AccuracySum> sum = search.measure(*session);
    if (!sum)
      return sum.diagnostics();
    Quantization found{(*attempt)->program};
    if (caches) {
      Result<AccuracySum> alone = search.measure(search.inF32());
      if (!alone)
        return alone.diagnostics();
      found.caches = alone->worst();
    }
    found.search = options.search;
    found.layers = describe(search);
    found.simulated = search.simulated();
    found.measured = sum->worst();
    found.plainScore = search.scoreInF32();
    for (size_t i = 0; i < sum->outputs(); ++i)
      if (sum->hasLines(i))
        found.outputs.emplace_back(session->outputName(i), sum->of(i));
    const Timed &taken = (*attempt)->taken;
    found.latency = taken.other / taken.base;
    found.seconds = search.secondsOfCall(taken.other);
    found.predictedLatency = search.predictedLatency();
    found.predictedCosine = search.predictedCosine();
    found.bytes = (*attempt)->bytes;
    found.plainBytes = (*attempt)->plainBytes;
    found.clock = limits && limits->hasDeclaredPrices() ? Quantization::Declared
                  : elsewhere                           ? Quantization::Predicted
                                                        : Quantization::Timed;
    found.calibrated = observed;
    found.isTimeOver = search.isTimeOver() || observed < options.calibration.count;
    found.evaluated = options.evaluation.count;
    found.isJudgedByCalibration = isJudgedByCalibration;
    found.target = targetName;
    found.processor = hostProcessor();
    found.isReached = holds(found.measured, options.budgets) && attempts.isWithinBudgets(**attempt);
    StrategyFiles files = strategyFiles(module, decisions, search.best());
    found.strategy = std::move(files.lines);
    found.strategyWeights = std::move(files.weights);
    found.front = search.front();
    found.tried = search.tried();
    Result<std::vector<QuantizedPoint>> peers = search.comparePeers();
    if (!peers)
      return peers.diagnostics();
    found.peers = std::move(*peers);
    return found;
  }

  std::vector<QuantizedLayer> describe(const Search &search) const {
    std::vector<QuantizedLayer> list;
    auto add = [&](Operation *op, const std::string &reason) {
      QuantizedLayer &layer = list.emplace_back();
      layer.name = nodeNameOf(op);
      layer.form = "f32";
      layer.reason = reason;
    };
    for (auto [layer, reason] : llvm::zip_equal(layers, stays))
      add(layer.op, reason);
    for (auto [table, reason] : llvm::zip_equal(tables, tableStays))
      add(table.read, reason);
    for (auto [group, reason] : llvm::zip_equal(values, valuesStay))
      add(group.first(), reason);
    for (size_t d = 0; d < decisions.size(); ++d) {
      for (size_t layer : decisions[d].layers) {
        list[layer].least = ranges[d].first;
        list[layer].most = ranges[d].second;
        describe(search, d, layer, list[layer]);
      }
      if (decisions[d].choices.empty())
        continue;
      if (decisions[d].table)
        describe(search, d, layers.size(), list[layers.size() + *decisions[d].table]);
      if (decisions[d].values)
        describe(search, d, layers.size(),
                 list[layers.size() + tables.size() + *decisions[d].values]);
    }
    return list;
  }

  static std::string roundingOf(const EdgeChoice &choice, size_t layer) {
    if (!choice.choice.hasBlocks())
      return "";
    return choice.rounded.count(layer) ? "moments" : "nearest";
  }

  void describe(const Search &search, size_t d, size_t index, QuantizedLayer &layer) const {
    const Decision &decision = decisions[d];
    double readers = double(std::max<size_t>(decision.layers.size(), 1));
    for (unsigned choice = 1; choice <= decision.choices.size(); ++choice) {
      const EdgeChoice &each = decision.choices[choice - 1];
      layer.choices.push_back(
          {nameOf(formOf(decision, each)).str(), each.strength, search.lossOfChoice(d, choice),
           search.savingOfChoice(d, choice) / readers, each.range.part, roundingOf(each, index),
           each.range.by, each.choice.rounding.mostWeight});
    }
    if (unsigned chosen = search.best()[d]) {
      const QuantizedChoice &choice = layer.choices[chosen - 1];
      layer.form = choice.form;
      layer.strength = choice.strength;
      layer.loss = choice.loss;
      layer.seconds = choice.seconds;
      layer.range = choice.range;
      layer.rangeBy = choice.rangeBy;
      layer.rounded = choice.rounded;
      layer.mostWeight = choice.mostWeight;
      return;
    }
    bool saves = false;
    for (unsigned choice = 1; choice <= decision.choices.size(); ++choice)
      saves |= search.savingOfChoice(d, choice) > 0;
    layer.reason = !layer.reason.empty() ? layer.reason
                   : decision.choices.empty()
                       ? (options.withoutRanges ? "needs ranges" : "no call reaches it")
                   : saves           ? "loses too much"
                   : decision.values ? "not faster in bf16"
                                     : "not faster in integers";
    if (!decision.choices.empty())
      layer.loss = search.lossOfChoice(d, unsigned(decision.choices.size()));
  }

  const Module &asIs;
  Module module; ///< in f32, with rounded caches where they are asked for
  QuantizeOptions options;
  Deadline deadline;
  std::optional<HardwareLimits> limits;  ///< of what was asked for
  std::optional<OtherMachine> elsewhere; ///< where it is to run; none: here
  std::string target;                    ///< what it is compiled for in the end, as asked for
  std::string targetName;                ///< and by its own name
  bool isJudgedByCalibration = false;    ///< as there are too few calls
  bool sumsPairs = false;                ///< whether smaller weights are multiplied faster there
  bool addsShortPairs = false;           ///< whether rows of 16 bits are multiplied faster there
  bool multipliesBlocks = false;         ///< whether rows in blocks are multiplied as bytes there
  bool multipliesHalves = false;         ///< whether bf16 is multiplied faster there than f32
  std::unique_ptr<RoundedCaches> caches; ///< none: what is kept stays as it is
  std::optional<Search::Reference> reference; ///< with `caches`
  size_t observed = 0;                        ///< calls
  std::vector<IntegerLayer> layers;
  std::vector<Edge> edges;
  std::vector<ByteTable> tables;
  std::vector<ValueProducts> values;
  /// Why it stays in f32 whatever it saves, or empty: by layer, by table, by products of values.
  std::vector<std::string> stays, tableStays, valuesStay;
  OnnxLimits onnx; ///< of the ONNX file that is asked for; empty without one
  std::vector<std::pair<double, double>> ranges; ///< of what edges' layers read, by decision
  std::vector<Decision> decisions;
};

} // namespace

Result<Quantization> Compiler::quantize(const Module &module, const QuantizeOptions &options) {
  return Quantizer(module, options).run();
}

Result<void> writeProgramText(const Module &module, const std::string &path) {
  if (llvm::Error problem = writeProgram(module, path))
    return quantizeError("W0310", llvm::toString(std::move(problem)));
  return {};
}

} // namespace weft
