//===- Sampling.cpp - Images read at points from data: GridSample, RoiAlign, DeformConv -------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Windows.h"

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
  Value walk(ArrayRef<SmallVector<Neighbour, 4>> dims, SmallVectorImpl<Neighbour> &chosen,
             Combine combine) {
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
    Value y = n.emit<GatherNdOp>(
        {x, tuples}, {n.attribute("batch", n.attributes().getI64IntegerAttr(0)), n.clamped()});
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
                   n.textAttribute("padding_mode", "zeros"),
                   n.intAttribute("align_corners", 0) != 0};
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
    inside = n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, at, zero),
                             n.compare(CompareKind::LessEqual, at, last));
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
SmallVector<Neighbour, 4> neighboursOf(NodeImport &n, const GridAttributes &g, Value coordinate,
                                       SymExpr size) {
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
  if (!isFloat(elementOf(grid)))
    return (void)n.wrong("the grid must have floating-point elements");
  if (!n.requireEqual(typeOf(grid).getDim(spatial + 1), n.constant(spatial),
                      "the last dimension of the grid") ||
      !n.requireEqual(typeOf(grid).getDim(0), n.dim(0, 0), "the batch of the grid"))
    return;
  grid = n.refine(n.refine(grid, 0, n.dim(0, 0)), spatial + 1, n.constant(spatial));
  Dims points(ArrayRef<SymExpr>(typeOf(grid).getDims()).drop_back()),
      line(points.size(), n.constant(1));
  line[0] = points[0];
  SmallVector<SmallVector<Neighbour, 4>> dims;
  for (unsigned d = 0; d < spatial; ++d) { // the grid names dimensions from the last
    SymExpr size = n.dim(0, d + 2);
    n.requireAtMost(n.constant(1), size, "dimension " + Twine(d + 2) + " of the image");
    Value coordinate = n.reshape(
        n.sliceDim(grid, spatial + 1, n.constant(spatial - 1 - d), n.constant(1)), points);
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
  auto size = n.sizesOperand(1);
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
  return {{low, n.sub(number(1), rest), exists},
          {clamped(n, n.add(low, number(1)), size), rest, exists}};
}

struct Regions {
  Value starts, sizes; ///< [count, 1]
};

/// Where each region starts and how large it is along one dimension, in elements.
Regions regionsAlong(NodeImport &n, Value rois, unsigned low, double scale, bool halfPixel) {
  auto column = [&](unsigned i) {
    Value scaled =
        n.mul(n.sliceDim(rois, 1, n.constant(i), n.constant(1)), n.numberLike(rois, scale));
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
  bool halfPixel = n.opset >= 16 &&
                   n.textAttribute("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  if (!x || !rois || !batch)
    return;
  if (rankOf(x) != 4 || rankOf(rois) != 2 || rankOf(batch) != 1 || height < 1 || width < 1)
    return (void)n.wrong("the input must have rank 4, the regions rank 2 and their batches rank 1");
  if (samples < 1)
    return (void)n.refuse("a number of samples that depends on the size of each region "
                          "('sampling_ratio' 0) is not supported");
  SymExpr count = n.dim(1, 0), one = n.constant(1);
  if (!n.requireEqual(n.dim(1, 1), n.constant(4), "the last dimension of the regions") ||
      !n.requireEqual(n.dim(2, 0), count, "the number of batches"))
    return;
  SmallVector<SmallVector<Neighbour, 4>> dims;
  for (unsigned d = 0; d < 2; ++d) {
    int64_t bins = d == 0 ? height : width;
    Regions r = regionsAlong(n, rois, d == 0 ? 1 : 0, scale, halfPixel);
    Value sample = n.iota({one, n.constant(bins * samples)}, 1, elementOf(rois));
    Value place =
        n.div(n.add(sample, n.numberLike(rois, 0.5)), n.numberLike(rois, double(bins * samples)));
    Value at = n.add(r.starts, n.mul(place, r.sizes));
    Dims line = {count, one, one};
    line[d + 1] = n.constant(bins * samples);
    dims.push_back(neighboursInRegion(n, n.reshape(at, line), n.dim(0, d + 2)));
    n.requireAtMost(one, n.dim(0, d + 2), "dimension " + Twine(d + 2) + " of the input");
  }
  Dims points = {count, n.constant(height * samples), n.constant(width * samples)};
  n.requireInside(batch, n.dim(0, 0));
  Gatherer gather(n, channelsLast(n, x), n.reshape(n.refine(batch, 0, count), {count, one, one}),
                  points);
  bool average = mode == "avg";
  if (!average && mode != "max")
    return (void)n.wrong("attribute 'mode' is '" + mode + "'");
  Value y =
      gather.over(dims, [&](Value a, Value b) { return average ? n.add(a, b) : n.maximum(a, b); });
  SymExpr each = n.constant(samples);
  y = n.reshape(y, {count, n.constant(height), each, n.constant(width), each, n.dim(0, 1)});
  y = n.reduce(average ? CombinerKind::Sum : CombinerKind::Max, y, {2, 4}, /*keepDims=*/false);
  if (average)
    y = n.div(y, n.numberLike(y, double(samples * samples)));
  n.result(channelsFirst(n, y));
}

//===-- DeformConv ----------------------------------------------------------------------------===//

/// The numbers of a deformable convolution; data is [n, groups of offsets, kernel.., image..] inside.
struct Deformed {
  Windows windows;
  int64_t groups, offsetGroups;
  SymExpr batch, channels; ///< of the input

  Dims points(NodeImport &n) const {
    return {batch,
            n.constant(offsetGroups),
            windows.kernel[0],
            windows.kernel[1],
            windows.sizes[0],
            windows.sizes[1]};
  }
};

std::optional<Deformed> readDeformed(NodeImport &n) {
  Value x = n.input(0), filter = n.input(1);
  int64_t groups = n.intAttribute("group", 1), offsetGroups = n.intAttribute("offset_group", 1);
  n.ignoreAttributes({"kernel_shape"}); // the filter has it
  if (!x || !filter)
    return std::nullopt;
  if (rankOf(x) != 4 || rankOf(filter) != 4)
    return n.refuse("only two spatial dimensions are supported"), std::nullopt;
  if (groups < 1 || offsetGroups < 1)
    return n.wrong("the numbers of groups must be positive"), std::nullopt;
  auto w = readWindows(n, spatialDims(n, x), {typeOf(filter).getDim(2), typeOf(filter).getDim(3)});
  SymExpr channels = typeOf(filter).getDim(1) * groups,
          perFilter = n.simplify(SymExpr::floordiv(n.dim(1, 0), groups));
  SymExpr perOffset = n.simplify(SymExpr::floordiv(channels, offsetGroups));
  if (!w || !n.requireEqual(n.dim(0, 1), channels, "the number of channels") ||
      !n.requireEqual(n.dim(1, 0), perFilter * groups, "the number of filters") ||
      !n.requireEqual(channels, perOffset * offsetGroups, "the number of channels"))
    return std::nullopt;
  return Deformed{*w, groups, offsetGroups, n.dim(0, 0), channels};
}

/// Two neighbours along dimension `d` of where the taps of the filter are moved to.
SmallVector<Neighbour, 4> deformedNeighbours(NodeImport &n, const Deformed &f, Value offsets,
                                             unsigned d) {
  Type element = elementOf(offsets);
  Dims taps(6, n.constant(1)), windows = taps;
  taps[2 + d] = f.windows.kernel[d];
  windows[4 + d] = f.windows.sizes[d];
  Value tap =
      n.mul(n.iota(taps, 2 + d, element), n.number(element, double(f.windows.dilations[d])));
  Value window =
      n.mul(n.iota(windows, 4 + d, element), n.number(element, double(f.windows.strides[d])));
  Value moved = n.reshape(n.sliceDim(offsets, 4, n.constant(d), n.constant(1)), f.points(n));
  Value at = n.add(n.add(n.sub(window, n.number(element, f.windows.low[d])), tap), moved);
  SymExpr size = n.dim(0, 2 + d);
  n.requireAtMost(n.constant(1), size, "dimension " + Twine(2 + d) + " of the input");
  Value low = n.unary<FloorOp>(at), rest = n.sub(at, low), one = n.number(element, 1.0);
  auto neighbour = [&](Value position, Value weight) -> Neighbour {
    Value inside =
        n.binary<AndOp>(n.compare(CompareKind::GreaterEqual, position, n.number(element, 0.0)),
                        n.compare(CompareKind::LessEqual, position, n.number(element, size - 1)));
    return {clamped(n, position, size), weight, inside};
  };
  return {neighbour(low, n.sub(one, rest)), neighbour(n.add(low, one), rest)};
}

/// The input at the moved taps, as [n, groups of offsets, kernel.., image.., channels of a group].
Value deformedSamples(NodeImport &n, const Deformed &f) {
  Dims points = f.points(n), split = points;
  split.insert(split.begin() + 4, n.constant(2));
  SymExpr groups = n.constant(f.offsetGroups), each = SymExpr::floordiv(f.channels, f.offsetGroups);
  Value offsets = n.reshape(n.input(2), split), x = n.refine(n.input(0), 1, f.channels);
  if (!offsets || n.refused())
    return {};
  SmallVector<SmallVector<Neighbour, 4>> dims = {deformedNeighbours(n, f, offsets, 0),
                                                 deformedNeighbours(n, f, offsets, 1)};
  Value image =
      n.transpose(n.reshape(x, {f.batch, groups, each, n.dim(0, 2), n.dim(0, 3)}), {0, 1, 3, 4, 2});
  image = n.reshape(image, {f.batch * groups, n.dim(0, 2), n.dim(0, 3), each});
  Dims places(6, n.constant(1));
  places[0] = f.batch;
  places[1] = groups;
  Gatherer gather(n, image, n.reshape(n.iota({f.batch * groups}, 0, n.i64()), places), points);
  Value samples = gather.over(dims, [&](Value a, Value b) { return n.add(a, b); });
  if (Value mask = n.optionalInput(4))
    samples = n.mul(samples, n.unsqueeze(n.reshape(mask, points), int64_t(6)));
  return samples;
}

/// A convolution whose filter taps are moved by offsets from data, and weighed by a mask.
void convertDeformConv(NodeImport &n) {
  auto f = readDeformed(n);
  Value samples = f ? deformedSamples(n, *f) : Value();
  if (!samples)
    return;
  SymExpr groups = n.constant(f->groups), filters = SymExpr::floordiv(n.dim(1, 0), f->groups);
  SymExpr terms = SymExpr::floordiv(f->channels, f->groups) * n.product(f->windows.kernel),
          image = n.product(f->windows.sizes);
  Value columns = n.reshape(n.moveDim(samples, 6, 2), {f->batch, groups, terms, image});
  Value filter = n.reshape(n.refine(n.input(1), 0, filters * groups), {groups, filters, terms});
  Value y =
      n.contract("n g c p, g o c -> n g o p", columns, filter, accumulateType(n, n.element(0)));
  y = n.reshape(y, {f->batch, filters * groups, f->windows.sizes[0], f->windows.sizes[1]});
  if (Value bias = n.optionalInput(3))
    y = n.add(y, channelParameter(n, n.convert(bias, accumulateType(n, n.element(0))), 4,
                                  filters * groups));
  n.result(n.convert(y, n.element(0)));
}

} // namespace

void addSampling(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"AffineGrid", 20, newest, convertAffineGrid, 2, 2});
  table.add({"GridSample", 16, newest, convertGridSample, 2, 2});
  table.add({"RoiAlign", 10, newest, convertRoiAlign, 3, 3});
  table.add({"DeformConv", 19, newest, convertDeformConv, 3, 5});
}

} // namespace weft::onnx
