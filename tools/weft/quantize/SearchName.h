//===- SearchName.h - What --search says ------------------------------------------------------===//
//
//   Result<QuantizeSearch> search = parseSearch("random:7");     printSearch(*search) == "random:7"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_SEARCHNAME_H
#define WEFT_TOOLS_WEFT_QUANTIZE_SEARCHNAME_H

#include "tools/weft/cli/Result.h"
#include "weft/quantize.hpp"

namespace weft::cli {

/// "exact", "all", "greedy", "random", or "random:SEED".
Result<QuantizeSearch> parseSearch(const std::string &text);
std::string printSearch(const QuantizeSearch &search);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_SEARCHNAME_H
