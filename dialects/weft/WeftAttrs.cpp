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
  llvm::interleaveComma(dims.getDims(), printer.getStream(), [&](SymExpr e) { printer << e.str(); });
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

SymbolsAttr SymbolsAttr::get(MLIRContext *context, ArrayRef<StringAttr> names, ArrayRef<SymPred> facts,
                             ArrayRef<StringAttr> boundNames) {
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
  return llvm::any_of(fact.symbols(), [&](StringAttr name) { return llvm::is_contained(getBoundNames(), name); });
}

SymExpr SymbolsAttr::getLimit(StringAttr symbol) const {
  SymExpr name = SymExpr::symbol(symbol);
  ArrayRef<StringAttr> later = getBoundNames().drop_while([&](StringAttr each) { return each != symbol; });
  auto isEarlier = [&](SymExpr expr) {
    return llvm::none_of(expr.symbols(), [&](StringAttr each) { return llvm::is_contained(later, each); });
  };
  for (const SymPred &fact : getFacts()) {
    if (fact.relations().size() != 1)
      continue;
    const SymRelation &relation = fact.relations()[0];
    if (SymExpr limit = relation.rhs - (relation.lhs - name); isEarlier(limit))
      return limit;
    if (SymExpr limit = relation.lhs - (relation.rhs - name); relation.kind == SymRelation::Equal && isEarlier(limit))
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
      alternatives.push_back(llvm::cast<BoolAttr>(encoded[i]).getValue() ? SymPred::equal(lhs, rhs) : SymPred::le(lhs, rhs));
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

/// The largest and smallest value of expressions over all values of bound symbols, as expressions.
class Limits {
public:
  explicit Limits(SymbolsAttr symbols) : symbols(symbols), facts(symbols.asFacts()) {}

  SymExpr upper(SymExpr expr) {
    if (!symbols.isInner(SymPred::le(expr, expr)))
      return expr;
    SymExpr sum = SymExpr::constant(expr.getContext(), 0);
    for (const SymTerm &term : expr.terms()) {
      SymExpr product = SymExpr::constant(expr.getContext(), term.coefficient);
      for (auto [atom, power] : term.factors)
        for (unsigned i = 0; i < power; ++i) {
          SymExpr limit = term.coefficient > 0 ? upperAtom(atom) : lowerAtom(atom);
          if (!limit)
            return {};
          product = product * limit;
        }
      sum = sum + product;
    }
    return sum;
  }

private:
  SymExpr upperAtom(SymExpr atom) {
    SmallVector<SymExpr, 2> operands = atom.atomOperands();
    switch (*atom.asAtom()) {
    case AtomKind::Symbol: {
      if (!llvm::is_contained(symbols.getBoundNames(), atom.asSymbol()))
        return atom;
      SymExpr limit = symbols.getLimit(atom.asSymbol()), zero = SymExpr::constant(atom.getContext(), 0);
      limit = limit ? upper(limit) : limit;
      return !limit || facts.proveLE(zero, limit) == Proof::Yes ? limit : SymExpr::pos(limit);
    }
    case AtomKind::FloorDiv: {
      SymExpr above = upper(operands[0]);
      if (!above || symbols.isInner(SymPred::le(operands[1], operands[1])))
        return above;
      return SymExpr::floordiv(above, operands[1]);
    }
    case AtomKind::Pos: {
      SymExpr above = upper(operands[0]);
      return above ? SymExpr::pos(above) : above;
    }
    case AtomKind::BCast: {
      SymExpr a = upper(operands[0]), b = upper(operands[1]);
      return a && b ? SymExpr::max(a, b) : SymExpr();
    }
    }
    llvm_unreachable("closed set of atoms");
  }

  /// Sizes are not negative.
  SymExpr lowerAtom(SymExpr atom) {
    if (!symbols.isInner(SymPred::le(atom, atom)))
      return atom;
    int64_t low = atom.asSymbol() ? facts.bounds(atom).low.value_or(0) : 0;
    return SymExpr::constant(atom.getContext(), low);
  }

  SymbolsAttr symbols;
  SymFacts facts;
};

} // namespace

SymExpr SymbolsAttr::getUpperBound(SymExpr expr) const { return Limits(*this).upper(expr); }

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
      std::string text, why; // quoted: a bare '<=' would unbalance the brackets of the attribute
      if (parser.parseString(&text))
        return {};
      FailureOr<SymPred> fact = parseSymPred(parser.getContext(), text, &why);
      if (failed(fact)) {
        parser.emitError(parser.getCurrentLocation()) << "fact \"" << text << "\": " << why;
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
    llvm::interleaveComma(getFacts(), printer.getStream(), [&](const SymPred &fact) { printer << '"' << fact.str() << '"'; });
  }
  printer << ">";
}

SymbolsAttr symbolsOf(Operation *function) {
  auto symbols = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr);
  return symbols ? symbols : SymbolsAttr::get(function->getContext(), ArrayRef<StringAttr>(), ArrayRef<SymPred>());
}

void WeftDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/weft/WeftAttrs.cpp.inc"
      >();
}

} // namespace weft
