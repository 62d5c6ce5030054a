//===- ScoreCommand.h - Accuracy that a program of the user's measures ------------------------===//
//
//   QuantizeScore score = scoreOf("python score.py", folder);    // runs: python score.py FOLDER
//
// The folder has one .npz file with all outputs for each call, named after the call's number; the
// last line that the program prints is its score.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_SCORECOMMAND_H
#define WEFT_TOOLS_WEFT_QUANTIZE_SCORECOMMAND_H

#include "weft/quantize.hpp"

namespace weft::cli {

/// `folder` is the program's, and is written again for every strategy.
QuantizeScore scoreOf(const std::string &command, const std::string &folder);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_SCORECOMMAND_H
