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

SymbolsAttr SymbolsAttr::get(MLIRContext *context, ArrayRef<StringAttr> names, ArrayRef<SymPred> facts) {
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
  return get(context, names, encoded);
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
    facts = facts.with(fact);
  return facts;
}

Attribute SymbolsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<SymPred> facts;
  if (parser.parseLess())
    return {};
  std::string name;
  if (succeeded(parser.parseOptionalKeywordOrString(&name))) {
    names.push_back(StringAttr::get(parser.getContext(), name));
    while (succeeded(parser.parseOptionalComma())) {
      if (parser.parseKeywordOrString(&name))
        return {};
      names.push_back(StringAttr::get(parser.getContext(), name));
    }
  }
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
  return get(parser.getContext(), names, facts);
}

void SymbolsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getNames(), printer.getStream(), [&](StringAttr name) { printer << SymExpr::symbol(name).str(); });
  if (!getFactAttributes().empty()) {
    printer << " : ";
    llvm::interleaveComma(getFacts(), printer.getStream(), [&](const SymPred &fact) { printer << '"' << fact.str() << '"'; });
  }
  printer << ">";
}

void WeftDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/weft/WeftAttrs.cpp.inc"
      >();
}

} // namespace weft
