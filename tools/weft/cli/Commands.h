//===- Commands.h - The verbs that need no compiler -------------------------------------------===//
//
// Each takes a parsed command line and returns the exit code: the table of verbs in main.cpp calls
// them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_COMMANDS_H
#define WEFT_TOOLS_WEFT_CLI_COMMANDS_H

#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/Options.h"

#include <map>
#include <optional>
#include <string>

namespace weft::cli {

int runCommand(const ParsedOptions &options, Console &console);
int benchCommand(const ParsedOptions &options, Console &console);
/// Instead of an artifact, what ranks on this machine take to exchange.
int collectiveBenchCommand(const ParsedOptions &options, Console &console);
/// What one thread can do at most, as measured right before.
struct MeasuredPeak {
  std::map<std::string, double> operations; ///< per second, by unit
  double bytes;                             ///< per second, read from memory
};
/// Without a peak, no shares of it.
int profileCommand(const ParsedOptions &options, Console &console,
                   std::optional<MeasuredPeak> peak = std::nullopt);
/// Artifacts only; isArtifact decides.
int inspectCommand(const ParsedOptions &options, Console &console);
/// What ranks did last, of the files that they wrote.
int ranksCommand(const ParsedOptions &options, Console &console);
int versionCommand(const ParsedOptions &options, Console &console);
int helpCommand(const ParsedOptions &options, Console &console);

/// Hands the whole command line to the compiler half, libweft_tool.so, and returns its exit code.
/// Where that is not installed, says so and returns ExitMachineLacks.
int compilerCommand(const ParsedOptions &options, Console &console, int argc,
                    const char *const *argv);
/// Becomes the command line of another processor's weft, under what --emulator says. Returns when that cannot be started.
int emulatedCommand(const ParsedOptions &options, Console &console, int argc,
                    const char *const *argv);
/// Where the compiler half is, or empty.
std::string findCompilerHalf();

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_COMMANDS_H
