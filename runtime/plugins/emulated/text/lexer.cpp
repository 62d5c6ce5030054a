#include "runtime/plugins/emulated/text/lexer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft_emulated {

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == 0; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) {
  return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '%' || c == '$';
}

void lexer::comment(std::string_view body) {
  static constexpr std::string_view mark = "implicit-def: ";
  size_t place = body.find(mark);
  if (place == body.npos)
    return;
  std::string_view name = body.substr(place + mark.size());
  size_t end = 0;
  while (end < name.size() && is_word(name[end]))
    ++end;
  implicit.emplace_back(name.substr(0, end));
}

void lexer::skip() {
  while (at < text.size()) {
    if (text[at] == '\n') {
      ++at_line;
      ++at;
    } else if (is_space(text[at])) {
      ++at;
    } else if (text[at] == '/' && peek(1) == '/') {
      size_t end = std::min(text.find('\n', at), text.size());
      comment(text.substr(at, end - at));
      at = end;
    } else if (text[at] == '/' && peek(1) == '*') {
      size_t end = text.find("*/", at + 2);
      if (end == text.npos)
        fail("a comment does not end");
      for (; at < end + 2; ++at)
        at_line += text[at] == '\n';
    } else {
      return;
    }
  }
}

bool lexer::eat(char sign) {
  if (next() != sign || at >= text.size())
    return false;
  ++at;
  return true;
}

std::string lexer::near() const {
  std::string found;
  for (size_t i = at; i < text.size() && i < at + 24 && text[i] != '\n'; ++i)
    found += text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
  return found.empty() ? "the end" : "'" + found + "'";
}

void lexer::expect(char sign) {
  if (!eat(sign))
    fail(std::string("'") + sign + "' is expected, not " + near());
}

std::string lexer::word() {
  skip();
  size_t begin = at;
  for (;;) {
    if (is_word(peek(0)))
      ++at;
    else if (peek(0) == ':' && peek(1) == ':' && at > begin)
      at += 2;
    else
      break;
  }
  if (at - begin > 1000)
    fail("a name of more than 1000 characters");
  return std::string(text.substr(begin, at - begin));
}

std::string lexer::name() {
  std::string found = word();
  if (found.empty())
    fail("a name is expected, not " + near());
  return found;
}

static int digit_of(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

operand_text lexer::number() {
  skip();
  operand_text result;
  result.kind = operand_text::integer;
  int base = 10;
  if (peek(0) == '0') {
    char form = char(peek(1) | 0x20);
    if (form == 'f' || form == 'd')
      result.kind = form == 'f' ? operand_text::single : operand_text::real;
    if (form == 'x' || form == 'f' || form == 'd')
      base = 16, at += 2;
    else if (form == 'b')
      base = 2, at += 2;
    else if (is_digit(peek(1)))
      base = 8;
  }
  size_t begin = at;
  while (digit_of(peek(0)) < base)
    result.bits = result.bits * uint64_t(base) + uint64_t(digit_of(text[at++]));
  if (at == begin)
    fail("a number is expected, not " + near());
  if (base == 10 && (peek(0) == '.' || (peek(0) | 0x20) == 'e')) {
    std::string digits(text.substr(begin, std::min<size_t>(64, text.size() - begin)));
    char *end;
    double value = std::strtod(digits.c_str(), &end);
    at = begin + size_t(end - digits.c_str());
    result.kind = operand_text::real;
    std::memcpy(&result.bits, &value, 8);
  }
  if (peek(0) == 'U')
    ++at;
  return result;
}

int64_t lexer::integer() {
  bool is_minus = eat('-');
  operand_text found = number();
  if (found.kind != operand_text::integer)
    fail("an integer is expected");
  return int64_t(is_minus ? 0 - found.bits : found.bits);
}

uint64_t lexer::count(uint64_t most) {
  operand_text found = number();
  if (found.kind != operand_text::integer || found.bits > most)
    fail("a number up to " + std::to_string(most) + " is expected");
  return found.bits;
}

void lexer::skip_line() {
  while (at < text.size() && text[at] != '\n')
    ++at;
}

void lexer::skip_behind(char sign) {
  while (!is_end() && text[at] != sign)
    ++at;
  expect(sign);
}

void lexer::quoted() {
  expect('"');
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    ++at;
  expect('"');
}

} // namespace weft_emulated
