//===- WinogradTransform.cpp - Matrices with few entries, multiplied without waste ------------===//
//
// F(m, 3), see the header. One dimension at a time, every value a vector:
//
//   B^T d: the first row                                                     [input]
//     rows of a point and its negative: even columns give a, odd ones b;
//     they are a + b and a - b                                               [pairs]
//     the last row
//   A^T p: for two products that belong to a pair: their sum and difference  [sums]
//     every row: multiples of these, of the first and of the last product    [output]
//   of integers: times the inverse of 9 modulo 2^32, shifted                 [exact result]
//   m vectors of lanes l * m + phase become one per phase, over l            [separate]
//     and back                                                               [join]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/winograd/WinogradTransform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace weft {
namespace {

// Interpolation at 0, 1, -1 (and 2, -2) and infinity. Rows that belong to a point and its negative
// follow each other.
constexpr float kInput2[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, -1, 0, 1};
constexpr float kOutput2[] = {1, 1, 1, 0, 0, 1, -1, 1};
constexpr float kInput4[] = {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                             0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
constexpr float kOutput4[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
                              0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
// For filters that compiler/artifact/WinogradLayout.cpp multiplies by 24, -6, -6, 24, 24 and 6: row
// i gives 3 * 2^kShifts[i] results.
constexpr float kIntegerOutput4[] = {1, -4, -4, 1, 1, 0, 0, -2, 2, 1, -1, 0,
                                     0, -1, -1, 1, 1, 0, 0, -1, 1, 2, -2, 1};
constexpr int64_t kShifts[] = {3, 2, 1, 1};
constexpr int32_t kInverseOfNine = 0x38E38E39; ///< modulo 2^32

Value splat(ImplicitLocOpBuilder &b, Type type, int64_t number) {
  auto vector = cast<VectorType>(type);
  Attribute element = isa<FloatType>(vector.getElementType())
                          ? Attribute(b.getFloatAttr(vector.getElementType(), double(number)))
                          : b.getIntegerAttr(vector.getElementType(), number);
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(vector, element));
}

Value add(ImplicitLocOpBuilder &b, Value a, Value c) {
  if (isa<FloatType>(getElementTypeOrSelf(a)))
    return b.create<arith::AddFOp>(a, c);
  return b.create<arith::AddIOp>(a, c);
}

Value subtract(ImplicitLocOpBuilder &b, Value a, Value c) {
  if (isa<FloatType>(getElementTypeOrSelf(a)))
    return b.create<arith::SubFOp>(a, c);
  return b.create<arith::SubIOp>(a, c);
}

/// total + factor * value, where there may be no total.
Value addMultiple(ImplicitLocOpBuilder &b, Value total, float factor, Value value) {
  if (total && factor == 1)
    return add(b, total, value);
  if (total && factor == -1)
    return subtract(b, total, value);
  if (factor == 1)
    return value;
  Value number = splat(b, value.getType(), int64_t(factor));
  if (isa<FloatType>(getElementTypeOrSelf(value)))
    return total ? Value(b.create<vector::FMAOp>(value, number, total))
                 : b.create<arith::MulFOp>(value, number);
  Value product = b.create<arith::MulIOp>(value, number);
  return total ? add(b, total, product) : product;
}

/// A term of a sum.
struct Term {
  float factor;
  Value value;
};

/// The sum; null when there are no terms. One whose factor is 1 comes first, so that the others are
/// multiply-adds.
Value sum(ImplicitLocOpBuilder &b, SmallVector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term &a, const Term &c) { return a.factor == 1 && c.factor != 1; });
  Value total;
  for (const Term &term : terms)
    total = addMultiple(b, total, term.factor, term.value);
  return total;
}

} // namespace

WinogradTransform::WinogradTransform(int64_t m, bool ofIntegers)
    : m(m), ofIntegers(ofIntegers), inputMatrix(m == 2 ? kInput2 : kInput4),
      outputMatrix(ofIntegers ? kIntegerOutput4
                   : m == 2   ? kOutput2
                              : kOutput4) {
  assert(m == 4 || !ofIntegers);
}

/// [input] Rows of a point and its negative are the sum and the difference of what even and odd
/// columns give.
WinogradTransform::Values WinogradTransform::input(ImplicitLocOpBuilder &b,
                                                   ArrayRef<Value> elements) const {
  int64_t n = m + 2;
  Values result;
  auto terms = [&](int64_t row, int64_t parity) { // -1: all
    SmallVector<Term> some;
    for (int64_t j = 0; j < n; ++j)
      if (inputMatrix[row * n + j] != 0 && (parity < 0 || j % 2 == parity))
        some.push_back({inputMatrix[row * n + j], elements[j]});
    return some;
  };
  result.push_back(sum(b, terms(0, -1)));
  // [pairs] What two rows share is computed once.
  for (int64_t row = 1; row + 1 < n; row += 2) {
    Value even = sum(b, terms(row, 0)), odd = sum(b, terms(row, 1));
    result.push_back(add(b, even, odd));
    result.push_back(subtract(b, even, odd));
  }
  result.push_back(sum(b, terms(n - 1, -1)));
  return result;
}

/// [output] Columns of a point and its negative are the same or opposite: what they give are
/// multiples of a sum and of a difference.
WinogradTransform::Values WinogradTransform::output(ImplicitLocOpBuilder &b,
                                                    ArrayRef<Value> products) const {
  int64_t n = m + 2;
  SmallVector<Value> sums(n), differences(n);
  // [sums] Shared by all rows.
  for (int64_t j = 1; j + 1 < n; j += 2) {
    sums[j] = add(b, products[j], products[j + 1]);
    differences[j] = subtract(b, products[j], products[j + 1]);
  }
  Values result;
  for (int64_t i = 0; i < m; ++i) {
    const float *row = outputMatrix + i * n;
    SmallVector<Term> terms;
    for (int64_t j = 1; j + 1 < n; j += 2)
      terms.push_back({row[j], row[j] == row[j + 1] ? sums[j] : differences[j]});
    for (int64_t j : {int64_t(0), n - 1})
      if (row[j] != 0)
        terms.push_back({row[j], products[j]});
    result.push_back(sum(b, terms));
  }
  return result;
}

/// [exact result] Floats need none of it.
Value WinogradTransform::result(ImplicitLocOpBuilder &b, int64_t i, int64_t j, Value output) const {
  if (!ofIntegers)
    return output;
  Value multiple = b.create<arith::MulIOp>(output, splat(b, output.getType(), kInverseOfNine));
  return b.create<arith::ShRSIOp>(multiple, splat(b, output.getType(), kShifts[i] + kShifts[j]));
}

/// [separate] A shuffle takes two vectors: four are joined in two steps.
SmallVector<Value, 4> separateLanes(ImplicitLocOpBuilder &b, ArrayRef<Value> vectors,
                                    int64_t phases) {
  int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements(), m = vectors.size();
  SmallVector<Value, 4> result;
  if (m == 2) {
    for (int64_t phase = 0; phase < phases; ++phase) {
      SmallVector<int64_t> pick;
      for (int64_t l = 0; l < lanes; ++l)
        pick.push_back(2 * l + phase);
      result.push_back(b.create<vector::ShuffleOp>(vectors[0], vectors[1], pick));
    }
    return result;
  }
  // Two phases of two vectors each: [phase | next phase]; then halves are joined, which is cheap.
  for (int64_t phase = 0; phase < phases; phase += 2) {
    SmallVector<int64_t> pick, low, high;
    for (int64_t l = 0; l < lanes; ++l)
      pick.push_back(l % (lanes / 2) * m + phase + l / (lanes / 2));
    for (int64_t l = 0; l < lanes; ++l) {
      low.push_back(l < lanes / 2 ? l : l + lanes / 2);
      high.push_back(low.back() + lanes / 2);
    }
    Value first = b.create<vector::ShuffleOp>(vectors[0], vectors[1], pick),
          second = b.create<vector::ShuffleOp>(vectors[2], vectors[3], pick);
    result.push_back(b.create<vector::ShuffleOp>(first, second, low));
    result.push_back(b.create<vector::ShuffleOp>(first, second, high));
  }
  return result;
}

/// [join] The inverse, for all phases.
SmallVector<Value, 4> joinLanes(ImplicitLocOpBuilder &b, ArrayRef<Value> phases) {
  int64_t lanes = cast<VectorType>(phases[0].getType()).getNumElements(), m = phases.size();
  SmallVector<Value, 4> result;
  if (m == 2) {
    for (int64_t part = 0; part < 2; ++part) {
      SmallVector<int64_t> pick;
      for (int64_t l = 0; l < lanes; ++l)
        pick.push_back(l % 2 * lanes + part * lanes / 2 + l / 2);
      result.push_back(b.create<vector::ShuffleOp>(phases[0], phases[1], pick));
    }
    return result;
  }
  for (int64_t half = 0; half < 2; ++half) { // of the lanes
    SmallVector<int64_t> pick;
    for (int64_t l = 0; l < lanes; ++l)
      pick.push_back(l < lanes / 2 ? l + half * lanes / 2 : l + lanes / 2 + half * lanes / 2);
    Value first = b.create<vector::ShuffleOp>(phases[0], phases[1], pick),
          second = b.create<vector::ShuffleOp>(phases[2], phases[3], pick);
    for (int64_t quarter = 0; quarter < 2; ++quarter) {
      SmallVector<int64_t> weave;
      for (int64_t l = 0; l < lanes; ++l)
        weave.push_back(l % m * (lanes / 2) + quarter * lanes / 4 + l / m);
      result.push_back(b.create<vector::ShuffleOp>(first, second, weave));
    }
  }
  return result;
}

/// Additions and the like that a transform takes for each element that it gives.
constexpr int64_t kTransformCost = 4;

KernelEffort transformedEffort(func::FuncOp specification, SymExpr products, int64_t channels,
                               int64_t filters) {
  KernelEffort effort = effortByRules(specification);
  effort.multiplyAdds = products * (channels * filters);
  effort.operations = effort.operations + products * ((channels + filters) * kTransformCost);
  return effort;
}

} // namespace weft
