//===- TuneSearch.h - Tries what a model's kernels let be chosen ---------------------------------===//
//
//   TuneSearch search(module, compile, request, *trialsHere(), console);
//   Result<Done> done = search.run();             // bounded by the budget; nothing is written
//   for (const TunedKernel &kernel : search.kernels()) show(kernel);
//
// Every trial compiles the whole model with one choice of each kernel changed at once, and times it side by side with what was best so far.
// What is faster by more than the noise is kept, and the other choices of those kernels are tried from there. In the end all picks together
// are compared with the estimates; what does not hold there is dropped. How an exchange goes on beside kernels shows in calls only, so one is
// changed at a time.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_TUNESEARCH_H
#define WEFT_TOOLS_WEFT_TUNE_TUNESEARCH_H

#include "compiler/driver/Explain.h"
#include "targets/common/Registry.h"
#include "tools/weft/cli/Console.h"
#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/tune/Trials.h"
#include <set>

namespace weft::cli {

/// What one kernel took with one choice changed.
struct TuneTrial {
  std::string choice, pick; ///< "rows", "7"
  Picks picks;              ///< of the kernel, all of them
  /// Slower: not faster by more than the noise at every size. Failed: it could not be timed.
  enum { Slower, Faster, Wrong, Failed } is;
  double gain; ///< percent, over all sizes
};

/// Or an exchange beside kernels, whose cost is that of calls.
struct TunedKernel {
  std::string key, name, schedule; ///< name and schedule as estimated
  bool isExchange = false;
  std::vector<std::string> nodes;
  double share = 0;                             ///< of the time, over all sizes; of an exchange 0
  std::map<std::string, std::string> estimates; ///< by choice
  std::vector<TuneTrial> trials;
  unsigned untried = 0; ///< alternatives that the budget left
  Picks picks;          ///< what is best; empty: as estimated
  /// Percent, over all sizes, in the closing comparison; of an exchange, and where only calls are compared, of a call, in its own trials.
  double gain = 0;
  bool dropped =
      false; ///< what was faster alone was not when all picks were compared with the estimates
};

struct TuneRequest {
  double budget; ///< seconds
  int64_t threads;
  InputRequest inputs;
  std::vector<SymbolValues> sizes;
};

class TuneSearch {
public:
  TuneSearch(const Module &module, const CompileOptions &compile, const TuneRequest &request,
             Trials &trials, Console &console);

  Result<Done> run();

  /// Those with something to choose, the longest first.
  const std::vector<TunedKernel> &kernels() const { return all; }
  /// "batch=1 seq=128" of each size; "-" where there is no symbol.
  const std::vector<std::string> &sizes() const { return sizeTexts; }
  /// What records name as their target.
  const std::string &scope() const { return recordScope; }
  /// What a call costs as estimated and with all picks, by size; empty while nothing is faster.
  struct Whole {
    double estimated, tuned;
  };
  const std::vector<Whole> &whole() const { return wholes; }
  /// Outputs that differed: one line for each trial, for the report of a fault.
  const std::vector<std::string> &faults() const { return wrong; }

private:
  struct Alternative {
    std::string choice, pick;
    Picks picks;
  };
  using Compiled = std::unique_ptr<Candidate>;

  using PickMap = std::map<std::string, Picks>; ///< by key

  Result<Done> prepare();
  Result<Done> prepareSizes(const std::string &path);
  Result<Done> rankKernels();
  void addExchanges(const Explanation &explained);
  /// The model, with records of these picks only.
  Result<std::string> compileFile(const PickMap &picks);
  Result<Compiled> compileWith(const PickMap &picks);
  Result<Explanation> explainWith(const PickMap &picks);
  Result<Done> writeRecords(const PickMap &picks);

  std::vector<Alternative> alternativesOf(TunedKernel &kernel, const ExplainedChoices &choices);
  /// Tries everything that is not settled of the active kernels; those that got faster stay active.
  Result<Done> improve(std::set<std::string> &active);
  using Changes = std::map<std::string, Alternative>; ///< by key
  std::vector<Changes> roundsOf(const Changes &changed) const;
  Result<Done> tryInTime(const Changes &changed);
  Result<Done> tryRound(const Changes &changed);
  /// Kernels of which one keeps the others from being timed: halves of them are tried apart, down to that one.
  Result<Done> tryHalves(const Changes &changed, const std::string &failed);
  void record(const Changes &changed, const Candidate &base, const Candidate &other,
              const std::string &difference);
  void settle(std::set<std::string> &active, const std::map<std::string, size_t> &seen);
  /// Whether only calls say what it costs.
  bool costsCalls(const TunedKernel &kernel) const {
    return kernel.isExchange || !trials.knowsKernels();
  }
  bool isExchange(const std::string &key) const;
  std::string countText(const Changes &changed) const;
  /// That have to be left for the end.
  int closingRounds() const;
  Result<Done> confirm();
  /// Compares what was picked of kernels with that and what was picked of exchanges, which is dropped when calls take no less time.
  Result<Done> confirmExchanges();
  /// Drops picks that are not faster when all are compared with the estimates; whether there were any.
  bool dropWhatDoesNotHold(const Candidate &tuned);
  /// What differs from the outputs as estimated; empty when nothing does.
  std::string differenceOf(const Candidate &other) const;
  struct Judgement {
    double gain;
    bool isFaster;
  };
  Judgement judge(const Candidate &base, const Candidate &other, const TunedKernel &kernel) const;
  PickMap currentPicks(bool withExchanges = true) const;
  bool hasTimeFor(int rounds) const;
  double elapsed() const;

  const Module &module;
  CompileOptions compile;
  const TuneRequest &request;
  Trials &trials;
  Console &console;
  std::optional<TemporaryFolder> folder;
  TimedSetup setup;
  Compiled estimated, best; ///< best is null while it is the estimated one
  std::vector<TunedKernel> all;
  std::map<std::string, size_t> rows;                   ///< of artifacts, by key
  std::map<std::string, std::set<std::string>> settled; ///< choices that are decided, by key
  std::vector<std::string> sizeTexts, wrong;
  std::vector<Whole> wholes;
  std::string recordScope;
  double floatTolerance; ///< of outputs of floats
  const double begin;
  double roundSeconds = 0; ///< what a round took at most
  int rounds = 0;
  bool budgetEnded = false;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_TUNESEARCH_H
