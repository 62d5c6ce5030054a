//===- Contract.cpp - Symbols of a model and what is known about them -------------------------===//

#include "compiler/import/onnx/graph/Contract.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace weft::onnx {

SymPred atMostZero(SymExpr expr) {
  MLIRContext *context = expr.getContext();
  SymExpr lhs = SymExpr::constant(context, 0), rhs = lhs;
  for (const SymTerm &term : expr.terms()) {
    bool negative = term.coefficient < 0;
    SymExpr product = SymExpr::constant(context, negative ? -term.coefficient : term.coefficient);
    for (auto [atom, power] : term.factors)
      for (unsigned i = 0; i < power; ++i)
        product = product * atom;
    (negative ? rhs : lhs) = (negative ? rhs : lhs) + product;
  }
  return SymPred::le(lhs, rhs);
}

SymPred equalityOf(SymExpr a, SymExpr b) {
  auto terms = (a - b).terms();
  if (terms.size() == 1 && terms[0].factors.size() == 1 &&
      terms[0].factors[0].first.asAtom() == AtomKind::Pos)
    return atMostZero(terms[0].factors[0].first.atomOperands()[0]);
  // A single name reads best on the left.
  return b.asSymbol() && !a.asSymbol() ? SymPred::equal(b, a) : SymPred::equal(a, b);
}

SmallVector<SymExpr, 2> broadcastParts(SymExpr dim) {
  if (dim.asAtom() != AtomKind::BCast)
    return {dim};
  SmallVector<SymExpr, 2> parts;
  for (SymExpr operand : dim.atomOperands())
    llvm::append_range(parts, broadcastParts(operand));
  return parts;
}

/// The n of floordiv(size*n, m) where n is broadcast from m and another size: only where n is m is
/// the quotient the size.
static SymExpr broadcastDividend(SymExpr quotient, SymExpr size) {
  if (quotient.asAtom() != AtomKind::FloorDiv)
    return {};
  SmallVector<SymExpr, 2> operands = quotient.atomOperands();
  for (const SymTerm &term : operands[0].terms())
    for (auto [factor, power] : term.factors)
      if (factor.asAtom() == AtomKind::BCast && size * factor == operands[0] &&
          llvm::is_contained(broadcastParts(factor), operands[1]))
        return factor;
  return {};
}

/// All parts are the size or 1, and one of them is the size.
static SmallVector<SymPred, 3> partsEqual(ArrayRef<SymExpr> parts, SymExpr size) {
  SymExpr one = SymExpr::constant(size.getContext(), 1);
  SmallVector<SymPred, 3> facts, anyEqual;
  for (SymExpr part : parts) {
    anyEqual.push_back(equalityOf(part, size));
    if (part != size)
      for (const SymPred &equal : equalitiesOf(part, size))
        facts.push_back(SymPred::either({equal, SymPred::equal(part, one)}));
  }
  if (!llvm::is_contained(parts, size))
    facts.push_back(SymPred::either(anyEqual));
  return facts;
}

SmallVector<SymPred, 3> equalitiesOf(SymExpr a, SymExpr b) {
  SymPred sides = atMostZero(a - b); // without what both have
  SymExpr left = sides.relations()[0].lhs, right = sides.relations()[0].rhs;
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)}) {
    SmallVector<SymExpr, 2> parts = broadcastParts(one);
    if (parts.size() > 1 && broadcastParts(other).size() == 1)
      return partsEqual(parts, other);
    if (SymExpr dividend = broadcastDividend(one, other))
      return equalitiesOf(dividend, one.atomOperands()[1]);
  }
  return {equalityOf(a, b)};
}

Contract::Contract(MLIRContext *context, ArrayRef<std::string> userFacts,
                   ArrayRef<Requirement> known)
    : context(context), userTexts(userFacts), earlier(known), known(context), promised(context) {}

//===-- Names ---------------------------------------------------------------------------------===//

/// A letter, then letters, digits and underscores: what people can write after --dim.
static bool isIdentifier(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') && text != "or" &&
         text != "true" && text != "false" && text.size() <= 200 &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

static std::string identifierFrom(StringRef text) {
  std::string name;
  for (char c : text.take_front(100))
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    name = "_" + name;
  return name;
}

std::string Contract::freshName(StringRef wish) {
  std::string name = wish.str();
  for (unsigned i = 2; !taken.insert(name).second; ++i)
    name = (wish + "_" + Twine(i)).str();
  names.push_back(StringAttr::get(context, name));
  return name;
}

SymExpr Contract::bindSymbol(StringRef wish, SymExpr limit) {
  std::string name = wish.str();
  for (unsigned i = 2; !taken.insert(name).second; ++i)
    name = (wish + "_" + Twine(i)).str();
  boundNames.push_back(StringAttr::get(context, name));
  SymExpr symbol = SymExpr::symbol(boundNames.back());
  if (limit) {
    innerFacts.push_back(SymPred::le(symbol, limit));
    known = known.with(innerFacts.back());
  }
  return symbol;
}

bool Contract::isInner(const SymPred &pred) const {
  return llvm::any_of(pred.symbols(),
                      [&](StringAttr name) { return llvm::is_contained(boundNames, name); });
}

/// The text as an expression over names that are symbols already; null when it is not one.
SymExpr Contract::parameterExpr(StringRef text) {
  llvm::Expected<SymExpr> expr = parseSymExpr(context, text);
  if (!expr) {
    llvm::consumeError(expr.takeError());
    return {};
  }
  if (expr->isOverflow())
    return {};
  for (StringAttr name : expr->symbols())
    if (!taken.contains(name.getValue()))
      return {};
  return *expr;
}

/// First pass (`parameterPass`): plain names, so that expressions may use those of later inputs.
/// Second pass: everything else.
void Contract::declareInput(const OnnxValueInfo &input, bool parameterPass) {
  std::vector<SymExpr> &shape = inputShapes[input.name];
  shape.resize(input.type.dims.size());
  for (auto [i, dim] : llvm::enumerate(input.type.dims)) {
    if (parameterPass) {
      if (dim.kind == OnnxDim::Kind::Param && isIdentifier(dim.param) &&
          !parameters.count(dim.param))
        parameters[dim.param] = SymExpr::symbol(context, freshName(dim.param));
      continue;
    }
    if (dim.kind == OnnxDim::Kind::Value) {
      shape[i] = SymExpr::constant(context, dim.value);
      continue;
    }
    if (dim.kind == OnnxDim::Kind::Param) {
      auto found = parameters.find(dim.param);
      SymExpr expr = found != parameters.end() ? found->second : parameterExpr(dim.param);
      if (expr) {
        shape[i] = expr;
        continue;
      }
    }
    std::string wish = identifierFrom(input.name) + "_d" + std::to_string(i);
    shape[i] = SymExpr::symbol(context, freshName(wish));
    if (dim.kind == OnnxDim::Kind::Param) // odd text: the same text is the same symbol
      parameters[dim.param] = shape[i];
  }
}

Result<void> Contract::declare(ArrayRef<const OnnxValueInfo *> inputs) {
  for (bool parameterPass : {true, false})
    for (const OnnxValueInfo *input : inputs)
      declareInput(*input, parameterPass);
  Result<std::vector<SymPred>> read = readFacts(userTexts, names, context);
  if (!read)
    return read.diagnostics();
  userFacts = std::move(*read);
  std::vector<SymPred> preds;
  for (const SymPred &fact : userFacts) {
    if (known.prove(fact.substitute(solved)) == Proof::No)
      return weft::Diagnostic{weft::Diagnostic::Error, kContradictingFact, "",
                              "fact '" + fact.str() + "' cannot hold together with the other facts",
                              ""};
    solve(fact, preds);
    rebuildFacts(preds);
  }
  promised = known;
  promisedSolved = solved;
  // `n == m or n == 1` says all that `n == m or n == 1 or m == 1` does, which then is left out.
  std::multimap<size_t, SymPred> byWays;
  for (const Requirement &requirement : earlier)
    byWays.emplace(requirement.pred.relations().size(), requirement.pred);
  for (const auto &[ways, pred] : byWays)
    solve(pred, preds);
  rebuildFacts(preds);
  return {};
}

SymExpr Contract::inputDim(const OnnxValueInfo &input, unsigned index) const {
  return inputShapes.lookup(input.name)[index].substitute(solved);
}

//===-- Facts ---------------------------------------------------------------------------------===//

/// Appends `pred` to `preds`. If it is `symbol == expression` it removes the symbol, the later one of
/// two.
void Contract::solve(const SymPred &pred, std::vector<SymPred> &preds) {
  preds.push_back(pred);
  if (pred.relations().size() != 1 || pred.relations()[0].kind != SymRelation::Equal)
    return;
  SymExpr lhs = pred.relations()[0].lhs.substitute(solved);
  SymExpr rhs = pred.relations()[0].rhs.substitute(solved);
  auto position = [&](SymExpr e) { return llvm::find(names, e.asSymbol()) - names.begin(); };
  bool swap = !lhs.asSymbol() || (rhs.asSymbol() && position(rhs) > position(lhs));
  if (swap)
    std::swap(lhs, rhs);
  StringAttr name = lhs.asSymbol();
  if (!name || llvm::is_contained(rhs.symbols(), name))
    return;
  SymMap step;
  step[name] = rhs;
  for (auto &[other, value] : solved)
    value = value.substitute(step);
  solved[name] = rhs;
  preds.push_back(SymPred::le(SymExpr::constant(context, 0), rhs));
}

/// All facts from the beginning, in terms of the symbols that are left.
void Contract::rebuildFacts(ArrayRef<SymPred> preds) {
  known = SymFacts(context);
  for (const SymPred &pred : preds) {
    SymPred fact = pred.substitute(solved);
    if (known.prove(fact) != Proof::Yes)
      known = known.with(fact);
  }
}

bool Contract::require(SymPred pred, StringRef place) {
  Proof proof = known.prove(pred);
  if (proof == Proof::Unknown && isInner(pred)) {
    if (!llvm::is_contained(innerFacts, pred))
      innerFacts.push_back(pred);
    if (regions == 0)
      known = known.with(pred);
  } else if (proof == Proof::Unknown) {
    known = known.with(pred);
    added.push_back({pred, place.str()});
  }
  return proof != Proof::No;
}

std::vector<Requirement> Contract::requirements() const {
  std::vector<Requirement> all = earlier;
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

/// Promises are sets of sizes that must all work: the ends of a promised range are tried against
/// every requirement about that symbol alone.
llvm::Error Contract::checkPromise() const {
  for (const Requirement &requirement : requirements()) {
    SymPred pred = requirement.pred.substitute(promisedSolved);
    if (promised.prove(pred) == Proof::No)
      return readError("the model needs '" + requirement.pred.str() + "' (" + requirement.place +
                       "), which contradicts the given facts");
    auto symbols = pred.symbols();
    if (symbols.size() != 1)
      continue;
    SymInterval range = promised.bounds(SymExpr::symbol(symbols[0]));
    SmallVector<int64_t, 2> ends;
    if (range.low && *range.low > 0)
      ends.push_back(*range.low);
    if (range.high && *range.high < kMaxSymbolValue)
      ends.push_back(*range.high);
    for (int64_t end : ends) {
      SymValues values;
      values[symbols[0]] = end;
      FailureOr<bool> holds = pred.evaluate(values);
      if (succeeded(holds) && !*holds)
        return readError("the model needs '" + pred.str() + "' (" + requirement.place +
                         "), but the given facts allow " + symbols[0].str() + " = " + Twine(end));
    }
  }
  return llvm::Error::success();
}

SymbolsAttr Contract::attribute() const {
  SmallVector<StringAttr> remaining;
  for (StringAttr name : names)
    if (!solved.count(name))
      remaining.push_back(name);
  SmallVector<SymPred> facts;
  for (const SymPred &fact : known.facts())
    if (!isInner(fact))
      facts.push_back(fact);
  llvm::append_range(facts, innerFacts);
  return SymbolsAttr::get(context, remaining, facts, boundNames);
}

} // namespace weft::onnx
