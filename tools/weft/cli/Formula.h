//===- Formula.h - Formulas of an artifact as numbers and for people --------------------------===//
//
// Reads the text that the symbolic engine prints: `4*n + 1`, `b*ceildiv(s, 32)`, `max(a, b)`, names
// in quotes where needed.
//
//   evaluateFormula("2*seq + 1", {{"seq", 16}})              33
//   beautifyFormula("3072*b*s*s + 5", true)                  "3072·b·s² + 5"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_FORMULA_H
#define WEFT_TOOLS_WEFT_CLI_FORMULA_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

/// Nothing when a symbol has no value, the text is damaged, a step overflows, or a divisor is not
/// positive.
std::optional<int64_t> evaluateFormula(std::string_view text, const SymbolValues &values);

/// The value of `symbol` that makes the formula equal `target`, when it is linear in it and the
/// others have values.
std::optional<int64_t> solveFormula(std::string_view text, const std::string &symbol,
                                    int64_t target, SymbolValues values);

/// The symbols that a formula mentions, without repetition.
std::vector<std::string> formulaSymbols(std::string_view text);

/// Middle dots and raised powers where `unicode`, else '*' and '^'. Nothing is rounded.
std::string beautifyFormula(std::string_view text, bool unicode);

/// The same with large coefficients in three digits: "21.2 M·b·s". For estimates, not promises.
std::string roundFormula(std::string_view text, bool unicode);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_FORMULA_H
