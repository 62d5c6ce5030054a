//===- TokenFormat.cpp - Textual IR, JSON, and headers of .npy and safetensors files ------------===//
#include "test/fuzz/Formats.h"

#include <algorithm>
#include <cctype>

namespace weft::fuzz {
namespace {

constexpr unsigned kDeepest = 100;

/// Kinds of fields: a character says what a token begins with or which bracket a group has.
enum Kind : unsigned {
  Word = 'w',
  Operator = 'o',
  Digits = '9',
  Punctuation = '.',
  Line = 'l',
  Item = 0x100
};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

class Lexer {
public:
  Lexer(std::string_view text, bool lines) : text(text), lines(lines) {
    if (lines)
      matchAngles();
  }

  /// Up to the bracket `close`, or the end when that is 0. False when brackets do not match.
  bool list(Field &group, char close, unsigned depth) {
    std::vector<Field> tokens;
    for (;;) {
      std::string space = skipSpace();
      if (at == text.size() || (close && text[at] == close)) {
        group.tail = space;
        if ((at == text.size()) != (close == 0))
          return false;
        if (close)
          group.tail += text[at++];
        arrange(group, std::move(tokens), close);
        return true;
      }
      Field token;
      if (depth > kDeepest || !next(token, depth))
        return false;
      token.head = space + token.head;
      tokens.push_back(std::move(token));
    }
  }

private:
  /// Finds the '<' that are brackets: those that a '>' closes before any other bracket around them is closed.
  void matchAngles() {
    matched.resize(text.size());
    std::vector<size_t> open;
    for (size_t i = 0; i < text.size(); ++i) {
      size_t kind = std::string_view(")]}>").find(text[i]);
      if (text.substr(i, 2) == "->")
        ++i;
      else if (std::string_view("([{<").find(text[i]) != std::string_view::npos)
        open.push_back(i);
      else if (kind == 3 && !open.empty() && text[open.back()] == '<')
        matched[open.back()] = true, open.pop_back();
      else if (kind < 3)
        while (!open.empty()) {
          char last = text[open.back()];
          open.pop_back();
          if (last == "([{"[kind])
            break;
        }
    }
  }
  bool isMatched(size_t at) const { return at < matched.size() && matched[at]; }

  std::string skipSpace() {
    size_t begin = at;
    while (at < text.size() && (std::isspace(static_cast<unsigned char>(text[at])) || isComment()))
      at = isComment() ? std::min(text.find('\n', at), text.size()) : at + 1;
    return std::string(text.substr(begin, at - begin));
  }
  bool isComment() const { return lines && text.substr(at, 2) == "//"; }

  bool next(Field &token, unsigned depth) {
    char c = text[at];
    if (c == '"' || c == '\'')
      return string(token, c, depth);
    size_t bracket = std::string_view("([{<").find(c);
    if (bracket != std::string_view::npos && (c != '<' || isMatched(at))) {
      ++at;
      token.kind = static_cast<unsigned char>(c);
      token.head = c;
      return list(token, ")]}>"[bracket], depth + 1);
    }
    word(token);
    return true;
  }

  /// What quotes hold is made of tokens, too: facts and rules are expressions.
  bool string(Field &token, char quote, unsigned depth) {
    size_t end = at + 1;
    while (end < text.size() && text[end] != quote && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size() || text[end] != quote)
      return false;
    std::string_view content = text.substr(at + 1, end - at - 1);
    if (!Lexer(content, false).list(token, 0, depth + 1)) {
      token = Field();
      token.parts.resize(1);
      token.parts[0].form = Field::Text;
      token.parts[0].kind = Word;
      token.parts[0].text = content;
    }
    token.kind = '"';
    token.head = quote;
    token.tail += quote;
    at = end + 1;
    return true;
  }

  void word(Field &token) {
    size_t begin = at;
    char first = text[at];
    if (std::string_view("%@!#^").find(first) != std::string_view::npos)
      ++at;
    while (at < text.size() && isWord(text[at]))
      ++at;
    if (at == begin || (at == begin + 1 && !isWord(first))) {
      static const std::string_view pairs[] = {"->", "<=", ">=", "==", "::"};
      std::string_view two = text.substr(begin, 2);
      at = begin + (std::find(std::begin(pairs), std::end(pairs), two) != std::end(pairs) ? 2 : 1);
    }
    token.form = Field::Text;
    token.text = text.substr(begin, at - begin);
    if (std::isdigit(static_cast<unsigned char>(first)))
      token.kind = Digits;
    else if (isWord(first))
      token.kind = token.text.find('.') != std::string::npos ? Operator : Word;
    else
      token.kind =
          at - begin > 1 && isWord(text[at - 1]) ? static_cast<unsigned char>(first) : Punctuation;
  }

  /// Lines where there are some, entries between commas elsewhere.
  void arrange(Field &group, std::vector<Field> tokens, char close) {
    auto startsLine = [](const Field &token) { return token.head.find('\n') != std::string::npos; };
    if (lines && (close == 0 || close == '}') &&
        std::any_of(tokens.begin(), tokens.end(), startsLine)) {
      for (Field &token : tokens) {
        if (group.parts.empty() || startsLine(token))
          group.parts.push_back(groupOf(Line));
        group.parts.back().parts.push_back(std::move(token));
      }
      for (Field &line : group.parts)
        entries(line, Line);
      return;
    }
    group.parts = std::move(tokens);
    if (close || !lines)
      entries(group, group.kind);
  }

  static Field groupOf(unsigned kind) {
    Field group;
    group.kind = kind;
    return group;
  }

  static void entries(Field &group, unsigned kind) {
    auto isComma = [](const Field &token) {
      return token.form == Field::Text && token.text == ",";
    };
    if (std::none_of(group.parts.begin(), group.parts.end(), isComma))
      return;
    std::vector<Field> tokens = std::move(group.parts);
    group.parts = {groupOf(Item + kind)};
    group.separator = ",";
    for (Field &token : tokens)
      if (isComma(token))
        group.parts.push_back(groupOf(Item + kind));
      else
        group.parts.back().parts.push_back(std::move(token));
  }

  std::string_view text;
  bool lines;
  size_t at = 0;
  std::vector<bool> matched; ///< which '<' are brackets
};

} // namespace

void writeFlat(const Field &field, std::string &out) {
  out += field.head;
  out += field.text;
  for (size_t i = 0; i < field.parts.size(); ++i) {
    out += i ? field.separator : "";
    writeFlat(field.parts[i], out);
  }
  out += field.tail;
}

std::optional<Field> TokenFormat::split(std::string_view bytes) const {
  Field root;
  if (bytes.size() > (1 << 20) || !Lexer(bytes, lines).list(root, 0, 0))
    return std::nullopt;
  return root;
}

Written TokenFormat::join(const Field &root) const {
  Written file;
  writeFlat(root, file.bytes);
  return file;
}

const Format &irFormat() {
  static const TokenFormat format(true);
  return format;
}

const Format &jsonFormat() {
  static const TokenFormat format(false);
  return format;
}

std::string fixedBytes(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i));
  return out;
}

uint64_t fixedNumber(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

} // namespace weft::fuzz
