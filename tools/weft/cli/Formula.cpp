//===- Formula.cpp ----------------------------------------------------------------------------===//
//
//   sum     = ['-'] product { ('+' | '-') product }
//   product = power { '*' power }
//   power   = atom [ '^' number ]
//   atom    = number | name | "name" | name '(' sum { ',' sum } ')' | '(' sum ')'
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Formula.h"
#include "tools/weft/cli/FormulaTokens.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>

namespace weft::cli {

namespace {

std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b <= 0)
    return std::nullopt;
  return a / b - (a % b < 0);
}

class Evaluator {
public:
  Evaluator(std::string_view text, const SymbolValues &values) : rest(text), values(values) {
    token = nextToken(rest);
  }

  std::optional<int64_t> run() {
    std::optional<int64_t> value = sum();
    return token.kind == Token::End ? value : std::nullopt;
  }

private:
  bool take(char sign) {
    if (token.kind != Token::Sign || token.text[0] != sign)
      return false;
    token = nextToken(rest);
    return true;
  }

  std::optional<int64_t> sum() {
    // Bounds the recursion: every level of nesting passes here.
    if (++depth > kDeepestFormula)
      return std::nullopt;
    int64_t total = 0;
    bool minus = take('-');
    do {
      std::optional<int64_t> value = product();
      if (!value || (minus ? __builtin_sub_overflow(total, *value, &total)
                           : __builtin_add_overflow(total, *value, &total)))
        return std::nullopt;
      minus = take('-');
    } while (minus || take('+'));
    --depth;
    return total;
  }

  std::optional<int64_t> product() {
    int64_t total = 1;
    do {
      std::optional<int64_t> value = power();
      if (!value || __builtin_mul_overflow(total, *value, &total))
        return std::nullopt;
    } while (take('*'));
    return total;
  }

  std::optional<int64_t> power() {
    std::optional<int64_t> base = atom();
    if (!base || !take('^'))
      return base;
    std::optional<int64_t> exponent = number();
    int64_t total = 1;
    for (int64_t i = 0; exponent && i < *exponent; ++i)
      if (i > 64 || __builtin_mul_overflow(total, *base, &total))
        return std::nullopt;
    return exponent ? std::optional<int64_t>(total) : std::nullopt;
  }

  std::optional<int64_t> number() {
    std::optional<int64_t> value;
    if (token.kind == Token::Number && (value = parseInteger(token.text)))
      token = nextToken(rest);
    return value;
  }

  std::optional<int64_t> atom() {
    if (token.kind == Token::Number)
      return number();
    if (take('(')) {
      std::optional<int64_t> value = sum();
      return take(')') ? value : std::nullopt;
    }
    if (token.kind != Token::Name)
      return std::nullopt;
    std::string name = unquoteName(token.text);
    token = nextToken(rest);
    if (take('('))
      return call(name);
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<int64_t>(found->second);
  }

  std::optional<int64_t> call(const std::string &name) {
    std::vector<int64_t> arguments;
    do {
      std::optional<int64_t> value = sum();
      if (!value)
        return std::nullopt;
      arguments.push_back(*value);
    } while (take(','));
    if (!take(')'))
      return std::nullopt;
    int64_t a = arguments[0];
    if (name == "pos" && arguments.size() == 1)
      return std::max<int64_t>(a, 0);
    if (name == "min")
      return *std::min_element(arguments.begin(), arguments.end());
    if (name == "max") // the peak of an artifact is the largest of any number of sums
      return *std::max_element(arguments.begin(), arguments.end());
    if (arguments.size() != 2)
      return std::nullopt;
    return apply(name, a, arguments[1]);
  }

  static std::optional<int64_t> apply(const std::string &name, int64_t a, int64_t b) {
    int64_t result;
    std::optional<int64_t> quotient;
    if (name == "bcast")
      return a == 1 ? b : a;
    if (name == "floordiv")
      return floorDivide(a, b);
    if (name == "ceildiv" && a != INT64_MIN && (quotient = floorDivide(-a, b)))
      return -*quotient;
    if (name == "mod" && (quotient = floorDivide(a, b)) &&
        !__builtin_mul_overflow(*quotient, b, &result) &&
        !__builtin_sub_overflow(a, result, &result))
      return result;
    return std::nullopt;
  }

  std::string_view rest;
  Token token;
  const SymbolValues &values;
  unsigned depth = 0;
};

std::string raised(unsigned power, bool unicode) {
  if (power == 1)
    return "";
  if (unicode && power <= 3)
    return power == 2 ? "²" : "³";
  return "^" + std::to_string(power);
}

/// Copies tokens; runs of equal factors become powers.
std::string rewrite(std::string_view text, bool unicode, bool rounded) {
  std::string out;
  for (Token token = nextToken(text); token.kind != Token::End; token = nextToken(text)) {
    std::string word(token.text);
    if (token.kind == Token::Number && rounded)
      if (std::optional<int64_t> value = parseInteger(word); value && *value >= 10000)
        word = printCount(static_cast<double>(*value));
    if (token.kind == Token::Name) {
      unsigned power = 1;
      for (std::string_view ahead = text;;) {
        if (nextToken(ahead).text != "*" || nextToken(ahead).text != token.text ||
            (!ahead.empty() && ahead[0] == '('))
          break;
        ++power;
        text = ahead;
      }
      word += raised(power, unicode);
    }
    if (word == "*")
      word = unicode ? "·" : "*";
    else if (word == "+" || (word == "-" && !out.empty() && out.back() != '(' && out.back() != ' '))
      word = " " + word + " ";
    else if (word == ",")
      word = ", ";
    out += word;
  }
  return out;
}

} // namespace

std::optional<int64_t> evaluateFormula(std::string_view text, const SymbolValues &values) {
  return Evaluator(text, values).run();
}

std::optional<int64_t> solveFormula(std::string_view text, const std::string &symbol,
                                    int64_t target, SymbolValues values) {
  values[symbol] = 0;
  std::optional<int64_t> atZero = evaluateFormula(text, values);
  values[symbol] = 1;
  std::optional<int64_t> atOne = evaluateFormula(text, values);
  int64_t step, rest;
  if (!atZero || !atOne || __builtin_sub_overflow(*atOne, *atZero, &step) || step == 0 ||
      step == -1 || __builtin_sub_overflow(target, *atZero, &rest))
    return std::nullopt;
  values[symbol] = rest / step;
  // What is not linear, or has no whole solution, is found out here.
  return evaluateFormula(text, values) == target ? std::optional<int64_t>(rest / step)
                                                 : std::nullopt;
}

std::vector<std::string> formulaSymbols(std::string_view text) {
  std::vector<std::string> names;
  Token before = nextToken(text);
  for (Token token = before; before.kind != Token::End; before = token) {
    token = nextToken(text);
    if (before.kind != Token::Name || token.text == "(")
      continue;
    std::string name = unquoteName(before.text);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

std::string beautifyFormula(std::string_view text, bool unicode) {
  return rewrite(text, unicode, false);
}

std::string roundFormula(std::string_view text, bool unicode) {
  return rewrite(text, unicode, true);
}

} // namespace weft::cli
