//===- Formula.cpp ----------------------------------------------------------------------------===//

#include "compiler/embed/Formula.h"

using namespace mlir;

namespace weft {

using NameOf = llvm::function_ref<StringRef(StringAttr)>;

static std::string number(int64_t value) {
  if (value == INT64_MIN)
    return "INT64_MIN";
  std::string digits = std::to_string(value);
  return value > INT32_MAX || value < -INT32_MAX ? "INT64_C(" + digits + ")" : digits;
}

static std::string callOf(const char *function, SymExpr a, SymExpr b, NameOf nameOf) {
  return std::string("weft_embedded_") + function + "(" + cFormula(a, nameOf) + ", " +
         (b ? cFormula(b, nameOf) : "0") + ")";
}

static std::string atom(SymExpr expr, NameOf nameOf) {
  SmallVector<SymExpr, 2> operands = expr.atomOperands();
  switch (*expr.asAtom()) {
  case AtomKind::Symbol:
    return nameOf(expr.asSymbol()).str();
  case AtomKind::FloorDiv:
    return callOf("quotient", operands[0], operands[1], nameOf);
  case AtomKind::Pos:
    return callOf("max", operands[0], SymExpr(), nameOf);
  case AtomKind::BCast:
    return callOf("broadcast", operands[0], operands[1], nameOf);
  }
  llvm_unreachable("closed set");
}

std::string cFormula(SymExpr expr, NameOf nameOf) {
  std::string sum;
  for (const SymTerm &term : expr.terms()) {
    std::string product;
    if (term.coefficient != 1 || term.factors.empty())
      product = number(term.coefficient);
    for (auto [factor, power] : term.factors)
      for (unsigned i = 0; i < power; ++i)
        product += (product.empty() ? "" : " * ") + atom(factor, nameOf);
    sum += (sum.empty() ? "" : " + ") + product;
  }
  return sum.empty() ? "0" : sum;
}

std::string cLargest(ArrayRef<SymExpr> exprs, NameOf nameOf) {
  std::string text;
  for (SymExpr expr : llvm::reverse(exprs))
    text = text.empty() ? cFormula(expr, nameOf)
                        : "weft_embedded_max(" + cFormula(expr, nameOf) + ", " + text + ")";
  return text.empty() ? "0" : text;
}

} // namespace weft
