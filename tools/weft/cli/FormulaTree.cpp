//===- FormulaTree.cpp ------------------------------------------------------------------------===//

#include "tools/weft/cli/FormulaTree.h"
#include "tools/weft/cli/FormulaTokens.h"
#include "tools/weft/cli/Values.h"

namespace weft::cli {

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : rest(text) { token = nextToken(rest); }

  std::optional<Sum> run() {
    Sum sum = readSum();
    return readable && token.kind == Token::End ? std::optional<Sum>(std::move(sum)) : std::nullopt;
  }

private:
  bool take(char sign) {
    if (token.kind != Token::Sign || token.text[0] != sign)
      return false;
    token = nextToken(rest);
    return true;
  }

  Sum readSum() {
    Sum sum;
    readable &= ++depth <= kDeepestFormula;
    bool minus = take('-');
    while (readable) {
      sum.push_back(readProduct(minus ? -1 : 1));
      minus = take('-');
      if (!minus && !take('+'))
        break;
    }
    --depth;
    return sum;
  }

  Product readProduct(int64_t sign) {
    Product product{sign, {}};
    do {
      if (token.kind == Token::Number) {
        std::optional<int64_t> value = parseInteger(token.text);
        readable &=
            value && !__builtin_mul_overflow(product.coefficient, *value, &product.coefficient);
        token = nextToken(rest);
      } else {
        product.atoms.push_back(readAtom());
      }
    } while (readable && take('*'));
    return product;
  }

  Atom readAtom() {
    Atom atom;
    bool isName = token.kind == Token::Name;
    if (isName) {
      atom.name = token.text;
      token = nextToken(rest);
    }
    if (!take('(')) {
      readable &= isName;
      return atom;
    }
    do
      atom.arguments.push_back(readSum());
    while (readable && take(','));
    readable &= take(')');
    return atom;
  }

  std::string_view rest;
  Token token;
  bool readable = true;
  unsigned depth = 0;
};

} // namespace

std::optional<Sum> parseFormula(std::string_view text) { return Parser(text).run(); }

} // namespace weft::cli
