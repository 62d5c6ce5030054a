// Convolutions, pools and resizing.
#include "test/differential/Choices.h"
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

constexpr int64_t kMostProducts = 1 << 19;

/// How windows move over the spatial dimensions.
struct Windows {
  SmallVector<int64_t> kernel, strides, dilations;
  SmallVector<SymExpr> low, high;
  double count = 1; ///< elements of one window
  bool borders = false, plain = true;
};

/// Windows that fit into these dimensions at all sizes.
bool randomWindows(Graph &g, ArrayRef<SymExpr> dims, Windows &w) {
  for (SymExpr dim : dims) {
    int64_t size = g.dice.oneOf({1, 2, 3, 3, 3, 5}), stride = g.dice.oneOf({1, 1, 1, 2, 3}),
            dilation = g.dice.oneOf({1, 1, 1, 2}), low = g.dice(size), high = g.dice(size);
    if (g.dice(2))
      low = high = size / 2, stride = dilation = 1;
    int64_t room = g.least(dim) + low + high - (size - 1) * dilation - 1;
    if (room < -1 || room + stride < 0)
      return false;
    w.kernel.push_back(size), w.strides.push_back(stride), w.dilations.push_back(dilation);
    w.low.push_back(g.number(low)), w.high.push_back(g.number(high));
    w.count *= double(size);
    w.borders |= low || high;
    w.plain &= size == 3 && stride == 1 && dilation == 1;
  }
  return true;
}

/// [n, c, spatial...] with constant channels; or a value of less rank with dimensions of 1 added.
Value image(Graph &g, function_ref<bool(Value)> fits) {
  Value x = g.pick([&](Value v) {
    return fits(v) && g.rank(v) >= 3 && g.rank(v) <= 5 &&
           g.type(v).getDim(1).asConstant().value_or(0) > 0;
  });
  if (x && g.dice.chance(4, 5))
    return x;
  x = g.pick([&](Value v) { return fits(v) && g.rank(v) >= 1 && g.rank(v) <= 3; });
  if (!x)
    return {};
  SmallVector<SymExpr> list = g.type(x).getDims();
  list.insert(list.begin(), {g.number(1), g.number(1)});
  return g.note(g.b.create<ReshapeOp>(x, g.dims(list)), g.know(x));
}

/// What 3x3 windows may lose to Winograd's method, and the result of a sum.
Knowledge sumOf(Graph &g, Value x, Value w, double count, Type accumulate, bool plain) {
  Knowledge k = g.sumOfProducts(x, w, count, accumulate);
  if (plain && accumulate.isF32())
    k.error += 3e-5 * k.most;
  return k;
}

bool isTensorOfNumbers(Value v) {
  Type e = Graph::element(v);
  return !e.isInteger(1) && elementBits(e) >= 8 && (isFloat(e) || elementBits(e) <= 32);
}

Type accumulation(Graph &g, Type element) {
  if (isFloat(element))
    return element.isF64() ? element : g.b.getF32Type();
  return g.b.getI32Type();
}

bool isUsual(Graph &g, Value v) {
  return isTensorOfNumbers(v) && (g.element(v).isF32() || g.dice.chance(1, 3)) &&
         !(isUnsigned(g.element(v)) && elementBits(g.element(v)) == 32);
}

/// Groups, filters and the rest for an operand with these channels.
struct Channels {
  int64_t groups, filters;
};

Channels anyChannels(Graph &g, int64_t channels) {
  switch (g.dice(5)) {
  case 0:
    return {channels, channels * (1 + g.dice(2))}; // one channel per filter
  case 1:
    return channels % 2 == 0 ? Channels{2, 6} : Channels{1, 3};
  default:
    return {1, g.dice.oneOf({1, 4, 5, 8, 13, 16})};
  }
}

bool convolution(Graph &g) {
  Value x = image(g, [&](Value v) { return isUsual(g, v); });
  if (!x)
    return false;
  if (isReal(x))
    x = g.tame(x, 4);
  bool last = g.dice.chance(1, 5);
  SmallVector<SymExpr> dims = g.type(x).getDims();
  auto channels = (last ? dims.back() : dims[1]).asConstant();
  Windows w;
  ArrayRef<SymExpr> spatial =
      last ? ArrayRef(dims).drop_front(1).drop_back() : ArrayRef(dims).drop_front(2);
  if (!channels || *channels < 1 || !randomWindows(g, spatial, w))
    return false;
  Channels c = anyChannels(g, *channels);
  SmallVector<int64_t> filter{c.filters, *channels / c.groups};
  llvm::append_range(filter, w.kernel);
  double count = w.count * double(*channels / c.groups);
  if (double(g.mostElements(g.type(x))) / double(*channels) * count * double(c.filters) >
      kMostProducts)
    return false;
  Type e = g.element(x), accumulate = accumulation(g, e);
  bool mixed = !isFloat(e) && elementBits(e) == 8 && g.dice(2);
  Value f = g.constant(filter, mixed ? Type(g.b.getIntegerType(8)) : e, isFloat(e) ? 1 : 100, 3);
  auto conv = g.b.create<ConvOp>(x, f, w.strides, w.dilations, g.dims(w.low), g.dims(w.high),
                                 c.groups, accumulate, last);
  bool plain = w.plain && w.kernel.size() == 2 && c.groups == 1;
  Knowledge sum = sumOf(g, x, f, count, accumulate, plain);
  return g.add(conv, last || w.kernel.size() > 2 ? sum : withChoices(g, conv, sum, count));
}

bool convTranspose(Graph &g) {
  Value x = image(g, [&](Value v) { return isUsual(g, v); });
  if (!x)
    return false;
  if (isReal(x))
    x = g.tame(x, 4);
  SmallVector<SymExpr> dims = g.type(x).getDims();
  int64_t channels = *dims[1].asConstant(), groups = channels % 2 == 0 && g.dice(3) == 0 ? 2 : 1;
  SmallVector<int64_t> filter{channels, g.dice.oneOf({1, 3, 4})}, strides, dilations;
  SmallVector<SymExpr> low, high;
  double count = double(channels / groups);
  for (SymExpr dim : ArrayRef(dims).drop_front(2)) {
    int64_t size = 1 + g.dice(3), stride = 1 + g.dice(2), dilation = 1 + g.dice(2);
    if ((g.least(dim) - 1) * stride + (size - 1) * dilation + 1 < 2)
      return false;
    filter.push_back(size), strides.push_back(stride), dilations.push_back(dilation);
    low.push_back(g.number(g.dice(2))), high.push_back(g.number(g.dice(3) - 1));
    count *= double(size);
  }
  if (double(g.mostElements(g.type(x))) * count * 16 > kMostProducts)
    return false;
  Type e = g.element(x), accumulate = accumulation(g, e);
  Value f = g.constant(filter, e, isFloat(e) ? 1 : 100, 3);
  return g.add(g.b.create<ConvTransposeOp>(x, f, strides, dilations, g.dims(low), g.dims(high),
                                           groups, accumulate),
               sumOf(g, x, f, count, accumulate, false));
}

//===-- Pools --------------------------------------------------------------------------------------===//

/// The last `count` dimensions before the last `behind`.
ArrayRef<SymExpr> windowDims(ArrayRef<SymExpr> dims, size_t count, size_t behind) {
  return dims.drop_back(behind).take_back(count);
}

/// Windows that start inside but end outside are kept, too.
DimsAttr ceilSizes(Graph &g, ArrayRef<SymExpr> dims, const Windows &w) {
  SmallVector<SymExpr> sizes;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    SymExpr room = dim + w.low[d] + w.high[d] - ((w.kernel[d] - 1) * w.dilations[d] + 1);
    sizes.push_back(SymExpr::ceildiv(room, w.strides[d]) + 1);
  }
  return g.dims(sizes);
}

bool pool(Graph &g) {
  auto kind = PoolKind(g.dice(getMaxEnumValForPoolKind() + 1));
  Value x = g.pick([&](Value v) {
    return !isBool(v) && g.rank(v) >= 1 && (kind != PoolKind::Average || isReal(v));
  });
  if (!x)
    return false;
  if (isReal(x))
    x = g.tame(x, 16);
  SmallVector<SymExpr> dims = g.type(x).getDims();
  bool last = dims.size() >= 2 && g.dice.chance(1, 4);
  size_t count = 1 + g.dice(std::min<size_t>(dims.size() - last, 3));
  ArrayRef<SymExpr> spatial = windowDims(dims, count, last);
  Windows w;
  if (!randomWindows(g, spatial, w) || double(g.mostElements(g.type(x))) * w.count > kMostProducts)
    return false;
  DimsAttr sizes = g.dice.chance(1, 4) ? ceilSizes(g, spatial, w) : DimsAttr();
  bool empties = w.borders || sizes, padding = kind == PoolKind::Average && g.dice(2);
  Type e = g.element(x);
  Knowledge k = g.know(x);
  if (kind == PoolKind::Max)
    k = isReal(x) ? Knowledge{k.most, k.quantum, k.error, empties}
                  : g.integers(e, empties ? 1e30 : k.most);
  else if (isReal(x))
    k = g.rounded(e, {k.most * w.count, k.quantum, k.error * w.count, false});
  else
    k = g.integers(e, k.most * w.count);
  if (isReal(x) && (kind == PoolKind::Average || (kind == PoolKind::Sum && !k.isExact())))
    k = {k.most, 0, k.error + 4 * precisionOf(e) * k.most * std::sqrt(w.count),
         kind == PoolKind::Average && empties};
  return g.add(g.b.create<PoolOp>(kind, x, w.kernel, w.strides, w.dilations, g.dims(w.low),
                                  g.dims(w.high), sizes, padding, last),
               k);
}

bool poolIndex(Graph &g) {
  Value x =
      g.pick([&](Value v) { return !isBool(v) && g.rank(v) >= 1 && g.know(v).isExact(); }, true);
  if (!x)
    return false;
  SmallVector<SymExpr> dims = g.type(x).getDims();
  size_t count = 1 + g.dice(std::min<size_t>(dims.size(), 2));
  Windows w;
  if (!randomWindows(g, windowDims(dims, count, 0), w) ||
      double(g.mostElements(g.type(x))) * w.count > kMostProducts)
    return false;
  return g.add(g.b.create<PoolIndexOp>(x, w.kernel, w.strides, w.dilations, g.dims(w.low),
                                       g.dims(w.high), DimsAttr()),
               g.integers(g.b.getI64Type(), 1e30));
}

//===-- Resizing -------------------------------------------------------------------------------------===//

bool resize(Graph &g) {
  auto mode = ResizeMode(g.dice(getMaxEnumValForResizeMode() + 1));
  Value x =
      g.pick([&](Value v) { return g.rank(v) >= 1 && (mode == ResizeMode::Nearest || isReal(v)); });
  if (!x)
    return false;
  SmallVector<SymExpr> sizes = g.type(x).getDims();
  SmallVector<double> scales(sizes.size(), 1);
  for (size_t times = 0, count = 1 + g.dice(2); times < count; ++times) {
    size_t at = g.dice(sizes.size());
    SymExpr size = g.type(x).getDim(at);
    if (g.least(size) < 1)
      return false; // nothing to sample
    if (g.dice(2)) {
      sizes[at] = size * 2, scales[at] = g.dice(2) ? 2 : 0;
    } else {
      sizes[at] = g.dice(2) ? g.number(1 + g.dice(7)) : SymExpr::ceildiv(size, 2);
      scales[at] = 0;
    }
  }
  auto coordinates = ResizeCoordinates(g.dice(getMaxEnumValForResizeCoordinates() + 1));
  auto rounding = ResizeRounding(g.dice(getMaxEnumValForResizeRounding() + 1));
  bool outside = mode == ResizeMode::Cubic && g.dice(2);
  Knowledge k = g.know(x);
  if (mode != ResizeMode::Nearest)
    k = {2 * k.most, 0, 2 * k.error + (1e-5 + 8 * precisionOf(g.element(x))) * k.most, false};
  return g.add(g.b.create<ResizeOp>(g.tensor(sizes, g.element(x)), mode, x, g.dims(sizes), scales,
                                    coordinates, rounding, llvm::APFloat(-0.75), outside),
               k);
}

constexpr Maker kMakers[] = {
    {"convolution", convolution, 4},
    {"conv_transpose", convTranspose},
    {"pool", pool, 2},
    {"pool_index", poolIndex},
    {"resize", resize, 2},
};

} // namespace

ArrayRef<Maker> windowMakers() { return kMakers; }

} // namespace weft::test
