//===- LaneExpr.h - Write lane-wise arithmetic as C++ expressions -----------------------------===//
//
// Real, Int and Mask wrap an SSA value (scalar or 1-D vector); operators on them emit arith and
// math operations, so an expansion reads like the formula it implements:
//
//   Real r = mulAdd(n, -ln2High, x);   Real y = select(x < 0.0, -r, r);
//
// Constants take the type of the other operand.
//===------------------------------------------------------------------------------------------===//

#ifndef WEFT_TARGETS_CPU_MATH_LANEEXPR_H
#define WEFT_TARGETS_CPU_MATH_LANEEXPR_H

#include "targets/cpu/machine/VectorMachine.h"
#include "targets/cpu/math/VectorMath.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace weft::lanes {

/// Where operations go and what they may use. Outlives every expression made with it.
struct Emitter {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const VectorMachine &machine;
};

/// Lanes of any kind: common base of Real, Int and Mask.
struct Lanes {
  Emitter *emitter;
  mlir::Value value;

  mlir::OpBuilder &builder() const { return emitter->builder; }
  mlir::Location loc() const { return emitter->loc; }
  mlir::Type elementType() const { return mlir::getElementTypeOrSelf(value.getType()); }
  /// Number of lanes, 0 for a scalar.
  int64_t laneCount() const;
  /// The type of these lanes with another element type.
  mlir::Type typeWith(mlir::Type element) const;
};

/// Truth per lane.
struct Mask : Lanes {};

/// Two's complement integer lanes.
struct Int : Lanes {
  unsigned width() const { return elementType().getIntOrFloatBitWidth(); }
};

/// Floating-point lanes.
struct Real : Lanes {
  bool isDouble() const { return elementType().isF64(); }
  /// Stored bits of the significand: 23 or 52.
  int mantissaBits() const { return isDouble() ? 52 : 23; }
  /// Exponent bias: 127 or 1023.
  int bias() const { return isDouble() ? 1023 : 127; }
};

/// Coefficients of a polynomial, constant term first.
using Coefficients = llvm::ArrayRef<double>;

/// The same constant in every lane, with the type of `like`. Doubles round to nearest.
Real constant(Real like, double value);
Int constant(Int like, int64_t value);

Real operator+(Real a, Real b);
Real operator-(Real a, Real b);
Real operator*(Real a, Real b);
Real operator/(Real a, Real b);
Real operator-(Real a);
inline Real operator+(Real a, double b) { return a + constant(a, b); }
inline Real operator-(Real a, double b) { return a - constant(a, b); }
inline Real operator*(Real a, double b) { return a * constant(a, b); }
inline Real operator+(double a, Real b) { return constant(b, a) + b; }
inline Real operator-(double a, Real b) { return constant(b, a) - b; }
inline Real operator*(double a, Real b) { return constant(b, a) * b; }
inline Real operator/(double a, Real b) { return constant(b, a) / b; }

/// a*b+c, rounded once where the processor can and twice where it cannot.
Real mulAdd(Real a, Real b, Real c);
inline Real mulAdd(Real a, double b, Real c) { return mulAdd(a, constant(a, b), c); }
inline Real mulAdd(Real a, Real b, double c) { return mulAdd(a, b, constant(a, c)); }
inline Real mulAdd(Real a, double b, double c) { return mulAdd(a, constant(a, b), constant(a, c)); }

/// Comparisons of floats are false when a side is NaN; those of integers are signed.
Mask operator<(Real a, Real b);
Mask operator<=(Real a, Real b);
Mask operator==(Real a, Real b);
inline Mask operator>(Real a, Real b) { return b < a; }
inline Mask operator>=(Real a, Real b) { return b <= a; }
inline Mask operator<(Real a, double b) { return a < constant(a, b); }
inline Mask operator>(Real a, double b) { return constant(a, b) < a; }
inline Mask operator<=(Real a, double b) { return a <= constant(a, b); }
inline Mask operator>=(Real a, double b) { return constant(a, b) <= a; }
inline Mask operator==(Real a, double b) { return a == constant(a, b); }
Mask operator<(Int a, Int b);
Mask operator==(Int a, Int b);
inline Mask operator==(Int a, int64_t b) { return a == constant(a, b); }
/// a or b is NaN.
Mask unordered(Real a, Real b);
inline Mask isNan(Real a) { return unordered(a, a); }
/// The sign bit is set, also of -0 and NaN.
Mask isNegative(Real a);

Mask operator&(Mask a, Mask b);
Mask operator|(Mask a, Mask b);
Mask operator^(Mask a, Mask b);
Mask operator!(Mask a);

Real select(Mask mask, Real yes, Real no);
Int select(Mask mask, Int yes, Int no);
inline Real select(Mask mask, double yes, Real no) { return select(mask, constant(no, yes), no); }
inline Real select(Mask mask, Real yes, double no) { return select(mask, yes, constant(yes, no)); }

/// x limited from above or below; a NaN in x stays. One instruction on many processors.
Real atMost(Real x, double bound);
Real atLeast(Real x, double bound);

Real abs(Real a);
Real copySign(Real magnitude, Real sign);
Real sqrt(Real a);
Real trunc(Real a);
Real roundEven(Real a);

Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator&(Int a, Int b);
Int operator|(Int a, Int b);
Int operator^(Int a, Int b);
inline Int operator+(Int a, int64_t b) { return a + constant(a, b); }
inline Int operator-(Int a, int64_t b) { return a - constant(a, b); }
inline Int operator*(Int a, int64_t b) { return a * constant(a, b); }
inline Int operator&(Int a, int64_t b) { return a & constant(a, b); }
inline Int operator|(Int a, int64_t b) { return a | constant(a, b); }
inline Int operator^(Int a, int64_t b) { return a ^ constant(a, b); }
/// Unsigned; b must not be 0.
Int remainder(Int a, Int b);
/// Shift amounts must be below the width.
Int shiftLeft(Int a, Int amount);
Int shiftRight(Int a, Int amount);
Int shiftRightSigned(Int a, Int amount);
inline Int shiftLeft(Int a, int64_t n) { return shiftLeft(a, constant(a, n)); }
inline Int shiftRight(Int a, int64_t n) { return shiftRight(a, constant(a, n)); }
inline Int shiftRightSigned(Int a, int64_t n) { return shiftRightSigned(a, constant(a, n)); }

/// The encoding of a float as an integer of equal width, and back to f32, f64 or the given type.
Int bits(Real a);
Real fromBits(Int a);
Real fromBits(Int a, mlir::Type element);
/// The encoding of one constant in the format of `like`.
int64_t bitsOf(Real like, double value);

/// Changes of width: any float to a wider or narrower one, f32 to f64, f64 to f32, integers.
Real extendTo(Real a, mlir::Type element);
Real roundTo(Real a, mlir::Type element);
Real widen(Real a);
Real narrow(Real a);
Int extendZero(Int a, unsigned width);
Int extendSign(Int a, unsigned width);
Int truncate(Int a, unsigned width);
/// The upper 16 bits of 32.
Int upperHalves(Int a);
/// An integer of magnitude below 2^22 (for f32) or 2^51 (for f64) as a float of equal width.
Real toReal(Int a);

/// Any signed integer as f64.
Real toDouble(Int a);

/// The e in x = 2^e * m with threshold <= m < 2*threshold, for normal positive x given by its bits.
Int exponentAbove(Int encoded, double threshold);

Real horner(Real x, Coefficients coefficients);
/// Chooses by the precision of x.
inline Coefficients pick(Real x, Coefficients single, Coefficients full) {
  return x.isDouble() ? full : single;
}
inline double pick(Real x, double single, double full) { return x.isDouble() ? full : single; }

/// a/b within 1 ulp for b in [2^-60, 2^60] and a quotient that is not denormal: a reciprocal
/// estimate and refinement where that beats the divider.
Real quickDivide(Real a, Real b);

/// 2^n * p for |p| in [1/2, 2): `n` integral, with exponents up to twice the format's range.
/// `biased` holds n + 2*bias in its low bits (see roundToInt).
Real scaleByPowerOfTwo(Real p, Real n, Int biased);

/// x*factor rounded to the nearest integer, for results below 2^21.
struct Rounded {
  Real n;
  /// n plus the given offset in the low bits; the upper bits are arbitrary.
  Int raw;
};
Rounded roundToInt(Real x, double factor, int64_t offset);

/// The unevaluated sum of two floats, the second of which is below half an ulp of the first.
struct HighLow {
  Real high, low;
};
/// a+b without error.
HighLow twoSum(Real a, Real b);
/// a+b without error when |a| >= |b| or a is 0.
HighLow quickTwoSum(Real a, Real b);
/// a*b without error, unless the product is near the ends of the range.
HighLow twoProduct(Real a, Real b);

/// Whether exponentOf and mantissaNearOne are instructions for such values, as VectorMachine describes them.
bool splitsFloats(Real a);
Real exponentOf(Real x);
Real mantissaNearOne(Real x);
/// Can choose among 16 constants by lane.
bool hasTableLookUp(Real a);
/// table[index mod 16] in every lane; the index is given in the low bits.
Real lookUp(llvm::ArrayRef<float> table, Int index);

/// True if any lane is set.
mlir::Value anyLane(Mask mask);
/// Where any lane of `mask` is set runs `then`, which returns new values for `otherwise`.
llvm::SmallVector<mlir::Value> ifAnyLane(Mask mask, mlir::ValueRange otherwise,
                                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);
/// Repeats `step` on the state while `condition` of it has any lane set.
llvm::SmallVector<mlir::Value>
whileAnyLane(Emitter &emitter, mlir::ValueRange state,
             llvm::function_ref<Mask(mlir::ValueRange)> condition,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> step);

} // namespace weft::lanes

#endif // WEFT_TARGETS_CPU_MATH_LANEEXPR_H
