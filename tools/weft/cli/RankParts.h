//===- RankParts.h - Inputs and outputs of which every rank has its own part -------------------===//
//
//   Result<Inputs> whole = prepareInputs(wholeSignature(function), request);   // as one rank takes them
//   Result<CallInputs> own = callInputsOfRank(function, *whole, 1);            // for weft_call on rank 1
//   joinParts(function, 0, {part of rank 0, of rank 1, …})                    // the whole output
//
// Callers of the runtime have parts and nothing else; the command reads, makes and shows wholes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_RANKPARTS_H
#define WEFT_TOOLS_WEFT_CLI_RANKPARTS_H

#include "tools/weft/cli/Room.h"

namespace weft::cli {

/// From the manifest's texts: "main<tp = 2> input 0: [tp, _] of [n, 12]". What is of another function, or no such text, is passed over.
void readParts(const std::vector<std::string> &texts, FunctionView &function);

const PartSpec *partOfOutput(const FunctionView &function, size_t output);

Signature wholeSignature(const FunctionView &function);
/// "[tp, _] of [n, 12]"
std::string printPart(const PartSpec &spec, bool unicode);
/// With room for what grows in place.
Result<CallInputs> callInputsOfRank(const FunctionView &function, const Inputs &whole,
                                    int64_t rank);
/// Of all ranks, in their order. Ranks that have the same part must have the same bits.
Result<HostTensor> joinParts(const FunctionView &function, size_t output,
                             const std::vector<HostTensor> &parts);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_RANKPARTS_H
