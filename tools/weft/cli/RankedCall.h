//===- RankedCall.h - Calls of a function that several ranks run together ---------------------===//
//
//   RankedCall call(artifact, function, inputs, wanted);
//   Result<Done> done = call.run(ranks, raw);             // rank 0's results, which all have but for their parts
//   call.seconds() …                                      // of the first call, and of a second one
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_RANKEDCALL_H
#define WEFT_TOOLS_WEFT_CLI_RANKEDCALL_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/LocalRanks.h"

#include <array>

namespace weft::cli {

/// Refuses ranks, asked for or started by a launcher, and a --transport with which the function cannot be run.
Result<Done> checkRanks(const FunctionView &function, const ParsedOptions &options);

/// Refuses a --transport by which ranks of a launcher cannot be reached.
Result<Done> checkLaunched(const ParsedOptions &options, const Launch &launch);

class RankedCall {
public:
  /// `inputs`: whole. `repeatBelow`: a first call that took less seconds is followed by a second one.
  RankedCall(const Artifact &artifact, const FunctionView &function, const Inputs &inputs,
             double repeatBelow)
      : artifact(artifact), function(function), inputs(inputs), repeatBelow(repeatBelow),
        parts(function.outputs.size()) {}

  /// Starts local ranks, of which each calls. Results that differ in bits between ranks are a
  /// failure. Rank 0's lie in `outputs` and belong to `outContext`.
  Result<Done> run(const LocalRanks &ranks, weft_context_options_t wanted, InterruptGuard &guard,
                   std::vector<weft_tensor_t> &outputs, Context &outContext);

  /// Outputs that ranks need not have alike are rank 0's.
  void letRanksDiffer() { mustAgree = false; }

  double firstSeconds = 0, secondSeconds = 0;
  /// By output, and rank, of those that ranks have parts of; of rank 0's process.
  const std::vector<std::vector<HostTensor>> &partsOfOutputs() const { return parts; }

private:
  struct Rank;
  weft_status_t runRank(Rank &rank, weft_error_t *error);
  weft_status_t timedCall(Rank &rank, double *seconds, weft_error_t *error);
  weft_status_t compare(Rank &rank, size_t output, weft_error_t *error);

  const Artifact &artifact;
  const FunctionView &function;
  const Inputs &inputs;
  double repeatBelow;
  std::vector<std::vector<HostTensor>> parts;
  bool mustAgree = true;
  std::string difference; ///< between ranks; empty: none
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_RANKEDCALL_H
