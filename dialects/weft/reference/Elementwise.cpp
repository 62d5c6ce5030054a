//===- Elementwise.cpp - Reference semantics of elementwise operators ---------------------------===//
//
// Every function is written for doubles, int64 and, where shapes need it, expressions. A null expression means "cannot be expressed".
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

Scalar none() { return Scalar::of(SymExpr()); }

bool anySymbolic(ArrayRef<Scalar> e) {
  return llvm::any_of(e, [](const Scalar &s) { return s.kind == Scalar::Symbolic; });
}

/// Operands as expressions; null ones where an operand is unknown.
SymExpr exprOf(const Scalar &s, const Scalar &other) {
  if (s.kind == Scalar::Symbolic)
    return s.expr;
  return other.expr ? SymExpr::constant(other.expr.getContext(), s.integer) : SymExpr();
}

template <typename Real, typename Integer, typename Symbolic>
Scalar binary(ArrayRef<Scalar> e, Real real, Integer integer, Symbolic symbolic) {
  if (anySymbolic(e)) {
    SymExpr a = exprOf(e[0], e[1]), b = exprOf(e[1], e[0]);
    return a && b ? Scalar::of(SymExpr(symbolic(a, b))) : none();
  }
  if (e[0].kind == Scalar::Real)
    return Scalar::of(double(real(e[0].real, e[1].real)));
  return Scalar::of(int64_t(integer(e[0].integer, e[1].integer)));
}

template <typename Real> Scalar real(ArrayRef<Scalar> e, Real function) {
  return e[0].kind == Scalar::Symbolic ? none() : Scalar::of(double(function(e[0].asReal())));
}

template <typename Real, typename Integer>
Scalar unary(ArrayRef<Scalar> e, Real function, Integer integer) {
  if (e[0].kind == Scalar::Symbolic)
    return none();
  return e[0].kind == Scalar::Real ? Scalar::of(double(function(e[0].real)))
                                   : Scalar::of(int64_t(integer(e[0].integer)));
}

SymExpr noExpr(SymExpr, SymExpr) { return SymExpr(); }

/// The number that code decides about. Values here are not rounded between operators, and the whole number just above an exact 5.99999998
/// would be missed, which is what an f32 of it is: frameworks find buckets of positions by such logarithms.
double decided(Operation *op, double exact) {
  return cast<SymTensorType>(op->getOperand(0).getType()).getElementType().isF64()
             ? exact
             : double(float(exact));
}

bool isUnsignedOperand(Operation *op) {
  return isUnsigned(cast<SymTensorType>(op->getOperand(0).getType()).getElementType());
}

int64_t divide(int64_t a, int64_t b, bool u) {
  if (b == 0)
    return 0;
  if (u)
    return int64_t(uint64_t(a) / uint64_t(b));
  return b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
}

int64_t remainder(int64_t a, int64_t b, bool u, bool floor) {
  if (b == 0 || (!u && b == -1))
    return 0;
  if (u)
    return int64_t(uint64_t(a) % uint64_t(b));
  int64_t r = a % b;
  return floor && r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

double power(double a, double b) { return std::pow(a, b); }

int64_t powerInteger(int64_t a, int64_t b, bool u) {
  if (b < 0 && !u)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = uint64_t(a);
  for (auto left = uint64_t(b); left; left >>= 1, base *= base)
    if (left & 1)
      result *= base;
  return int64_t(result);
}

} // namespace

#define WEFT_ARGS ArrayRef<Scalar> e, const SymFacts *facts

Scalar NegOp::evaluateScalar(WEFT_ARGS) {
  if (e[0].kind == Scalar::Symbolic)
    return e[0].expr ? Scalar::of(-e[0].expr) : none();
  return unary(
      e, [](double x) { return -x; }, [](int64_t x) { return int64_t(0 - uint64_t(x)); });
}
Scalar AbsOp::evaluateScalar(WEFT_ARGS) {
  if (e[0].kind == Scalar::Symbolic)
    return e[0].expr ? Scalar::of(SymExpr::max(e[0].expr, -e[0].expr)) : none();
  return unary(
      e, [](double x) { return std::fabs(x); },
      [u = isUnsignedOperand(*this)](int64_t x) {
        return x < 0 && !u ? int64_t(0 - uint64_t(x)) : x;
      });
}
Scalar SignOp::evaluateScalar(WEFT_ARGS) {
  return unary(
      e, [](double x) { return x > 0   ? 1.0
                               : x < 0 ? -1.0
                                       : x; },
      [u = isUnsignedOperand(*this)](int64_t x) {
        return u ? int64_t(x != 0) : int64_t(x > 0) - int64_t(x < 0);
      });
}
Scalar NotOp::evaluateScalar(WEFT_ARGS) {
  return unary(
      e, [](double x) { return x; }, [](int64_t x) { return ~x; });
}
Scalar FloorOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [&](double x) { return std::floor(decided(*this, x)); });
}
Scalar CeilOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [&](double x) { return std::ceil(decided(*this, x)); });
}
Scalar RoundOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [&](double x) { return std::nearbyint(decided(*this, x)); });
}
Scalar ExpOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::exp(x); });
}
Scalar LogOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::log(x); });
}
Scalar SqrtOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::sqrt(x); });
}
Scalar RsqrtOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return 1 / std::sqrt(x); });
}
Scalar SinOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::sin(x); });
}
Scalar CosOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::cos(x); });
}
Scalar TanOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::tan(x); });
}
Scalar AsinOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::asin(x); });
}
Scalar AcosOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::acos(x); });
}
Scalar AtanOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::atan(x); });
}
Scalar SinhOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::sinh(x); });
}
Scalar CoshOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::cosh(x); });
}
Scalar AsinhOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::asinh(x); });
}
Scalar AcoshOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::acosh(x); });
}
Scalar AtanhOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::atanh(x); });
}
Scalar IsNanOp::evaluateScalar(WEFT_ARGS) { return Scalar::of(int64_t(std::isnan(e[0].real))); }
Scalar IsInfOp::evaluateScalar(WEFT_ARGS) {
  bool counts = e[0].real > 0 ? getPositive() : getNegative();
  return Scalar::of(int64_t(counts && std::isinf(e[0].real)));
}
Scalar TanhOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::tanh(x); });
}
Scalar ErfOp::evaluateScalar(WEFT_ARGS) {
  return real(e, [](double x) { return std::erf(x); });
}

Scalar AddOp::evaluateScalar(WEFT_ARGS) {
  return binary(
      e, std::plus<>(), [](int64_t a, int64_t b) { return uint64_t(a) + uint64_t(b); },
      [](SymExpr a, SymExpr b) { return a + b; });
}
Scalar SubOp::evaluateScalar(WEFT_ARGS) {
  return binary(
      e, std::minus<>(), [](int64_t a, int64_t b) { return uint64_t(a) - uint64_t(b); },
      [](SymExpr a, SymExpr b) { return a - b; });
}
Scalar MulOp::evaluateScalar(WEFT_ARGS) {
  return binary(
      e, std::multiplies<>(), [](int64_t a, int64_t b) { return uint64_t(a) * uint64_t(b); },
      [](SymExpr a, SymExpr b) { return a * b; });
}
Scalar DivOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this);
  return binary(
      e, std::divides<>(), [&](int64_t a, int64_t b) { return divide(a, b, u); },
      [&](SymExpr a, SymExpr b) { // truncation is floor division only for non-negative operands
        SymExpr zero = SymExpr::constant(a.getContext(), 0),
                one = SymExpr::constant(a.getContext(), 1);
        bool known =
            facts && facts->proveLE(zero, a) == Proof::Yes && facts->proveLE(one, b) == Proof::Yes;
        return known ? SymExpr::floordiv(a, b) : SymExpr();
      });
}
Scalar RemOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this), floor = getFloor();
  return binary(
      e,
      [&](double a, double b) {
        double r = std::fmod(a, b);
        return floor && r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
      },
      [&](int64_t a, int64_t b) { return remainder(a, b, u, floor); },
      [&](SymExpr a, SymExpr b) {
        SymExpr zero = SymExpr::constant(a.getContext(), 0),
                one = SymExpr::constant(a.getContext(), 1);
        bool known = facts && facts->proveLE(one, b) == Proof::Yes &&
                     (floor || facts->proveLE(zero, a) == Proof::Yes);
        return known ? SymExpr::mod(a, b) : SymExpr();
      });
}
Scalar PowOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this);
  return binary(
      e, power, [&](int64_t a, int64_t b) { return powerInteger(a, b, u); }, noExpr);
}
Scalar MinimumOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this);
  return binary(
      e, [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
      [&](int64_t a, int64_t b) {
        return u ? int64_t(std::min(uint64_t(a), uint64_t(b))) : std::min(a, b);
      },
      [](SymExpr a, SymExpr b) { return SymExpr::min(a, b); });
}
Scalar MaximumOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this);
  return binary(
      e, [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
      [&](int64_t a, int64_t b) {
        return u ? int64_t(std::max(uint64_t(a), uint64_t(b))) : std::max(a, b);
      },
      [](SymExpr a, SymExpr b) { return SymExpr::max(a, b); });
}
/// Whether one operand decides, whatever the other is.
static bool isDecided(ArrayRef<Scalar> e, int64_t by) {
  return anySymbolic(e) && llvm::any_of(e, [&](const Scalar &s) {
           return s.kind == Scalar::Integer && s.integer == by;
         });
}

Scalar AndOp::evaluateScalar(WEFT_ARGS) {
  if (isDecided(e, 0))
    return Scalar::of(int64_t(0));
  return binary(
      e, [](double, double) { return 0.0; }, std::bit_and<>(), noExpr);
}
Scalar OrOp::evaluateScalar(WEFT_ARGS) {
  int64_t all = cast<SymTensorType>(getLhs().getType()).getElementType().isInteger(1) ? 1 : -1;
  if (isDecided(e, all))
    return Scalar::of(all);
  return binary(
      e, [](double, double) { return 0.0; }, std::bit_or<>(), noExpr);
}
Scalar XorOp::evaluateScalar(WEFT_ARGS) {
  return binary(
      e, [](double, double) { return 0.0; }, std::bit_xor<>(), noExpr);
}

Scalar ShiftOp::evaluateScalar(WEFT_ARGS) {
  bool u = isUnsignedOperand(*this), right = getKind() == ShiftKind::Right;
  uint64_t width = elementBits(cast<SymTensorType>(getLhs().getType()).getElementType());
  auto shift = [&](int64_t a, int64_t by) -> int64_t {
    bool far = uint64_t(by) >= width;
    if (right && !u)
      return a >> (far ? 63 : by);
    return far ? 0 : right ? int64_t(uint64_t(a) >> by) : int64_t(uint64_t(a) << by);
  };
  return binary(
      e, [](double, double) { return 0.0; }, shift, noExpr);
}

template <typename T> static bool compareValues(CompareKind kind, T a, T b) {
  switch (kind) {
  case CompareKind::Equal:
    return a == b;
  case CompareKind::NotEqual:
    return a != b;
  case CompareKind::Less:
    return a < b;
  case CompareKind::LessEqual:
    return a <= b;
  case CompareKind::Greater:
    return a > b;
  case CompareKind::GreaterEqual:
    return a >= b;
  }
  llvm_unreachable("closed set of relations");
}

static Scalar compareSymbolic(CompareKind kind, SymExpr a, SymExpr b, const SymFacts *facts) {
  if (!a || !b || !facts)
    return none();
  bool swapped = kind == CompareKind::Greater || kind == CompareKind::GreaterEqual;
  if (swapped)
    std::swap(a, b);
  bool strict = kind == CompareKind::Less || kind == CompareKind::Greater;
  bool equality = kind == CompareKind::Equal || kind == CompareKind::NotEqual;
  Proof proof = equality ? facts->proveEqual(a, b) : facts->proveLE(strict ? a + 1 : a, b);
  if (proof == Proof::Unknown)
    return none();
  return Scalar::of(int64_t((proof == Proof::Yes) != (kind == CompareKind::NotEqual)));
}

Scalar CompareOp::evaluateScalar(WEFT_ARGS) {
  if (anySymbolic(e))
    return compareSymbolic(getKind(), exprOf(e[0], e[1]), exprOf(e[1], e[0]), facts);
  if (e[0].kind == Scalar::Real)
    return Scalar::of(
        int64_t(compareValues(getKind(), decided(*this, e[0].real), decided(*this, e[1].real))));
  if (isUnsignedOperand(*this))
    return Scalar::of(
        int64_t(compareValues(getKind(), uint64_t(e[0].integer), uint64_t(e[1].integer))));
  return Scalar::of(int64_t(compareValues(getKind(), e[0].integer, e[1].integer)));
}

Scalar MultiplyAddOp::evaluateScalar(WEFT_ARGS) {
  if (llvm::any_of(e, [](const Scalar &s) { return s.kind == Scalar::Symbolic; }))
    return Scalar::of(SymExpr());
  return Scalar::of(e[0].asReal() * e[1].asReal() + e[2].asReal());
}
Scalar SelectOp::evaluateScalar(WEFT_ARGS) {
  if (e[0].kind != Scalar::Symbolic)
    return e[0].integer ? e[1] : e[2];
  if (e[0].expr && e[0].expr.asConstant())
    return *e[0].expr.asConstant() ? e[1] : e[2];
  return none();
}

Scalar BitcastOp::evaluateScalar(WEFT_ARGS) {
  Type from = cast<SymTensorType>(getInput().getType()).getElementType(), to = getTo();
  if (e[0].kind == Scalar::Symbolic)
    return from == to ? e[0] : none();
  char bytes[8] = {};
  RefTensor element(from, {1});
  element.set(0, e[0]);
  toBytes(element, bytes);
  return fromBytes(to, {1}, bytes).at(0);
}

Scalar ConvertOp::evaluateScalar(WEFT_ARGS) {
  Type to = getTo();
  if (e[0].kind == Scalar::Symbolic) // only a widening or equal integer type keeps an expression
    return to.isInteger(64) || to.isInteger(32) ? e[0] : none();
  if (isFloat(to) && e[0].kind == Scalar::Integer && isUnsignedOperand(*this))
    return Scalar::of(roundReal(to, double(uint64_t(e[0].integer))));
  if (isFloat(to))
    return Scalar::of(roundReal(to, e[0].asReal()));
  if (to.isInteger(1))
    return Scalar::of(int64_t(e[0].kind == Scalar::Real ? e[0].real != 0 : e[0].integer != 0));
  if (e[0].kind == Scalar::Integer)
    return e[0];
  unsigned width = elementBits(to);
  bool u = to.isUnsignedInteger();
  double low = u ? 0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, u ? width : width - 1);
  double x = std::trunc(decided(*this, e[0].real));
  if (std::isnan(x))
    return Scalar::of(int64_t(0));
  if (x < low)
    return Scalar::of(u ? int64_t(0) : int64_t(low));
  if (x >= high)
    return Scalar::of(u ? int64_t(width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1)
                        : int64_t((uint64_t(1) << (width - 1)) - 1));
  return Scalar::of(u ? int64_t(uint64_t(x)) : int64_t(x));
}

} // namespace weft
