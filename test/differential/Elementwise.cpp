// Functions of scalars on floats, and those that floats and integers share.
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

//===-- One operand ------------------------------------------------------------------------------===//

/// How a function is brought into a range where it is neither steep nor without a value.
enum class Domain { All, Small, Unit, Positive, AboveOne };

struct Function {
  Value (*make)(Graph &, Value);
  Domain domain;
  double steepest, most; ///< in the domain; most 0: like the operand
};

template <typename Op> Value create(Graph &g, Value x) { return g.b.create<Op>(x); }

constexpr Function kFunctions[] = {
    {create<ExpOp>, Domain::Small, 7.4, 7.4},    {create<LogOp>, Domain::Positive, 2, 12},
    {create<SqrtOp>, Domain::Positive, 1, 0},    {create<RsqrtOp>, Domain::Positive, 1.5, 1.5},
    {create<SinOp>, Domain::All, 1, 1},          {create<CosOp>, Domain::All, 1, 1},
    {create<TanOp>, Domain::Unit, 1.7, 0.9},     {create<AsinOp>, Domain::Unit, 1.6, 0.9},
    {create<AcosOp>, Domain::Unit, 1.6, 2.5},    {create<AtanOp>, Domain::All, 1, 1.6},
    {create<SinhOp>, Domain::Small, 3.8, 3.7},   {create<CoshOp>, Domain::Small, 3.7, 3.8},
    {create<TanhOp>, Domain::All, 1, 1},         {create<AsinhOp>, Domain::All, 1, 0},
    {create<AcoshOp>, Domain::AboveOne, 1.4, 0}, {create<AtanhOp>, Domain::Unit, 2.4, 1},
    {create<ErfOp>, Domain::All, 1.2, 1},
};

Value into(Graph &g, Domain domain, Value x) {
  Type e = g.element(x);
  switch (domain) {
  case Domain::All:
    return g.tame(x, 64);
  case Domain::Small:
    return g.tame(x, 2);
  case Domain::Unit: {
    Value bounded = g.know(x).most <= 1 ? x : g.note(g.b.create<TanhOp>(x), g.smooth(x, 1, 1));
    Knowledge k = g.know(bounded);
    Value part = g.fill(e, 0.75);
    return g.note(g.b.create<MulOp>(bounded, part),
                  g.rounded(e, {0.75, k.quantum + 2, k.error, false}));
  }
  case Domain::Positive:
  case Domain::AboveOne: {
    Value size = g.note(g.b.create<AbsOp>(g.tame(x, 1024)), g.know(x));
    Knowledge k = g.know(size);
    double offset = domain == Domain::Positive ? 0.5 : 1.5;
    Value sum = g.b.create<AddOp>(size, g.fill(e, offset));
    return g.note(sum, g.rounded(e, {k.most + offset, std::max(k.quantum, 1), k.error, false}));
  }
  }
  llvm_unreachable("all domains handled");
}

bool function(Graph &g) {
  Value x = g.pick(isReal);
  if (!x)
    return false;
  const Function &f = kFunctions[g.dice(std::size(kFunctions))];
  Value inside = into(g, f.domain, x);
  double most = f.most ? f.most : g.know(inside).most;
  return g.add(f.make(g, inside), g.smooth(inside, f.steepest, most));
}

/// Without errors of its own; integers too.
bool signs(Graph &g) {
  Value x = g.pick([](Value v) { return !isBool(v); }, /*special=*/true);
  if (!x)
    return false;
  if (g.dice(2))
    return g.add(g.b.create<NegOp>(x), g.know(x));
  return g.add(g.b.create<AbsOp>(x), g.know(x));
}

/// Jumps: the operand must be exact.
bool steps(Graph &g) {
  bool sign = g.dice.chance(1, 3);
  Value x = g.pick([&](Value v) { return g.know(v).isExact() && (sign ? !isBool(v) : isReal(v)); },
                   /*special=*/true);
  if (!x)
    return false;
  Knowledge k = g.know(x);
  if (sign)
    return g.add(g.b.create<SignOp>(x), {1, 0, 0, k.special});
  Knowledge whole = g.rounded(g.element(x), {std::ceil(k.most), 0, 0, k.special});
  switch (g.dice(3)) {
  case 0:
    return g.add(g.b.create<FloorOp>(x), whole);
  case 1:
    return g.add(g.b.create<CeilOp>(x), whole);
  default:
    return g.add(g.b.create<RoundOp>(x), whole);
  }
}

bool activation(Graph &g) {
  static constexpr unsigned kKinds = getMaxEnumValForActivationKind() + 1;
  auto kind = ActivationKind(g.dice(kKinds));
  bool jumps = kind == ActivationKind::ThresholdedRelu || kind == ActivationKind::Shrink;
  Value x = g.pick([&](Value v) { return isReal(v) && (!jumps || g.know(v).isExact()); });
  if (!x)
    return false;
  x = g.tame(x, 16);
  if (jumps && !g.know(x).isExact())
    return false;
  double alpha = g.dice.oneOf({0.25, 0.5, 1.0}), beta = g.dice.oneOf({0.5, 1.0});
  Knowledge k = g.smooth(x, 2, g.know(x).most + 2);
  if (kind == ActivationKind::Relu)
    k = g.know(x);
  return g.add(
      g.b.create<ActivationOp>(g.type(x), kind, x, llvm::APFloat(alpha), llvm::APFloat(beta)), k);
}

//===-- Several operands -------------------------------------------------------------------------===//

/// Aligned at the right, dimensions agree or one is the literal 1.
bool compatible(SymTensorType a, SymTensorType c) {
  for (unsigned i = 1; i <= std::min(a.getRank(), c.getRank()); ++i) {
    SymExpr x = a.getDim(a.getRank() - i), y = c.getDim(c.getRank() - i);
    if (x != y && !x.isConstant(1) && !y.isConstant(1))
      return false;
  }
  return true;
}

Value partner(Graph &g, Value x, bool exact = false, bool special = false) {
  Value found = g.pick(
      [&](Value v) {
        return g.element(v) == g.element(x) && compatible(g.type(v), g.type(x)) &&
               (!exact || g.know(v).isExact());
      },
      special);
  if (found && (found != x || g.dice.chance(1, 4)))
    return found;
  // A line, a column, or one number.
  SmallVector<SymExpr> dims = g.type(x).getDims();
  if (!dims.empty() && g.dice(2))
    dims.erase(dims.begin(), dims.begin() + g.dice(dims.size()));
  else
    dims.clear();
  return g.pickOr(g.element(x), dims, 2);
}

bool sum(Graph &g) {
  Value x = g.pick([](Value v) { return !isBool(v); }, true);
  if (!x)
    return false;
  Value y = partner(g, x, false, true);
  Knowledge a = g.know(x), c = g.know(y);
  Type e = g.element(x);
  Knowledge k{a.most + c.most, std::max(a.quantum, c.quantum), a.error + c.error,
              a.special || c.special};
  k = isFloat(e) ? g.rounded(e, k) : g.integers(e, k.most);
  return g.dice(2) ? g.add(g.b.create<AddOp>(x, y), k) : g.add(g.b.create<SubOp>(x, y), k);
}

bool product(Graph &g) {
  Value x = g.pick([](Value v) { return !isBool(v); });
  if (!x)
    return false;
  if (isReal(x))
    x = g.tame(x, 16);
  Value y = partner(g, x);
  if (isReal(y))
    y = g.tame(y, 16);
  Knowledge k = g.sumOfProducts(x, y, 1, g.element(x));
  return g.add(g.b.create<MulOp>(x, y), k);
}

/// A divisor that is not near zero; of integers any, also zero.
bool quotient(Graph &g) {
  Value x = g.pick([](Value v) { return !isBool(v); });
  if (!x)
    return false;
  Value y = partner(g, x);
  Type e = g.element(x);
  if (!isFloat(e))
    return g.add(g.b.create<DivOp>(x, y), g.integers(e, g.know(x).most));
  y = into(g, Domain::Positive, y);
  Knowledge a = g.know(x), c = g.know(y);
  Knowledge k{2 * a.most, 0, 2 * a.error + 4 * a.most * c.error + 4 * precisionOf(e) * a.most,
              false};
  return g.add(g.b.create<DivOp>(x, y), k);
}

bool remainder(Graph &g) {
  Value x = g.pick([&](Value v) { return !isBool(v) && g.know(v).isExact(); });
  if (!x)
    return false;
  Value y = partner(g, x, /*exact=*/true);
  if (!g.know(y).isExact() || g.know(y).special)
    return false;
  Knowledge a = g.know(x), c = g.know(y);
  if (isReal(x)) {
    y = g.note(g.b.create<AddOp>(g.note(g.b.create<AbsOp>(y), c), g.fill(g.element(x), 0.5)),
               g.rounded(g.element(x), {c.most + 0.5, std::max(c.quantum, 1), 0, false}));
    c = g.know(y);
    if (!c.isExact())
      return false;
  }
  Knowledge k{std::max(a.most, c.most), std::max(a.quantum, c.quantum), 0, false};
  return g.add(g.b.create<RemOp>(x, y, g.dice(2) ? g.b.getUnitAttr() : UnitAttr()), k);
}

bool power(Graph &g) {
  Value x = g.pick([](Value v) { return isReal(v) || isInteger(v); });
  if (!x)
    return false;
  Type e = g.element(x);
  if (!isFloat(e)) {
    Value exponent = g.fill(e, double(g.dice(4)));
    return g.add(g.b.create<PowOp>(x, exponent), g.integers(e, largestOf(e) + 1));
  }
  Value base = into(g, Domain::Positive, g.tame(x, 1.5));
  double exponent = g.dice.oneOf({2.0, 0.5, -1.0, 3.0, 1.25, 0.0});
  double most = std::max(8.0, 1.0);
  return g.add(g.b.create<PowOp>(base, g.fill(e, exponent)), g.smooth(base, 12, most));
}

bool extremum(Graph &g) {
  Value x = g.pick([](Value) { return true; }, true);
  if (!x || isBool(x))
    return false;
  Value y = partner(g, x, false, true);
  Knowledge k = g.either({x, y});
  return g.dice(2) ? g.add(g.b.create<MinimumOp>(x, y), k) : g.add(g.b.create<MaximumOp>(x, y), k);
}

bool multiplyAdd(Graph &g) {
  Value x = g.pick(isWide);
  if (!x)
    return false;
  x = g.tame(x, 16);
  Value y = g.tame(partner(g, x), 16), z = partner(g, g.rank(x) >= g.rank(y) ? x : y);
  if (!compatible(g.type(x), g.type(z)) || !compatible(g.type(y), g.type(z)))
    return false;
  Knowledge p = g.sumOfProducts(x, y, 1, g.element(x)), s = g.know(z);
  Knowledge k{p.most + s.most, std::max(p.quantum, s.quantum), p.error + s.error, s.special};
  return g.add(g.b.create<MultiplyAddOp>(x, y, z), g.rounded(g.element(x), k));
}

/// Compares exact values; which relation holds must not depend on rounding.
bool comparison(Graph &g) {
  Value x = g.pick([&](Value v) { return g.know(v).isExact(); }, true);
  if (!x)
    return false;
  Value y = partner(g, x, true, true);
  if (!g.know(y).isExact())
    return false;
  auto kind = CompareKind(g.dice(getMaxEnumValForCompareKind() + 1));
  if (isBool(x) && kind != CompareKind::Equal && kind != CompareKind::NotEqual)
    return false;
  return g.add(g.b.create<CompareOp>(kind, x, y), g.truth());
}

bool choice(Graph &g) {
  Value condition = g.pick(isBool);
  if (!condition)
    return false;
  Value yes = g.pick([&](Value v) { return compatible(g.type(v), g.type(condition)); }, true);
  if (!yes)
    return false;
  Value no = partner(g, yes, false, true);
  if (!compatible(g.type(no), g.type(condition)))
    return false;
  return g.add(g.b.create<SelectOp>(condition, yes, no), g.either({yes, no}));
}

constexpr Maker kMakers[] = {
    {"function", function, 6},
    {"signs", signs, 2},
    {"steps", steps, 2},
    {"activation", activation, 4},
    {"sum", sum, 5},
    {"product", product, 4},
    {"quotient", quotient, 2},
    {"remainder", remainder},
    {"power", power},
    {"extremum", extremum, 2},
    {"multiply_add", multiplyAdd},
    {"comparison", comparison, 3},
    {"choice", choice, 3},
};

} // namespace

ArrayRef<Maker> elementwiseMakers() { return kMakers; }

} // namespace weft::test
