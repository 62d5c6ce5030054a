//===- ScoredTrials.h - Candidates that a command judges instead of a clock ---------------------===//
//
//   trials = std::make_unique<ScoredTrials>(std::move(remote), ScoreCommand("python count.py", folder), folder, 30);
//
// What runs candidates elsewhere still runs each of them, for its outputs; what it measures only says which kernels are worth a trial. A
// command knows calls, not kernels.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_SCOREDTRIALS_H
#define WEFT_TOOLS_WEFT_TUNE_SCOREDTRIALS_H

#include "tools/weft/tune/ScoreCommand.h"
#include "tools/weft/tune/Trials.h"

namespace weft::cli {

class ScoredTrials : public Trials {
public:
  /// `patience`: seconds that the command may take for a candidate, besides four times what it took for the estimates.
  ScoredTrials(std::unique_ptr<Trials> there, ScoreCommand command, TemporaryFolder folder,
               double patience)
      : there(std::move(there)), command(std::move(command)), folder(std::move(folder)),
        patience(patience) {}

  std::string processor() const override { return there->processor(); }
  bool knowsKernels() const override { return false; }
  double leastGain() const override;
  Result<std::unique_ptr<Candidate>> open(const std::string &path,
                                          const TimedSetup &setup) override;
  /// The first one is scored twice, which says how far scores of the same may be apart.
  Result<Tried> timeAlone(Candidate &candidate, double seconds) override;
  Result<Tried> timeTogether(Candidate &base, Candidate &other) override;

private:
  class ScoredCandidate;
  Result<Done> writeInputs(const Artifact &artifact, const TimedSetup &setup);
  Result<Tried> score(ScoredCandidate &candidate, double seconds);

  const std::unique_ptr<Trials> there;
  const ScoreCommand command;
  const TemporaryFolder folder;
  const double patience;
  std::vector<std::string> inputs; ///< paths, by size
  double longest = 0;              ///< seconds that a score of the estimates took
  double noise = 0;                ///< percent
  unsigned made = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_SCOREDTRIALS_H
