// Gathers and scatters: positions that come from data.
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

SmallVector<SymExpr> fewDims(Graph &g, unsigned most) {
  SmallVector<SymExpr> list;
  for (size_t i = 0, rank = g.dice(most + 1); i < rank; ++i)
    list.push_back(g.anyDim());
  return list;
}

Value pickTable(Graph &g) {
  return g.pick([&](Value v) { return g.rank(v) > 0; }, true);
}

bool gather(Graph &g) {
  Value x = pickTable(g);
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  SymExpr size = g.type(x).getDim(axis);
  if (g.least(size) < 1)
    return false;
  return g.add(g.b.create<GatherOp>(x, g.positions(fewDims(g, 2), size), axis, Outside::Clamped),
               g.know(x));
}

/// The dimensions of a tensor, another one along the axis.
SmallVector<SymExpr> dimsAlong(Graph &g, Value x, int64_t axis) {
  SmallVector<SymExpr> list = g.type(x).getDims();
  list[axis] = g.anyDim();
  return list;
}

bool gatherElements(Graph &g) {
  Value x = pickTable(g);
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  Value at = g.positions(dimsAlong(g, x, axis), g.type(x).getDim(axis));
  Knowledge k = g.know(x);
  return g.add(g.b.create<GatherElementsOp>(x, at, axis, Outside::Clamped), k);
}

bool gatherNd(Graph &g) {
  Value x = pickTable(g);
  if (!x)
    return false;
  int64_t batch = g.dice(g.rank(x)), tuple = 1 + g.dice(g.rank(x) - batch);
  SmallVector<SymExpr> list(ArrayRef(g.type(x).getDims()).take_front(batch));
  llvm::append_range(list, fewDims(g, 1));
  list.push_back(g.number(tuple));
  Value at = g.positions(list, g.type(x).getDim(batch));
  return g.add(g.b.create<GatherNdOp>(x, at, batch, Outside::Clamped), g.know(x));
}

//===-- Scatters -----------------------------------------------------------------------------------===//

ScatterKind anyKind(Graph &g, Value x) {
  return isBool(x) ? ScatterKind::Set : ScatterKind(g.dice(getMaxEnumValForScatterKind() + 1));
}

Knowledge updated(Graph &g, ScatterKind kind, Value x, Value updates) {
  Knowledge a = g.know(x), u = g.know(updates);
  Type e = g.element(x);
  double count = double(std::max<int64_t>(1, g.mostElements(g.type(updates))));
  if (kind == ScatterKind::Add && isFloat(e)) {
    Knowledge sum{a.most + count * u.most, std::max(a.quantum, u.quantum),
                  a.error + count * u.error, a.special};
    sum = g.rounded(e, sum);
    if (!sum.isExact())
      sum.error += count * precisionOf(e) * sum.most;
    return sum;
  }
  if (kind == ScatterKind::Mul && isFloat(e)) {
    double most = a.most * std::pow(std::max(1.0, u.most), count);
    return {most, 0, most * count * (a.error + u.error + 2 * precisionOf(e)), a.special};
  }
  bool computes = kind == ScatterKind::Add || kind == ScatterKind::Mul;
  return computes ? g.integers(e, 1e30) : g.either({x, updates});
}

Value updatesFor(Graph &g, ScatterKind kind, Value x, ArrayRef<SymExpr> dims) {
  Value updates = g.pickOr(g.element(x), dims, kind == ScatterKind::Mul ? 1 : 16);
  return updates;
}

bool scatterElements(Graph &g) {
  Value x = g.pick([&](Value v) { return g.rank(v) > 0 && !isHalfByte(v); });
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  SmallVector<SymExpr> list = dimsAlong(g, x, axis);
  ScatterKind kind = anyKind(g, x);
  Value updates = updatesFor(g, kind, x, list), at = g.positions(list, g.type(x).getDim(axis));
  return g.add(g.b.create<ScatterElementsOp>(kind, x, at, updates, axis, Outside::Clamped),
               updated(g, kind, x, updates));
}

bool scatterNd(Graph &g) {
  Value x = g.pick([&](Value v) { return g.rank(v) > 0 && !isHalfByte(v); });
  if (!x)
    return false;
  int64_t tuple = 1 + g.dice(g.rank(x));
  SmallVector<SymExpr> list = fewDims(g, 1), updateDims = list;
  llvm::append_range(updateDims, ArrayRef(g.type(x).getDims()).drop_front(tuple));
  list.push_back(g.number(tuple));
  ScatterKind kind = anyKind(g, x);
  Value updates = updatesFor(g, kind, x, updateDims), at = g.positions(list, g.type(x).getDim(0));
  return g.add(g.b.create<ScatterNdOp>(kind, x, at, updates, Outside::Clamped),
               updated(g, kind, x, updates));
}

constexpr Maker kMakers[] = {
    {"gather", gather, 2},     {"gather_elements", gatherElements},
    {"gather_nd", gatherNd},   {"scatter_elements", scatterElements},
    {"scatter_nd", scatterNd},
};

} // namespace

ArrayRef<Maker> indexMakers() { return kMakers; }

} // namespace weft::test
