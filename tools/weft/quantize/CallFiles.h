//===- CallFiles.h - Calls of a model, as .npz files ------------------------------------------===//
//
//   Result<Calls> calls = readCallFiles("calls/", "--calibration");    // calls->read(i) opens one
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_CALLFILES_H
#define WEFT_TOOLS_WEFT_QUANTIZE_CALLFILES_H

#include "tools/weft/cli/Result.h"
#include "weft/quantize.hpp"

namespace weft::cli {

/// The .npz files of a folder, by their names, or one. `option` is named where there are none.
Result<Calls> readCallFiles(const std::string &path, const std::string &option);

/// "cosine>=0.998", "latency<=0.4x"
Result<QuantizeBudget> parseBudget(const std::string &text);
std::string printBudget(const QuantizeBudget &budget);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_CALLFILES_H
