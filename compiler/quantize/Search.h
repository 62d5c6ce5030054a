//===- Search.h - Losses, prices, and the strategy that follows from them ---------------------===//
//
//   Search search(module, options, decisions);
//   if (Result<void> done = search.prepare(); !done) …   // compiles the model and its simulation
//   if (Result<void> done = search.run(); !done) …
//   use(search.best());
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_SEARCH_H
#define WEFT_COMPILER_QUANTIZE_SEARCH_H

#include "compiler/quantize/Deadline.h"
#include "compiler/quantize/DecisionKinds.h"
#include "compiler/quantize/DeclaredPrices.h"
#include "compiler/quantize/Measure.h"
#include "compiler/quantize/OtherMachine.h"
#include "compiler/quantize/PriceBook.h"
#include "compiler/quantize/propose/Proposer.h"
#include <map>

// Losses are measured in SearchLosses.cpp, beside others in SearchRounds.cpp, prices in
// SearchPrices.cpp; who proposes strategies is in propose/.

namespace weft {

class Search {
public:
  Search(const Module &module, const QuantizeOptions &options, const Deadline &deadline,
         std::vector<Decision> &decisions, std::vector<DecisionKind> kinds)
      : module(module), options(options), deadline(deadline), decisions(decisions),
        kinds(std::move(kinds)) {}

  /// Prices are these, of the timed calls, and nothing is timed.
  using Declare = std::function<Result<DeclaredPrices>(const std::vector<BoundCall> &)>;
  void setDeclared(Declare declare) { declared = std::move(declare); }
  /// Programs take what this machine's data say, and nothing is timed.
  void setMachine(const OtherMachine *machine) { elsewhere = machine; }

  /// Strategies are compared with this one, which `module` is but for its inputs and outputs; and
  /// what single choices lose is measured in it.
  struct Reference {
    const Module *module;
    Calls calibration, evaluation; ///< the same ones, as it takes them
  };
  void setReference(std::optional<Reference> model) { reference = std::move(model); }

  Result<void> prepare();
  Result<void> run();

  const Strategy &best() const { return strategy; }
  const Accuracy &simulated() const { return accuracy; }
  /// By decision and choice, from 1 on.
  double lossOfChoice(size_t decision, unsigned choice) const {
    return losses[decision][choice - 1].cosine;
  }
  double savingOfChoice(size_t decision, unsigned choice) const {
    return costs[decision][0] - costs[decision][choice];
  }
  /// Time with the strategy, as a part of the model's in f32, as prices add up.
  double predictedLatency() const { return latencyOf(strategy); }
  /// 1 less what its choices lose, as sums say.
  double predictedCosine() const { return 1 - summedLoss(strategy); }
  /// Whether a phase was ended by the deadline.
  bool isTimeOver() const { return timeOver; }

  /// Of a compiled program that takes the model's inputs.
  Result<AccuracySum> measure(Session &program);
  /// Of the strategy that was found, which is compiled, beside f32.
  Result<Timed> timeBest(Session &program);
  /// Strategies of other losses, as losses and prices add up, the fastest first.
  std::vector<QuantizedPoint> front() const;
  /// Strategies that were measured whole.
  std::vector<QuantizedPoint> tried() const;
  /// Somebody else's programs beside the model in f32.
  Result<std::vector<QuantizedPoint>> comparePeers();
  /// Looks once more, for what is smaller by so many bytes, and faster by such a part of f32's
  /// time, than what was found seemed to be. Whether something else is found.
  Result<bool> chooseLess(double bytes, double latency);
  /// Gives up integers, as together they save nothing: everything stays as it is.
  void stayPlain();
  Session &inF32() { return *plain; }
  /// What the caller's measure says of it; nan where there is none.
  double scoreInF32() const { return ownScore; }
  /// What budgets on time allow, as a part of f32's, which is so many seconds of all timed calls;
  /// nothing where there are none.
  std::optional<double> mostLatency(double plain) const;
  /// Of all timed calls the mean.
  double secondsOfCall(double seconds) const { return seconds / double(timed.size()); }

private:
  struct Loss {
    double cosine; ///< 1 - cosine
    double budget; ///< share of what budgets allow
  };
  /// For a call of the reference.
  Result<std::vector<KeptOutput>> expected(const BoundCall &call);
  /// The same for a call of the evaluation, which all strategies are measured with.
  Result<std::vector<KeptOutput>> expectedOf(size_t index, const BoundCall &call);
  Result<std::vector<KeptOutput>> expectedOfReference(size_t index);
  Result<BoundCall> read(const Calls &calls, size_t index);
  Result<BoundCall> readReference(const Calls &calls, size_t index);
  Session &plainReference() { return reference ? *referencePlain : *plain; }
  Simulation &simulatedReference() { return reference ? *referenceSimulation : *simulation; }
  const Calls &calibration() const {
    return reference ? reference->calibration : options.calibration;
  }
  void setRange(size_t decision, unsigned choice, const StaticRange &range);
  Result<void> prepareReference();
  Result<void> findStates();
  Result<void> preparePeers();
  Result<void> tryPeer(Session &peer, const std::string &name);
  Result<void> measureLosses();
  size_t lossCalls() const; ///< how many calls measure what single choices lose
  Result<BoundCall> readLossCall(size_t index);
  /// The answer of a whole strategy to such a call.
  Result<void> addAnswer(const BoundCall &call, const Strategy &tried,
                         const std::vector<KeptOutput> &wanted, AccuracySum &sum);
  Loss lossFrom(const AccuracySum &sum) const;
  Result<void> forLossCalls(
      llvm::function_ref<Result<void>(const BoundCall &, const std::vector<KeptOutput> &)> visit);
  Result<Loss> lossOfWhole(const Strategy &tried);
  Result<void> measureLossesBeside(const Strategy &chosen, const Loss &whole);
  Result<void> chooseBeside(const Strategy &before, const Loss &whole);
  Result<void> chooseInRounds();
  /// By decision, choice and range.
  using LossSums = std::vector<std::vector<std::vector<AccuracySum>>>;
  Result<void> measureLossesOf(const BoundCall &call, LossSums &sums, bool small);
  static Loss lossOfMoreBits(const Decision &decision, int64_t bits, llvm::ArrayRef<Loss> before);
  Result<void> measureSmallWeights(LossSums &sums, size_t count);
  /// Of the ranges that were measured; what is measured later is of it alone.
  void takeBestRanges(LossSums &sums);
  void leaveWorseRanges(LossSums &sums);
  size_t bestRange(const std::vector<AccuracySum> &sums) const;
  Result<void> measurePrices();
  Result<void> takeDeclaredPrices();
  void setPriced();
  Result<std::unique_ptr<Session>> compile(const Strategy &tried);
  /// In turns, unless it is known. What is compiled already is not compiled for it.
  Result<Timed> timeOf(const Strategy &base, const Strategy &other, Session *compiled = nullptr);
  Result<Timed> timedInTurns(const Strategy &base, const Strategy &other, Session *compiled);
  Result<Timed> predicted(const Strategy &base, const Strategy &other);
  Result<double> predictedSeconds(const Strategy &tried);
  Result<Timed> timeOfPeer(size_t index);
  Result<Session *> baseOf(const Strategy &base);
  std::string textOf(const Strategy &tried) const;
  Result<double> costOf(const Strategy &tried);
  Result<void> measurePricesAround();
  Result<bool> isSumOfPrices(const Strategy &tried);
  /// Whether `again` was set before.
  Result<bool> measureGroups();
  double disagreement() const;
  std::vector<std::vector<size_t>> groups() const;
  bool isLate(double share);
  double weightsOf(const std::vector<size_t> &group) const;
  void estimatePrices(llvm::ArrayRef<std::vector<size_t>> groups);
  /// How far answers to the calls that are kept for it are from those in f32.
  Result<AccuracySum> sumOver(const std::function<Result<void>(const BoundCall &)> &call,
                              const std::function<const std::vector<weft_tensor_t> &()> &outputs);
  std::vector<CallTensor> modelOutputs(const std::vector<weft_tensor_t> &outputs) const;
  Result<AccuracySum> simulate(const Strategy &tried);
  Result<bool> keeps(const Strategy &tried);
  Result<void> choose();
  Result<void> take(const Strategy &chosen);
  Result<void> takeNarrowest();
  /// `latency` is the most that it may be, or nothing.
  ChoiceTable tableOf(std::optional<double> latency) const;
  /// Than what is the best so far.
  bool isFaster(const Strategy &tried) const;
  bool isMoreAccurate(const Strategy &tried, const ChoiceTable &table) const;
  bool isBetter(const Strategy &tried, bool kept, const ChoiceTable &table) const {
    return table.asksAccuracy ? kept && isFaster(tried) : isMoreAccurate(tried, table);
  }
  bool asksAccuracy() const;
  double latencyOf(const Strategy &tried) const;
  double summedLoss(const Strategy &tried) const; ///< of cosine
  /// How many bytes less than in f32 budgets ask for.
  double wantedBytes() const;
  bool isSmallEnough(const Strategy &tried) const {
    return bytesOf(priced, tried) >= wantedBytes();
  }

  const Module &module;
  const QuantizeOptions &options;
  const Deadline &deadline;
  Declare declared;                          ///< none: prices are measured
  const OtherMachine *elsewhere = nullptr;   ///< that says what programs take; null: a clock does
  std::map<std::string, double> predictions; ///< seconds there, by text
  std::vector<Decision> &decisions;          ///< whose ranges are chosen here
  const std::vector<DecisionKind> kinds;
  std::optional<Reference> reference; ///< none: `module`
  std::unique_ptr<Session> plain, referencePlain;
  std::unique_ptr<Simulation> simulation, referenceSimulation;
  std::vector<std::unique_ptr<Session>> peers;
  std::vector<unsigned> states; ///< outputs that calls to come read
  PriceBook book;
  std::vector<BoundCall> timed;
  std::unique_ptr<Session> lastBase; ///< a program that others were timed beside
  Strategy lastBaseOf;
  std::vector<std::vector<Loss>> losses; ///< of each choice alone
  /// What is added up: of each choice, and of all strategies.
  struct Sums {
    std::vector<std::vector<Loss>> choices;
    Loss rest = {0, 0};
  } counted;
  std::vector<std::vector<double>>
      costs; ///< by decision and choice, from 0 on: seconds more than `around`
  PricedDecisions priced;
  std::map<Strategy, AccuracySum> known;             ///< strategies that were measured whole
  std::map<size_t, std::vector<KeptOutput>> answers; ///< in f32, by call of the evaluation
  size_t answerBytes = 0;
  Strategy around;                            ///< that prices are taken around
  double plainSeconds = 0, aroundSeconds = 0; ///< of the timed calls, in f32 and with it
  Strategy strategy;
  Accuracy accuracy;
  /// Than budgets ask for, as files turned out larger, and slower by such a part of f32's time.
  double moreBytes = 0, moreLatency = 0;
  bool timeOver = false;
  double ownScore = NAN; ///< of the model in f32, by the caller
  bool again = false;    ///< what was timed once only is timed once more
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_SEARCH_H
