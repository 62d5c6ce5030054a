//===- FormulaTree.h - A formula as sums of products ------------------------------------------===//
//
//   std::optional<Sum> sum = parseFormula("4*n*ceildiv(m, 2) - 1");
//   sum->front().coefficient                                 4
//   sum->front().atoms[1].name                               "ceildiv"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_FORMULATREE_H
#define WEFT_TOOLS_WEFT_CLI_FORMULATREE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

struct Product;
using Sum = std::vector<Product>;

/// A symbol, or a function of sums; "" is what stands in parentheses.
struct Atom {
  std::string name;
  std::vector<Sum> arguments;
  bool isSymbol() const { return arguments.empty(); }
};

struct Product {
  int64_t coefficient = 1;
  std::vector<Atom> atoms;
};

/// Nothing when the text is damaged. Powers are not read: the engine prints `n*n`.
std::optional<Sum> parseFormula(std::string_view text);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_FORMULATREE_H
