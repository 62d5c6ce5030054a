//===- SignatureText.cpp --------------------------------------------------------------------------===//

#include "tools/weft/cli/SignatureText.h"
#include <algorithm>
#include <cstdint>
#include <iterator>

namespace weft::cli {

std::string printRange(const SymbolSpec &symbol, bool unicode) {
  const char *le = unicode ? " ≤ " : " <= ";
  std::string text = std::to_string(symbol.min) + le + symbol.name;
  if (symbol.max < INT32_MAX)
    text += le + std::to_string(symbol.max);
  if (symbol.multiple > 1)
    text += " (multiple of " + std::to_string(symbol.multiple) + ")";
  return text;
}

static bool isRange(const std::string &fact, const SymbolSpec &symbol) {
  std::string least = std::to_string(symbol.min) + " <= " + symbol.name,
              most = " <= " + std::to_string(symbol.max);
  return fact == least || fact == least + most || fact == symbol.name + most ||
         fact == "mod(" + symbol.name + ", " + std::to_string(symbol.multiple) + ") == 0";
}

std::vector<std::string> factsBesideRanges(const std::vector<std::string> &facts,
                                           const std::vector<SymbolSpec> &symbols) {
  std::vector<std::string> beside;
  std::copy_if(
      facts.begin(), facts.end(), std::back_inserter(beside), [&](const std::string &fact) {
        return std::none_of(symbols.begin(), symbols.end(),
                            [&](const SymbolSpec &symbol) { return isRange(fact, symbol); });
      });
  return beside;
}

} // namespace weft::cli
