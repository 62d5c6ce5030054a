//===- CompilerCommands.h - Verbs that need the compiler --------------------------------------===//
//
//   int compileCommand(options, console)      // prints everything, gives the exit code
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_VERBS_COMPILERCOMMANDS_H
#define WEFT_TOOLS_WEFT_COMPILE_VERBS_COMPILERCOMMANDS_H

#include "tools/weft/cli/Console.h"

namespace weft::cli {

int compileCommand(const ParsedOptions &options, Console &console);
int evalCommand(const ParsedOptions &options, Console &console);
int checkCommand(const ParsedOptions &options, Console &console);
int verifyCommand(const ParsedOptions &options, Console &console);
int reduceCommand(const ParsedOptions &options, Console &console);
int tuneCommand(const ParsedOptions &options, Console &console);
int quantizeCommand(const ParsedOptions &options, Console &console);
int targetsCommand(const ParsedOptions &options, Console &console);
int inspectModelCommand(const ParsedOptions &options, Console &console);
/// weft bench --kernels
int kernelBenchCommand(const ParsedOptions &options, Console &console);
/// weft profile --peak
int profilePeakCommand(const ParsedOptions &options, Console &console);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_COMPILERCOMMANDS_H
