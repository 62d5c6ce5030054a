//===- TuneConfirm.cpp - All picks of a search together -----------------------------------------===//
//
// What was faster alone, and one change at a time, has to be so with everything else that was picked.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/tune/TuneSearch.h"

#include <cmath>

namespace weft::cli {

Result<Done> TuneSearch::confirmExchanges() {
  PickMap kernels = currentPicks(/*withExchanges=*/false), picks = currentPicks();
  if (kernels.size() == picks.size() || kernels.empty()) // else what is compared in the end says it
    return Done{};
  Result<Compiled> without = compileWith(kernels);
  if (!without)
    return without.failure();
  Result<Compiled> with = compileWith(picks);
  if (!with)
    return with.failure();
  Result<Tried> tried = trials.timeTogether(**without, **with);
  if (!tried)
    return tried.failure();
  for (TunedKernel &kernel : all)
    if (kernel.isExchange && !kernel.picks.empty() &&
        (!tried->failed.empty() || !judge(**without, **with, kernel).isFaster)) {
      kernel.picks = {};
      kernel.dropped = true;
    }
  return Done{};
}

Result<Done> TuneSearch::confirm() {
  best.reset();
  if (Result<Done> done = confirmExchanges(); !done)
    return done;
  for (bool dropped = true; dropped;) {
    PickMap picks = currentPicks();
    if (picks.empty())
      return Done{};
    Result<Compiled> compiled = compileWith(picks);
    if (!compiled)
      return compiled.failure();
    Candidate &tuned = **compiled;
    Result<Tried> tried = trials.timeTogether(*estimated, tuned);
    if (!tried)
      return tried.failure();
    std::string difference = tried->failed.empty() ? differenceOf(tuned) : "";
    if (!difference.empty())
      wrong.push_back(difference + " with all picks together");
    if (!tried->failed.empty())
      console.say("  all picks together failed: " + tried->failed);
    if (!tried->failed.empty() || !difference.empty()) {
      for (TunedKernel &kernel : all) {
        kernel.dropped |= !kernel.picks.empty();
        kernel.picks = {};
      }
      return Done{};
    }
    dropped = dropWhatDoesNotHold(tuned) && hasTimeFor(1);
  }
  return Done{};
}

bool TuneSearch::dropWhatDoesNotHold(const Candidate &tuned) {
  bool dropped = false;
  double logarithm = 0;
  bool isSlower = false;
  wholes.clear();
  for (size_t size = 0; size < setup.sizes.size(); ++size) {
    double before = medianOf(estimated->costs(size)), after = medianOf(tuned.costs(size));
    wholes.push_back({before, after});
    logarithm += std::log(after / before);
    isSlower |= after > before * (1 + trials.leastGain() / 100);
  }
  isSlower |= logarithm > 0;
  for (TunedKernel &kernel : all) {
    if (kernel.picks.empty())
      continue;
    Judgement judgement = judge(*estimated, tuned, kernel);
    if (!costsCalls(kernel))
      kernel.gain = judgement.gain;
    if (judgement.isFaster && !isSlower)
      continue;
    kernel.picks = {};
    kernel.dropped = dropped = true;
  }
  if (currentPicks().empty())
    wholes.clear();
  return dropped;
}

} // namespace weft::cli
