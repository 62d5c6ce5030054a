//===- FormulaBound.h - Short formulas for people in place of long ones -----------------------===//
//
// Sizes of models with many resolutions are maxima of sums of products of divisions. A polynomial of
// the symbols that is never smaller says as much to a reader, in a line:
//
//   boundFormula("max(64*ceildiv(n, 16), 4*n + 8)")          "4*n + 60"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_FORMULABOUND_H
#define WEFT_TOOLS_WEFT_CLI_FORMULABOUND_H

#include <optional>
#include <string>
#include <string_view>

namespace weft::cli {

/// A polynomial of the symbols that is at least the formula wherever no symbol is negative. Nothing
/// when the text is damaged, or none is found.
std::optional<std::string> boundFormula(std::string_view text);

struct FormulaStyle {
  bool unicode = false;
  bool whole = false;   ///< however long it is
  bool rounded = false; ///< as roundFormula does
};

/// "NAME = FORMULA UNIT" where that takes two lines of 80 columns at most, else "NAME <= BOUND UNIT"
/// and how to see the whole.
std::string showFormula(const std::string &name, std::string_view formula, const std::string &unit,
                        FormulaStyle style);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_FORMULABOUND_H
