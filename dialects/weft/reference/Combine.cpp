//===- Combine.cpp - Combiners on reference values ----------------------------------------------===//

#include "dialects/weft/Weft.h"
#include <cmath>

using namespace mlir;

namespace weft {

static Scalar combineReals(Combiner combiner, double x, double y) {
  switch (combiner) {
  case Combiner::Sum:
    return Scalar::of(x + y);
  case Combiner::Prod:
    return Scalar::of(x * y);
  case Combiner::Max:
    return Scalar::of(std::isnan(x) || x > y ? x : y);
  default:
    return Scalar::of(std::isnan(x) || x < y ? x : y);
  }
}

static Scalar combineIntegers(Combiner combiner, bool u, int64_t x, int64_t y) {
  bool less = u ? uint64_t(x) < uint64_t(y) : x < y;
  switch (combiner) {
  case Combiner::Sum:
    return Scalar::of(int64_t(uint64_t(x) + uint64_t(y)));
  case Combiner::Prod:
    return Scalar::of(int64_t(uint64_t(x) * uint64_t(y)));
  case Combiner::Max:
    return Scalar::of(less ? y : x);
  case Combiner::Min:
    return Scalar::of(less ? x : y);
  case Combiner::And:
    return Scalar::of(x & y);
  case Combiner::Or:
    return Scalar::of(x | y);
  }
  llvm_unreachable("closed set of combiners");
}

static Scalar combineExpressions(Combiner combiner, SymExpr x, SymExpr y) {
  if (!x || !y)
    return Scalar::of(SymExpr());
  switch (combiner) {
  case Combiner::Sum:
    return Scalar::of(x + y);
  case Combiner::Prod:
    return Scalar::of(x * y);
  case Combiner::Max:
    return Scalar::of(SymExpr::max(x, y));
  case Combiner::Min:
    return Scalar::of(SymExpr::min(x, y));
  default:
    return Scalar::of(SymExpr());
  }
}

Scalar combineScalars(Combiner combiner, Type element, const Scalar &a, const Scalar &b) {
  if (a.kind == Scalar::Symbolic || b.kind == Scalar::Symbolic) {
    auto expr = [&](const Scalar &s) {
      return s.kind == Scalar::Symbolic ? s.expr
                                        : SymExpr::constant(element.getContext(), s.integer);
    };
    return combineExpressions(combiner, expr(a), expr(b));
  }
  if (a.kind == Scalar::Real)
    return combineReals(combiner, a.real, b.asReal());
  return combineIntegers(combiner, isUnsigned(element), a.integer, b.integer);
}

Scalar identityScalar(Combiner combiner, Type element) {
  TypedAttr attribute = combinerIdentity(combiner, element);
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return Scalar::of(real.getValueAsDouble());
  llvm::APInt value = cast<IntegerAttr>(attribute).getValue();
  return Scalar::of(isUnsigned(element) ? int64_t(value.getZExtValue()) : value.getSExtValue());
}

} // namespace weft
