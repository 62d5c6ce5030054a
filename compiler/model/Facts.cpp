//===- Facts.cpp - Facts join a contract, and fixed symbols become numbers ---------------------------------------------===//

#include "compiler/model/Facts.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace weft {
namespace {

weft::Diagnostic error(const char *code, const Twine &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, "", text.str(), hint};
}

std::string listOf(ArrayRef<StringAttr> names) {
  std::string text;
  for (StringAttr name : names)
    text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

SymFacts together(MLIRContext *context, ArrayRef<SymPred> facts) {
  SymFacts result(context);
  for (const SymPred &fact : facts)
    result = result.with(fact);
  return result;
}

/// A range given by the caller must lie inside what the model says.
Result<void> checkRanges(MLIRContext *context, ArrayRef<StringAttr> names,
                         ArrayRef<SymPred> ofModel, ArrayRef<SymPred> ofCaller) {
  SymFacts model = together(context, ofModel), given = together(context, ofCaller);
  for (StringAttr name : names) {
    SymInterval allowed = model.bounds(SymExpr::symbol(name)),
                wanted = given.bounds(SymExpr::symbol(name));
    int64_t high = wanted.high.value_or(kMaxSymbolValue), low = wanted.low.value_or(0);
    int64_t most = allowed.high.value_or(kMaxSymbolValue), least = allowed.low.value_or(0);
    if (high < kMaxSymbolValue && high > most)
      return error(kContradictingFact, "'" + name.getValue() + "' up to " + Twine(high) +
                                           " was asked for, but the model allows at most " +
                                           Twine(most));
    if (std::max(low, least) > std::min(high, most))
      return error(kContradictingFact, "no value of '" + name.getValue() + "' satisfies all facts");
  }
  return {};
}

/// The symbols that can have one value only.
SymMap fixedSymbols(MLIRContext *context, ArrayRef<StringAttr> names, ArrayRef<SymPred> facts) {
  SymFacts all = together(context, facts);
  SymMap fixed;
  for (StringAttr name : names)
    if (SymInterval range = all.bounds(SymExpr::symbol(name)); range.low && range.low == range.high)
      fixed[name] = SymExpr::constant(context, *range.low);
  return fixed;
}

/// The facts that are left to check, in terms of the symbols that are left; one that is false now is the error.
Result<void> substituteFacts(SmallVectorImpl<SymPred> &facts, const SymMap &fixed) {
  if (fixed.empty())
    return {};
  SmallVector<SymPred> left;
  for (const SymPred &fact : facts) {
    SymPred now = fact.substitute(fixed);
    FailureOr<bool> holds = now.evaluate(SymValues());
    if (failed(holds))
      left.push_back(now);
    else if (!*holds)
      return error(kContradictingFact, "'" + fact.str() + "' does not hold for the given sizes");
  }
  facts = left;
  return {};
}

/// Numbers take the place of symbols in all types and attributes of the function.
Result<void> substituteProgram(func::FuncOp function, const SymMap &fixed) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymExprAttr attribute) -> std::pair<Attribute, WalkResult> {
    return {attribute.getExpr().substitute(fixed).asAttribute(), WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  DiagnosticCollector collector(function.getContext(), kContradictingFact);
  if (succeeded(verify(function)))
    return {};
  std::vector<weft::Diagnostic> found = collector.take();
  return found.empty() ? error(kContradictingFact, "the program has no meaning for the given sizes")
                       : found.front();
}

Result<void> applyTo(func::FuncOp function, ArrayRef<std::string> texts) {
  MLIRContext *context = function.getContext();
  SymbolsAttr symbols = symbolsOf(function);
  SmallVector<StringAttr> names(symbols.getNames());
  SmallVector<SymPred> ofModel, inner;
  for (const SymPred &fact : symbols.getFacts())
    (symbols.isInner(fact) ? inner : ofModel).push_back(fact);
  Result<std::vector<SymPred>> ofCaller = readFacts(texts, names, context);
  if (!ofCaller)
    return ofCaller.diagnostics();
  if (Result<void> done = checkRanges(context, names, ofModel, *ofCaller); !done)
    return done;
  SmallVector<SymPred> facts = ofModel;
  llvm::append_range(facts, *ofCaller);
  SymMap fixed = fixedSymbols(context, names, facts);
  if (Result<void> done = substituteFacts(facts, fixed); !done)
    return done;
  llvm::erase_if(names, [&](StringAttr name) { return fixed.count(name) > 0; });
  for (const SymPred &fact : inner)
    facts.push_back(fact.substitute(fixed));
  function->setAttr(kSymbolsAttr, SymbolsAttr::get(context, names, facts, symbols.getBoundNames()));
  return fixed.empty() ? Result<void>() : substituteProgram(function, fixed);
}

} // namespace

Result<std::vector<SymPred>> readFacts(ArrayRef<std::string> texts, ArrayRef<StringAttr> names,
                                       MLIRContext *context) {
  std::vector<SymPred> facts;
  for (const std::string &text : texts) {
    llvm::Expected<SymPred> fact = parseSymPred(context, text);
    if (!fact)
      return error(kUnreadableFact, "fact '" + text + "': " + llvm::toString(fact.takeError()));
    for (StringAttr name : fact->symbols())
      if (!llvm::is_contained(names, name))
        return error(kUnreadableFact,
                     "fact '" + text + "' speaks of '" + name.getValue() +
                         "', which the model does not have",
                     names.empty() ? "it has no symbols" : "its symbols are: " + listOf(names));
    facts.push_back(*fact);
  }
  return facts;
}

Result<void> applyFacts(ModuleOp module, ArrayRef<std::string> texts) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      if (Result<void> done = applyTo(function, texts); !done)
        return done;
  return {};
}

} // namespace weft
