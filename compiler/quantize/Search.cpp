//===- Search.cpp -----------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "compiler/quantize/propose/Proposer.h"
#include "dialects/weft/ExtendedInput.h"
#include "weft/artifact.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr size_t kMostAnswerBytes = 64 << 20; ///< of answers in f32 that are kept
constexpr size_t kFrontPoints = 16;
/// Of what may be lost: by so much an artifact's loss is its simulation's.
constexpr double kPromised = 0.98;
constexpr double kSizeMargin = 0.002; ///< of f32's bytes: what a choice changes beside its weights
} // namespace

Result<void> Search::prepare() {
  Result<std::unique_ptr<Session>> compiled = Session::compile(module, options, "plain");
  if (!compiled)
    return compiled.diagnostics();
  plain = std::move(*compiled);
  if (Result<void> done = findStates(); !done)
    return done;
  if (Result<void> done = preparePeers(); !done)
    return done;
  Result<std::unique_ptr<Simulation>> simulated = Simulation::create(module, options, decisions);
  if (!simulated)
    return simulated.diagnostics();
  simulation = std::move(*simulated);
  if (Result<void> done = prepareReference(); !done)
    return done;
  for (size_t i = 0; i < options.evaluation.count; ++i) // before minutes are spent
    if (Result<BoundCall> call = read(options.evaluation, i); !call)
      return call.diagnostics();
  Result<std::vector<size_t>> picked = timedCalls(options.calibration);
  if (options.timed.count > 0) {
    picked = std::vector<size_t>(options.timed.count);
    std::iota(picked->begin(), picked->end(), size_t(0));
  }
  if (!picked)
    return picked.diagnostics();
  for (size_t index : *picked) {
    Result<BoundCall> call =
        read(options.timed.count > 0 ? options.timed : options.calibration, index);
    if (!call)
      return call.diagnostics();
    timed.push_back(std::move(*call));
  }
  Result<PriceBook> opened = PriceBook::open(module, options);
  if (!opened)
    return opened.diagnostics();
  book = std::move(*opened);
  book.setCalls(timed);
  if (!options.score.add)
    return {};
  Result<AccuracySum> own = measure(*plain); // before minutes are spent
  if (!own)
    return own.diagnostics();
  ownScore = own->worst().score;
  return {};
}

Result<void> Search::run() {
  if (Result<void> done = measureLosses(); !done)
    return done;
  if (Result<void> done = measurePrices(); !done)
    return done;
  return chooseInRounds();
}

Result<void> Search::prepareReference() {
  if (!reference)
    return {};
  Result<std::unique_ptr<Session>> compiled =
      Session::compile(*reference->module, options, "reference");
  if (!compiled)
    return compiled.diagnostics();
  referencePlain = std::move(*compiled);
  Result<std::unique_ptr<Simulation>> simulated =
      Simulation::create(*reference->module, options, decisions);
  if (!simulated)
    return simulated.diagnostics();
  referenceSimulation = std::move(*simulated);
  return {};
}

void Search::setRange(size_t decision, unsigned choice, const StaticRange &range) {
  simulation->setRange(decision, choice, range);
  if (reference)
    referenceSimulation->setRange(decision, choice, range);
}

/// Outputs that are inputs with something behind them, as a decoder's caches.
Result<void> Search::findStates() {
  Result<mlir::func::FuncOp> function = calledFunction(reference ? *reference->module : module);
  if (!function)
    return function.diagnostics();
  for (mlir::BlockArgument input : function->getArguments()) {
    llvm::Expected<ExtendedInput> extended = findExtension(input);
    if (extended)
      states.push_back(extended->output);
    else
      llvm::consumeError(extended.takeError());
  }
  return {};
}

static Result<BoundCall> readFor(const Session &session, const Calls &calls, size_t index,
                                 const QuantizeOptions &options) {
  if (options.cancelled && options.cancelled())
    return quantizeError("W0399", "interrupted");
  Result<Call> call = calls.read(index);
  if (!call)
    return call.diagnostics();
  return session.bind(std::move(*call));
}

Result<BoundCall> Search::read(const Calls &calls, size_t index) {
  return readFor(*plain, calls, index, options);
}

Result<BoundCall> Search::readReference(const Calls &calls, size_t index) {
  return readFor(plainReference(), calls, index, options);
}

Result<std::vector<KeptOutput>> Search::expected(const BoundCall &call) {
  Session &model = plainReference();
  if (Result<void> done = model.call(call); !done)
    return done.diagnostics();
  std::vector<KeptOutput> kept = keepOutputs(model.outputs(), model.outputs().size());
  for (unsigned output : states)
    kept[output].isState = true;
  return kept;
}

Result<std::vector<KeptOutput>> Search::expectedOfReference(size_t index) {
  Result<BoundCall> call = readReference(reference->evaluation, index);
  if (!call)
    return call.diagnostics();
  Result<std::vector<KeptOutput>> made = expected(*call);
  for (size_t i = 0; made && i < made->size(); ++i)
    if (plain->outputElement(i) != WEFT_F32) // as rounded caches, which calls to come read
      (*made)[i] = {};
  return made;
}

Result<std::vector<KeptOutput>> Search::expectedOf(size_t index, const BoundCall &call) {
  if (auto known = answers.find(index); known != answers.end())
    return known->second;
  Result<std::vector<KeptOutput>> made = reference ? expectedOfReference(index) : expected(call);
  if (!made)
    return made;
  size_t bytes = 0;
  for (const KeptOutput &output : *made)
    bytes += output.elements.size() * sizeof(float);
  if (answerBytes + bytes <= kMostAnswerBytes) {
    answerBytes += bytes;
    answers.emplace(index, *made);
  }
  return made;
}

//===-- Whole strategies ----------------------------------------------------------------------===//
Result<AccuracySum>
Search::sumOver(const std::function<Result<void>(const BoundCall &)> &call,
                const std::function<const std::vector<weft_tensor_t> &()> &outputs) {
  AccuracySum sum;
  for (size_t i = 0; i < options.evaluation.count; ++i) {
    Result<BoundCall> bound = read(options.evaluation, i);
    if (!bound)
      return bound.diagnostics();
    Result<std::vector<KeptOutput>> wanted = expectedOf(i, *bound);
    if (!wanted)
      return wanted.diagnostics();
    if (Result<void> done = call(*bound); !done)
      return done.diagnostics();
    sum.add(*wanted, outputs(), CountedPositions::of(*bound, options.mask));
    if (options.score.add)
      if (Result<void> done = options.score.add(i, modelOutputs(outputs())); !done)
        return done.diagnostics();
  }
  if (!options.score.add)
    return sum;
  Result<double> score = options.score.finish();
  if (!score)
    return score.diagnostics();
  sum.setScore(*score);
  return sum;
}

/// Names are those of the model in f32.
std::vector<CallTensor> Search::modelOutputs(const std::vector<weft_tensor_t> &outputs) const {
  std::vector<CallTensor> list;
  for (size_t i = 0; i < plain->outputs().size(); ++i) {
    const weft_tensor_t &output = outputs[i];
    list.push_back({plain->outputName(i),
                    weft_element_name(output.element),
                    std::vector<int64_t>(output.dim, output.dim + output.rank),
                    output.data,
                    {}});
  }
  return list;
}

Result<AccuracySum> Search::simulate(const Strategy &tried) {
  return sumOver([&](const BoundCall &call) { return simulation->call(call, tried); },
                 [&]() -> decltype(auto) { return simulation->outputs(); });
}

Result<AccuracySum> Search::measure(Session &program) {
  return sumOver([&](const BoundCall &call) { return program.call(call); },
                 [&]() -> decltype(auto) { return program.outputs(); });
}

//===-- Points of the report ------------------------------------------------------------------===//

std::vector<QuantizedPoint> Search::front() const {
  std::vector<QuantizedPoint> points;
  double bound = lossOf(priced, fastestOf(priced));
  for (size_t i = 0; i < kFrontPoints && bound > 0; ++i, bound /= 2) {
    Strategy each = solve(priced, bound);
    QuantizedPoint point{"", latencyOf(each), 1 - summedLoss(each), false};
    if (points.empty() || points.back().latency != point.latency)
      points.push_back(point);
  }
  return points;
}

std::vector<QuantizedPoint> Search::tried() const {
  std::vector<QuantizedPoint> points;
  for (const auto &[each, sum] : known)
    points.push_back({"", latencyOf(each), sum.worst().cosine, true});
  return points;
}

/// One call, as what it takes may be smaller, or larger.
Result<void> Search::tryPeer(Session &peer, const std::string &name) {
  Result<BoundCall> call = read(options.evaluation, 0);
  if (!call)
    return call.diagnostics();
  if (Result<void> done = plain->call(*call); !done)
    return done;
  if (Result<void> done = peer.call(*call); !done)
    return quantizeError(
        "W0328", "it does not take the model's calls: " + done.diagnostics().front().text, name);
  for (size_t i = 0; i < plain->outputs().size(); ++i) {
    const weft_tensor_t &own = plain->outputs()[i], &other = peer.outputs()[i];
    if (own.rank != other.rank || !std::equal(own.dim, own.dim + own.rank, other.dim))
      return quantizeError("W0328",
                           "'" + plain->outputName(i) + "' has other sizes than the model's", name);
  }
  return {};
}

/// Before anything is measured, as one may be refused.
Result<void> Search::preparePeers() {
  for (const QuantizedPeer &peer : options.peers) {
    Result<std::unique_ptr<Session>> session = Session::compile(peer.module, options, "peer");
    if (!session)
      return session.diagnostics();
    if (!(*session)->isLike(*plain))
      return quantizeError("W0328", "inputs and outputs are not those of the model, in its order",
                           peer.name);
    if (Result<void> done = tryPeer(**session, peer.name); !done)
      return done;
    peers.push_back(std::move(*session));
  }
  return {};
}

Result<std::vector<QuantizedPoint>> Search::comparePeers() {
  std::vector<QuantizedPoint> points;
  for (size_t i = 0; i < peers.size(); ++i) {
    Result<Timed> taken = timeOfPeer(i);
    if (!taken)
      return taken.diagnostics();
    Result<AccuracySum> sum = measure(*peers[i]);
    if (!sum)
      return sum.diagnostics();
    points.push_back(
        {options.peers[i].name, taken->other / taken->base, sum->worst().cosine, true});
  }
  return points;
}

//===-- Choosing ------------------------------------------------------------------------------===//

double Search::latencyOf(const Strategy &tried) const {
  double seconds = aroundSeconds;
  for (size_t i = 0; i < decisions.size(); ++i)
    seconds += costs[i][tried[i]];
  return seconds / plainSeconds;
}

void Search::stayPlain() {
  strategy.assign(decisions.size(), 0);
  counted = {losses, {0, 0}};
  for (std::vector<double> &choices : costs)
    std::fill(choices.begin(), choices.end(), 0);
  aroundSeconds = plainSeconds;
  accuracy = {};
  accuracy.sqnr = INFINITY;
}

std::optional<double> Search::mostLatency(double plain) const {
  std::optional<double> most;
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.metric == QuantizeBudget::Latency || budget.metric == QuantizeBudget::Seconds) {
      bool isPart = budget.metric == QuantizeBudget::Latency;
      double bound = isPart ? budget.bound : budget.bound / secondsOfCall(plain);
      most = std::min(most.value_or(bound), bound);
    }
  return most;
}

double Search::wantedBytes() const {
  double wanted = kAnyBytes, plainBytes = double(plain->fileBytes());
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.metric == QuantizeBudget::Size) {
      double bound = budget.bytesOf(plainBytes);
      // Fewer weights lose the gap in front of them.
      constexpr double few = 1 << WEFT_FEW_WEIGHTS_LOG2;
      bool losesGap = bound < few && plainBytes >= few;
      double now = losesGap ? double(plain->codeAndWeights()) : plainBytes;
      wanted = std::max(wanted, now + plainBytes * kSizeMargin + moreBytes - bound);
    }
  return wanted;
}

/// Whether budgets on accuracy hold with a whole strategy.
Result<bool> Search::keeps(const Strategy &tried) {
  auto found = known.find(tried);
  if (found == known.end()) {
    Result<AccuracySum> sum = simulate(tried);
    if (!sum)
      return sum.diagnostics();
    found = known.emplace(tried, std::move(*sum)).first;
  }
  return holds(found->second.worst(), options.budgets, kPromised);
}

ChoiceTable Search::tableOf(std::optional<double> latency) const {
  ChoiceTable table;
  table.priced = priced;
  for (const DecisionKind &kind : kinds)
    table.bits.push_back(kind.bits);
  table.wantedBytes = wantedBytes();
  if (latency)
    table.wantedSaving =
        (latencyOf(Strategy(decisions.size(), 0)) - *latency + moreLatency) * plainSeconds;
  table.asksAccuracy = asksAccuracy();
  return table;
}

bool Search::asksAccuracy() const {
  return llvm::any_of(options.budgets, [](const QuantizeBudget &b) { return b.isOfAccuracy(); });
}

/// The fastest that keeps the accuracy, where that is asked for. What is not small enough is only
/// better than what is larger.
bool Search::isFaster(const Strategy &tried) const {
  bool isBetter = isSmallEnough(strategy) ? latencyOf(tried) < latencyOf(strategy)
                                          : bytesOf(priced, tried) > bytesOf(priced, strategy);
  return isBetter && (isSmallEnough(tried) || !isSmallEnough(strategy));
}

/// The most accurate that saves enough, where nothing else is asked for; the fastest where none
/// does.
bool Search::isMoreAccurate(const Strategy &tried, const ChoiceTable &table) const {
  if (table.savesEnough(tried) != table.savesEnough(strategy))
    return table.savesEnough(tried);
  if (!table.savesEnough(tried))
    return latencyOf(tried) < latencyOf(strategy);
  auto lossOfWhole = [&](const Strategy &each) {
    return lossOf(known.at(each).worst(), options.budgets);
  };
  return lossOfWhole(tried) < lossOfWhole(strategy);
}

/// Whoever proposes them, strategies are measured whole and judged here.
Result<void> Search::choose() {
  ChoiceTable table = tableOf(mostLatency(plainSeconds));
  std::unique_ptr<Proposer> proposer = proposerOf(options.search, table);
  const Strategy none(decisions.size(), 0);
  strategy = none;
  for (size_t trial = 0;; ++trial) {
    // Until something is found every trial is needed.
    if (strategy != none && isLate(Deadline::kStrategies))
      break;
    std::optional<Strategy> tried = proposer->next();
    if (!tried)
      break;
    Result<bool> kept = keeps(*tried);
    if (!kept)
      return kept.diagnostics();
    if (options.onProgress)
      options.onProgress("strategies", trial + 1, proposer->most());
    bool isFirst = trial == 0 && !table.asksAccuracy;
    if (isFirst || isBetter(*tried, *kept, table))
      strategy = std::move(*tried);
    proposer->hear(*kept);
  }
  return take(strategy);
}

Result<void> Search::take(const Strategy &chosen) {
  strategy = chosen;
  Result<bool> kept = keeps(strategy);
  if (!kept)
    return kept.diagnostics();
  accuracy = known.at(strategy).worst();
  return {};
}

Result<bool> Search::chooseLess(double bytes, double latency) {
  Strategy before = strategy;
  // What was chosen may save more than was asked for, as layers come whole, and is too large or too
  // slow all the same.
  if (bytes > 0)
    moreBytes += std::max(bytes, bytesOf(priced, before) + bytes - wantedBytes());
  if (latency > 0)
    moreLatency +=
        latency + std::max(0.0, *mostLatency(plainSeconds) - moreLatency - latencyOf(before));
  if (Result<void> done = choose(); !done)
    return done.diagnostics();
  if (bytes > 0 && strategy == before)
    if (Result<void> done = takeNarrowest(); !done)
      return done.diagnostics();
  return strategy != before;
}

/// Weights say what files are smaller by, and of small models code is as large: one form in all
/// layers has little of that.
Result<void> Search::takeNarrowest() {
  ChoiceTable table = tableOf(mostLatency(plainSeconds));
  Strategy narrowest = *proposeNarrowest(table)->next();
  Result<bool> kept = keeps(narrowest);
  if (!kept)
    return kept.diagnostics();
  return *kept ? take(narrowest) : Result<void>();
}

} // namespace weft
