//===- ProfilePeakCommand.cpp - weft profile --peak --------------------------------------------===//
//
// The peak is measured here, with loops that the compiler makes for the artifact's target; the profile is the other half's.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Commands.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/compile_verbs/MachinePeak.h"

#include <algorithm>

namespace weft::cli {

constexpr int64_t kBeyondCaches = 64 << 20;
constexpr int kMeasurements = 5;

int profilePeakCommand(const ParsedOptions &options, Console &console) {
  if (options.value("device", "cpu") != "cpu")
    return console.fail({ExitWrongUsage,
                         "'--peak' measures processors, and no device",
                         "leave out one of them",
                         {}});
  // Opening it says that this machine can run the target's code.
  Result<Artifact> artifact =
      Artifact::open(options.positional()[0], false, options.value("target"));
  if (!artifact)
    return console.fail(artifact.failure());
  Result<MachinePeak> machine = MachinePeak::create(artifact->info().target);
  if (!machine)
    return console.fail(machine.failure());
  MeasuredPeak peak{{}, 0}; // the best of several: others may use the machine meanwhile
  for (int i = 0; i < kMeasurements; ++i) {
    for (const std::string &unit : machine->unitNames())
      peak.operations[unit] = std::max(peak.operations[unit], machine->operationsPerSecond(unit));
    peak.bytes = std::max(peak.bytes, machine->bytesPerSecond(kBeyondCaches));
  }
  return profileCommand(options, console, peak);
}

} // namespace weft::cli
