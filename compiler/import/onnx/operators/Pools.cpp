//===- Pools.cpp - Maxima, averages and norms of moving windows -------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Windows.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// `kernel_shape`, which pooling operators must have.
std::optional<Dims> kernelSizes(NodeImport &n, size_t count) {
  auto given = n.intsAttribute("kernel_shape");
  if (!given || given->size() != count || llvm::any_of(*given, [](int64_t k) { return k < 1; }))
    return n.wrong("attribute 'kernel_shape' must have a positive size for each of the " +
                   Twine(count) + " spatial dimensions"),
           std::nullopt;
  return llvm::map_to_vector<6>(*given, [&](int64_t k) { return n.constant(k); });
}

std::optional<Windows> readPool(NodeImport &n) {
  Dims spatial = spatialDims(n, n.input(0));
  bool roundUp = n.intAttribute("ceil_mode", 0) != 0;
  if (n.refused())
    return std::nullopt;
  auto kernel = kernelSizes(n, spatial.size());
  return kernel ? readWindows(n, spatial, *kernel, roundUp) : std::nullopt;
}

SmallVector<NamedAttribute> poolAttributes(NodeImport &n, const Windows &w) {
  SmallVector<NamedAttribute> list = w.attributes(n);
  auto kernel = llvm::map_to_vector(w.kernel, [](SymExpr k) { return *k.asConstant(); });
  list.push_back(n.attribute("kernel", n.attributes().getDenseI64ArrayAttr(kernel)));
  list.push_back(n.attribute("sizes", n.dimsAttr(w.sizes)));
  return list;
}

Value pool(NodeImport &n, PoolKind kind, Value x, const Windows &w, bool countPadding = false) {
  SmallVector<NamedAttribute> list = poolAttributes(n, w);
  list.push_back(n.attribute("kind", PoolKindAttr::get(n.context(), kind)));
  if (countPadding)
    list.push_back(n.attribute("count_padding", n.attributes().getUnitAttr()));
  return n.emit<PoolOp>({x}, list);
}

//===-- MaxPool -------------------------------------------------------------------------------===//

/// Row-major positions in a box as column-major ones.
Value columnMajor(NodeImport &n, Value at, ArrayRef<SymExpr> box) {
  Value result, rest = at;
  for (unsigned d = box.size(); d-- > 0;) {
    Value size = n.number(n.i64(), box[d]);
    Value digit = d == 0 ? rest : n.binary<RemOp>(rest, size);
    rest = d == 0 ? rest : n.div(rest, size);
    Value term = n.mul(digit, n.number(n.i64(), n.product(box.take_front(d))));
    result = result ? n.add(result, term) : term;
  }
  return result;
}

/// Positions in the whole tensor of the largest elements.
Value maximaPositions(NodeImport &n, Value x, const Windows &w, bool byColumn) {
  Dims dims(typeOf(x).getDims()), planes(dims.size(), n.constant(1));
  ArrayRef<SymExpr> spatial = ArrayRef<SymExpr>(dims).drop_front(2);
  Value at = n.emit<PoolIndexOp>({x}, poolAttributes(n, w));
  if (byColumn)
    at = columnMajor(n, at, spatial);
  planes[0] = dims[0];
  planes[1] = dims[1];
  Value plane = n.reshape(n.iota({dims[0] * dims[1]}, 0, n.i64()), planes);
  return n.add(at, n.mul(plane, n.number(n.i64(), n.product(spatial))));
}

void convertMaxPool(NodeImport &n) {
  auto w = readPool(n);
  bool byColumn = n.intAttribute("storage_order", 0) != 0;
  if (!w)
    return;
  n.result(pool(n, PoolKind::Max, n.input(0), *w));
  if (n.wantsOutput(1))
    n.results.push_back(maximaPositions(n, n.input(0), *w, byColumn));
}

/// The inverse of MaxPool: zeros but for the given elements at the given positions.
void convertMaxUnpool(NodeImport &n) {
  Value x = n.input(0), at = n.input(1);
  Dims spatial = spatialDims(n, x);
  auto kernel = n.refused() ? std::nullopt : kernelSizes(n, spatial.size());
  auto w = kernel ? readWindows(n, spatial, *kernel) : std::nullopt;
  if (!w || !at)
    return;
  Dims dims(typeOf(x).getDims());
  for (unsigned d = 0; d < spatial.size(); ++d) {
    dims[d + 2] = (spatial[d] - 1) * w->strides[d] + w->kernel[d] - w->low[d] - w->high[d];
    n.requireAtMost(n.constant(0), dims[d + 2], "the size of the result");
  }
  for (unsigned d = 0; d < rankOf(x); ++d)
    if (rankOf(at) == rankOf(x) && n.requireEqual(typeOf(at).getDim(d), typeOf(x).getDim(d),
                                                  "dimension " + Twine(d) + " of the indices"))
      at = n.refine(at, d, typeOf(x).getDim(d));
  SymExpr count = typeOf(x).getElements();
  Value empty = n.fill({n.product(dims)}, elementOf(x), 0);
  Value y = n.emit<ScatterElementsOp>(
      {empty, n.reshape(at, {count}), n.reshape(x, {count})},
      {n.attribute("kind", ScatterKindAttr::get(n.context(), ScatterKind::Set)),
       n.attribute("axis", n.attributes().getI64IntegerAttr(0))});
  y = n.reshape(y, dims);
  if (n.hasInput(2)) {
    auto wanted = n.sizesOperand(2);
    if (!wanted)
      return;
    if (wanted->size() != dims.size())
      return (void)n.wrong("the shape of the result has " + Twine(wanted->size()) + " entries");
    Dims none(dims.size(), n.constant(0)), high = none;
    for (unsigned d = 0; d < dims.size(); ++d) {
      high[d] = n.simplify((*wanted)[d] - dims[d]);
      n.requireAtMost(n.constant(0), high[d], "the shape of the result");
    }
    y = n.pad(y, n.numberLike(x, 0), none, high);
  }
  n.result(y);
}

//===-- Averages and norms --------------------------------------------------------------------===//

void convertAveragePool(NodeImport &n) {
  auto w = readPool(n);
  bool countPadding = n.intAttribute("count_include_pad", 0) != 0;
  if (w)
    n.result(pool(n, PoolKind::Average, n.input(0), *w, countPadding));
}

/// |x|^p, and the root of a sum of those.
Value power(NodeImport &n, Value x, double p) {
  if (p == 2)
    return n.mul(x, x);
  return p == 1 ? n.abs(x) : n.binary<PowOp>(n.abs(x), n.numberLike(x, p));
}
Value root(NodeImport &n, Value sum, double p) {
  if (p == 2)
    return n.sqrt(sum);
  return p == 1 ? sum : n.binary<PowOp>(sum, n.numberLike(sum, 1 / p));
}

/// The exponent was a float in the first version.
double exponent(NodeImport &n) {
  double p = n.opset < 2 ? n.floatAttribute("p", 2) : double(n.intAttribute("p", 2));
  if (!(p > 0))
    n.wrong("attribute 'p' must be positive");
  return p;
}

Value wideFloat(NodeImport &n, Value x) {
  return x && isFloat(elementOf(x)) && elementBits(elementOf(x)) < 32 ? n.convert(x, n.f32()) : x;
}

void convertLpPool(NodeImport &n) {
  auto w = readPool(n);
  double p = exponent(n);
  if (w && !n.refused())
    n.result(
        n.convert(root(n, pool(n, PoolKind::Sum, power(n, wideFloat(n, n.input(0)), p), *w), p),
                  n.element(0)));
}

void convertGlobalLpPool(NodeImport &n) {
  double p = exponent(n);
  Value x = wideFloat(n, n.input(0));
  if (n.refused())
    return;
  if (rankOf(x) < 3)
    return (void)n.wrong("the input must have rank 3 or more");
  Value sum = n.reduce(CombinerKind::Sum, power(n, x, p),
                       llvm::to_vector(llvm::seq<int64_t>(2, rankOf(x))), true);
  n.result(n.convert(root(n, sum, p), n.element(0)));
}

/// How many channels LRN adds up at most when it is not known how many there are.
constexpr int64_t kMostChannels = 1 << 16;

/// Each element over a power of the squares of its neighbours in the channels.
void convertLRN(NodeImport &n) {
  Value x = wideFloat(n, n.input(0));
  double alpha = n.floatAttribute("alpha", 1e-4f), beta = n.floatAttribute("beta", 0.75),
         bias = n.floatAttribute("bias", 1);
  int64_t size = n.intAttribute("size", 0);
  if (!x)
    return;
  if (rankOf(x) < 2 || size < 1)
    return (void)n.wrong("the input must have channels, and attribute 'size' be positive");
  unsigned count = rankOf(x) - 1;
  int64_t low = (size - 1) / 2, high = size / 2;
  if (std::optional<int64_t> channels = typeOf(x).getDim(1).asConstant()) {
    int64_t most =
        std::max<int64_t>(*channels - 1, 0); // what lies further is outside for every channel
    low = std::min(low, most), high = std::min(high, most);
  } else if (size > kMostChannels) {
    return (void)n.refuse("attribute 'size' is " + std::to_string(size) +
                          ", and the number of channels is not constant");
  }
  SmallVector<int64_t> ones(count, 1);
  Dims none(count, n.constant(0));
  Windows w{Dims(count, n.constant(1)),
            ones,
            ones,
            none,
            none,
            Dims(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front(1))};
  w.kernel[0] = n.constant(low + high + 1);
  w.low[0] = n.constant(low);
  w.high[0] = n.constant(high);
  Value sum = pool(n, PoolKind::Sum, n.mul(x, x), w);
  Value base = n.add(n.mul(sum, n.numberLike(x, alpha / double(size))), n.numberLike(x, bias));
  n.result(n.convert(n.div(x, n.binary<PowOp>(base, n.numberLike(x, beta))), n.element(0)));
}

} // namespace

void addPools(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"MaxPool", 1, newest, convertMaxPool, 1, 1, 2});
  table.add({"MaxUnpool", 9, newest, convertMaxUnpool, 2, 3});
  table.add({"AveragePool", 1, newest, convertAveragePool});
  table.add({"LpPool", 1, newest, convertLpPool});
  table.add({"GlobalLpPool", 1, newest, convertGlobalLpPool});
  table.add({"LRN", 1, newest, convertLRN});
}

} // namespace weft::onnx
