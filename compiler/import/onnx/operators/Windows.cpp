//===- Windows.cpp - Reads the attributes of windows ------------------------------------------===//

#include "compiler/import/onnx/operators/Windows.h"

using namespace mlir;

namespace weft::onnx {

SmallVector<NamedAttribute> Windows::attributes(GraphBuilder &g) const {
  OpBuilder &b = g.attributes();
  return {g.attribute("strides", b.getDenseI64ArrayAttr(strides)),
          g.attribute("dilations", b.getDenseI64ArrayAttr(dilations)),
          g.attribute("low", g.dimsAttr(low)), g.attribute("high", g.dimsAttr(high))};
}

Dims spatialDims(NodeImport &n, Value x) {
  if (!x)
    return {};
  if (rankOf(x) < 3)
    return n.wrong("the input must have rank 3 or more"), Dims();
  if (rankOf(x) > 5)
    return n.refuse("more than three spatial dimensions are not supported"), Dims();
  return Dims(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front(2));
}

std::optional<SmallVector<int64_t>> perDimension(NodeImport &n, StringRef name, size_t count,
                                                 int64_t otherwise) {
  auto list = n.intsAttribute(name).value_or(SmallVector<int64_t>(count, otherwise));
  if (list.size() == count)
    return list;
  n.wrong("attribute '" + name + "' has " + Twine(list.size()) + " entries for " + Twine(count) +
          " dimensions");
  return std::nullopt;
}

namespace {

/// Padding so that there is a window for each `stride` elements. Where windows leave gaps and none is
/// needed, the elements after the last window are cropped.
void padToSame(NodeImport &n, Windows &w, unsigned d, SymExpr size, bool upper) {
  w.sizes[d] = n.simplify(SymExpr::ceildiv(size, w.strides[d]));
  SymExpr total = n.simplify((w.sizes[d] - 1) * w.strides[d] + w.extent(d) - size);
  SymExpr half = SymExpr::floordiv(n.larger(total, n.constant(0)), 2);
  w.low[d] = n.simplify(upper ? half : n.larger(total, n.constant(0)) - half);
  w.high[d] = n.simplify(total - w.low[d]);
}

/// The number of windows; rounding up keeps those that start before the padding behind the end.
void countWindows(NodeImport &n, Windows &w, unsigned d, SymExpr size, bool roundUp) {
  SymExpr room = size + w.low[d] + w.high[d] - w.extent(d);
  n.requireAtMost(n.constant(0), room + w.strides[d], "the size of the result");
  w.sizes[d] = SymExpr::floordiv(room, w.strides[d]) + 1;
  if (roundUp)
    w.sizes[d] = n.smaller(SymExpr::ceildiv(room, w.strides[d]) + 1,
                           SymExpr::ceildiv(size + w.low[d], w.strides[d]));
  w.sizes[d] = n.simplify(w.sizes[d]);
}

} // namespace

std::optional<Windows> readWindows(NodeImport &n, ArrayRef<SymExpr> spatial, Dims kernel,
                                   bool roundUp) {
  size_t count = spatial.size();
  std::string mode = n.textAttribute("auto_pad", "NOTSET");
  auto strides = perDimension(n, "strides", count, 1),
       dilations = perDimension(n, "dilations", count, 1);
  auto pads = perDimension(n, "pads", 2 * count, 0);
  if (n.refused() || !strides || !dilations || !pads)
    return std::nullopt;
  if (llvm::any_of(*strides, [](int64_t s) { return s < 1; }) ||
      llvm::any_of(*dilations, [](int64_t s) { return s < 1; }))
    return n.wrong("strides and dilations must be positive"), std::nullopt;
  Windows w{std::move(kernel), *strides, *dilations, Dims(count), Dims(count), Dims(count)};
  bool explicitPads = mode.empty() || mode == "NOTSET";
  for (unsigned d = 0; d < count; ++d) {
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      padToSame(n, w, d, spatial[d], mode == "SAME_UPPER");
      continue;
    }
    if (!explicitPads && mode != "VALID")
      return n.wrong("attribute 'auto_pad' is '" + mode + "'"), std::nullopt;
    w.low[d] = n.constant(explicitPads ? (*pads)[d] : 0);
    w.high[d] = n.constant(explicitPads ? (*pads)[count + d] : 0);
    countWindows(n, w, d, spatial[d], roundUp);
  }
  return n.refused() ? std::nullopt : std::optional(w);
}

Value channelParameter(NodeImport &n, Value parameter, unsigned rank, SymExpr channels) {
  if (!parameter || n.refused())
    return {};
  if (rankOf(parameter) != 1)
    return n.wrong("a parameter of the channels must have rank 1");
  if (!n.requireEqual(typeOf(parameter).getDim(0), channels, "the length of a parameter"))
    return {};
  Dims dims(rank - 1, n.constant(1));
  dims[0] = channels;
  return n.reshape(n.refine(parameter, 0, channels), dims);
}

} // namespace weft::onnx
