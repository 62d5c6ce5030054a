//===- TextGuard.cpp - Limits and an order that MLIR's parser does not ask for ---------------------------------===//

#include "compiler/import/text/TextGuard.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

using namespace llvm;

namespace weft {
namespace {

constexpr const char *kWrongText = "W0201", *kOverLimit = "W0203";
constexpr size_t kMostText = 256 << 20;

Diagnostic error(const char *code, const std::string &where, const std::string &text) {
  return {Diagnostic::Error, code, where, text, ""};
}

bool isNameCharacter(char c) { return isAlnum(c) || StringRef("_$.-").contains(c); }

/// Walks over a text as MLIR's lexer sees it: strings and comments hide what is in them, and arrows close nothing. Blocks of Weft's
/// programs have no successors, so a value's definition always stands before its uses.
class Scan {
public:
  Scan(const std::string &path, StringRef text, const Limits &limits)
      : path(path), text(text), limits(limits) {}

  Result<void> check() {
    for (at = 0; at < text.size();) {
      StringRef rest = text.substr(at);
      if (rest[0] == '"')
        skipString();
      else if (rest.starts_with("//"))
        at = std::min(text.find('\n', at), text.size());
      else if (rest.starts_with("->"))
        at += 2;
      else if (rest[0] == '%') {
        if (!readValue())
          return error(kWrongText, place(),
                       "'" + rest.take_front(nameEnd(at + 1) - at).str() +
                           "' is used before it is defined");
      } else if (isAlpha(rest[0]) || rest[0] == '^' || rest[0] == '@') {
        if (StringRef foreign = readWord(); !foreign.empty())
          return error(kWrongText, path, (foreign + " are not part of textual IR").str());
      } else if (!readBracket())
        return error(kOverLimit, place(),
                     "brackets are nested deeper than " + std::to_string(limits.nesting) +
                         limitText("nesting=N"));
      if (results > limits.nodes) // long before MLIR has made all of them
        return error(kOverLimit, path, tooManyOperations(limits));
    }
    return {};
  }

private:
  /// A line's end also ends a string, with an error of the lexer.
  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
  }

  size_t nameEnd(size_t from) const {
    while (from < text.size() && isNameCharacter(text[from]))
      ++from;
    return from;
  }

  /// A function's name or a block's may be followed by arguments, which are definitions. What the word begins that no program
  /// of Weft has, or nothing: affine maps recurse without brackets, and a dialect's resources ask for memory of any alignment.
  StringRef readWord() {
    size_t end = std::max(nameEnd(at), nameEnd(at + 1));
    StringRef word = text.slice(at, end);
    if (word == "func.func" || word == "plan.func") {
      isSignature = true;
      scopes.back().clear(); // of the function before
    }
    beginsArguments = word[0] == '^' || (isSignature && word[0] == '@');
    at = end;
    if (word[0] != '@' && word.contains("affine_"))
      return "affine maps";
    return word == "dialect_resources" ? "resources of dialects" : "";
  }

  /// Only the bracket that was opened last is closed: a wrong one hides no depth.
  bool readBracket() {
    char c = text[at++];
    size_t kind = StringRef("([{<").find(c);
    if (kind != StringRef::npos) {
      open.push_back(")]}>"[kind]);
      if (c == '(' && beginsArguments)
        arguments = open.size();
      if (c == '{')
        scopes.emplace_back();
    } else if (!open.empty() && open.back() == c) {
      if (arguments == open.size())
        arguments = 0, isSignature = false;
      open.pop_back();
      if (c == '}')
        scopes.pop_back();
    }
    if (!isSpace(c))
      beginsArguments = false;
    return open.size() <= limits.nesting;
  }

  /// A name that begins a list of results, or that stands among arguments, is defined; false for another that is not known.
  bool readValue() {
    StringRef name = text.slice(at, nameEnd(at + 1));
    if (arguments != 0 && arguments == open.size()) {
      scopes.back().insert(name);
      at += name.size();
      return true;
    }
    if (readResults())
      return true;
    if (llvm::none_of(scopes, [&](const StringSet<> &scope) { return scope.contains(name); }))
      return false;
    at += name.size();
    return true;
  }

  /// `%a, %b:2 =`
  bool readResults() {
    if (at < listEnd) // inside a list that was none of results
      return false;
    size_t here = at;
    auto remember = make_scope_exit([&] { listEnd = here; });
    std::vector<StringRef> names;
    auto skip = [&](auto isSkipped) {
      while (here < text.size() && isSkipped(text[here]))
        ++here;
    };
    do {
      here += names.empty() ? 0 : 1; // the comma
      skip(isSpace);
      if (here >= text.size() || text[here] != '%')
        return false;
      size_t end = nameEnd(here + 1);
      names.push_back(text.slice(here, end));
      here = end;
      skip(isSpace);
      if (here < text.size() && text[here] == ':')
        ++here, skip([](char c) { return isSpace(c) || isDigit(c); });
    } while (here < text.size() && text[here] == ',');
    if (here >= text.size() || text[here] != '=')
      return false;
    for (StringRef name : names)
      scopes.back().insert(name);
    ++results;
    at = here;
    return true;
  }

  std::string place() const {
    StringRef before = text.take_front(at);
    size_t line = before.rfind('\n');
    return path + ":" + std::to_string(before.count('\n') + 1) + ":" +
           std::to_string(line == StringRef::npos ? at + 1 : at - line);
  }

  const std::string &path;
  StringRef text;
  const Limits &limits;
  size_t at = 0;
  uint64_t results = 0; ///< operations that have some
  std::string open;     ///< the closing brackets that are awaited
  std::vector<StringSet<>> scopes = {
      StringSet<>()};   ///< names defined outside and in each open brace
  size_t arguments = 0; ///< how many brackets are open where arguments are listed; 0: nowhere
  bool isSignature = false, beginsArguments = false;
  size_t listEnd = 0; ///< of the list of names that was looked at last
};

} // namespace

std::string tooManyOperations(const Limits &limits) {
  return "the text has more than " + std::to_string(limits.nodes) + " operations" +
         limitText("nodes=N");
}

Result<void> checkText(const std::string &path, StringRef text, const Limits &limits) {
  if (text.size() > kMostText)
    return error(kWrongText, path,
                 "the text is larger than " + std::to_string(kMostText >> 20) + " MiB");
  if (text.contains('\0'))
    return error(kWrongText, path, "the text contains a zero byte");
  return Scan(path, text, limits).check();
}

} // namespace weft
