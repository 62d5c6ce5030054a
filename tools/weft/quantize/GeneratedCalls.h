//===- GeneratedCalls.h - Calls of given sizes, with elements of chance -----------------------===//
//
//   Result<std::vector<SymbolValues>> sizes = readAt(options, signature);       // --at seq=16,128
//   Result<GeneratedCalls> made = generatedCalls(signature, *sizes, 1);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_GENERATEDCALLS_H
#define WEFT_TOOLS_WEFT_QUANTIZE_GENERATEDCALLS_H

#include "tools/weft/cli/Inputs.h"
#include "weft/quantize.hpp"

namespace weft::cli {

/// --at SYM=N,...: sizes, all combinations of those that one has; several are one after the other.
Result<std::vector<SymbolValues>> readAt(const ParsedOptions &options, const Signature &signature);

struct GeneratedCalls {
  Calls calls;
  std::vector<std::string> assumed; ///< symbols without a size: "seq=16"
};

/// `each` calls of each of the sizes; of no sizes at all those that are assumed. Floats are
/// uniform, positions are of chance, and other integers 1, as in masks.
Result<GeneratedCalls> generatedCalls(const Signature &signature,
                                      const std::vector<SymbolValues> &sizes, size_t each);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_GENERATEDCALLS_H
