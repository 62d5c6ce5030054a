//===- RankTrials.cpp ---------------------------------------------------------------------------===//

#include "tools/weft/tune/RankTrials.h"
#include "targets/common/Registry.h"
#include "tools/weft/cli/GatherParts.h"
#include "tools/weft/cli/RankParts.h"

#include <cstring>

namespace weft::cli {
namespace {

/// What rank 0 has the others do: so many calls of a model with a size. None: these were the last.
struct Order {
  int64_t model, size, calls;
};

weft_status_t tellOrder(weft_group_t *group, Order &order, weft_error_t *error) {
  return tellRanks(group, "tune", &order, sizeof order, error);
}

/// What a trial found is copied: contexts end with the ranks.
class RankCandidate : public Candidate {
public:
  RankCandidate(Artifact opened, FunctionView function, const TimedSetup &setup)
      : opened(std::move(opened)), function(std::move(function)), setup(setup) {}
  const Artifact &artifact() const override { return opened; }
  const TimedSamples &samples(size_t size) const override { return taken[size]; }
  Result<std::vector<HostTensor>> outputs(size_t size) const override { return made[size]; }
  double turnSeconds() const override { return turn; }

  const Artifact opened;
  const FunctionView function;
  const TimedSetup &setup;
  std::vector<TimedSamples> taken;           ///< by size
  std::vector<std::vector<HostTensor>> made; ///< outputs by size, whole
  double turn = 0;
};

Result<HostTensor> copyOf(const weft_tensor_t &tensor) {
  Result<HostTensor> lent = withoutGaps(tensor, nullptr);
  if (!lent)
    return lent;
  Result<HostTensor> own = HostTensor::allocate(lent->element(), lent->dims());
  if (own)
    memcpy(own->data(), lent->data(), lent->bytes());
  return own;
}

/// One trial. Ranks may be threads: others than 0 change nothing of it.
class RankTrial {
public:
  /// Without another one the base is timed alone. The outputs of the last are kept.
  RankTrial(std::vector<RankCandidate *> candidates, InterruptGuard &guard)
      : candidates(std::move(candidates)), guard(guard) {}

  /// On rank 0; null: there are no others.
  Result<Done> lead(weft_group_t *group) {
    Result<Models> models = open(group);
    if (!models)
      return models.failure();
    for (size_t m = 0; m < models->size() && group; ++m)
      (*models)[m]->tellOthers([group, m](size_t size, int64_t calls) -> Result<Done> {
        Order order{int64_t(m), int64_t(size), calls};
        weft_error_t error = WEFT_ERROR_INIT;
        return tellOrder(group, order, &error) ? Result<Done>(failureOf(error)) : Done{};
      });
    TimedModel &base = *models->front(), &last = *models->back();
    Result<Done> done =
        models->size() > 1 ? timeTogether(base, last, guard) : timeAlone(base, guard);
    if (!done)
      return done;
    for (size_t m = 0; m < models->size(); ++m)
      keepSamples(*(*models)[m], *candidates[m]);
    Order end{};
    weft_error_t error = WEFT_ERROR_INIT;
    if (group && tellOrder(group, end, &error))
      return failureOf(error);
    return keepOutputs(last, group);
  }

  /// On another rank, until rank 0 has enough.
  weft_status_t follow(weft_group_t *group, weft_error_t *error) const {
    Result<Models> models = open(group);
    if (!models)
      return toError(models.failure(), error);
    for (Order order{};;) {
      if (weft_status_t status = tellOrder(group, order, error))
        return status;
      if (!order.calls)
        break;
      TimedModel &model = *(*models)[size_t(order.model)];
      if (weft_status_t status = model.follow(size_t(order.size), order.calls, error))
        return status;
    }
    for (size_t size = 0; size < models->back()->sizes(); ++size)
      for (const PartSpec &part : candidates.back()->function.outputParts)
        if (weft_status_t status =
                gatherParts(group, models->back()->rawOutputs(size)[part.index], nullptr, error))
          return status;
    return WEFT_OK;
  }

private:
  using Models = std::vector<std::unique_ptr<TimedModel>>;

  Result<Models> open(weft_group_t *group) const {
    Models models;
    for (const RankCandidate *candidate : candidates) {
      Result<std::unique_ptr<TimedModel>> model =
          TimedModel::open(candidate->opened, candidate->setup, group);
      if (!model)
        return model.failure();
      models.push_back(std::move(*model));
    }
    return models;
  }

  static void keepSamples(const TimedModel &model, RankCandidate &candidate) {
    candidate.taken.clear();
    for (size_t size = 0; size < model.sizes(); ++size)
      candidate.taken.push_back(model.samples(size));
    candidate.turn = model.turnSeconds();
  }

  /// In the order in which the other ranks come to them.
  Result<Done> keepOutputs(const TimedModel &model, weft_group_t *group) {
    RankCandidate &candidate = *candidates.back();
    candidate.made.assign(model.sizes(), {});
    for (size_t size = 0; size < model.sizes(); ++size) {
      const std::vector<weft_tensor_t> &raw = model.rawOutputs(size);
      std::vector<HostTensor> &made = candidate.made[size];
      for (const weft_tensor_t &output : raw) {
        Result<HostTensor> copy = copyOf(output);
        if (!copy)
          return copy.failure();
        made.push_back(std::move(*copy));
      }
      for (const PartSpec &part : candidate.function.outputParts) {
        std::vector<HostTensor> parts{made[part.index]};
        weft_error_t error = WEFT_ERROR_INIT;
        if (group && gatherParts(group, raw[part.index], &parts, &error))
          return failureOf(error);
        Result<HostTensor> whole = joinParts(candidate.function, part.index, parts);
        if (!whole)
          return whole.failure();
        made[part.index] = std::move(*whole);
      }
    }
    return Done{};
  }

  const std::vector<RankCandidate *> candidates;
  InterruptGuard &guard;
};

class RankTrials : public Trials {
public:
  RankTrials(LocalRanks ranks, std::string link, Console &console)
      : ranks(std::move(ranks)), link(std::move(link)), console(console) {}

  std::string processor() const override { return hostProcessor(); }

  Result<std::unique_ptr<Candidate>> open(const std::string &path,
                                          const TimedSetup &setup) override {
    Result<Artifact> opened = Artifact::open(path, false);
    if (!opened)
      return opened.failure();
    Result<FunctionView> function = opened->function(setup.function);
    if (!function)
      return function.failure();
    if (!ranks.world)
      meet(*function, setup.threads);
    return std::unique_ptr<Candidate>(new RankCandidate(*opened, std::move(*function), setup));
  }

  Result<Tried> timeAlone(Candidate &candidate, double) override { return time({&candidate}); }
  Result<Tried> timeTogether(Candidate &base, Candidate &other) override {
    return time({&base, &other});
  }

private:
  /// How many ranks there are, and what they have.
  void meet(const FunctionView &function, int64_t threads) {
    ranks.world = static_cast<int32_t>(ranksOf(function));
    if (function.mesh.empty())
      return;
    console.say("  ranks     " + printMesh(function) + ", over " + ranks.transport +
                (link.empty() ? "" : " with links of " + link));
    if (int64_t cpus = cpusOfProcess(); ranks.world * threads > cpus)
      console.say("  note      they compute with " + std::to_string(ranks.world * threads) +
                  " threads, but this process may use " + std::to_string(cpus) +
                  (cpus == 1 ? " CPU" : " CPUs") + ": times say little");
  }

  /// A rank that ends without a word ends the search: this process runs the same code.
  Result<Tried> time(const std::vector<Candidate *> &wanted) {
    std::vector<RankCandidate *> candidates;
    for (Candidate *each : wanted)
      candidates.push_back(static_cast<RankCandidate *>(each));
    RankTrial trial(candidates, guard);
    bool isAlone = candidates.back()->function.mesh.empty();
    Result<Done> done = isAlone ? trial.lead(nullptr)
                                : runLedRanks(
                                      ranks, [&](weft_group_t *group) { return trial.lead(group); },
                                      [&](weft_group_t *group, weft_error_t *error) {
                                        return trial.follow(group, error);
                                      });
    return done ? Result<Tried>(Tried{}) : Result<Tried>(done.failure());
  }

  LocalRanks ranks;
  const std::string link;
  Console &console;
  InterruptGuard guard{nullptr};
};

} // namespace

std::unique_ptr<Trials> trialsOnRanks(LocalRanks ranks, std::string link, Console &console) {
  return std::make_unique<RankTrials>(std::move(ranks), std::move(link), console);
}

} // namespace weft::cli
