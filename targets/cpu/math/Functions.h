//===- Functions.h - One expansion per elementary function ------------------------------------===//
//
// Each takes f32 or f64 lanes and emits the function of them; VectorMath.cpp ties them to math ops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef WEFT_TARGETS_CPU_MATH_FUNCTIONS_H
#define WEFT_TARGETS_CPU_MATH_FUNCTIONS_H

#include "targets/cpu/math/LaneExpr.h"

namespace weft::lanes {

// Exponential.cpp
Real expandExp(Real x);
Real expandBoundedExp(Real x); ///< of x that kBoundedAttr speaks of
Real expandExp2(Real x);
Real expandExpM1(Real x);
/// expm1 where e^x is in the normal range; may lose the sign of -0.
Real expM1Moderate(Real x);
Real expandSinh(Real x);
Real expandCosh(Real x);

// Saturating.cpp
Real expandTanh(Real x);
Real expandErf(Real x);
/// Accurate where x is negative and the sum cancels, as in GELU; 0 where erf is -1 in f32.
Real expandOnePlusErf(Real x);

// Logarithm.cpp
Real expandLog(Real x);
Real expandLog2(Real x);
Real expandLog10(Real x);
Real expandLog1p(Real x);
Real expandAsinh(Real x);
Real expandAcosh(Real x);
Real expandAtanh(Real x);

// Trigonometric.cpp
Real expandSin(Real x);
Real expandCos(Real x);
Real expandTan(Real x);

// InverseTrigonometric.cpp
Real expandAsin(Real x);
Real expandAcos(Real x);
Real expandAtan(Real x);
Real expandAtan2(Real y, Real x);

// Power.cpp
Real expandPow(Real base, Real exponent);
/// Integer exponents of any width.
Real expandPow(Real base, Int exponent);
/// Wraps on overflow. A negative exponent gives 1 for base 1, +-1 for base -1 and else 0.
Int expandPow(Int base, Int exponent);
Real expandCbrt(Real x);
Real expandRsqrt(Real x);

// Division.cpp
/// As a division rounds, where what is missing of a quotient is a normal number (f32: beyond 2^-100)
/// and no quotient is near infinity; below that within a place. Needs multiply-adds.
Real divideByConstant(Real x, double c);

// Remainder.cpp
/// C's fmod: the sign of `a`, always exact.
Real expandRemainder(Real a, Real b);

// SmallFloat.cpp
/// f16 or bf16 lanes as f32.
Real widenSmall(Real x);
/// f32 or f64 lanes rounded to nearest even in f16 or bf16.
Real narrowSmall(Real x, mlir::Type element);

} // namespace weft::lanes

#endif // WEFT_TARGETS_CPU_MATH_FUNCTIONS_H
