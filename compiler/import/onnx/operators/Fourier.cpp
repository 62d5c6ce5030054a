//===- Fourier.cpp - Discrete Fourier transforms ----------------------------------------------===//
//
// A transform of few elements, or of a number that is not known, is a product with a matrix, in f64: sums of all elements round more than
// a fast transform does. One of N = A*B elements is two products, where w(N, k) = exp(-i*turn*k/N):
//
//   element n = a*B + b, result k = c + A*d:   y[b, c] = sum over a of x[a, b] w(A, a*c)
//                                              z[c, d] = sum over b of y[b, c] w(N, b*c) w(B, b*d)
//
// They sum A and B elements, which f32 is enough for, and take A + B steps for each element instead of N.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Fourier.h"
#include "compiler/import/onnx/operators/Contractions.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

//===-- One step ------------------------------------------------------------------------------===//

/// 2x2 numbers as [1, 2, 1, 2]: for the parts of the operand and those of the result.
Value partFactors(NodeImport &n, std::array<double, 4> numbers) {
  RefTensor table(n.attributes().getF64Type(), {1, 2, 1, 2});
  table.reals.assign(numbers.begin(), numbers.end());
  return n.constantTensor(table);
}

/// What operand element t and its part (real, imaginary) add to result element k and its part, as
/// [2*t, 2*k]. Angles are reduced as integers, so that they are exact.
Value transformMatrix(NodeImport &n, const Transform &t, SymExpr from, SymExpr to) {
  Type f64 = n.attributes().getF64Type();
  SymExpr one = n.constant(1), two = n.constant(2);
  Value i = n.iota({from, one, one, one}, 0, n.i64()), k = n.iota({one, one, to, one}, 2, n.i64());
  Value period = n.number(n.i64(), t.length);
  Value turns = n.convert(n.binary<RemOp>(n.mul(i, k), period), f64);
  Value angle = n.mul(turns, n.div(n.number(f64, kTurn), n.convert(period, f64)));
  double s = t.inverse ? -1 : 1;
  Value matrix = n.add(n.mul(n.unary<CosOp>(angle), partFactors(n, {1, 0, 0, 1})),
                       n.mul(n.unary<SinOp>(angle), partFactors(n, {0, -s, s, 0})));
  if (t.inverse)
    matrix = n.div(matrix, n.convert(period, f64));
  if (t.inverse &&
      t.oneSided) { // the other side repeats all but the first and, of an even period, the middle
    Value single =
        n.compare(CompareKind::Equal, n.binary<RemOp>(n.add(i, i), period), n.number(n.i64(), 0.0));
    matrix = n.mul(matrix, n.select(single, n.number(f64, 1.0), n.number(f64, 2.0)));
  }
  return n.reshape(matrix, {from * two, to * two});
}

/// x [rows, from, parts] as [rows, to, 2].
Value inOneStep(NodeImport &n, Value x, const Transform &t, SymExpr to) {
  Type element = elementOf(x), f64 = n.attributes().getF64Type();
  SymExpr rows = typeOf(x).getDim(0), from = typeOf(x).getDim(1), two = n.constant(2);
  if (typeOf(x).getDim(2).isConstant(1)) { // the imaginary part is 0
    SymExpr zero = n.constant(0);
    x = n.pad(x, n.numberLike(x, 0), {zero, zero, zero}, {zero, zero, n.constant(1)});
  }
  Value lines = n.convert(n.reshape(x, {rows, from * two}), f64);
  Value y = buildMatMul(n, lines, transformMatrix(n, t, from, to), f64);
  return n.reshape(n.convert(y, element), {rows, to, two});
}

//===-- Two steps -----------------------------------------------------------------------------===//

constexpr int64_t kFewest = 32, ///< elements, from which on two steps are taken
    kMost = 256;                ///< elements that a step sums

/// N = first * second, as near to each other as they can be. A prime number is one step.
struct Steps {
  int64_t first = 1, second = 1;
  int64_t all() const { return first * second; }
};

std::optional<Steps> stepsOf(SymExpr length) {
  std::optional<int64_t> all = length.asConstant();
  if (!all || *all < kFewest || *all > kMost * kMost)
    return std::nullopt;
  Steps steps{1, *all};
  for (int64_t first = 2; first * first <= *all; ++first)
    if (*all % first == 0)
      steps = {first, *all / first};
  return steps.second <= kMost ? std::optional(steps) : std::nullopt;
}

/// w(denominator, numerator), or its conjugate.
std::array<double, 2> root(int64_t numerator, int64_t denominator, bool inverse) {
  double angle = kTurn * double(numerator % denominator) / double(denominator);
  return {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
}

enum class Parts { Inner, Outer }; ///< where real and imaginary parts lie beside the elements

/// What a transform reads or gives, as one dimension.
struct Side {
  int64_t elements, parts;
  Parts where;
  int64_t size() const { return elements * parts; }
  int64_t place(int64_t element, int64_t part) const {
    return where == Parts::Inner ? element * parts + part : part * elements + element;
  }
};

/// A transform of all elements of `from` as a matrix of f32.
Value stepMatrix(NodeImport &n, Side from, Side to, bool inverse) {
  RefTensor table(n.attributes().getF32Type(), {from.size(), to.size()});
  for (int64_t i = 0; i < from.elements; ++i)
    for (int64_t k = 0; k < to.elements; ++k) {
      auto [real, imaginary] = root(i * k, from.elements, inverse);
      const double adds[2][2] = {{real, imaginary}, {-imaginary, real}};
      for (int64_t p = 0; p < from.parts; ++p)
        for (int64_t q = 0; q < to.parts; ++q)
          table.reals[from.place(i, p) * to.size() + to.place(k, q)] = adds[p][q];
    }
  return n.constantTensor(table);
}

/// y [rows, b, 2, c] times w(N, b*c).
Value turned(NodeImport &n, Value y, Steps steps, bool inverse) {
  Type f32 = n.attributes().getF32Type();
  RefTensor real(f32, {steps.second, 1, steps.first}), imaginary = real;
  for (int64_t b = 0; b < steps.second; ++b)
    for (int64_t c = 0; c < steps.first; ++c) {
      auto [re, im] = root(b * c, steps.all(), inverse);
      real.reals[b * steps.first + c] = re;
      imaginary.reals[b * steps.first + c] = im;
    }
  Value re = n.constantTensor(real), im = n.constantTensor(imaginary);
  SymExpr one = n.constant(1);
  Value a = n.sliceDim(y, 2, n.constant(0), one), b = n.sliceDim(y, 2, one, one);
  return n.concat({n.sub(n.mul(a, re), n.mul(b, im)), n.add(n.mul(a, im), n.mul(b, re))}, 2);
}

/// x [rows, N, parts] of f32 as [rows, results, 2].
Value inTwoSteps(NodeImport &n, Value x, Steps steps, int64_t results, bool inverse) {
  SymExpr rows = typeOf(x).getDim(0), partDim = typeOf(x).getDim(2);
  int64_t parts = *partDim.asConstant(), each = llvm::divideCeil(results, steps.first);
  SymExpr two = n.constant(2), first = n.constant(steps.first), second = n.constant(steps.second);
  Type f32 = n.attributes().getF32Type();
  const Side given{steps.first == 1 ? steps.second : steps.first, parts, Parts::Inner};
  if (steps.first == 1)
    return n.reshape(buildMatMul(n, n.reshape(x, {rows, second * partDim}),
                                 stepMatrix(n, given, {results, 2, Parts::Inner}, inverse), f32),
                     {rows, n.constant(results), two});
  Value remainders = n.transpose(n.reshape(x, {rows, first, second, partDim}), {0, 2, 1, 3});
  Value y = buildMatMul(n, n.reshape(remainders, {rows, second, first * partDim}),
                        stepMatrix(n, given, {steps.first, 2, Parts::Outer}, inverse), f32);
  y = turned(n, n.reshape(y, {rows, second, two, first}), steps, inverse);
  y = n.reshape(n.transpose(y, {0, 3, 2, 1}), {rows, first, two * second});
  Value z = buildMatMul(
      n, y, stepMatrix(n, {steps.second, 2, Parts::Outer}, {each, 2, Parts::Inner}, inverse), f32);
  z = n.transpose(n.reshape(z, {rows, first, n.constant(each), two}), {0, 2, 1, 3});
  z = n.reshape(z, {rows, n.constant(each * steps.first), two});
  return n.sliceDim(z, 1, n.constant(0), n.constant(results));
}

/// Half of the spectrum [rows, N/2 + 1, 2] of real numbers as all of it.
Value wholeSpectrum(NodeImport &n, Value half, int64_t all) {
  SymExpr rows = typeOf(half).getDim(0), zero = n.constant(0);
  int64_t more = all - (all / 2 + 1);
  Value others = n.slice(half, {zero, n.constant(more), zero},
                         {rows, n.constant(more), n.constant(2)}, {1, -1, 1});
  RefTensor conjugate(n.attributes().getF32Type(), {2});
  conjugate.reals = {1, -1};
  return n.concat({half, n.mul(others, n.constantTensor(conjugate))}, 1);
}

/// x [rows, from, parts] with zeros behind as [rows, to, 2], in f32.
Value inSteps(NodeImport &n, Value x, Steps steps, const Transform &t, SymExpr given, SymExpr to) {
  Type element = elementOf(x), f32 = n.attributes().getF32Type();
  SymExpr zero = n.constant(0);
  x = n.convert(x, f32);
  x = n.pad(x, n.number(f32, 0.0), {zero, zero, zero},
            {zero, n.simplify(given - typeOf(x).getDim(1)), zero});
  if (t.inverse && t.oneSided && x)
    x = wholeSpectrum(n, x, steps.all());
  if (!x)
    return {};
  Value y = inTwoSteps(n, x, steps, *to.asConstant(), t.inverse);
  if (t.inverse && y)
    y = n.div(y, n.number(f32, double(steps.all())));
  return n.convert(y, element);
}

} // namespace

Value transformLast(NodeImport &n, Value x, const Transform &t) {
  if (!x || n.refused())
    return {};
  unsigned rank = rankOf(x), axis = rank - 2;
  std::optional<int64_t> parts = typeOf(x).getDim(rank - 1).asConstant();
  if (parts != 1 && parts != 2)
    return n.wrong("the last dimension must be 1 (real) or 2 (complex)");
  SymExpr half = SymExpr::floordiv(t.length, 2) + 1, all = t.length, zero = n.constant(0);
  SymExpr given = t.inverse && t.oneSided ? half : all; // elements of a period
  SymExpr from = n.simplify(n.smaller(typeOf(x).getDim(axis), given));
  SymExpr to = n.simplify(t.oneSided && !t.inverse ? half : all);
  x = n.sliceDim(x, axis, zero, from);
  if (!x)
    return {};
  Dims dims(typeOf(x).getDims());
  SymExpr rows = n.product(ArrayRef<SymExpr>(dims).drop_back(2));
  x = n.reshape(x, {rows, from, dims.back()});
  std::optional<Steps> steps = elementOf(x).isF64() ? std::nullopt : stepsOf(t.length);
  Value y = steps ? inSteps(n, x, *steps, t, given, to) : inOneStep(n, x, t, to);
  dims[axis] = to;
  dims[rank - 1] = n.constant(2);
  y = n.reshape(y, dims);
  return t.inverse && t.oneSided ? n.sliceDim(y, rank - 1, zero, n.constant(1)) : y;
}

} // namespace weft::onnx
