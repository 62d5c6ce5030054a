//===- ToldCall.cpp -------------------------------------------------------------------------------===//

#include "tools/weft/cli/ToldCall.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/RankedCall.h"

namespace weft::cli {

Result<ToldCall> readCall(const ParsedOptions &options, bool verify) {
  ToldCall told;
  Result<Artifact> opened =
      Artifact::open(options.positional()[0], verify, options.value("target"), ranksAsked(options));
  if (!opened)
    return opened.failure();
  told.artifact = *opened;
  Result<FunctionView> found = told.artifact.function(options.value("function"));
  if (!found)
    return found.failure();
  told.function = *found;
  if (Result<Done> done = checkRanks(told.function, options); !done)
    return done.failure();
  Result<InputRequest> request = readInputRequest(options);
  if (!request)
    return request.failure();
  Result<Inputs> prepared = prepareInputs(wholeSignature(told.function), *request);
  if (!prepared)
    return prepared.failure();
  told.inputs = std::move(*prepared);
  Result<CallInputs> roomy = callInputsOfRank(told.function, told.inputs, 0);
  if (!roomy)
    return roomy.failure();
  told.callInputs = std::move(*roomy);
  return told;
}

} // namespace weft::cli
