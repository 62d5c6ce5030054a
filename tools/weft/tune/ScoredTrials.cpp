//===- ScoredTrials.cpp -------------------------------------------------------------------------===//

#include "tools/weft/tune/ScoredTrials.h"
#include "tools/weft/cli/TensorFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr double kLeastGain = 0.1; ///< percent of a call, where scores of the same are the same
constexpr double kSlack = 4;       ///< how much longer than the estimates a candidate may take

} // namespace

class ScoredTrials::ScoredCandidate : public Candidate {
public:
  ScoredCandidate(std::unique_ptr<Candidate> run, std::string path)
      : run(std::move(run)), path(std::move(path)) {}
  ~ScoredCandidate() override { unlink(path.c_str()); }
  const Artifact &artifact() const override { return run->artifact(); }
  const TimedSamples &samples(size_t size) const override { return run->samples(size); }
  std::vector<double> costs(size_t size) const override { return {scores[size]}; }
  Result<std::vector<HostTensor>> outputs(size_t size) const override { return run->outputs(size); }
  double turnSeconds() const override { return run->turnSeconds(); }

  const std::unique_ptr<Candidate> run;
  const std::string path;
  std::vector<double> scores; ///< by size; none before it was scored
};

double ScoredTrials::leastGain() const { return std::max(kLeastGain, noise); }

Result<std::unique_ptr<Candidate>> ScoredTrials::open(const std::string &path,
                                                      const TimedSetup &setup) {
  // A name of its own: who runs it may move the file, and the next one is written where it was.
  std::string kept = folder.path() + "/" + std::to_string(++made) + ".weft";
  if (link(path.c_str(), kept.c_str()) != 0)
    return Failure{ExitMachineLacks, kept + ": " + strerror(errno), "", ""};
  Result<std::unique_ptr<Candidate>> run = there->open(path, setup);
  if (!run)
    return run.failure();
  if (inputs.empty())
    if (Result<Done> done = writeInputs((*run)->artifact(), setup); !done)
      return done.failure();
  return std::unique_ptr<Candidate>(new ScoredCandidate(std::move(*run), kept));
}

/// Every candidate gets the same, under the model's names.
Result<Done> ScoredTrials::writeInputs(const Artifact &artifact, const TimedSetup &setup) {
  Result<FunctionView> function = artifact.function(setup.function);
  if (!function)
    return function.failure();
  OutputFiles files;
  for (const Inputs &size : setup.sizes) {
    std::vector<NamedTensor> tensors;
    for (const PreparedInput &input : size.tensors)
      tensors.push_back({function->signature.inputs[tensors.size()].name, input.tensor});
    inputs.push_back(folder.path() + "/inputs-" + std::to_string(inputs.size()) + ".npz");
    if (Result<Done> done = files.addNpz(inputs.back(), tensors); !done)
      return done;
  }
  return files.commit();
}

Result<Tried> ScoredTrials::score(ScoredCandidate &candidate, double seconds) {
  candidate.scores.clear();
  for (const std::string &path : inputs) {
    Scored scored = command.run(candidate.path, path, seconds);
    if (interrupted())
      return Failure{ExitInterrupted, "interrupted", "", ""};
    if (!scored.failed.empty())
      return Tried{scored.failed};
    candidate.scores.push_back(scored.score);
    longest = std::max(longest, scored.seconds);
  }
  return Tried{};
}

Result<Tried> ScoredTrials::timeAlone(Candidate &candidate, double seconds) {
  auto &scored = static_cast<ScoredCandidate &>(candidate);
  Result<Tried> tried = there->timeAlone(*scored.run, seconds);
  for (int i = 0; i < 2 && tried && tried->failed.empty(); ++i) {
    std::vector<double> before = scored.scores;
    tried = score(scored, seconds);
    for (size_t size = 0; size < std::min(before.size(), scored.scores.size()); ++size)
      noise = std::max(noise, 100 * std::fabs(scored.scores[size] / before[size] - 1));
  }
  return tried;
}

Result<Tried> ScoredTrials::timeTogether(Candidate &base, Candidate &other) {
  auto &before = static_cast<ScoredCandidate &>(base),
       &after = static_cast<ScoredCandidate &>(other);
  double seconds = kSlack * longest + patience;
  Result<Tried> tried = Tried{};
  if (before.scores.empty()) // what was best so far, compiled again
    tried = score(before, seconds);
  if (tried && tried->failed.empty())
    tried = there->timeAlone(*after.run, kSlack * togetherSeconds(before.turnSeconds()) + patience);
  if (tried && tried->failed.empty())
    tried = score(after, seconds);
  return tried;
}

} // namespace weft::cli
