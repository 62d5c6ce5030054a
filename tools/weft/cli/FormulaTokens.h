//===- FormulaTokens.h - The words of a formula -----------------------------------------------===//
//
//   std::string_view rest = "4*n + 1";
//   for (Token token = nextToken(rest); token.kind != Token::End; token = nextToken(rest))
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_FORMULATOKENS_H
#define WEFT_TOOLS_WEFT_CLI_FORMULATOKENS_H

#include <string>
#include <string_view>

namespace weft::cli {

/// Sums inside sums; more is not read, so that a damaged file cannot exhaust the stack.
constexpr unsigned kDeepestFormula = 64;

struct Token {
  enum Kind { End, Number, Name, Sign } kind;
  std::string_view text; ///< of the source; a quoted name with its quotes
};

/// Takes one token off the front of `text`. A quote that does not end makes the rest one name.
Token nextToken(std::string_view &text);

/// The name that a token spells, without quotes and escapes.
std::string unquoteName(std::string_view name);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_FORMULATOKENS_H
