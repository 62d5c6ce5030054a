//===- Polynomial.cpp - Uniqued nodes and arithmetic on sorted terms ---------------------------===//
#include "dialects/symbolic/Polynomial.h"
#include "dialects/symbolic/SymDialect.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

//===- Nodes ------------------------------------------------------------------------------------===//

bool SymExprStorage::operator==(const KeyTy &key) const {
  if (kind != key.kind)
    return false;
  if (kind == NodeKind::Polynomial)
    return terms == key.terms;
  return name == key.name && lhs == key.lhs && rhs == key.rhs;
}

/// Of polynomials word by word: they are looked up all the time, and have few terms.
llvm::hash_code SymExprStorage::hashKey(const KeyTy &key) {
  if (key.kind != NodeKind::Polynomial)
    return llvm::hash_combine(key.kind, key.name, key.lhs, key.rhs);
  uint64_t hash = key.terms.size();
  auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  for (const Term &term : key.terms) {
    mix(uint64_t(term.coefficient));
    for (const Factor &factor : term.factors) {
      mix(reinterpret_cast<uintptr_t>(factor.atom.asAttribute().getAsOpaquePointer()));
      mix(factor.power);
    }
  }
  return hash;
}

/// The union of sorted lists of names. A single list, the usual case, is shared instead of copied.
static ArrayRef<StringAttr> mergeSymbols(AttributeStorageAllocator &allocator,
                                         ArrayRef<ArrayRef<StringAttr>> lists) {
  ArrayRef<StringAttr> longest;
  for (ArrayRef<StringAttr> list : lists)
    if (list.size() > longest.size())
      longest = list;
  SmallVector<StringAttr, 8> all(longest);
  for (ArrayRef<StringAttr> list : lists)
    if (list.data() != longest.data())
      all.append(list.begin(), list.end());
  if (all.size() == longest.size())
    return longest;
  llvm::sort(all, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all.size() == longest.size() ? longest : allocator.copyInto(ArrayRef(all));
}

static void completePolynomial(SymExprStorage &node, AttributeStorageAllocator &allocator,
                               ArrayRef<Term> terms) {
  SmallVector<Term, 8> copies;
  SmallVector<ArrayRef<StringAttr>, 8> symbols;
  uint64_t size = 0;
  node.nonNegative = true;
  for (const Term &term : terms) {
    copies.push_back({term.coefficient, allocator.copyInto(term.factors)});
    node.nonNegative &= term.coefficient >= 0;
    ++size;
    for (const Factor &factor : term.factors) {
      const SymExprStorage &atom = nodeOf(factor.atom);
      symbols.push_back(atom.symbols);
      size += uint64_t(atom.size) * factor.power;
      node.depth = std::max(node.depth, atom.depth);
      node.nonNegative &= atom.nonNegative;
    }
  }
  node.size = uint32_t(std::min<uint64_t>(size, UINT32_MAX));
  node.terms = allocator.copyInto(ArrayRef<Term>(copies));
  node.symbols = mergeSymbols(allocator, symbols);
}

static void completeAtom(SymExprStorage &node, AttributeStorageAllocator &allocator,
                         const NodeKey &key) {
  node.name = key.name;
  node.lhs = key.lhs;
  node.rhs = key.rhs;
  SmallVector<ArrayRef<StringAttr>, 2> symbols;
  uint64_t size = 1;
  bool operandsNonNegative = true;
  for (SymExpr operand : {key.lhs, key.rhs}) {
    if (!operand)
      continue;
    const SymExprStorage &child = nodeOf(operand);
    symbols.push_back(child.symbols);
    size += child.size;
    node.depth = std::max<uint16_t>(node.depth, child.depth + 1);
    // The divisor of a FloorDiv counts as positive whatever its form.
    if (operand == key.lhs || key.kind == NodeKind::BCast)
      operandsNonNegative &= child.nonNegative;
  }
  node.size = uint32_t(std::min<uint64_t>(size, UINT32_MAX));
  node.nonNegative = key.kind == NodeKind::Symbol || key.kind == NodeKind::Pos ||
                     (key.kind != NodeKind::Overflow && operandsNonNegative);
  node.symbols = key.kind == NodeKind::Symbol ? allocator.copyInto(ArrayRef(key.name))
                                              : mergeSymbols(allocator, symbols);
  if (key.kind == NodeKind::Overflow)
    return;
  Factor self{SymExpr(Attribute(&node)), 1};
  node.terms = allocator.copyInto(ArrayRef<Term>({1, allocator.copyInto(ArrayRef(self))}));
}

SymExprStorage *SymExprStorage::construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
  auto *node = new (allocator.allocate<SymExprStorage>()) SymExprStorage();
  node->kind = key.kind;
  if (key.kind == NodeKind::Polynomial)
    completePolynomial(*node, allocator, key.terms);
  else
    completeAtom(*node, allocator, key);
  return node;
}

static SymExpr makeNode(MLIRContext *context, const NodeKey &key) {
  SymExpr expr(SymExprAttr::get(context, key));
  const SymExprStorage &node = nodeOf(expr);
  return node.size > kMaxNodes || node.depth > kMaxDepth ? makeOverflow(context) : expr;
}

SymExpr symbolic::makeOverflow(MLIRContext *context) {
  return SymExpr(SymExprAttr::get(context, NodeKey{NodeKind::Overflow, {}, {}, {}, {}}));
}

SymExpr symbolic::makeAtom(NodeKind kind, SymExpr lhs, SymExpr rhs) {
  return makeNode(lhs.getContext(), NodeKey{kind, {}, {}, lhs, rhs});
}

SymExpr symbolic::makePolynomial(MLIRContext *context, ArrayRef<Term> terms) {
  if (terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1 &&
      terms[0].factors[0].power == 1)
    return terms[0].factors[0].atom;
  return makeNode(context, NodeKey{NodeKind::Polynomial, terms, {}, {}, {}});
}

SymExpr symbolic::makeConstant(MLIRContext *context, int64_t value) {
  return makePolynomial(context, value == 0 ? ArrayRef<Term>() : ArrayRef<Term>({value, {}}));
}

SymExpr symbolic::makeMonomial(MLIRContext *context, Monomial factors, int64_t coefficient) {
  return makePolynomial(context, Term{coefficient, factors});
}

//===- Orders -----------------------------------------------------------------------------------===//

static int compareAtoms(SymExpr a, SymExpr b) {
  if (a == b)
    return 0;
  const SymExprStorage &x = nodeOf(a), &y = nodeOf(b);
  if (x.kind != y.kind)
    return x.kind < y.kind ? -1 : 1;
  if (x.kind == NodeKind::Symbol)
    return x.name.getValue().compare(y.name.getValue());
  int order = compareExprs(x.lhs, y.lhs);
  return order != 0 || !x.rhs ? order : compareExprs(x.rhs, y.rhs);
}

static uint64_t degreeOf(Monomial factors) {
  uint64_t degree = 0;
  for (const Factor &factor : factors)
    degree += factor.power;
  return degree;
}

int symbolic::compareMonomials(Monomial a, Monomial b) {
  if (a.data() == b.data() && a.size() == b.size())
    return 0;
  uint64_t degreeA = degreeOf(a), degreeB = degreeOf(b);
  if (degreeA != degreeB)
    return degreeA > degreeB ? -1 : 1;
  for (auto [x, y] : llvm::zip(a, b)) {
    if (int order = compareAtoms(x.atom, y.atom))
      return order;
    if (x.power != y.power)
      return x.power > y.power ? -1 : 1;
  }
  return 0;
}

int symbolic::compareExprs(SymExpr a, SymExpr b) {
  if (a == b)
    return 0;
  ArrayRef<Term> x = nodeOf(a).terms, y = nodeOf(b).terms;
  if (isAtom(a) && isAtom(b))
    return compareAtoms(a, b);
  for (auto [s, t] : llvm::zip(x, y)) {
    if (int order = compareMonomials(s.factors, t.factors))
      return order;
    if (s.coefficient != t.coefficient)
      return s.coefficient < t.coefficient ? -1 : 1;
  }
  return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
}

//===- Arithmetic -------------------------------------------------------------------------------===//

SymExpr symbolic::addScaled(SymExpr a, SymExpr b, int64_t scale) {
  if (isOverflow(a) || isOverflow(b))
    return makeOverflow(a.getContext());
  ArrayRef<Term> x = nodeOf(a).terms, y = nodeOf(b).terms;
  if (y.empty() || scale == 0)
    return a;
  if (x.empty() && scale == 1)
    return b;
  SmallVector<Term, 8> sum;
  bool overflow = false;
  while (!x.empty() || !y.empty()) {
    int order = x.empty() ? 1 : y.empty() ? -1 : compareMonomials(x[0].factors, y[0].factors);
    Term next{0, order <= 0 ? x[0].factors : y[0].factors};
    if (order >= 0) {
      overflow |= __builtin_mul_overflow(y[0].coefficient, scale, &next.coefficient);
      y = y.drop_front();
    }
    if (order <= 0) {
      overflow |= __builtin_add_overflow(next.coefficient, x[0].coefficient, &next.coefficient);
      x = x.drop_front();
    }
    if (next.coefficient != 0)
      sum.push_back(next);
  }
  return overflow ? makeOverflow(a.getContext()) : makePolynomial(a.getContext(), sum);
}

/// One term times a polynomial: the order of the terms stays.
static SymExpr multiplyByTerm(const Term &term, SymExpr expr) {
  if (term.factors.empty() && term.coefficient == 1)
    return expr;
  MonomialPool pool;
  SmallVector<Term, 8> result;
  for (const Term &other : nodeOf(expr).terms) {
    Term next{0, term.factors.empty() ? other.factors : pool.product(term.factors, other.factors)};
    if (__builtin_mul_overflow(term.coefficient, other.coefficient, &next.coefficient))
      return makeOverflow(expr.getContext());
    result.push_back(next);
  }
  return makePolynomial(expr.getContext(), result);
}

SymExpr symbolic::multiply(SymExpr a, SymExpr b) {
  MLIRContext *context = a.getContext();
  if (isOverflow(a) || isOverflow(b))
    return makeOverflow(context);
  ArrayRef<Term> x = nodeOf(a).terms, y = nodeOf(b).terms;
  if (x.empty() || y.empty())
    return x.empty() ? a : b;
  if (x.size() == 1)
    return multiplyByTerm(x[0], b);
  if (y.size() == 1)
    return multiplyByTerm(y[0], a);
  if (x.size() * y.size() > kMaxNodes)
    return makeOverflow(context);
  MonomialPool pool;
  SumBuilder sum(context);
  for (const Term &s : x)
    for (const Term &t : y) {
      int64_t coefficient;
      if (__builtin_mul_overflow(s.coefficient, t.coefficient, &coefficient))
        return makeOverflow(context);
      sum.add(coefficient, pool.product(s.factors, t.factors));
    }
  return sum.build();
}

SymExpr symbolic::power(SymExpr base, unsigned exponent) {
  SymExpr result = SymExpr::constant(base.getContext(), 1);
  for (; exponent != 0; exponent /= 2, base = exponent != 0 ? multiply(base, base) : base)
    if (exponent % 2 != 0)
      result = multiply(result, base);
  return result;
}

SymExpr symbolic::divideExactly(SymExpr expr, int64_t divisor) {
  if (divisor == 1)
    return expr;
  SmallVector<Term, 8> terms(nodeOf(expr).terms);
  for (Term &term : terms)
    term.coefficient /= divisor;
  return makePolynomial(expr.getContext(), terms);
}

uint64_t symbolic::contentOf(SymExpr expr, bool withConstant) {
  uint64_t content = 0;
  for (const Term &term : nodeOf(expr).terms)
    if (withConstant || !term.factors.empty())
      content = std::gcd(content, term.coefficient < 0 ? 0 - uint64_t(term.coefficient)
                                                       : uint64_t(term.coefficient));
  return content;
}

int64_t symbolic::constantTerm(SymExpr expr) {
  ArrayRef<Term> terms = nodeOf(expr).terms;
  return !terms.empty() && terms.back().factors.empty() ? terms.back().coefficient : 0;
}

void SumBuilder::add(int64_t coefficient, Monomial factors) {
  terms.push_back({coefficient, factors});
}

void SumBuilder::add(SymExpr expr) {
  overflow |= isOverflow(expr);
  llvm::append_range(terms, nodeOf(expr).terms);
}

SymExpr SumBuilder::build() {
  if (overflow)
    return makeOverflow(context);
  llvm::sort(terms, [](const Term &a, const Term &b) {
    return compareMonomials(a.factors, b.factors) < 0;
  });
  SmallVector<Term, 8> sum;
  for (size_t i = 0; i < terms.size();) {
    Monomial factors = terms[i].factors;
    __int128 coefficient = 0;
    for (; i < terms.size() && compareMonomials(factors, terms[i].factors) == 0; ++i)
      coefficient += terms[i].coefficient;
    if (coefficient != int64_t(coefficient))
      return makeOverflow(context);
    if (coefficient != 0)
      sum.push_back({int64_t(coefficient), factors});
  }
  return makePolynomial(context, sum);
}

//===- Monomials --------------------------------------------------------------------------------===//

Monomial MonomialPool::product(Monomial a, Monomial b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  SmallVector<Factor, 4> &result = storage.emplace_front();
  while (!a.empty() || !b.empty()) {
    int order = a.empty() ? 1 : b.empty() ? -1 : compareAtoms(a[0].atom, b[0].atom);
    Factor next{order <= 0 ? a[0].atom : b[0].atom, 0};
    if (order <= 0) {
      next.power += a[0].power;
      a = a.drop_front();
    }
    if (order >= 0) {
      next.power += b[0].power;
      b = b.drop_front();
    }
    result.push_back(next);
  }
  return result;
}

std::optional<Monomial> MonomialPool::quotient(Monomial a, Monomial b) {
  if (b.empty())
    return a;
  SmallVector<Factor, 4> result;
  for (const Factor &factor : a) {
    unsigned power = factor.power;
    if (!b.empty() && b[0].atom == factor.atom) {
      if (b[0].power > power)
        return std::nullopt;
      power -= b[0].power;
      b = b.drop_front();
    }
    if (power != 0)
      result.push_back({factor.atom, power});
  }
  if (!b.empty())
    return std::nullopt;
  return Monomial(storage.emplace_front(std::move(result)));
}

Monomial MonomialPool::commonNonNegative(Monomial a, Monomial b) {
  SmallVector<Factor, 4> &result = storage.emplace_front();
  for (const Factor &x : a)
    for (const Factor &y : b)
      if (x.atom == y.atom && nodeOf(x.atom).nonNegative)
        result.push_back({x.atom, std::min(x.power, y.power)});
  return result;
}
