//===- Resampling.cpp - Resize and Upsample ---------------------------------------------------===//
//
// Most forms are one weft.resize. What it cannot say (antialiasing, crops) is gathered dimension by
// dimension: the neighbours of each coordinate, times their weights.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

/// How one dimension is sampled. A scale of 0 is the quotient of the sizes.
struct Axis {
  unsigned dim;
  SymExpr from, to;
  double scale = 0, cropLow = 0, cropHigh = 1;

  bool isKept() const {
    return from == to && (scale == 0 || scale == 1) && cropLow == 0 && cropHigh == 1;
  }
};

struct Sampling {
  ResizeMode mode = ResizeMode::Nearest;
  ResizeRounding rounding = ResizeRounding::PreferFloor;
  std::string coordinates; ///< ONNX's word
  double cubic = -0.75, outside = 0;
  bool antialias = false, excludeOutside = false;
  SmallVector<Axis> axes;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

//===-- Attributes ----------------------------------------------------------------------------===//

std::optional<ResizeMode> readMode(NodeImport &n) {
  std::string mode = n.textAttribute("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear")
    mode = "linear";
  if (std::optional<ResizeMode> known = symbolizeResizeMode(mode == "bicubic" ? "cubic" : mode))
    return known;
  return n.wrong("attribute 'mode' is '" + mode + "'"), std::nullopt;
}

bool readSampling(NodeImport &n, Sampling &s) {
  std::optional<ResizeMode> mode = readMode(n);
  s.coordinates =
      n.textAttribute("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel");
  std::string rounding =
      n.textAttribute("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor");
  StringRef plain(rounding);
  plain.consume_front("round_");
  std::optional<ResizeRounding> known = symbolizeResizeRounding(plain);
  if (!known)
    n.wrong("attribute 'nearest_mode' is '" + rounding + "'");
  s.cubic = n.floatAttribute("cubic_coeff_a", -0.75);
  s.outside = n.floatAttribute("extrapolation_value", 0);
  s.excludeOutside = n.intAttribute("exclude_outside", 0) != 0;
  s.antialias = n.opset >= 18 && n.intAttribute("antialias", 0) != 0;
  if (n.refused())
    return false;
  s.mode = *mode;
  s.rounding = *known;
  if (!s.crops() && !symbolizeResizeCoordinates(s.coordinates))
    return n.refuse("coordinates '" + s.coordinates + "' are not supported"), false;
  return true;
}

//===-- Sizes ---------------------------------------------------------------------------------===//

bool isGiven(NodeImport &n, unsigned i) {
  return n.hasInput(i) && !typeOf(n.input(i)).getElements().isConstant(0);
}

/// p/q as near as floats tell, with a small q.
std::optional<std::pair<int64_t, int64_t>> asFraction(double scale) {
  for (int64_t q = 1; q <= 1024; ++q)
    if (double p = std::round(scale * double(q)); p > 0 && float(p / double(q)) == float(scale))
      return std::pair(int64_t(p), q);
  return std::nullopt;
}

/// floor(scale * size).
SymExpr scaledSize(NodeImport &n, SymExpr size, double scale) {
  if (std::optional<int64_t> known = size.asConstant())
    return n.constant(int64_t(std::floor(float(scale) * float(*known))));
  if (auto fraction = asFraction(scale))
    return n.simplify(SymExpr::floordiv(size * fraction->first, fraction->second));
  n.refuse("the scale " + Twine(std::to_string(scale)) +
           " of a dimension of unknown size is not a simple fraction");
  return {};
}

/// Where the proportions are kept, one scale holds for all: the smallest, or the largest.
bool keepProportions(NodeImport &n, Sampling &s, bool smallest) {
  double common = 0;
  for (const Axis &axis : s.axes) {
    auto from = axis.from.asConstant(), to = axis.to.asConstant();
    if (!from || !to || *from < 1)
      return n.refuse("keeping proportions needs constant sizes"), false;
    double scale = double(*to) / double(*from);
    common = common == 0 ? scale : smallest ? std::min(common, scale) : std::max(common, scale);
  }
  for (Axis &axis : s.axes) {
    axis.scale = common;
    axis.to = n.constant(int64_t(std::floor(common * double(*axis.from.asConstant()) + 0.5)));
  }
  return true;
}

bool readSizes(NodeImport &n, Sampling &s, unsigned scalesInput, unsigned sizesInput) {
  std::string policy = n.textAttribute("keep_aspect_ratio_policy", "stretch");
  if (isGiven(n, sizesInput)) {
    // Proportions are kept, and windows widened, by constants only.
    bool needsConstants = policy != "stretch" || s.antialias;
    std::optional<Dims> sizes =
        needsConstants ? n.shapeOperand(sizesInput) : n.sizesOperand(sizesInput);
    if (!sizes)
      return false;
    if (sizes->size() != s.axes.size())
      return n.wrong("there are " + Twine(sizes->size()) + " sizes for " + Twine(s.axes.size()) +
                     " dimensions"),
             false;
    for (auto [axis, size] : llvm::zip(s.axes, *sizes)) {
      axis.to = size;
      if (!n.requireAtMost(n.constant(0), size, "a size"))
        return false;
    }
    if (policy == "stretch")
      return true;
    if (policy != "not_larger" && policy != "not_smaller")
      return n.wrong("attribute 'keep_aspect_ratio_policy' is '" + policy + "'"), false;
    return keepProportions(n, s, policy == "not_larger");
  }
  std::optional<SmallVector<double>> scales = n.constantReals(scalesInput);
  if (!scales)
    return false;
  if (scales->size() != s.axes.size())
    return n.wrong("there are " + Twine(scales->size()) + " scales for " + Twine(s.axes.size()) +
                   " dimensions"),
           false;
  for (auto [axis, scale] : llvm::zip(s.axes, *scales)) {
    if (!(scale > 0))
      return n.wrong("a scale is not positive"), false;
    axis.scale = scale;
    axis.to = scaledSize(n, axis.from, scale);
  }
  return !n.refused();
}

/// The part of each dimension that is sampled: starts, then ends, as fractions of the size.
bool readCrop(NodeImport &n, Sampling &s) {
  if (!s.crops())
    return true;
  std::optional<SmallVector<double>> roi = n.constantReals(1);
  if (!roi)
    return false;
  if (roi->size() != 2 * s.axes.size())
    return n.wrong("the region has " + Twine(roi->size()) + " numbers for " + Twine(s.axes.size()) +
                   " dimensions"),
           false;
  for (auto [i, axis] : llvm::enumerate(s.axes)) {
    axis.cropLow = (*roi)[i];
    axis.cropHigh = (*roi)[s.axes.size() + i];
  }
  return true;
}

//===-- As one operation ----------------------------------------------------------------------===//

Value resizeAtOnce(NodeImport &n, Value x, const Sampling &s) {
  Dims sizes(typeOf(x).getDims());
  SmallVector<double> scales(sizes.size(), 1);
  for (const Axis &axis : s.axes) {
    sizes[axis.dim] = axis.to;
    scales[axis.dim] = axis.scale;
  }
  auto coordinates = *symbolizeResizeCoordinates(s.coordinates);
  SmallVector<NamedAttribute> list = {
      n.attribute("mode", ResizeModeAttr::get(n.context(), s.mode)),
      n.attribute("sizes", n.dimsAttr(sizes)),
      n.attribute("scales", n.attributes().getDenseF64ArrayAttr(scales)),
      n.attribute("coordinates", ResizeCoordinatesAttr::get(n.context(), coordinates)),
      n.attribute("rounding", ResizeRoundingAttr::get(n.context(), s.rounding)),
      n.attribute("cubic_a", n.attributes().getF64FloatAttr(s.cubic))};
  if (s.excludeOutside)
    list.push_back(n.attribute("exclude_outside", n.attributes().getUnitAttr()));
  return n.emit<ResizeOp>({x}, list);
}

//===-- Dimension by dimension ----------------------------------------------------------------===//

/// Formulas on f64 tensors.
class Coordinates {
public:
  Coordinates(NodeImport &n, const Sampling &s, const Axis &axis)
      : n(n), s(s), axis(axis), f64(n.attributes().getF64Type()), from(n.number(f64, axis.from)),
        scale(axis.scale > 0 ? n.number(f64, axis.scale) : n.div(n.number(f64, axis.to), from)),
        width(n.mul(scale, from)) {}

  Value number(double value) { return n.number(f64, value); }

  /// The coordinate in the operand of each result element: [to].
  Value origin() {
    Value i = n.iota({axis.to}, 0, f64), half = number(0.5), last = n.sub(from, number(1));
    Value centers = n.sub(n.div(n.add(i, half), scale), half);
    if (s.coordinates == "half_pixel")
      return centers;
    if (s.coordinates == "asymmetric")
      return n.div(i, scale);
    if (s.coordinates == "pytorch_half_pixel")
      return unlessSingle(centers, number(0));
    if (s.coordinates == "align_corners")
      return unlessSingle(n.mul(i, n.div(last, spread())), number(0));
    if (s.coordinates == "half_pixel_symmetric") {
      Value share = n.div(n.number(f64, axis.to), width);
      return n.add(n.mul(n.mul(from, half), n.sub(number(1), share)), centers);
    }
    Value length = n.mul(number(axis.cropHigh - axis.cropLow), last);
    Value inside = unlessSingle(n.mul(i, n.div(length, spread())), n.mul(length, half));
    return n.add(inside, n.mul(number(axis.cropLow), last));
  }

  /// 1 where the coordinate lies in the operand.
  Value isInside(Value x) {
    return n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, x, number(0)),
                           n.compare(CompareKind::LessEqual, x, n.sub(from, number(1))));
  }

private:
  Value spread() { return n.maximum(n.sub(width, number(1)), number(1e-300)); }
  Value unlessSingle(Value x, Value single) {
    return n.select(n.compare(CompareKind::Equal, width, number(1)), single, x);
  }

  NodeImport &n;
  const Sampling &s;
  const Axis &axis;
  Type f64;
  Value from, scale, width;
};

Value nearestOf(NodeImport &n, Value x, ResizeRounding rounding) {
  Value half = n.numberLike(x, 0.5);
  switch (rounding) {
  case ResizeRounding::PreferFloor:
    return n.unary<CeilOp>(n.sub(x, half));
  case ResizeRounding::PreferCeil:
    return n.unary<FloorOp>(n.add(x, half));
  case ResizeRounding::Floor:
    return n.unary<FloorOp>(x);
  case ResizeRounding::Ceil:
    return n.unary<CeilOp>(x);
  }
  llvm_unreachable("closed set of roundings");
}

/// The weight of an element at distance x: a triangle, or Keys' kernel.
Value kernelAt(NodeImport &n, Value x, const Sampling &s) {
  auto number = [&](double value) { return n.numberLike(x, value); };
  Value d = n.abs(x);
  if (s.mode == ResizeMode::Linear)
    return n.maximum(n.sub(number(1), d), number(0));
  double a = s.cubic;
  Value near = n.add(n.mul(n.mul(n.sub(n.mul(number(a + 2), d), number(a + 3)), d), d), number(1));
  Value far =
      n.mul(number(a), n.sub(n.mul(n.add(n.mul(n.sub(d, number(5)), d), number(8)), d), number(4)));
  far = n.select(n.compare(CompareKind::Less, d, number(2)), far, number(0));
  return n.select(n.compare(CompareKind::LessEqual, d, number(1)), near, far);
}

/// Positions and weights of neighbours as [to, count]; no weights where there is one of weight 1.
struct Neighbours {
  Value positions, weights;
};

std::optional<Neighbours> neighboursOf(NodeImport &n, const Sampling &s, const Axis &axis,
                                       Value x) {
  Value column = n.unsqueeze(x, int64_t(1));
  if (s.mode == ResizeMode::Nearest)
    return Neighbours{nearestOf(n, column, s.rounding), {}};
  double scale = axis.scale;
  if (scale == 0 && axis.from.asConstant().value_or(0) > 0 && axis.to.asConstant())
    scale = double(*axis.to.asConstant()) / double(*axis.from.asConstant());
  if (s.antialias && !(scale > 0))
    return n.refuse("antialiasing needs constant scales or sizes"), std::nullopt;
  double shrink = s.antialias ? std::min(scale, 1.0) : 1,
         reach = (s.mode == ResizeMode::Linear ? 1 : 2) / shrink;
  int64_t start = int64_t(std::floor(-reach)) + 1, count = 2 - 2 * start;
  if (count > 1 << 16)
    return n.refuse("antialiasing over more than 65536 neighbours is not supported"), std::nullopt;
  Type f64 = elementOf(x);
  Value offsets =
      n.add(n.iota({n.constant(1), n.constant(count)}, 1, f64), n.number(f64, double(start)));
  Value at = n.add(n.unary<FloorOp>(column), offsets);
  Value weights = kernelAt(n, n.mul(n.sub(at, column), n.number(f64, shrink)), s);
  if (s.excludeOutside) {
    Value size = n.number(f64, axis.from), zero = n.number(f64, 0.0);
    Value inside = n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, at, zero),
                                   n.compare(CompareKind::Less, at, size));
    weights = n.select(inside, weights, zero);
  }
  return Neighbours{
      at, n.div(weights, n.reduce(CombinerKind::Sum, weights, int64_t(1), /*keepDims=*/true))};
}

Value resampleAxis(NodeImport &n, Value x, const Sampling &s, const Axis &axis) {
  Coordinates c(n, s, axis);
  Value origin = c.origin();
  auto neighbours = neighboursOf(n, s, axis, origin);
  if (!neighbours || !x || n.refused() ||
      !n.requireAtMost(n.constant(1), axis.from, "a resized dimension"))
    return {};
  Value last = n.number(elementOf(origin), axis.from - 1);
  Value at = n.maximum(n.minimum(neighbours->positions, last), c.number(0));
  Value picked = n.gather(x, n.convert(at, n.i64()), axis.dim, Outside::Clamped);
  if (!picked)
    return {};
  Dims beside(rankOf(picked) - axis.dim, n.constant(1)), points = beside;
  beside[0] = axis.to;
  if (neighbours->weights) {
    beside[1] = typeOf(neighbours->weights).getDim(1);
    picked = n.mul(picked, n.reshape(n.convert(neighbours->weights, elementOf(picked)), beside));
  }
  Value y = n.reduce(CombinerKind::Sum, picked, int64_t(axis.dim) + 1, /*keepDims=*/false);
  if (!s.crops())
    return y;
  points.pop_back();
  points[0] = axis.to;
  return n.select(n.reshape(c.isInside(origin), points), y, n.numberLike(y, s.outside));
}

/// Whether corners are aligned at a scale that does not lead to a whole size: ONNX aligns them at the
/// real size, weft.resize at the rounded one.
bool fallsBetween(const Sampling &s) {
  return s.coordinates == "align_corners" && llvm::any_of(s.axes, [](const Axis &axis) {
           auto from = axis.from.asConstant(), to = axis.to.asConstant();
           if (from && to)
             return axis.scale > 0 && float(axis.scale) * float(*from) != float(*to);
           return axis.scale != std::floor(axis.scale);
         });
}

Value resize(NodeImport &n, Value x, Sampling s) {
  Type element = elementOf(x);
  if (s.mode != ResizeMode::Nearest && !isFloat(element))
    x = n.convert(x, n.f32());
  if (!s.antialias && !s.crops() && !fallsBetween(s))
    return n.convert(resizeAtOnce(n, x, s), element);
  if (s.mode == ResizeMode::Nearest && s.antialias)
    return n.wrong("antialiasing does not go with mode 'nearest'");
  x = n.convert(x, accumulateType(n, elementOf(x)));
  for (const Axis &axis : s.axes)
    if (!axis.isKept())
      x = resampleAxis(n, x, s, axis);
  return n.convert(x, element);
}

//===-- Operators -----------------------------------------------------------------------------===//

void addAxes(NodeImport &n, Sampling &s) {
  SmallVector<int64_t> list = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(0)));
  if (auto given = n.opset >= 18 ? n.intsAttribute("axes") : std::nullopt)
    list = *given;
  (void)n.axes(list, n.rank(0)); // each once
  for (int64_t each : list) {
    unsigned dim = n.axis(each, n.rank(0));
    if (!n.refused())
      s.axes.push_back({dim, n.dim(0, dim), n.dim(0, dim)});
  }
}

void convertResize(NodeImport &n) {
  Sampling s;
  if (!n.input(0) || !readSampling(n, s))
    return;
  addAxes(n, s);
  bool early = n.opset < 11; // then the inputs are data and scales
  if (!n.refused() && readSizes(n, s, early ? 1 : 2, 3) && readCrop(n, s))
    n.result(resize(n, n.input(0), s));
}

/// The predecessor of Resize.
void convertUpsample(NodeImport &n) {
  Sampling s;
  std::optional<ResizeMode> mode = readMode(n);
  if (!n.input(0) || !mode)
    return;
  s.mode = *mode;
  s.rounding = ResizeRounding::Floor;
  s.coordinates = "asymmetric";
  addAxes(n, s);
  std::optional<SmallVector<double>> scales;
  if (n.opset < 9)
    scales = n.floatsAttribute("scales");
  else
    scales = n.constantReals(1);
  if (!scales || scales->size() != s.axes.size())
    return (void)n.wrong("there must be a scale for each dimension");
  for (auto [axis, scale] : llvm::zip(s.axes, *scales)) {
    if (!(scale >= 1))
      return (void)n.wrong("a scale is less than 1");
    axis.scale = scale;
    axis.to = scaledSize(n, axis.from, scale);
  }
  if (!n.refused())
    n.result(resize(n, n.input(0), s));
}

} // namespace

void addResampling(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Resize", 10, 10, convertResize, 2, 2});
  table.add({"Resize", 11, newest, convertResize, 1, 4});
  table.add({"Upsample", 7, 8, convertUpsample});
  table.add({"Upsample", 9, 9, convertUpsample, 2, 2});
}

} // namespace weft::onnx
