//===- HereTrials.cpp - Candidates in this process ----------------------------------------------===//

#include "targets/common/Registry.h"
#include "tools/weft/tune/Trials.h"

namespace weft::cli {
namespace {

class HereCandidate : public Candidate {
public:
  explicit HereCandidate(std::unique_ptr<TimedModel> model) : model(std::move(model)) {}
  const Artifact &artifact() const override { return model->artifact(); }
  const TimedSamples &samples(size_t size) const override { return model->samples(size); }
  Result<std::vector<HostTensor>> outputs(size_t size) const override {
    return model->outputs(size);
  }
  double turnSeconds() const override { return model->turnSeconds(); }

  const std::unique_ptr<TimedModel> model;
};

TimedModel &modelOf(Candidate &candidate) { return *static_cast<HereCandidate &>(candidate).model; }

/// Nothing fails here without ending everything: code that Weft compiles for this machine neither crashes nor hangs.
Result<Tried> triedOr(const Result<Done> &done) {
  return done ? Result<Tried>(Tried{}) : Result<Tried>(done.failure());
}

class HereTrials : public Trials {
public:
  std::string processor() const override { return hostProcessor(); }

  Result<std::unique_ptr<Candidate>> open(const std::string &path,
                                          const TimedSetup &setup) override {
    Result<std::unique_ptr<TimedModel>> opened = TimedModel::open(path, setup);
    if (!opened)
      return opened.failure();
    return std::unique_ptr<Candidate>(new HereCandidate(std::move(*opened)));
  }

  Result<Tried> timeAlone(Candidate &candidate, double) override {
    return triedOr(cli::timeAlone(modelOf(candidate), guard));
  }

  Result<Tried> timeTogether(Candidate &base, Candidate &other) override {
    return triedOr(cli::timeTogether(modelOf(base), modelOf(other), guard));
  }

private:
  InterruptGuard guard{nullptr};
};

} // namespace

std::unique_ptr<Trials> trialsHere() { return std::make_unique<HereTrials>(); }

} // namespace weft::cli
