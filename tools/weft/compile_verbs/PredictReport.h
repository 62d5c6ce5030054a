//===- PredictReport.h - weft inspect MODEL --machine ---------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_VERBS_PREDICTREPORT_H
#define WEFT_TOOLS_WEFT_COMPILE_VERBS_PREDICTREPORT_H

#include "tools/weft/cli/Console.h"
#include "weft/compiler.hpp"

namespace weft::cli {

/// Prints how long calls of the model take on the machine of --machine, and gives the exit code.
int predictReport(const ParsedOptions &options, Console &console, const Module &module);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_PREDICTREPORT_H
