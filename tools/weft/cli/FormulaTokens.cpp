//===- FormulaTokens.cpp ----------------------------------------------------------------------===//

#include "tools/weft/cli/FormulaTokens.h"

#include <algorithm>

namespace weft::cli {

static bool startsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool continuesName(char c) { return startsName(c) || isDigit(c) || c == '.' || c == '$'; }

Token nextToken(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.empty())
    return {Token::End, {}};
  size_t length = 1;
  Token::Kind kind = Token::Sign;
  if (text[0] == '"') {
    kind = Token::Name;
    length = std::min(text.find('"', 1), text.size() - 1) + 1;
  } else if (isDigit(text[0])) {
    kind = Token::Number;
    while (length < text.size() && isDigit(text[length]))
      ++length;
  } else if (startsName(text[0])) {
    kind = Token::Name;
    while (length < text.size() && continuesName(text[length]))
      ++length;
  }
  Token token{kind, text.substr(0, length)};
  text.remove_prefix(length);
  return token;
}

/// Quoted names are escaped as LLVM does: \XX with two hexadecimal digits, and \\.
std::string unquoteName(std::string_view name) {
  if (name.size() < 2 || name.front() != '"')
    return std::string(name);
  std::string out;
  name = name.substr(1, name.size() - 2);
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size() && name[i + 1] == '\\') {
      out += name[++i];
    } else if (name[i] == '\\' && i + 2 < name.size() && digit(name[i + 1]) >= 0 &&
               digit(name[i + 2]) >= 0) {
      out += static_cast<char>(digit(name[i + 1]) * 16 + digit(name[i + 2]));
      i += 2;
    } else {
      out += name[i];
    }
  }
  return out;
}

} // namespace weft::cli
