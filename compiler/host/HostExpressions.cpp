//===- HostExpressions.cpp --------------------------------------------------------------------===//

#include "compiler/host/HostExpressions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace weft {

template <typename Constant, typename Add, typename Mul, typename Div, typename Pos, typename BCast,
          typename Symbol>
static Value combine(SymExpr expr, Constant number, Add add, Mul mul, Div div, Pos pos, BCast bcast,
                     Symbol symbol) {
  auto recurse = [&](SymExpr e) { return combine(e, number, add, mul, div, pos, bcast, symbol); };
  Value sum;
  for (const SymTerm &term : expr.terms()) {
    Value product;
    if (term.coefficient != 1 || term.factors.empty())
      product = number(term.coefficient);
    for (auto [atom, power] : term.factors) {
      Value value;
      SmallVector<SymExpr, 2> operands = atom.atomOperands();
      switch (*atom.asAtom()) {
      case AtomKind::Symbol:
        value = symbol(atom.asSymbol());
        break;
      case AtomKind::FloorDiv:
        value = div(recurse(operands[0]), recurse(operands[1]));
        break;
      case AtomKind::Pos:
        value = pos(recurse(operands[0]));
        break;
      case AtomKind::BCast:
        value = bcast(recurse(operands[0]), recurse(operands[1]));
        break;
      }
      for (unsigned i = 0; i < power; ++i)
        product = product ? mul(product, value) : value;
    }
    sum = sum ? add(sum, product) : product;
  }
  return sum ? sum : number(0);
}

Value HostExpressions::emit(SymExpr expr) {
  if (auto value = expr.asConstant())
    return constant(*value);
  if (Value known = emitted.lookup(expr))
    return known;
  return emitted[expr] = combine(
             expr, [&](int64_t v) { return constant(v); },
             [&](Value a, Value c) -> Value { return b.create<arith::AddIOp>(a, c); },
             [&](Value a, Value c) -> Value { return b.create<arith::MulIOp>(a, c); },
             [&](Value a, Value c) -> Value {
               return b.create<arith::FloorDivSIOp>(a, divisor(c));
             },
             [&](Value a) -> Value { return b.create<arith::MaxSIOp>(a, constant(0)); },
             [&](Value a, Value c) -> Value {
               return b.create<arith::SelectOp>(compare(arith::CmpIPredicate::eq, a, constant(1)),
                                                c, a);
             },
             [&](StringAttr name) { return symbols.lookup(name.getValue()); });
}

/// Where a divisor could be 0 a check refuses the sizes, which must be able to compute both of its sides.
Value HostExpressions::divisor(Value value) {
  bool isConstant = value.getDefiningOp<arith::ConstantOp>();
  return isConstant ? value : b.create<arith::MaxSIOp>(value, constant(1)).getResult();
}

Value HostExpressions::realConstant(double v) {
  return b.create<arith::ConstantOp>(b.getF64FloatAttr(v));
}

Value HostExpressions::realSymbol(StringAttr name) {
  return b.create<arith::SIToFPOp>(b.getF64Type(), symbols.lookup(name.getValue()));
}

Value HostExpressions::emitReal(SymExpr expr) {
  return combine(
      expr, [&](int64_t v) { return realConstant(double(v)); },
      [&](Value a, Value c) -> Value { return b.create<arith::AddFOp>(a, c); },
      [&](Value a, Value c) -> Value { return b.create<arith::MulFOp>(a, c); },
      [&](Value a, Value c) -> Value {
        return b.create<math::FloorOp>(b.create<arith::DivFOp>(a, c).getResult());
      },
      [&](Value a) -> Value { return b.create<arith::MaxNumFOp>(a, realConstant(0)); },
      [&](Value a, Value c) -> Value {
        return b.create<arith::SelectOp>(
            b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, realConstant(1)), c, a);
      },
      [&](StringAttr name) { return realSymbol(name); });
}

Value HostExpressions::emitMagnitude(SymExpr expr) {
  return combine(
      expr, [&](int64_t v) { return realConstant(std::fabs(double(v))); },
      [&](Value a, Value c) -> Value { return b.create<arith::AddFOp>(a, c); },
      [&](Value a, Value c) -> Value { return b.create<arith::MulFOp>(a, c); },
      [&](Value a, Value) { return a; }, [&](Value a) { return a; },
      [&](Value a, Value c) -> Value { return b.create<arith::MaxNumFOp>(a, c); },
      [&](StringAttr name) { return realSymbol(name); });
}

Value HostExpressions::emit(const SymPred &pred) {
  Value holds;
  for (const SymRelation &relation : pred.relations()) {
    auto predicate =
        relation.kind == SymRelation::Equal ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
    Value here = compare(predicate, emit(relation.lhs), emit(relation.rhs));
    holds = holds ? Value(b.create<arith::OrIOp>(holds, here)) : here;
  }
  return holds;
}

} // namespace weft
