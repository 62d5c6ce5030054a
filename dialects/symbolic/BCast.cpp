//===- BCast.cpp - Normal form of bcast(a, b), the extent of two broadcast dimensions -----------===//
//
// Whoever makes a bcast emits the check `a == b or a == 1 or b == 1`; where it holds, the operation is commutative, associative and
// idempotent with unit 1, and a constant other than 1 is its value. So nested operands are sorted as one list.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Polynomial.h"
#include <algorithm>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

static void appendOperands(SymExpr expr, SmallVectorImpl<SymExpr> &operands) {
  if (nodeOf(expr).kind != NodeKind::BCast) {
    operands.push_back(expr);
    return;
  }
  appendOperands(nodeOf(expr).lhs, operands);
  appendOperands(nodeOf(expr).rhs, operands);
}

SymExpr SymExpr::bcast(SymExpr a, SymExpr b) {
  if (a.isOverflow() || b.isOverflow())
    return makeOverflow(a.getContext());
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  if (a.asConstant() || b.asConstant())
    return a.asConstant() ? a : b;
  SmallVector<SymExpr, 4> operands;
  appendOperands(a, operands);
  appendOperands(b, operands);
  llvm::sort(operands, [](SymExpr x, SymExpr y) { return compareExprs(x, y) < 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  SymExpr result = operands[0];
  for (SymExpr operand : ArrayRef(operands).drop_front())
    result = makeAtom(NodeKind::BCast, result, operand);
  return result;
}
