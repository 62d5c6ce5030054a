//===- WhyReport.h - weft inspect MODEL --why ---------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_VERBS_WHYREPORT_H
#define WEFT_TOOLS_WEFT_COMPILE_VERBS_WHYREPORT_H

#include "tools/weft/cli/Console.h"
#include "weft/compiler.hpp"

namespace weft::cli {

/// Says what was decided about the module's kernels, and why; gives the exit code.
int whyReport(const ParsedOptions &options, Console &console, const Module &module);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_WHYREPORT_H
