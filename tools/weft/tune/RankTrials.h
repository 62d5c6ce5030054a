//===- RankTrials.h - Candidates that ranks of this machine run together ------------------------===//
//
//   std::unique_ptr<Trials> trials = trialsOnRanks(localRanks(options, 0), "2GB/s,20us", console);
//
// A trial starts as many ranks as the model is for, and ends them. Rank 0 measures: what a kernel takes is what it takes there.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_RANKTRIALS_H
#define WEFT_TOOLS_WEFT_TUNE_RANKTRIALS_H

#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/tune/Trials.h"

namespace weft::cli {

/// `ranks.world` is what the first candidate says. `link`: as --link gives it, for people.
std::unique_ptr<Trials> trialsOnRanks(LocalRanks ranks, std::string link, Console &console);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_RANKTRIALS_H
