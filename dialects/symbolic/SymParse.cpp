//===- SymParse.cpp - One grammar for expressions and predicates, over two sources of tokens ----===//
//
//   predicate  = relation { "or" relation }
//   relation   = sum ( "==" | "<=" | "<" | ">=" | ">" ) sum
//   sum        = [ "-" ] product { ( "+" [ "-" ] | "-" ) product }
//   product    = primary { "*" primary }
//   primary    = integer | "(" sum ")" | name | string | function "(" sum { "," sum } ")"
//
// The tokens come from plain text or from an AsmParser.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Polynomial.h"
#include "dialects/symbolic/SymFacts.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <thread>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

static constexpr unsigned kMaxNesting = 64;
static constexpr size_t kMaxText = size_t(1) << 20;

namespace {
/// What the grammar needs to know about its input. A minus before a digit belongs to the number, because AsmParser reads it so.
class Tokens {
public:
  virtual ~Tokens() = default;
  virtual MLIRContext *getContext() = 0;
  /// One of + * ( ) , = < >
  virtual bool consume(char punctuation) = 0;
  virtual bool atMinus() = 0;
  /// A minus that is not the sign of a number.
  virtual bool consumeMinus() = 0;
  virtual OptionalParseResult integer(int64_t &value) = 0;
  virtual bool keyword(StringRef &word) = 0;
  virtual bool consumeKeyword(StringRef word) = 0;
  virtual OptionalParseResult quoted(std::string &text) = 0;
  /// True when `>` is surely a relation and not the end of an attribute.
  virtual bool atGreaterRelation() = 0;
  virtual ParseResult error(const Twine &message) = 0;
};

class TextTokens : public Tokens {
public:
  TextTokens(MLIRContext *context, StringRef text) : context(context), text(text) {}

  MLIRContext *getContext() override { return context; }
  bool consume(char punctuation) override {
    skipSpace();
    if (position == text.size() || text[position] != punctuation)
      return false;
    ++position;
    return true;
  }
  bool atMinus() override {
    skipSpace();
    return position < text.size() && text[position] == '-';
  }
  bool consumeMinus() override {
    if (!atMinus() || startsNumber(text.drop_front(position + 1).ltrim()))
      return false;
    ++position;
    return true;
  }
  OptionalParseResult integer(int64_t &value) override {
    skipSpace();
    StringRef rest = text.drop_front(position);
    bool negative = rest.consume_front("-");
    rest = rest.ltrim();
    if (!startsNumber(rest))
      return std::nullopt;
    StringRef digits = rest.take_while(llvm::isDigit);
    std::string literal = (negative ? "-" : "") + digits.str();
    if (StringRef(literal).getAsInteger(10, value))
      return error("the number does not fit in 64 bits");
    position = text.size() - rest.size() + digits.size();
    return success();
  }
  bool keyword(StringRef &word) override {
    skipSpace();
    StringRef rest = text.drop_front(position);
    if (rest.empty() || !(llvm::isAlpha(rest[0]) || rest[0] == '_'))
      return false;
    word = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
    position += word.size();
    return true;
  }
  bool consumeKeyword(StringRef word) override {
    size_t before = position;
    StringRef found;
    if (keyword(found) && found == word)
      return true;
    position = before;
    return false;
  }
  OptionalParseResult quoted(std::string &value) override {
    if (!consume('"'))
      return std::nullopt;
    for (; position < text.size() && text[position] != '"'; ++position) {
      if (text[position] != '\\') {
        value.push_back(text[position]);
        continue;
      }
      if (!readEscape(value))
        return error("unknown escape in a quoted name");
    }
    return consume('"') ? ParseResult(success()) : error("the quoted name does not end");
  }
  bool atGreaterRelation() override {
    skipSpace();
    return position < text.size() && text[position] == '>';
  }
  ParseResult error(const Twine &text) override {
    if (message.empty())
      message = (text + " at character " + Twine(position + 1)).str();
    return failure();
  }
  /// The first one.
  llvm::Error takeError() {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  }
  bool atEnd() {
    skipSpace();
    return position == text.size();
  }

private:
  static bool startsNumber(StringRef rest) { return !rest.empty() && llvm::isDigit(rest[0]); }
  void skipSpace() {
    while (position < text.size() && llvm::isSpace(text[position]))
      ++position;
  }
  /// MLIR's escapes: \n \t \" \\ and two hexadecimal digits. Stops on the last character.
  bool readEscape(std::string &value) {
    StringRef rest = text.drop_front(position + 1);
    if (rest.empty())
      return false;
    constexpr StringLiteral letters = "nt\"\\";
    size_t letter = letters.find(rest[0]);
    if (letter != StringRef::npos) {
      value.push_back("\n\t\"\\"[letter]);
      position += 1;
      return true;
    }
    if (rest.size() < 2 || !llvm::isHexDigit(rest[0]) || !llvm::isHexDigit(rest[1]))
      return false;
    value.push_back(char(llvm::hexFromNibbles(rest[0], rest[1])));
    position += 2;
    return true;
  }

  MLIRContext *context;
  StringRef text;
  std::string message;
  size_t position = 0;
};

class AsmTokens : public Tokens {
public:
  explicit AsmTokens(AsmParser &parser) : parser(parser) {}

  MLIRContext *getContext() override { return parser.getContext(); }
  bool consume(char punctuation) override {
    switch (punctuation) {
    case '+':
      return succeeded(parser.parseOptionalPlus());
    case '*':
      return succeeded(parser.parseOptionalStar());
    case '(':
      return succeeded(parser.parseOptionalLParen());
    case ')':
      return succeeded(parser.parseOptionalRParen());
    case ',':
      return succeeded(parser.parseOptionalComma());
    case '=':
      return succeeded(parser.parseOptionalEqual());
    case '<':
      return succeeded(parser.parseOptionalLess());
    case '>':
      return succeeded(parser.parseOptionalGreater());
    default:
      return false;
    }
  }
  bool atMinus() override { return rest()[0] == '-' && rest()[1] != '>'; }
  /// AsmParser offers no minus token, but parseOptionalInteger takes the minus before it finds that no number follows. Its complaint
  /// is swallowed, and the position tells whether that still works.
  bool consumeMinus() override {
    if (!atMinus() || pendingNumber)
      return false;
    const char *start = rest(), *next = start + 1;
    while (llvm::isSpace(*next))
      ++next;
    if (llvm::isDigit(*next))
      return false;
    ScopedDiagnosticHandler swallow(getContext(),
                                    [thread = std::this_thread::get_id()](Diagnostic &) {
                                      return success(std::this_thread::get_id() == thread);
                                    });
    int64_t value = 0;
    OptionalParseResult result = parser.parseOptionalInteger(value);
    if (result.has_value() && succeeded(*result)) { // a comment stood between sign and number
      pendingNumber = value;
      return false;
    }
    return rest() != start;
  }
  OptionalParseResult integer(int64_t &value) override {
    if (pendingNumber) {
      value = *pendingNumber;
      pendingNumber.reset();
      return ParseResult(success());
    }
    // AsmParser reads `true` and `false` as numbers, so the printer quotes symbols of that name. The APInt form accepts -2^63.
    APInt wide;
    OptionalParseResult result = parser.parseOptionalInteger(wide);
    if (!result.has_value() || failed(*result))
      return result;
    if (wide.getSignificantBits() > 64)
      return error("the number does not fit in 64 bits");
    value = wide.getSExtValue();
    return result;
  }
  bool keyword(StringRef &word) override { return succeeded(parser.parseOptionalKeyword(&word)); }
  bool consumeKeyword(StringRef word) override {
    return succeeded(parser.parseOptionalKeyword(word));
  }
  OptionalParseResult quoted(std::string &text) override {
    if (failed(parser.parseOptionalString(&text)))
      return std::nullopt;
    return ParseResult(success());
  }
  bool atGreaterRelation() override { return rest()[0] == '>' && rest()[1] == '='; }
  ParseResult error(const Twine &message) override {
    return parser.emitError(parser.getCurrentLocation(), message);
  }

private:
  const char *rest() { return parser.getCurrentLocation().getPointer(); }

  AsmParser &parser;
  std::optional<int64_t> pendingNumber;
};

class Grammar {
public:
  explicit Grammar(Tokens &tokens) : tokens(tokens), context(tokens.getContext()) {}

  ParseResult expression(SymExpr &result) {
    if (sum(result, 0))
      return failure();
    if (result.isOverflow() && !spelledOverflow)
      return tokens.error("the expression overflows 64 bits or is too large");
    return success();
  }

  ParseResult predicate(SymPred &result) {
    SmallVector<SymPred, 2> alternatives;
    do {
      if (relation(alternatives.emplace_back(result)))
        return failure();
    } while (tokens.consumeKeyword("or"));
    result = SymPred::either(alternatives);
    return success();
  }

private:
  ParseResult relation(SymPred &result) {
    SymExpr lhs, rhs;
    if (expression(lhs))
      return failure();
    if (tokens.consume('=')) {
      if (!tokens.consume('='))
        return tokens.error("expected '=='");
      if (expression(rhs))
        return failure();
      result = SymPred::equal(lhs, rhs);
      return success();
    }
    bool less = tokens.consume('<');
    if (!less && !(tokens.atGreaterRelation() && tokens.consume('>')))
      return tokens.error("expected '==' or '<='");
    bool strict = !tokens.consume('=');
    if (expression(rhs))
      return failure();
    if (!less)
      std::swap(lhs, rhs);
    result = strict ? SymPred::le(lhs + 1, rhs) : SymPred::le(lhs, rhs);
    return success();
  }

  ParseResult sum(SymExpr &result, unsigned nesting) {
    if (nesting > kMaxNesting)
      return tokens.error("the expression is nested deeper than 64");
    SumBuilder builder(context);
    do {
      bool negative = tokens.consumeMinus();
      SymExpr part;
      if (product(part, nesting))
        return failure();
      builder.add(negative ? -part : part);
    } while (tokens.consume('+') || tokens.atMinus());
    result = builder.build();
    return success();
  }

  /// Multiplies as a balanced tree: a long product costs n*log(n), not n^2.
  ParseResult product(SymExpr &result, unsigned nesting) {
    SmallVector<SymExpr, 4> factors;
    do {
      if (primary(factors.emplace_back(), nesting))
        return failure();
    } while (tokens.consume('*'));
    for (; factors.size() > 1; factors.resize((factors.size() + 1) / 2))
      for (size_t i = 0; i < factors.size(); i += 2)
        factors[i / 2] = i + 1 < factors.size() ? factors[i] * factors[i + 1] : factors[i];
    result = factors[0];
    return success();
  }

  ParseResult primary(SymExpr &result, unsigned nesting) {
    int64_t value;
    OptionalParseResult number = tokens.integer(value);
    if (number.has_value()) {
      result = SymExpr::constant(context, value);
      return *number;
    }
    if (tokens.consume('(')) {
      if (sum(result, nesting + 1))
        return failure();
      return tokens.consume(')') ? ParseResult(success()) : tokens.error("expected ')'");
    }
    std::string name;
    OptionalParseResult string = tokens.quoted(name);
    if (string.has_value()) {
      result = SymExpr::symbol(context, name);
      return *string;
    }
    StringRef word;
    if (!tokens.keyword(word) || word == "or")
      return tokens.error("expected a number, a symbol, a function or '('");
    if (tokens.consume('('))
      return call(word, result, nesting + 1);
    result = SymExpr::symbol(context, word);
    return success();
  }

  ParseResult call(StringRef function, SymExpr &result, unsigned nesting) {
    if (function == "overflow") {
      spelledOverflow = true;
      result = makeOverflow(SymExpr::constant(context, 0).getContext());
      return tokens.consume(')') ? ParseResult(success()) : tokens.error("expected ')'");
    }
    using Binary = SymExpr (*)(SymExpr, SymExpr);
    Binary binary = llvm::StringSwitch<Binary>(function)
                        .Case("floordiv", SymExpr::floordiv)
                        .Case("ceildiv", SymExpr::ceildiv)
                        .Case("mod", SymExpr::mod)
                        .Case("min", SymExpr::min)
                        .Case("max", SymExpr::max)
                        .Case("bcast", SymExpr::bcast)
                        .Default(nullptr);
    bool divides = function == "floordiv" || function == "ceildiv" || function == "mod";
    if (!binary && function != "pos")
      return tokens.error("unknown function '" + function + "'");
    SmallVector<SymExpr, 2> arguments;
    do {
      if (sum(arguments.emplace_back(), nesting))
        return failure();
    } while (tokens.consume(','));
    if (!tokens.consume(')'))
      return tokens.error("expected ')' or ','");
    if (!binary ? arguments.size() != 1
                : arguments.size() < 2 || (divides && arguments.size() != 2))
      return tokens.error("wrong number of arguments of '" + function + "'");
    if (divides && arguments[1].asConstant() && *arguments[1].asConstant() <= 0)
      return tokens.error("the divisor of '" + function + "' is " +
                          Twine(*arguments[1].asConstant()) + "; it must be at least 1");
    result = binary ? arguments[0] : SymExpr::pos(arguments[0]);
    for (SymExpr argument : ArrayRef(arguments).drop_front())
      result = binary(result, argument);
    return success();
  }

  Tokens &tokens;
  MLIRContext *context;
  bool spelledOverflow = false;
};
} // namespace

/// Runs one rule of the grammar over the whole text.
template <typename Result>
static llvm::Expected<Result> parseAll(MLIRContext *context, StringRef text,
                                       ParseResult (Grammar::*rule)(Result &)) {
  TextTokens tokens(context, text);
  Result result;
  auto parse = [&]() -> ParseResult {
    if (text.size() > kMaxText)
      return tokens.error("the text is longer than 1 MiB");
    if ((Grammar(tokens).*rule)(result))
      return failure();
    return tokens.atEnd() ? ParseResult(success()) : tokens.error("unexpected text after the end");
  };
  if (parse())
    return tokens.takeError();
  return result;
}

llvm::Expected<SymExpr> weft::parseSymExpr(MLIRContext *context, StringRef text) {
  return parseAll<SymExpr>(context, text, &Grammar::expression);
}

llvm::Expected<SymPred> weft::parseSymPred(MLIRContext *context, StringRef text) {
  return parseAll<SymPred>(context, text, &Grammar::predicate);
}

FailureOr<SymExpr> weft::parseSymExpr(AsmParser &parser) {
  AsmTokens tokens(parser);
  SymExpr result;
  if (Grammar(tokens).expression(result))
    return failure();
  return result;
}

FailureOr<SymPred> weft::parseSymPred(AsmParser &parser) {
  AsmTokens tokens(parser);
  SymPred result;
  if (Grammar(tokens).predicate(result))
    return failure();
  return result;
}
