//===- Scatters.cpp - Elements written at positions that come from data -----------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

std::optional<ScatterKind> readKind(NodeImport &n) {
  std::string text = n.textAttribute("reduction", "none");
  if (std::optional<ScatterKind> kind = symbolizeScatterKind(text == "none" ? "set" : text))
    return kind;
  n.wrong("attribute 'reduction' is '" + text + "'");
  return std::nullopt;
}

Value toIndex(NodeImport &n, Value indices) {
  if (indices &&
      (elementOf(indices).isSignlessInteger(32) || elementOf(indices).isSignlessInteger(64)))
    return indices;
  return n.convert(indices, n.i64());
}

/// The same elements with dimensions that must be `dims`.
Value matched(NodeImport &n, Value x, ArrayRef<SymExpr> dims, StringRef what) {
  if (!x || n.refused())
    return {};
  if (rankOf(x) != dims.size())
    return n.wrong(what + " have rank " + Twine(rankOf(x)) + ", but " + Twine(dims.size()) +
                   " is needed");
  for (unsigned d = 0; x && d < dims.size(); ++d)
    if (n.requireEqual(typeOf(x).getDim(d), dims[d], "dimension " + Twine(d) + " of the " + what))
      x = n.refine(x, d, dims[d]);
  return n.refused() ? Value() : x;
}

/// Of an operand, positions along `axis` and updates.
Value scatterElements(NodeImport &n, ScatterKind kind, ValueRange operands, int64_t axis,
                      Outside outside = Outside::Refused) {
  SmallVector<NamedAttribute> list{n.attribute("kind", ScatterKindAttr::get(n.context(), kind)),
                                   n.attribute("axis", n.attributes().getI64IntegerAttr(axis))};
  if (outside == Outside::Clamped)
    list.push_back(n.clamped());
  return n.emit<ScatterElementsOp>(operands, list);
}

void convertScatterElements(NodeImport &n) {
  Value x = n.input(0), indices = toIndex(n, n.input(1)), updates = n.input(2);
  int64_t axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  auto kind = readKind(n);
  if (!x || !indices || !kind || n.refused())
    return;
  if (rankOf(indices) != rankOf(x))
    return (void)n.wrong("data and indices have different ranks");
  Dims dims(typeOf(indices).getDims());
  for (unsigned d = 0; d < rankOf(x); ++d)
    if (d != axis)
      n.requireAtMost(dims[d], n.dim(0, d), "dimension " + Twine(d) + " of the indices");
  n.result(scatterElements(n, *kind, {x, indices, matched(n, updates, dims, "updates")}, axis));
}

void convertScatterND(NodeImport &n) {
  Value x = n.input(0), indices = toIndex(n, n.input(1));
  auto kind = readKind(n);
  if (!x || !indices || !kind)
    return;
  std::optional<int64_t> depth;
  if (rankOf(indices) > 0)
    depth = typeOf(indices).getDim(rankOf(indices) - 1).asConstant();
  if (!depth)
    return (void)n.refuse("the last dimension of the indices is not constant");
  if (*depth > rankOf(x))
    return (void)n.wrong("indices of depth " + Twine(*depth) + " do not fit data of rank " +
                         Twine(rankOf(x)));
  Dims dims(ArrayRef<SymExpr>(typeOf(indices).getDims()).drop_back());
  llvm::append_range(dims, ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front(*depth));
  Value updates = matched(n, n.input(2), dims, "updates");
  n.result(n.emit<ScatterNdOp>({x, indices, updates},
                               n.attribute("kind", ScatterKindAttr::get(n.context(), *kind))));
}

/// `update` written into a cache along `axis` from a position per batch on; circular ones go round.
void convertTensorScatter(NodeImport &n) {
  Value cache = n.input(0), update = n.input(1);
  std::string mode = n.textAttribute("mode", "linear");
  int64_t axis = n.axis(n.intAttribute("axis", -2), n.rank(0));
  if (!cache || !update || n.refused())
    return;
  if (mode != "linear" && mode != "circular")
    return (void)n.wrong("attribute 'mode' is '" + mode + "'");
  if (axis == 0 || rankOf(update) != rankOf(cache))
    return (void)n.wrong("cache and update must have one rank, and the axis must not be the batch");
  Dims dims(typeOf(cache).getDims()), batch(rankOf(cache), n.constant(1)), line = batch;
  SymExpr size = dims[axis];
  dims[axis] = line[axis] = typeOf(update).getDim(axis);
  batch[0] = dims[0];
  update = matched(n, update, dims, "updates");
  n.requireAtMost(dims[axis], size, "the length of the update");
  Value at = n.iota(line, axis, n.i64());
  if (n.hasInput(2)) {
    Value first = matched(n, n.input(2), dims[0], "positions");
    at = n.add(at, n.reshape(n.convert(first, n.i64()), batch));
  }
  if (mode == "circular")
    at = n.binary<RemOp>(at, n.number(n.i64(), size));
  else
    n.requireInside(at, size);
  n.result(scatterElements(n, ScatterKind::Set, {cache, n.expandTo(at, dims), update}, axis,
                           Outside::Clamped));
}

} // namespace

void addScatters(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Scatter", 9, 10, convertScatterElements, 3, 3});
  table.add({"ScatterElements", 11, newest, convertScatterElements, 3, 3});
  table.add({"ScatterND", 11, newest, convertScatterND, 3, 3});
  table.add({"TensorScatter", 24, newest, convertTensorScatter, 2, 3});
}

} // namespace weft::onnx
