//===- Remainder.cpp - Exact remainder of a division, C's fmod ----------------------------------===//

#include "targets/cpu/math/Functions.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// One step of long division in f64 lanes: subtracts from r the largest multiple of b*2^k that takes
/// off up to 29 bits of the quotient. With b of 24 bits the product is exact, and so is the rest,
/// which is a multiple of the last place of b*2^k below b*2^k.
static Real reduceOnce(Real r, Real b) {
  Real quotient = r / b;
  // 2^k scales the quotient to 29 bits; 1 if it is smaller.
  Int exponent = shiftRight(bits(quotient), 52);
  Int limit = constant(exponent, 1023 + 28);
  Int surplus = select(limit < exponent, exponent - limit, constant(exponent, 0));
  Real scale = fromBits(shiftLeft(surplus + 1023, 52));
  Real inverse = fromBits(shiftLeft(constant(surplus, 1023) - surplus, 52));
  Real divisor = b * scale;
  Real rest = r - trunc(quotient * inverse) * divisor;
  // The rounded quotient may have reached the next integer.
  return select(rest < 0.0, rest + divisor, rest);
}

Real expandRemainder(Real a, Real b) {
  Real dividend = widen(abs(a)), divisor = widen(abs(b));
  // Lanes without a finite answer leave the loop at once.
  Mask valid = (dividend < infinity) & (divisor > 0.0);
  dividend = select(valid, dividend, 0.0);
  auto wrap = [&](mlir::Value value) { return Real{{a.emitter, value}}; };
  auto state = whileAnyLane(
      *a.emitter, dividend.value, [&](mlir::ValueRange s) { return wrap(s[0]) >= divisor; },
      [&](mlir::ValueRange s) {
        Real r = wrap(s[0]);
        return llvm::SmallVector<mlir::Value>{
            select(r >= divisor, reduceOnce(r, divisor), r).value};
      });
  Real result = copySign(narrow(wrap(state[0])), a);
  result = select(valid, result, std::numeric_limits<double>::quiet_NaN());
  return select(isNan(b), b, result);
}

} // namespace weft::lanes
