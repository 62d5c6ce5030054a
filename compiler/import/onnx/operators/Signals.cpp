//===- Signals.cpp - Transforms of signals, windows, mel weights ---------------------------------===//

#include "compiler/import/onnx/operators/Fourier.h"
#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

//===-- Windows -------------------------------------------------------------------------------===//

/// a0 - a1*cos(t) + a2*cos(2t) with t once around in the whole window.
template <const double (&coefficients)[3]> void convertWindow(NodeImport &n) {
  std::optional<SymExpr> size = n.sizeScalar(0);
  bool periodic = n.intAttribute("periodic", 1) != 0;
  Type element = n.elementType(n.intAttribute("output_datatype", 1)),
       f64 = n.attributes().getF64Type();
  if (!size || !element || !n.requireAtMost(n.constant(0), *size, "the size of the window"))
    return;
  auto number = [&](double v) { return n.number(f64, v); };
  Value around = n.maximum(n.number(f64, periodic ? *size : *size - 1), number(1));
  Value t = n.mul(n.iota({*size}, 0, f64), n.div(number(kTurn), around));
  Value y = n.sub(number(coefficients[0]), n.mul(number(coefficients[1]), n.unary<CosOp>(t)));
  if (coefficients[2] != 0)
    y = n.add(y, n.mul(number(coefficients[2]), n.unary<CosOp>(n.add(t, t))));
  n.result(n.convert(y, element));
}

constexpr double kHann[3] = {0.5, 0.5, 0}, kHamming[3] = {25.0 / 46, 21.0 / 46, 0},
                 kBlackman[3] = {0.42, 0.5, 0.08};

//===-- Mel weights ---------------------------------------------------------------------------===//

/// Triangles over the bins of a spectrogram; all sizes are constants, and so is the result.
void convertMelWeightMatrix(NodeImport &n) {
  auto bands = n.constantScalar(0), length = n.constantScalar(1), rate = n.constantScalar(2);
  auto low = n.constantReals(3), high = n.constantReals(4);
  Type element = n.elementType(n.intAttribute("output_datatype", 1));
  if (!bands || !length || !rate || !low || !high || !element)
    return;
  if (*bands < 1 || *bands > 1 << 16 || *length < 1 || *length > 1 << 16 || *rate < 1 ||
      low->size() != 1 || high->size() != 1)
    return (void)n.wrong("the sizes must be positive and at most 65536");
  auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
  double first = mel((*low)[0]), step = (mel((*high)[0]) - first) / double(*bands + 2);
  int64_t bins = *length / 2 + 1;
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < *bands + 2; ++i) {
    double hertz = 700 * std::expm1((first + double(i) * step) / 2595 * std::log(10.0));
    edges.push_back(int64_t(std::floor(double(*length + 1) * hertz / double(*rate))));
  }
  if (edges.front() < 0 || edges.back() > bins)
    return (void)n.wrong("the frequencies lie outside of the spectrum");
  RefTensor table(element, {bins, *bands});
  auto set = [&](int64_t bin, int64_t band, double value) {
    if (bin < bins)
      table.set(bin * *bands + band,
                isFloat(element) ? Scalar::of(value) : Scalar::of(int64_t(value)));
  };
  for (int64_t i = 0; i < *bands; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre)
      set(centre, i, 1);
    else
      for (int64_t j = left; j <= centre; ++j)
        set(j, i, double(j - left) / double(centre - left));
    for (int64_t j = centre; j < right; ++j)
      set(j, i, double(right - j) / double(right - centre));
  }
  n.result(n.constantTensor(table));
}

//===-- Fourier transforms --------------------------------------------------------------------===//

void buildDFT(NodeImport &n, std::optional<int64_t> axisGiven) {
  Value x = n.input(0);
  Transform t{{}, n.intAttribute("inverse", 0) != 0, n.intAttribute("onesided", 0) != 0};
  int64_t rank = n.rank(0), axis = axisGiven ? n.axis(*axisGiven, rank) : 0;
  if (!x || !axisGiven || n.refused())
    return;
  if (axis == rank - 1)
    return (void)n.wrong("the axis must not be that of the real and imaginary parts");
  SymExpr own = n.dim(0, axis);
  t.length = t.inverse && t.oneSided ? (own - 1) * 2 : own;
  if (n.hasInput(1)) {
    std::optional<SymExpr> given = n.shapeScalar(1);
    if (!given)
      return;
    t.length = *given;
  }
  if (n.requireAtMost(n.constant(1), t.length, "the length of the transform"))
    n.result(n.moveDim(transformLast(n, n.moveDim(x, axis, rank - 2), t), rank - 2, axis));
}

void convertDFTAttribute(NodeImport &n) { buildDFT(n, n.intAttribute("axis", 1)); }
void convertDFT(NodeImport &n) {
  buildDFT(n, n.hasInput(2) ? n.constantScalar(2) : std::optional<int64_t>(-2));
}

/// Frames of a signal [b, length, parts], each times a window and transformed.
void convertSTFT(NodeImport &n) {
  Value x = n.input(0), window = n.optionalInput(2);
  std::optional<SymExpr> step = n.shapeScalar(1), length;
  bool oneSided = n.intAttribute("onesided", 1) != 0;
  if (n.hasInput(3))
    length = n.shapeScalar(3);
  else if (window && rankOf(window) == 1)
    length = typeOf(window).getDim(0);
  if (!x || !step || n.refused())
    return;
  if (!length || rankOf(x) != 3 || (window && rankOf(window) != 1))
    return (void)n.wrong(
        "the signal must have rank 3, and a window or the length of a frame be given");
  std::optional<int64_t> hop = step->asConstant();
  if (!hop || *hop < 1)
    return (void)n.refuse("the step between frames must be a positive constant");
  SymExpr room = n.dim(0, 1) - *length, one = n.constant(1);
  if (!n.requireAtMost(n.constant(0), room, "the length of a frame"))
    return;
  SymExpr frames = n.simplify(SymExpr::floordiv(room, *hop) + 1);
  Value starts = n.mul(n.iota({frames, one}, 0, n.i64()), n.number(n.i64(), double(*hop)));
  Value y = n.gather(x, n.add(starts, n.iota({one, *length}, 1, n.i64())), 1, Outside::Clamped);
  if (window && n.requireEqual(typeOf(window).getDim(0), *length, "the length of the window"))
    y = n.mul(y, n.reshape(n.refine(window, 0, *length), {*length, one}));
  n.result(transformLast(n, y, {*length, false, oneSided}));
}

} // namespace

void addSignals(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"HannWindow", 17, newest, convertWindow<kHann>});
  table.add({"HammingWindow", 17, newest, convertWindow<kHamming>});
  table.add({"BlackmanWindow", 17, newest, convertWindow<kBlackman>});
  table.add({"MelWeightMatrix", 17, newest, convertMelWeightMatrix, 5, 5});
  table.add({"DFT", 17, 19, convertDFTAttribute, 1, 2});
  table.add({"DFT", 20, newest, convertDFT, 1, 3});
  table.add({"STFT", 17, newest, convertSTFT, 2, 4});
}

} // namespace weft::onnx
