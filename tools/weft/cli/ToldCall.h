//===- ToldCall.h - The call that a command line tells --------------------------------------------===//
//
//   Result<ToldCall> told = readCall(options, /*verify=*/false);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_TOLDCALL_H
#define WEFT_TOOLS_WEFT_CLI_TOLDCALL_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Room.h"

namespace weft::cli {

struct ToldCall {
  Artifact artifact;
  FunctionView function;
  Inputs inputs;         ///< whole
  CallInputs callInputs; ///< rank 0's
};

/// `verify`: the artifact's bytes are compared with its hash.
Result<ToldCall> readCall(const ParsedOptions &options, bool verify);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_TOLDCALL_H
