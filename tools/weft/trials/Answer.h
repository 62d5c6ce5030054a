//===- Answer.h - The side that 'weft tune --remote' sends candidates to ----------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ANSWER_H
#define WEFT_TOOLS_WEFT_TRIALS_ANSWER_H

#include "tools/weft/cli/Console.h"

namespace weft::cli {

/// Says on stdout what this machine is, then times what is asked for on stdin, until that ends.
/// docs/tuning-remote.md describes both.
int answerTrials(const ParsedOptions &options, Console &console);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TRIALS_ANSWER_H
