//===- SymDialect.cpp - Registration and text of #sym.expr ------------------------------------===//
#include "dialects/symbolic/SymDialect.h"
#include "dialects/symbolic/Polynomial.h"

using namespace mlir;
using namespace weft;

MLIR_DEFINE_EXPLICIT_TYPE_ID(weft::SymDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(weft::SymExprAttr)

SymDialect::SymDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<SymDialect>()) {
  addAttributes<SymExprAttr>();
  for (auto [value, expr] : llvm::enumerate(small))
    expr = symbolic::makeConstant(context, value);
}

Attribute SymDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  if (parser.parseKeyword("expr") || parser.parseLess())
    return {};
  FailureOr<SymExpr> expr = parseSymExpr(parser);
  if (failed(expr) || parser.parseGreater())
    return {};
  return expr->asAttribute();
}

void SymDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << "expr<" << SymExpr(attribute).str() << ">";
}

std::shared_ptr<const void>
SymDialect::getFactsRoot(llvm::function_ref<std::shared_ptr<const void>()> make) {
  std::call_once(factsOnce, [&] { factsRoot = make(); });
  return factsRoot;
}
