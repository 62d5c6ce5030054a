//===- IterationRule.cpp - Parsing a rule's text and binding it to types -----------------------===//

#include "dialects/weft/interfaces/IterationRule.h"
#include "dialects/weft/Weft.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {
namespace {

/// One access as written: kind, factor names with coefficients, offset.
struct RawAccess {
  AccessKind kind = AccessKind::Fixed;
  SmallVector<std::pair<SymExpr, std::string>, 2> terms;
  SymExpr offset;
  bool ellipsis = false; ///< `...`, or a factor it was expanded to
};
using RawDims = std::vector<RawAccess>;

/// Splits at `separator` outside parentheses and braces, dropping empty pieces and surrounding blanks.
SmallVector<StringRef> splitTop(StringRef text, char separator, bool keepEmpty = false) {
  SmallVector<StringRef> pieces;
  int depth = 0;
  size_t start = 0;
  auto push = [&](StringRef piece) {
    piece = piece.trim();
    if (!piece.empty() || keepEmpty)
      pieces.push_back(piece);
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += (c == '(' || c == '{') - (c == ')' || c == '}');
    if (depth == 0 && c == separator) {
      push(text.slice(start, i));
      start = i + 1;
    }
  }
  push(text.substr(start));
  return pieces;
}

bool isName(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

} // namespace

/// Reads the text and collects factors; then `bind` fills extents from types and checks every dimension.
class RuleBinder {
public:
  RuleBinder(MLIRContext *context, IterationRule::Report report)
      : context(context), report(report) {}

  FailureOr<IterationRule> run(StringRef text, TypeRange operands, TypeRange results) {
    if (failed(split(text)))
      return failure();
    if (rawOperands.empty() && operands.size() == 1)
      rawOperands.emplace_back(); // of rank 0, which is written as nothing
    if (rawOperands.size() != operands.size()) {
      report("rule '" + text + "' has " + Twine(rawOperands.size()) + " operands, but there are " +
             Twine(operands.size()));
      return failure();
    }
    noteForms(rawOperands, rule.operandForms);
    noteForms(rawResults, rule.resultForms);
    bool typed = !results.empty();
    for (auto [i, type] : llvm::enumerate(operands))
      if (failed(expand(rawOperands[i], cast<SymTensorType>(type).getRank(), "operand", i)))
        return failure();
    for (auto [i, raw] : llvm::enumerate(rawResults))
      if (failed(expand(raw,
                        typed ? cast<SymTensorType>(results[i]).getRank()
                              : ellipsisRank + raw.size() - hasEllipsis(raw),
                        "result", i)))
        return failure();
    numberFactors();
    for (auto [i, type] : llvm::enumerate(operands))
      takeExtents(rawOperands[i], cast<SymTensorType>(type));
    if (typed)
      for (auto [i, type] : llvm::enumerate(results))
        takeExtents(rawResults[i], cast<SymTensorType>(type));
    if (failed(takeExplicitExtents()))
      return failure();
    for (auto [i, type] : llvm::enumerate(operands))
      solveMerges(rawOperands[i], cast<SymTensorType>(type));
    if (typed)
      for (auto [i, type] : llvm::enumerate(results))
        solveMerges(rawResults[i], cast<SymTensorType>(type));
    for (Factor &factor : rule.factorList)
      if (!factor.extent) {
        if (factor.name[0] != '.') {
          report("nothing determines factor '" + factor.name + "' of rule '" + text + "'");
          return failure();
        }
        factor.extent = SymExpr::constant(context, 1); // every operand has the literal 1 there
      }
    for (auto [i, type] : llvm::enumerate(operands))
      if (failed(finish(rawOperands[i], cast<SymTensorType>(type), rule.operandAccesses, "operand",
                        i)))
        return failure();
    for (auto [i, raw] : llvm::enumerate(rawResults))
      if (failed(finish(raw, typed ? cast<SymTensorType>(results[i]) : SymTensorType(),
                        rule.resultAccesses, "result", i)))
        return failure();
    return rule;
  }

private:
  static bool hasEllipsis(const RawDims &dims) {
    return llvm::any_of(dims, [](const RawAccess &a) { return a.ellipsis && a.terms.empty(); });
  }

  static void noteForms(ArrayRef<RawDims> tensors, SmallVectorImpl<IterationRule::Form> &forms) {
    using Ellipsis = IterationRule::Ellipsis;
    for (const RawDims &dims : tensors) {
      IterationRule::Form &form = forms.emplace_back();
      for (auto [d, access] : llvm::enumerate(dims)) {
        if (!access.ellipsis)
          ++form.named;
        else if (form.ellipsis == Ellipsis::None)
          form.ellipsis = d == 0 ? Ellipsis::First : Ellipsis::Later;
      }
    }
  }

  LogicalResult split(StringRef text) {
    auto [body, extents] = text.split(';');
    explicitExtents = extents;
    size_t colon = body.find(" : ");
    if (colon != StringRef::npos) {
      if (failed(parseCombiner(body.substr(colon + 3).trim())))
        return failure();
      body = body.take_front(colon);
    }
    size_t arrow = body.find("->");
    if (arrow == StringRef::npos) {
      report("rule '" + text + "' has no '->'");
      return failure();
    }
    StringRef left = body.take_front(arrow).trim();
    if (!left.empty() || body.take_front(arrow).contains(','))
      for (StringRef operand : splitTop(left, ',', /*keepEmpty=*/true))
        if (failed(parseDims(operand, rawOperands.emplace_back())))
          return failure();
    for (StringRef result : splitTop(body.substr(arrow + 2), ',', /*keepEmpty=*/true))
      if (failed(parseDims(result, rawResults.emplace_back())))
        return failure();
    return success();
  }

  LogicalResult parseCombiner(StringRef name) {
    static constexpr StringRef names[] = {"sum", "prod", "max", "min", "and", "or"};
    for (auto [i, n] : llvm::enumerate(names))
      if (n == name) {
        rule.combinerKind = Combiner(i);
        return success();
      }
    report("unknown combiner '" + name + "'");
    return failure();
  }

  LogicalResult parseDims(StringRef text, RawDims &dims) {
    for (StringRef token : splitTop(text, ' '))
      if (failed(parseAccess(token, dims.emplace_back())))
        return failure();
    return success();
  }

  LogicalResult parseAccess(StringRef token, RawAccess &access) {
    access.offset = SymExpr::constant(context, 0);
    SymExpr one = SymExpr::constant(context, 1);
    if (token == "...") {
      access.ellipsis = true;
      return success();
    }
    int64_t number;
    if (!token.getAsInteger(10, number)) // a plain number: nothing to iterate
      return success();
    if (token.front() == '(') {
      if (token.size() < 2 || token.back() != ')') {
        report("in rule access '" + token + "': expected ')' at its end");
        return failure();
      }
      access.kind = AccessKind::Merge;
      for (StringRef name : splitTop(token.drop_front().drop_back(), ' '))
        access.terms.push_back({one, name.str()});
      return success();
    }
    static constexpr std::pair<char, AccessKind> suffixes[] = {{'?', AccessKind::Maybe},
                                                               {'~', AccessKind::Coupled},
                                                               {'>', AccessKind::Ordered},
                                                               {'!', AccessKind::Whole}};
    for (auto [suffix, kind] : suffixes)
      if (token.back() == suffix) {
        access.kind = kind;
        access.terms.push_back({one, token.drop_back().str()});
        return success();
      }
    if (isName(token)) {
      access.kind = AccessKind::Point;
      access.terms.push_back({one, token.str()});
      return success();
    }
    return parseWindow(token, access);
  }

  /// `2*p+x-{l}`: terms `[number *] name`, numbers without a name add to the offset.
  LogicalResult parseWindow(StringRef token, RawAccess &access) {
    access.kind = AccessKind::Window;
    size_t i = 0;
    while (i < token.size()) {
      int64_t sign = 1;
      if (token[i] == '+' || token[i] == '-')
        sign = token[i++] == '-' ? -1 : 1;
      size_t end = i;
      for (int depth = 0;
           end < token.size() && (depth > 0 || (token[end] != '+' && token[end] != '-')); ++end)
        depth += (token[end] == '{') - (token[end] == '}');
      SmallVector<StringRef> parts = splitTop(token.slice(i, end), '*');
      StringRef first = parts.empty() ? StringRef() : parts[0],
                second = parts.size() > 1 ? parts[1] : StringRef();
      i = end;
      StringRef name = second.empty() && isName(first) ? first : second;
      SymExpr number = SymExpr::constant(context, 1);
      if (name != first && failed(parseNumber(first, number)))
        return failure();
      if (name.empty())
        access.offset = access.offset + number * sign;
      else
        access.terms.push_back({number * sign, name.str()});
    }
    return success();
  }

  LogicalResult parseNumber(StringRef text, SymExpr &number) {
    int64_t value;
    if (!text.getAsInteger(10, value)) {
      number = SymExpr::constant(context, value);
      return success();
    }
    std::string error = "expected a number, a name or {expression}";
    if (text.size() > 2 && text.front() == '{' && text.back() == '}') {
      llvm::Expected<SymExpr> parsed = parseSymExpr(context, text.drop_front().drop_back());
      if (parsed) {
        number = *parsed;
        return success();
      }
      error = llvm::toString(parsed.takeError());
    }
    report("in rule access '" + text + "': " + error);
    return failure();
  }

  /// Replaces `...` by as many numbered factors as the rank leaves, innermost is `.0`.
  LogicalResult expand(RawDims &dims, unsigned rank, StringRef what, size_t index) {
    unsigned named = dims.size() - hasEllipsis(dims);
    if (rank < named || (rank > named && !hasEllipsis(dims))) {
      report(what + " " + Twine(index) + " must have rank " + Twine(named) +
             (hasEllipsis(dims) ? " or more" : "") + ", but has rank " + Twine(rank));
      return failure();
    }
    RawDims expanded;
    for (RawAccess &access : dims) {
      if (!(access.ellipsis && access.terms.empty())) {
        expanded.push_back(access);
        continue;
      }
      ellipsisRank = std::max(ellipsisRank, rank - named);
      for (unsigned k = rank - named; k-- > 0;) {
        RawAccess point;
        point.kind = AccessKind::Point;
        point.ellipsis = true;
        point.offset = SymExpr::constant(context, 0);
        point.terms.push_back({SymExpr::constant(context, 1), "." + std::to_string(k)});
        expanded.push_back(point);
      }
    }
    dims = expanded;
    return success();
  }

  /// Result factors first, in order, so that the loop order follows the result; then the reduced ones.
  void numberFactors() {
    auto add = [&](const RawDims &dims, bool reduced) {
      for (const RawAccess &access : dims)
        for (auto &[coefficient, name] : access.terms)
          if (!numbers.count(name)) {
            numbers[name] = rule.factorList.size();
            rule.factorList.push_back({name, SymExpr(), reduced});
          }
    };
    for (const RawDims &dims : rawResults)
      add(dims, false);
    for (const RawDims &dims : rawOperands)
      add(dims, true);
  }

  void takeExtents(const RawDims &dims, SymTensorType type) {
    for (auto [d, access] : llvm::enumerate(dims)) {
      bool determines = access.kind == AccessKind::Point || access.kind == AccessKind::Coupled ||
                        access.kind == AccessKind::Ordered || access.kind == AccessKind::Whole;
      if (!determines || (access.ellipsis && type.getDim(d).isConstant(1)))
        continue;
      Factor &factor = rule.factorList[numbers[access.terms[0].second]];
      if (!factor.extent)
        factor.extent = type.getDim(d);
    }
  }

  LogicalResult takeExplicitExtents() {
    for (StringRef clause : splitTop(explicitExtents, ',')) {
      auto [name, value] = clause.split('=');
      auto it = numbers.find(name.trim());
      SymExpr extent;
      if (it == numbers.end() || failed(parseNumber(value.trim(), extent))) {
        report("in rule: bad extent '" + clause + "'");
        return failure();
      }
      if (!rule.factorList[it->second].extent)
        rule.factorList[it->second].extent = extent;
    }
    return success();
  }

  /// A merge with one unknown factor determines it.
  void solveMerges(const RawDims &dims, SymTensorType type) {
    for (auto [d, access] : llvm::enumerate(dims)) {
      if (access.kind != AccessKind::Merge)
        continue;
      SymExpr known = SymExpr::constant(context, 1);
      Factor *unknown = nullptr;
      unsigned count = 0;
      for (auto &[coefficient, name] : access.terms) {
        Factor &factor = rule.factorList[numbers[name]];
        if (factor.extent)
          known = known * factor.extent;
        else
          unknown = &factor, ++count;
      }
      if (count == 1)
        unknown->extent = SymExpr::floordiv(type.getDim(d), known);
    }
  }

  SymExpr extentOf(const RawAccess &access) {
    SymExpr extent = SymExpr::constant(context, 1);
    for (auto &[coefficient, name] : access.terms)
      extent = extent * rule.factorList[numbers[name]].extent;
    return extent;
  }

  LogicalResult finish(const RawDims &dims, SymTensorType type,
                       SmallVectorImpl<IterationRule::Dims> &out, StringRef what, size_t index) {
    IterationRule::Dims &accesses = out.emplace_back();
    for (auto [d, raw] : llvm::enumerate(dims)) {
      Access access;
      access.kind = raw.kind;
      access.offset = raw.offset;
      for (auto &[coefficient, name] : raw.terms)
        access.terms.push_back({coefficient, numbers[name]});
      bool checked = raw.kind != AccessKind::Fixed && raw.kind != AccessKind::Window &&
                     raw.kind != AccessKind::Maybe;
      if (type && checked && type.getDim(d) != extentOf(raw)) {
        if (!(raw.ellipsis && type.getDim(d).isConstant(1) && what == "operand")) {
          report("dimension " + Twine(d) + " of " + what + " " + Twine(index) + " is '" +
                 type.getDim(d).str() + "', but must be '" + extentOf(raw).str() + "'");
          return failure();
        }
        access.kind = AccessKind::Fixed; // a literal 1 is broadcast
        access.terms.clear();
      }
      accesses.push_back(access);
    }
    return success();
  }

  MLIRContext *context;
  IterationRule::Report report;
  IterationRule rule;
  SmallVector<RawDims> rawOperands, rawResults;
  llvm::StringMap<unsigned> numbers;
  StringRef explicitExtents;
  unsigned ellipsisRank = 0;
};

FailureOr<IterationRule> IterationRule::bind(StringRef text, TypeRange operands, TypeRange results,
                                             Report report) {
  MLIRContext *context = operands.empty() ? results[0].getContext() : operands[0].getContext();
  RuleMemo &memo = context->getLoadedDialect<WeftDialect>()->ruleMemo();
  std::string key = RuleMemo::keyOf(text, operands, results);
  if (std::optional<IterationRule> known = memo.find(key))
    return *known;
  FailureOr<IterationRule> rule = RuleBinder(context, report).run(text, operands, results);
  if (succeeded(rule))
    memo.add(key, *rule);
  return rule;
}

//===-- Memo -------------------------------------------------------------------------------------===//

std::string RuleMemo::keyOf(StringRef text, TypeRange operands, TypeRange results) {
  std::string key = text.str();
  for (TypeRange types : {operands, results}) {
    key.push_back('\0'); // is in no text
    uint64_t count = types.size();
    key.append(reinterpret_cast<const char *>(&count), sizeof count);
    for (Type type : types) {
      const void *pointer = type.getAsOpaquePointer();
      key.append(reinterpret_cast<const char *>(&pointer), sizeof pointer);
    }
  }
  return key;
}

std::optional<IterationRule> RuleMemo::find(StringRef key) const {
  std::lock_guard lock(mutex);
  auto found = rules.find(key);
  return found == rules.end() ? std::nullopt : std::optional(found->second);
}

void RuleMemo::add(StringRef key, const IterationRule &rule) {
  std::lock_guard lock(mutex);
  if (rules.size() >= kMost)
    rules.clear();
  rules.try_emplace(key, rule);
}

//===-- Questions --------------------------------------------------------------------------------===//

std::optional<std::string> IterationRule::reordered(StringRef text, ArrayRef<int64_t> order) {
  auto [operands, result] = text.split("->");
  SmallVector<StringRef> dims = splitTop(result, ' ');
  if (dims.size() != order.size() || text.contains("..."))
    return std::nullopt;
  std::string reordered = operands.str() + "->";
  for (int64_t from : order)
    reordered += " " + dims[from].str();
  return reordered;
}

IterationRule IterationRule::of(Operation *op) {
  auto rule = bind(
      cast<RuleOpInterface>(op).ruleText(), op->getOperandTypes(), op->getResultTypes(),
      [&](const Twine &message) { op->emitOpError() << "has no valid rule: " << message.str(); });
  assert(succeeded(rule) && "the verifier binds every rule");
  return *rule;
}

SmallVector<unsigned> IterationRule::reducedFactors() const {
  SmallVector<unsigned> reduced;
  for (auto [i, factor] : llvm::enumerate(factorList))
    if (factor.reduced)
      reduced.push_back(i);
  return reduced;
}

SymExpr IterationRule::points() const {
  SymExpr product = factorList.empty() ? SymExpr() : factorList[0].extent;
  for (const Factor &factor : ArrayRef(factorList).drop_front(!factorList.empty()))
    product = product * factor.extent;
  return product;
}

bool IterationRule::isPointwise() const {
  return llvm::all_of(llvm::concat<const Form>(operandForms, resultForms),
                      [](const Form &form) { return form.named == 0; });
}

bool IterationRule::hasEllipsis() const {
  return llvm::any_of(llvm::concat<const Form>(operandForms, resultForms),
                      [](const Form &form) { return form.ellipsis != Ellipsis::None; });
}

bool IterationRule::seesExtentsOnly() const {
  return llvm::all_of(llvm::concat<const Dims>(operandAccesses, resultAccesses),
                      [](const Dims &dims) {
                        return llvm::all_of(dims, [](const Access &access) {
                          return access.kind != AccessKind::Merge && access.offset.asConstant() &&
                                 llvm::all_of(access.terms, [](const Access::Term &term) {
                                   return term.coefficient.asConstant().has_value();
                                 });
                        });
                      });
}

std::optional<unsigned> IterationRule::namedTail() const {
  unsigned tail = 0;
  bool isIndifferent = seesExtentsOnly();
  for (const Form &form : resultForms)
    isIndifferent &= form.ellipsis == Ellipsis::First;
  for (const Form &form : operandForms)
    isIndifferent &= form.ellipsis != Ellipsis::Later;
  for (const Form &form : llvm::concat<const Form>(operandForms, resultForms))
    if (form.ellipsis != Ellipsis::None)
      tail = std::max(tail, form.named);
  return isIndifferent ? std::optional(tail) : std::nullopt;
}

SmallVector<SymExpr> IterationRule::resultDims(unsigned i) const {
  SmallVector<SymExpr> dims;
  for (const Access &access : resultAccesses[i]) {
    SymExpr extent;
    for (const Access::Term &term : access.terms) {
      SymExpr e = factorList[term.factor].extent;
      extent = extent ? extent * e : e;
    }
    dims.push_back(extent ? extent : SymExpr::constant(access.offset.getContext(), 1));
  }
  return dims;
}

} // namespace weft
