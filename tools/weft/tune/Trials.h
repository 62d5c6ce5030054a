//===- Trials.h - Where candidates of 'weft tune' are timed -------------------------------------===//
//
//   std::unique_ptr<Trials> trials = trialsHere();         // or RemoteTrials, trialsOnRanks
//   Result<std::unique_ptr<Candidate>> base = trials->open(path, setup), other = …;
//   Result<Tried> tried = trials->timeTogether(**base, **other);
//   if (tried && tried->failed.empty()) … (*other)->samples(size) …
//
// A search knows no more: whether a candidate runs in this process, over ranks or on a board is not its business.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_TRIALS_H
#define WEFT_TOOLS_WEFT_TUNE_TRIALS_H

#include "tools/weft/trials/Timing.h"

namespace weft::cli {

/// An artifact, and what it took and gave in its latest trial.
class Candidate {
public:
  virtual ~Candidate() = default;
  virtual const Artifact &artifact() const = 0;
  virtual const TimedSamples &samples(size_t size) const = 0;
  /// What calls cost, less being better: seconds, unless something else judges.
  virtual std::vector<double> costs(size_t size) const { return samples(size).whole; }
  /// Of the latest trial in which it was not the base of another one.
  virtual Result<std::vector<HostTensor>> outputs(size_t size) const = 0;
  /// Seconds that a turn over all sizes takes.
  virtual double turnSeconds() const = 0;
};

/// How a trial ended: `failed` says why the candidate could not be timed, and is empty when it was.
struct Tried {
  std::string failed;
};

class Trials {
public:
  virtual ~Trials() = default;
  /// As records name it.
  virtual std::string processor() const = 0;
  /// Whether a trial says what each kernel takes. Else calls are compared, and one kernel is changed at a time.
  virtual bool knowsKernels() const { return true; }
  /// Percent, that less has to be less by and that more at some size is too much.
  virtual double leastGain() const { return 2; }
  /// The file may be written anew afterwards. `setup` outlives the candidate.
  virtual Result<std::unique_ptr<Candidate>> open(const std::string &path,
                                                  const TimedSetup &setup) = 0;
  /// A few turns, for so many seconds at most where that can be said.
  virtual Result<Tried> timeAlone(Candidate &candidate, double seconds) = 0;
  virtual Result<Tried> timeTogether(Candidate &base, Candidate &other) = 0;
};

std::unique_ptr<Trials> trialsHere();

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_TRIALS_H
