//===- Sampling.cpp - AffineGrid, GridSample, RoiAlign: images read at points from data -------===//

#include "compiler/import/onnx/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

//===-- Neighbours of points ------------------------------------------------------------------===//

/// One of the elements around a point along one dimension: a whole number, how much it counts (null
/// for all), and where it exists (null for everywhere).
struct Neighbour {
  Value position, weight, exists;
};

Value clamped(NodeImport &n, Value x, SymExpr size) {
  return n.maximum(n.minimum(x, n.number(elementOf(x), size - 1)), n.numberLike(x, 0));
}

/// The sum over all combinations of neighbours of x [n, size.., c] times their weights, at the points
/// of `batch` and the neighbours, which broadcast to [n, points..].
class Gatherer {
public:
  Gatherer(NodeImport &n, Value x, Value batch, ArrayRef<SymExpr> points)
      : n(n), x(x), batch(batch), points(points) {}

  using Combine = llvm::function_ref<Value(Value, Value)>;
  Value over(ArrayRef<SmallVector<Neighbour, 4>> dims, Combine combine) {
    SmallVector<Neighbour> chosen;
    return walk(dims, chosen, combine);
  }

private:
  Value walk(ArrayRef<SmallVector<Neighbour, 4>> dims, SmallVectorImpl<Neighbour> &chosen, Combine combine) {
    if (chosen.size() == dims.size())
      return at(chosen);
    Value result;
    for (const Neighbour &each : dims[chosen.size()]) {
      chosen.push_back(each);
      Value part = walk(dims, chosen, combine);
      chosen.pop_back();
      result = result ? combine(result, part) : part;
    }
    return result;
  }

  Value column(Value position) {
    return n.unsqueeze(n.expandTo(n.convert(position, n.i64()), points), int64_t(points.size()));
  }

  Value at(ArrayRef<Neighbour> chosen) {
    SmallVector<Value> columns = {column(batch)};
    Value weight, exists;
    for (const Neighbour &each : chosen) {
      columns.push_back(column(each.position));
      if (each.weight)
        weight = weight ? n.mul(weight, each.weight) : each.weight;
      if (each.exists)
        exists = exists ? n.binary<AndOp>(exists, each.exists) : each.exists;
    }
    Value tuples = n.concat(columns, points.size());
    Value y = n.emit<GatherNdOp>({x, tuples}, n.attribute("batch", n.attributes().getI64IntegerAttr(0)));
    if (weight)
      y = n.mul(y, n.convert(beside(weight), elementOf(x)));
    return exists ? n.select(beside(exists), y, n.numberLike(y, 0)) : y;
  }

  /// With a dimension for the channels.
  Value beside(Value v) { return v ? n.unsqueeze(v, int64_t(rankOf(v))) : v; }

  NodeImport &n;
  Value x, batch;
  Dims points;
};

/// [n, c, size..] as [n, size.., c], and back.
Value channelsLast(NodeImport &n, Value x) { return x ? n.moveDim(x, 1, rankOf(x) - 1) : x; }
Value channelsFirst(NodeImport &n, Value x) { return x ? n.moveDim(x, rankOf(x) - 1, 1) : x; }

//===-- GridSample ----------------------------------------------------------------------------===//

/// Folds positions outside of [low, high] back at the borders.
Value reflect(NodeImport &n, Value x, Value low, Value high) {
  Value range = n.maximum(n.sub(high, low), n.numberLike(x, 1e-300));
  Value distance = n.abs(n.sub(x, low)), turns = n.unary<FloorOp>(n.div(distance, range));
  Value rest = n.sub(distance, n.mul(turns, range));
  Value half = n.mul(turns, n.numberLike(x, 0.5));
  Value even = n.compare(CompareKind::Equal, n.unary<FloorOp>(half), half);
  return n.select(even, n.add(low, rest), n.sub(high, rest));
}

struct GridAttributes {
  std::string mode, padding;
  bool alignCorners = false;
};

std::optional<GridAttributes> readGrid(NodeImport &n) {
  GridAttributes g{n.textAttribute("mode", n.opset < 20 ? "bilinear" : "linear"),
                   n.textAttribute("padding_mode", "zeros"), n.intAttribute("align_corners", 0) != 0};
  if (g.mode == "bilinear")
    g.mode = "linear";
  if (g.mode == "bicubic")
    g.mode = "cubic";
  if (g.mode != "linear" && g.mode != "cubic" && g.mode != "nearest")
    return n.wrong("attribute 'mode' is '" + g.mode + "'"), std::nullopt;
  if (g.padding != "zeros" && g.padding != "border" && g.padding != "reflection")
    return n.wrong("attribute 'padding_mode' is '" + g.padding + "'"), std::nullopt;
  return g;
}

/// A whole position as one inside of the image, as the padding says.
Neighbour padded(NodeImport &n, const GridAttributes &g, Value at, SymExpr size, Value weight) {
  Value zero = n.numberLike(at, 0), last = n.number(elementOf(at), size - 1);
  Value inside;
  if (g.padding == "zeros")
    inside = n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, at, zero), n.compare(CompareKind::LessEqual, at, last));
  if (g.padding == "reflection") {
    double border = g.alignCorners ? 0 : 0.5;
    at = reflect(n, at, n.numberLike(at, -border), n.add(last, n.numberLike(at, border)));
  }
  return {clamped(n, at, size), weight, inside};
}

/// Keys' kernel with the parameter -0.75 for four neighbours, by the distance from the second.
SmallVector<Value, 4> cubicWeights(NodeImport &n, Value rest) {
  constexpr double a = -0.75;
  auto number = [&](double v) { return n.numberLike(rest, v); };
  auto near = [&](Value x) {
    Value inner = n.sub(n.mul(number(a + 2), x), number(a + 3));
    return n.add(n.mul(inner, n.mul(x, x)), number(1));
  };
  auto far = [&](Value x) {
    Value inner = n.add(n.mul(n.sub(n.mul(number(a), x), number(5 * a)), x), number(8 * a));
    return n.sub(n.mul(inner, x), number(4 * a));
  };
  Value back = n.sub(number(1), rest);
  return {far(n.add(rest, number(1))), near(rest), near(back), far(n.add(back, number(1)))};
}

/// The neighbours along one dimension of coordinates between -1 and 1.
SmallVector<Neighbour, 4> neighboursOf(NodeImport &n, const GridAttributes &g, Value coordinate, SymExpr size) {
  auto number = [&](double v) { return n.numberLike(coordinate, v); };
  Value length = n.number(elementOf(coordinate), size), shifted = n.add(coordinate, number(1));
  Value x = g.alignCorners ? n.mul(n.mul(shifted, number(0.5)), n.sub(length, number(1)))
                           : n.mul(n.sub(n.mul(shifted, length), number(1)), number(0.5));
  if (g.mode == "nearest")
    return {padded(n, g, n.unary<RoundOp>(x), size, {})};
  Value low = n.unary<FloorOp>(x), rest = n.sub(x, low);
  SmallVector<Value, 4> weights = {n.sub(number(1), rest), rest};
  double first = 0;
  if (g.mode == "cubic") {
    weights = cubicWeights(n, rest);
    first = -1;
  }
  SmallVector<Neighbour, 4> list;
  for (auto [i, weight] : llvm::enumerate(weights))
    list.push_back(padded(n, g, n.add(low, number(first + double(i))), size, weight));
  return list;
}

void convertGridSample(NodeImport &n) {
  Value x = n.input(0), grid = n.input(1);
  auto g = readGrid(n);
  if (!x || !grid || !g)
    return;
  unsigned spatial = rankOf(x) < 3 ? 0 : rankOf(x) - 2;
  if (spatial == 0 || spatial > 3 || rankOf(grid) != rankOf(x))
    return (void)n.refuse("only images and grids of rank 3 to 5 are supported");
  if (!n.requireEqual(typeOf(grid).getDim(spatial + 1), n.constant(spatial), "the last dimension of the grid") ||
      !n.requireEqual(typeOf(grid).getDim(0), n.dim(0, 0), "the batch of the grid"))
    return;
  grid = n.refine(n.refine(grid, 0, n.dim(0, 0)), spatial + 1, n.constant(spatial));
  Dims points(ArrayRef<SymExpr>(typeOf(grid).getDims()).drop_back()), line(points.size(), n.constant(1));
  line[0] = points[0];
  SmallVector<SmallVector<Neighbour, 4>> dims;
  for (unsigned d = 0; d < spatial; ++d) { // the grid names dimensions from the last
    SymExpr size = n.dim(0, d + 2);
    n.requireAtMost(n.constant(1), size, "dimension " + Twine(d + 2) + " of the image");
    Value coordinate = n.reshape(n.sliceDim(grid, spatial + 1, n.constant(spatial - 1 - d), n.constant(1)), points);
    dims.push_back(neighboursOf(n, *g, coordinate, size));
  }
  Gatherer gather(n, channelsLast(n, x), n.iota(line, 0, n.i64()), points);
  n.result(channelsFirst(n, gather.over(dims, [&](Value a, Value b) { return n.add(a, b); })));
}

//===-- AffineGrid ----------------------------------------------------------------------------===//

/// Coordinates from -1 to 1 along one dimension: of the centres of elements, or of the corners.
Value centres(NodeImport &n, Type element, ArrayRef<SymExpr> line, unsigned d, bool alignCorners) {
  Value i = n.iota(line, d, element), size = n.number(element, line[d]);
  auto number = [&](double v) { return n.number(element, v); };
  if (!alignCorners)
    return n.sub(n.div(n.add(n.mul(i, number(2)), number(1)), size), number(1));
  Value steps = n.maximum(n.sub(size, number(1)), number(1));
  return n.sub(n.div(n.mul(i, number(2)), steps), number(1));
}

void convertAffineGrid(NodeImport &n) {
  Value theta = n.input(0);
  bool alignCorners = n.intAttribute("align_corners", 0) != 0;
  auto size = n.shapeOperand(1);
  if (!theta || !size)
    return;
  unsigned spatial = size->size() < 2 ? 0 : size->size() - 2;
  if ((spatial != 2 && spatial != 3) || rankOf(theta) != 3)
    return (void)n.wrong("the size must have 4 or 5 entries, and the matrices rank 3");
  SymExpr batch = n.dim(0, 0), one = n.constant(1);
  if (!n.requireEqual(batch, (*size)[0], "the number of matrices") ||
      !n.requireEqual(n.dim(0, 1), n.constant(spatial), "the rows of the matrices") ||
      !n.requireEqual(n.dim(0, 2), n.constant(spatial + 1), "the columns of the matrices"))
    return;
  Dims scalars(spatial + 2, one);
  scalars[0] = batch;
  scalars.back() = n.constant(spatial);
  Value result;
  for (unsigned k = 0; k <= spatial; ++k) { // column k belongs to the k-th dimension from the last
    Value column = n.reshape(n.sliceDim(theta, 2, n.constant(k), one), scalars);
    if (k < spatial) {
      Dims line(spatial + 2, one);
      unsigned d = spatial - k;
      line[d] = (*size)[d + 1];
      column = n.mul(column, centres(n, elementOf(theta), line, d, alignCorners));
    }
    result = result ? n.add(result, column) : column;
  }
  n.result(result);
}

//===-- RoiAlign ------------------------------------------------------------------------------===//

/// Two neighbours of coordinates of one dimension, none where they lie more than 1 outside.
SmallVector<Neighbour, 4> neighboursInRegion(NodeImport &n, Value x, SymExpr size) {
  auto number = [&](double v) { return n.numberLike(x, v); };
  Value length = n.number(elementOf(x), size);
  Value exists = n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, x, number(-1)),
                                 n.compare(CompareKind::LessEqual, x, length));
  Value inside = n.minimum(n.maximum(x, number(0)), n.sub(length, number(1)));
  Value low = n.unary<FloorOp>(inside), rest = n.sub(inside, low);
  return {{low, n.sub(number(1), rest), exists}, {clamped(n, n.add(low, number(1)), size), rest, exists}};
}

struct Regions {
  Value starts, sizes; ///< [count, 1]
};

/// Where each region starts and how large it is along one dimension, in elements.
Regions regionsAlong(NodeImport &n, Value rois, unsigned low, double scale, bool halfPixel) {
  auto column = [&](unsigned i) {
    Value scaled = n.mul(n.sliceDim(rois, 1, n.constant(i), n.constant(1)), n.numberLike(rois, scale));
    return halfPixel ? n.sub(scaled, n.numberLike(rois, 0.5)) : scaled;
  };
  Value start = column(low), size = n.sub(column(low + 2), start);
  return {start, halfPixel ? size : n.maximum(size, n.numberLike(rois, 1))};
}

void convertRoiAlign(NodeImport &n) {
  Value x = n.input(0), rois = n.input(1), batch = n.input(2);
  int64_t height = n.intAttribute("output_height", 1), width = n.intAttribute("output_width", 1),
          samples = n.intAttribute("sampling_ratio", 0);
  double scale = n.floatAttribute("spatial_scale", 1);
  std::string mode = n.textAttribute("mode", "avg");
  bool halfPixel = n.opset >= 16 && n.textAttribute("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  if (!x || !rois || !batch)
    return;
  if (rankOf(x) != 4 || rankOf(rois) != 2 || rankOf(batch) != 1 || height < 1 || width < 1)
    return (void)n.wrong("the input must have rank 4, the regions rank 2 and their batches rank 1");
  if (samples < 1)
    return (void)n.refuse("a number of samples that depends on the size of each region ('sampling_ratio' 0) is not supported");
  SymExpr count = n.dim(1, 0), one = n.constant(1);
  if (!n.requireEqual(n.dim(1, 1), n.constant(4), "the last dimension of the regions") ||
      !n.requireEqual(n.dim(2, 0), count, "the number of batches"))
    return;
  SmallVector<SmallVector<Neighbour, 4>> dims;
  for (unsigned d = 0; d < 2; ++d) {
    int64_t bins = d == 0 ? height : width;
    Regions r = regionsAlong(n, rois, d == 0 ? 1 : 0, scale, halfPixel);
    Value sample = n.iota({one, n.constant(bins * samples)}, 1, elementOf(rois));
    Value place = n.div(n.add(sample, n.numberLike(rois, 0.5)), n.numberLike(rois, double(bins * samples)));
    Value at = n.add(r.starts, n.mul(place, r.sizes));
    Dims line = {count, one, one};
    line[d + 1] = n.constant(bins * samples);
    dims.push_back(neighboursInRegion(n, n.reshape(at, line), n.dim(0, d + 2)));
    n.requireAtMost(one, n.dim(0, d + 2), "dimension " + Twine(d + 2) + " of the input");
  }
  Dims points = {count, n.constant(height * samples), n.constant(width * samples)};
  Gatherer gather(n, channelsLast(n, x), n.reshape(n.refine(batch, 0, count), {count, one, one}), points);
  bool average = mode == "avg";
  if (!average && mode != "max")
    return (void)n.wrong("attribute 'mode' is '" + mode + "'");
  Value y = gather.over(dims, [&](Value a, Value b) { return average ? n.add(a, b) : n.maximum(a, b); });
  SymExpr each = n.constant(samples);
  y = n.reshape(y, {count, n.constant(height), each, n.constant(width), each, n.dim(0, 1)});
  y = n.reduce(average ? CombinerKind::Sum : CombinerKind::Max, y, {2, 4}, /*keepDims=*/false);
  if (average)
    y = n.div(y, n.numberLike(y, double(samples * samples)));
  n.result(channelsFirst(n, y));
}

} // namespace

void addSampling(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"AffineGrid", 20, newest, convertAffineGrid, 2, 2});
  table.add({"GridSample", 16, newest, convertGridSample, 2, 2});
  table.add({"RoiAlign", 10, newest, convertRoiAlign, 3, 3});
}

} // namespace weft::onnx
