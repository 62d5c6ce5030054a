//===- WeftAttrs.cpp - #weft.dims and #weft.symbols ---------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/weft/WeftEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/weft/WeftAttrs.cpp.inc"

namespace weft {

ParseResult parseDimList(AsmParser &parser, DimsAttr &dims) {
  SmallVector<SymExpr> exprs;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        FailureOr<SymExpr> expr = parseSymExpr(parser);
        if (failed(expr))
          return failure();
        exprs.push_back(*expr);
        return success();
      }))
    return failure();
  dims = DimsAttr::get(parser.getContext(), exprs);
  return success();
}

void printDimList(AsmPrinter &printer, Operation *, DimsAttr dims) {
  printer << "[";
  llvm::interleaveComma(dims.getDims(), printer.getStream(),
                        [&](SymExpr e) { printer << e.str(); });
  printer << "]";
}

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<SymExpr> dims) {
  return get(context, llvm::map_to_vector(dims, [](SymExpr e) { return e.asAttribute(); }));
}

SmallVector<SymExpr> DimsAttr::getDims() const {
  return llvm::map_to_vector(getDimAttributes(), [](Attribute a) { return SymExpr(a); });
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  DimsAttr dims;
  if (parser.parseLess() || parseDimList(parser, dims) || parser.parseGreater())
    return {};
  return dims;
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDimList(printer, *this);
  printer << ">";
}

SymbolsAttr SymbolsAttr::get(MLIRContext *context, ArrayRef<StringAttr> names,
                             ArrayRef<SymPred> facts, ArrayRef<StringAttr> boundNames) {
  Builder b(context);
  SmallVector<ArrayAttr> encoded;
  for (const SymPred &fact : facts) {
    SmallVector<Attribute> parts;
    for (const SymRelation &relation : fact.relations()) {
      parts.push_back(b.getBoolAttr(relation.kind == SymRelation::Equal));
      parts.push_back(relation.lhs.asAttribute());
      parts.push_back(relation.rhs.asAttribute());
    }
    encoded.push_back(b.getArrayAttr(parts));
  }
  return get(context, names, encoded, boundNames);
}

bool SymbolsAttr::isInner(const SymPred &fact) const {
  return llvm::any_of(fact.symbols(),
                      [&](StringAttr name) { return llvm::is_contained(getBoundNames(), name); });
}

SymExpr SymbolsAttr::getLimit(StringAttr symbol) const {
  SymExpr name = SymExpr::symbol(symbol);
  ArrayRef<StringAttr> later =
      getBoundNames().drop_while([&](StringAttr each) { return each != symbol; });
  auto isEarlier = [&](SymExpr expr) {
    return llvm::none_of(expr.symbols(),
                         [&](StringAttr each) { return llvm::is_contained(later, each); });
  };
  for (const SymPred &fact : getFacts()) {
    if (fact.relations().size() != 1)
      continue;
    const SymRelation &relation = fact.relations()[0];
    if (SymExpr limit = relation.rhs - (relation.lhs - name); isEarlier(limit))
      return limit;
    if (SymExpr limit = relation.lhs - (relation.rhs - name);
        relation.kind == SymRelation::Equal && isEarlier(limit))
      return limit;
  }
  return {};
}

SmallVector<SymPred> SymbolsAttr::getFacts() const {
  SmallVector<SymPred> facts;
  for (ArrayAttr encoded : getFactAttributes()) {
    SmallVector<SymPred> alternatives;
    for (size_t i = 0; i + 2 < encoded.size(); i += 3) {
      SymExpr lhs(encoded[i + 1]), rhs(encoded[i + 2]);
      alternatives.push_back(llvm::cast<BoolAttr>(encoded[i]).getValue() ? SymPred::equal(lhs, rhs)
                                                                         : SymPred::le(lhs, rhs));
    }
    facts.push_back(SymPred::either(alternatives));
  }
  return facts;
}

SymFacts SymbolsAttr::asFacts() const {
  SymFacts facts(getContext());
  for (const SymPred &fact : getFacts())
    if (!isInner(fact)) // holds only behind what binds the symbol
      facts = facts.with(fact);
  return facts;
}

namespace {

/// Expressions that are never smaller or never larger, whatever the bound symbols are. Null when there is none, and where a factor of a
/// product could be negative.
class Limits {
public:
  Limits(SymbolsAttr symbols, ArrayRef<StringAttr> known)
      : symbols(symbols), known(known), facts(symbols.asFacts()) {}

  SymExpr upper(SymExpr expr) { return limit(expr, true); }

private:
  bool isFixed(SymExpr expr) {
    return llvm::none_of(expr.symbols(), [&](StringAttr name) {
      return llvm::is_contained(symbols.getBoundNames(), name) && !llvm::is_contained(known, name);
    });
  }
  bool isNotNegative(SymExpr expr) {
    return expr && facts.proveLE(SymExpr::constant(expr.getContext(), 0), expr) == Proof::Yes;
  }

  SymExpr limit(SymExpr expr, bool above) {
    if (isFixed(expr))
      return expr;
    SymExpr sum = SymExpr::constant(expr.getContext(), 0);
    for (const SymTerm &term : expr.terms()) {
      SymExpr product = SymExpr::constant(expr.getContext(), term.coefficient);
      bool single = term.factors.size() == 1 && term.factors[0].second == 1;
      for (auto [atom, power] : term.factors) {
        if (!single && !isNotNegative(atomLimit(atom, false)))
          return {};
        SymExpr factor = atomLimit(atom, above == (term.coefficient > 0));
        if (!factor)
          return {};
        for (unsigned i = 0; i < power; ++i)
          product = product * factor;
      }
      sum = sum + product;
    }
    return sum;
  }

  SymExpr atomLimit(SymExpr atom, bool above) {
    if (isFixed(atom))
      return atom;
    SymExpr zero = SymExpr::constant(atom.getContext(), 0);
    SmallVector<SymExpr, 2> operands = atom.atomOperands();
    switch (*atom.asAtom()) {
    case AtomKind::Symbol: {
      SymExpr most = above ? symbols.getLimit(atom.asSymbol()) : zero;
      most = most ? limit(most, above) : most;
      return !most || isNotNegative(most) ? most : SymExpr::pos(most);
    }
    case AtomKind::FloorDiv: {
      SymExpr dividend = limit(operands[0], above);
      if (!dividend || isFixed(operands[1]))
        return dividend ? SymExpr::floordiv(dividend, operands[1]) : dividend;
      if (!isNotNegative(limit(operands[0], false))) // divisors are at least 1
        return {};
      return above ? dividend : zero;
    }
    case AtomKind::Pos: {
      SymExpr inside = limit(operands[0], above);
      return inside ? SymExpr::pos(inside) : above ? inside : zero;
    }
    case AtomKind::BCast: {
      if (!above)
        return zero; // of two sizes
      SymExpr a = limit(operands[0], true), b = limit(operands[1], true);
      return a && b ? SymExpr::max(a, b) : SymExpr();
    }
    }
    llvm_unreachable("closed set of atoms");
  }

  SymbolsAttr symbols;
  ArrayRef<StringAttr> known;
  SymFacts facts;
};

} // namespace

SymExpr SymbolsAttr::getUpperBound(SymExpr expr, ArrayRef<StringAttr> known) const {
  return Limits(*this, known).upper(expr);
}

Attribute SymbolsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names, bound;
  SmallVector<SymPred> facts;
  if (parser.parseLess())
    return {};
  auto parseName = [&](SmallVectorImpl<StringAttr> &list) -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    list.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  bool anyBound = succeeded(parser.parseOptionalKeyword("bound"));
  std::string first;
  if (!anyBound && succeeded(parser.parseOptionalKeywordOrString(&first))) {
    names.push_back(StringAttr::get(parser.getContext(), first));
    while (succeeded(parser.parseOptionalComma()))
      if (parseName(names))
        return {};
    anyBound = succeeded(parser.parseOptionalKeyword("bound"));
  }
  if (anyBound && parser.parseCommaSeparatedList([&] { return parseName(bound); }))
    return {};
  if (succeeded(parser.parseOptionalColon()))
    do {
      std::string text; // quoted: a bare '<=' would unbalance the brackets of the attribute
      if (parser.parseString(&text))
        return {};
      llvm::Expected<SymPred> fact = parseSymPred(parser.getContext(), text);
      if (!fact) {
        parser.emitError(parser.getCurrentLocation())
            << "fact \"" << text << "\": " << llvm::toString(fact.takeError());
        return {};
      }
      facts.push_back(*fact);
    } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), names, facts, bound);
}

void SymbolsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  auto printName = [&](StringAttr name) { printer << SymExpr::symbol(name).str(); };
  llvm::interleaveComma(getNames(), printer.getStream(), printName);
  if (!getBoundNames().empty()) {
    printer << (getNames().empty() ? "bound " : " bound ");
    llvm::interleaveComma(getBoundNames(), printer.getStream(), printName);
  }
  if (!getFactAttributes().empty()) {
    printer << " : ";
    llvm::interleaveComma(getFacts(), printer.getStream(),
                          [&](const SymPred &fact) { printer << '"' << fact.str() << '"'; });
  }
  printer << ">";
}

SymbolsAttr symbolsOf(Operation *function) {
  auto symbols = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr);
  return symbols ? symbols
                 : SymbolsAttr::get(function->getContext(), ArrayRef<StringAttr>(),
                                    ArrayRef<SymPred>());
}

void WeftDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/weft/WeftAttrs.cpp.inc"
      >();
}

} // namespace weft
