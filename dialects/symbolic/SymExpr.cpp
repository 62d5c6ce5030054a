//===- SymExpr.cpp - Constants, symbols, sums, products, substitution, evaluation --------------===//
#include "dialects/symbolic/SymExpr.h"
#include "dialects/symbolic/Polynomial.h"
#include "dialects/symbolic/SymDialect.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

SymExpr SymExpr::constant(MLIRContext *context, int64_t value) {
  SymExpr known = context->getOrLoadDialect<SymDialect>()->smallConstant(value);
  return known ? known : makeConstant(context, value);
}

SymExpr SymExpr::symbol(StringAttr name) {
  name.getContext()->getOrLoadDialect<SymDialect>();
  return SymExpr(SymExprAttr::get(name.getContext(), NodeKey{NodeKind::Symbol, {}, name, {}, {}}));
}

SymExpr SymExpr::symbol(MLIRContext *context, StringRef name) {
  return symbol(StringAttr::get(context, name));
}

SymExpr weft::operator+(SymExpr a, SymExpr b) { return addScaled(a, b, 1); }
SymExpr weft::operator-(SymExpr a, SymExpr b) { return addScaled(a, b, -1); }
SymExpr weft::operator*(SymExpr a, SymExpr b) { return multiply(a, b); }
SymExpr weft::operator+(SymExpr a, int64_t b) { return a + SymExpr::constant(a.getContext(), b); }
SymExpr weft::operator-(SymExpr a, int64_t b) { return a - SymExpr::constant(a.getContext(), b); }
SymExpr weft::operator*(SymExpr a, int64_t b) { return a * SymExpr::constant(a.getContext(), b); }
SymExpr weft::operator-(SymExpr a) { return SymExpr::constant(a.getContext(), 0) - a; }

bool SymExpr::isOverflow() const { return symbolic::isOverflow(*this); }

std::optional<int64_t> SymExpr::asConstant() const {
  const SymExprStorage &node = nodeOf(*this);
  if (node.kind != NodeKind::Polynomial)
    return std::nullopt;
  if (node.terms.empty())
    return 0;
  if (node.terms.size() == 1 && node.terms[0].factors.empty())
    return node.terms[0].coefficient;
  return std::nullopt;
}

StringAttr SymExpr::asSymbol() const { return nodeOf(*this).name; }

ArrayRef<StringAttr> SymExpr::symbols() const { return nodeOf(*this).symbols; }

SmallVector<SymTerm, 4> SymExpr::terms() const {
  SmallVector<SymTerm, 4> result;
  for (const Term &term : nodeOf(*this).terms) {
    SymTerm &copy = result.emplace_back();
    copy.coefficient = term.coefficient;
    for (const Factor &factor : term.factors)
      copy.factors.push_back({factor.atom, factor.power});
  }
  return result;
}

std::optional<AtomKind> SymExpr::asAtom() const {
  switch (nodeOf(*this).kind) {
  case NodeKind::Symbol:
    return AtomKind::Symbol;
  case NodeKind::FloorDiv:
    return AtomKind::FloorDiv;
  case NodeKind::Pos:
    return AtomKind::Pos;
  case NodeKind::BCast:
    return AtomKind::BCast;
  case NodeKind::Polynomial:
  case NodeKind::Overflow:
    return std::nullopt;
  }
  return std::nullopt;
}

SmallVector<SymExpr, 2> SymExpr::atomOperands() const {
  SmallVector<SymExpr, 2> operands;
  for (SymExpr operand : {nodeOf(*this).lhs, nodeOf(*this).rhs})
    if (operand)
      operands.push_back(operand);
  return operands;
}

//===- Substitution -----------------------------------------------------------------------------===//

namespace {
/// Rebuilds an expression bottom-up; each distinct atom once.
class Rewriter {
public:
  Rewriter(llvm::function_ref<bool(SymExpr)> wanted, llvm::function_ref<SymExpr(SymExpr)> replace)
      : wanted(wanted), replace(replace) {}

  SymExpr apply(SymExpr expr) {
    if (!wanted(expr))
      return expr;
    if (isAtom(expr))
      return applyToAtom(expr);
    SumBuilder sum(expr.getContext());
    for (const Term &term : nodeOf(expr).terms) {
      SymExpr product = SymExpr::constant(expr.getContext(), term.coefficient);
      for (const Factor &factor : term.factors)
        product = product * power(applyToAtom(factor.atom), factor.power);
      sum.add(product);
    }
    return sum.build();
  }

private:
  SymExpr applyToAtom(SymExpr atom) {
    const SymExprStorage &node = nodeOf(atom);
    if (node.kind == NodeKind::Symbol) {
      SymExpr replacement = replace(atom);
      return replacement ? replacement : atom;
    }
    if (!wanted(atom))
      return atom;
    if (SymExpr known = done.lookup(atom))
      return known;
    SymExpr lhs = apply(node.lhs);
    SymExpr result = node.kind == NodeKind::Pos        ? SymExpr::pos(lhs)
                     : node.kind == NodeKind::FloorDiv ? SymExpr::floordiv(lhs, apply(node.rhs))
                                                       : SymExpr::bcast(lhs, apply(node.rhs));
    // A symbol that appears here came from a replacement and is final.
    if (isAtom(result) && nodeOf(result).kind != NodeKind::Symbol)
      if (SymExpr replacement = replace(result))
        result = replacement;
    done[atom] = result;
    return result;
  }

  llvm::function_ref<bool(SymExpr)> wanted;
  llvm::function_ref<SymExpr(SymExpr)> replace;
  llvm::SmallDenseMap<SymExpr, SymExpr, 4> done;
};
} // namespace

SymExpr symbolic::rewriteAtoms(SymExpr expr, llvm::function_ref<bool(SymExpr)> wanted,
                               llvm::function_ref<SymExpr(SymExpr)> replace) {
  return Rewriter(wanted, replace).apply(expr);
}

SymExpr SymExpr::substitute(const SymMap &map) const {
  auto mentionsKey = [&](SymExpr expr) {
    return llvm::any_of(expr.symbols(), [&](StringAttr name) { return map.count(name) != 0; });
  };
  return rewriteAtoms(*this, mentionsKey, [&](SymExpr atom) {
    StringAttr name = atom.asSymbol();
    return name ? map.lookup(name) : SymExpr();
  });
}

//===- Evaluation -------------------------------------------------------------------------------===//

using Wide = __int128;

/// Products may pass 2^63 on the way to a sum that fits, so they are kept in 128 bits, of which 126 are used.
static bool multiplyWide(Wide &value, int64_t factor) {
  constexpr Wide limit = Wide(1) << 126;
  Wide magnitude = value < 0 ? -value : value;
  Wide bound = factor < 0 ? -Wide(factor) : Wide(factor);
  if (bound > 1 && magnitude > limit / bound)
    return false;
  value *= factor;
  return true;
}

static FailureOr<int64_t> evaluateAtom(SymExpr atom, const SymValues &values) {
  const SymExprStorage &node = nodeOf(atom);
  if (node.kind == NodeKind::Symbol) {
    auto found = values.find(node.name);
    return found == values.end() ? FailureOr<int64_t>() : found->second;
  }
  FailureOr<int64_t> lhs = node.lhs.evaluate(values);
  if (failed(lhs) || node.kind == NodeKind::Pos)
    return failed(lhs) ? lhs : std::max<int64_t>(*lhs, 0);
  FailureOr<int64_t> rhs = node.rhs.evaluate(values);
  if (failed(rhs))
    return rhs;
  if (node.kind == NodeKind::BCast)
    return *lhs == 1 ? *rhs : *lhs;
  if (*rhs <= 0)
    return failure();
  return *lhs / *rhs - (*lhs % *rhs < 0 ? 1 : 0);
}

FailureOr<int64_t> SymExpr::evaluate(const SymValues &values) const {
  if (isOverflow())
    return failure();
  if (isAtom(*this))
    return evaluateAtom(*this, values);
  Wide sum = 0;
  for (const Term &term : nodeOf(*this).terms) {
    Wide product = term.coefficient;
    for (const Factor &factor : term.factors) {
      FailureOr<int64_t> value = evaluateAtom(factor.atom, values);
      if (failed(value))
        return failure();
      for (unsigned i = 0; i < factor.power; ++i)
        if (!multiplyWide(product, *value))
          return failure();
    }
    sum += product;
    if (sum > (Wide(1) << 126) || sum < -(Wide(1) << 126))
      return failure();
  }
  if (sum != int64_t(sum))
    return failure();
  return int64_t(sum);
}
