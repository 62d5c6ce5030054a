//===- SignatureText.h - What functions take, for people -------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_SIGNATURETEXT_H
#define WEFT_TOOLS_WEFT_CLI_SIGNATURETEXT_H

#include "tools/weft/cli/Inputs.h"

namespace weft::cli {

/// "1 ≤ seq ≤ 512 (multiple of 8)"
std::string printRange(const SymbolSpec &symbol, bool unicode);

/// Those that the ranges of the symbols do not say.
std::vector<std::string> factsBesideRanges(const std::vector<std::string> &facts,
                                           const std::vector<SymbolSpec> &symbols);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_SIGNATURETEXT_H
