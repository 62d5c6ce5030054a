//===- Unique.cpp - Each element, or each slice, once ---------------------------------------------===//
//
// Slices are rows of a matrix. Rows are sorted by their columns, last column first, each time without
// disturbing equal ones; then equal rows are neighbours, and the first of each run is one result. How many
// there are becomes a symbol.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Selections.h"

using namespace mlir;

namespace weft::onnx {
namespace {

NamedAttribute axisZero(NodeImport &n) {
  return n.attribute("axis", n.attributes().getI64IntegerAttr(0));
}

/// Elements or rows of `x` at positions that exist.
Value pick(NodeImport &n, Value x, Value positions) {
  return n.emit<GatherOp>({x, positions}, {axisZero(n), n.clamped()});
}

Value place(NodeImport &n, ScatterKind kind, Value into, Value positions, Value values) {
  NamedAttribute how = n.attribute("kind", ScatterKindAttr::get(n.context(), kind));
  return n.emit<ScatterElementsOp>({into, positions, values}, {how, axisZero(n), n.clamped()});
}

Value runningTotal(NodeImport &n, CombinerKind kind, Value x, bool exclusive) {
  SmallVector<NamedAttribute> list{n.attribute("kind", CombinerKindAttr::get(n.context(), kind)),
                                   axisZero(n)};
  if (exclusive)
    list.push_back(n.attribute("exclusive", n.attributes().getUnitAttr()));
  return n.emit<CumulateOp>({x}, list);
}

/// The order of the rows by one of their columns, where they are in `order` now.
Value sortedBy(NodeImport &n, Value columns, SymExpr column, Value order) {
  if (!columns || !order)
    return {};
  SymExpr count = typeOf(columns).getDim(1);
  Value keys = pick(n, n.reshape(n.sliceDim(columns, 0, column, n.constant(1)), {count}), order);
  SmallVector<Value, 2> sorted =
      n.emitAll<TopKOp>({keys}, {n.attribute("k", n.dimsAttr({count})), axisZero(n),
                                 n.attribute("smallest", n.attributes().getUnitAttr())});
  return sorted.size() == 2 ? pick(n, order, sorted[1]) : Value();
}

/// Positions of the rows of [rows, columns] in ascending order of the rows.
Value orderOfRows(NodeImport &n, Value matrix) {
  SymExpr rows = typeOf(matrix).getDim(0), columns = typeOf(matrix).getDim(1);
  Value turned = n.transpose(matrix, {1, 0}), order = n.iota({rows}, 0, n.i64());
  if (columns.isConstant(1))
    return sortedBy(n, turned, n.constant(0), order);
  SmallVector<Value> results = n.loop(
      columns, {}, {order}, [&](SymExpr i, ValueRange carried, GraphBuilder::LoopBody &body) {
        body.yielded = {sortedBy(n, turned, columns - 1 - i, carried[0])};
        return !n.refused();
      });
  return results.empty() ? Value() : results[0];
}

/// Which sorted rows differ from the one before them.
Value beginsRun(NodeImport &n, Value sorted) {
  Value index = n.iota({typeOf(sorted).getDim(0)}, 0, n.i64()), zero = n.number(n.i64(), 0.0);
  Value before = pick(n, sorted, n.maximum(n.sub(index, n.number(n.i64(), 1.0)), zero));
  Value differs = n.compare(CompareKind::NotEqual, sorted, before);
  differs = n.reduce(CombinerKind::Or, differs, {1}, false);
  return n.binary<OrOp>(differs, n.compare(CompareKind::Equal, index, zero));
}

void convertUnique(NodeImport &n) {
  Value x = n.input(0);
  std::optional<int64_t> given = n.intAttribute("axis");
  bool sorts = n.intAttribute("sorted", 1) != 0;
  if (!x)
    return;
  unsigned axis = given ? n.axis(*given, rankOf(x)) : 0;
  if (n.refused())
    return;
  x = given ? n.moveDim(x, axis, 0) : n.reshape(x, typeOf(x).getElements());
  if (!x)
    return;
  Dims dims(typeOf(x).getDims());
  SymExpr count = dims[0];
  Value matrix = n.reshape(x, {count, n.product(ArrayRef<SymExpr>(dims).drop_front())});
  Value order = matrix ? orderOfRows(n, matrix) : Value();
  if (!order)
    return;
  Value begins = beginsRun(n, pick(n, matrix, order));
  Value numbers = n.convert(begins, n.i64());
  // The original position of the first row of each run, by sorted row: order is kept among equals.
  Value index = n.iota({count}, 0, n.i64()), none = n.fill({count}, n.i64(), 0);
  Value start =
      runningTotal(n, CombinerKind::Max, n.select(begins, index, n.number(n.i64(), 0.0)), false);
  Value first = pick(n, order, start);
  Value rank;   // the number of the run among the results, by sorted row
  Value chosen; // where the results are in x
  if (sorts) {
    rank = n.sub(runningTotal(n, CombinerKind::Sum, numbers, false), n.number(n.i64(), 1.0));
    chosen = pick(n, order, positionsOf(n, begins, "unique"));
  } else {
    Value isFirst = place(n, ScatterKind::Set, none, order, numbers); // by row of x
    rank = pick(n, runningTotal(n, CombinerKind::Sum, isFirst, true), first);
    chosen =
        positionsOf(n, n.compare(CompareKind::NotEqual, isFirst, n.number(n.i64(), 0.0)), "unique");
  }
  if (!chosen || !rank)
    return;
  Value inverse = place(n, ScatterKind::Set, none, order, rank);
  Value sizes = place(n, ScatterKind::Add, none, rank, n.fill({count}, n.i64(), 1));
  sizes = sizes ? n.sliceDim(sizes, 0, n.constant(0), typeOf(chosen).getDim(0)) : Value();
  Value y = pick(n, x, chosen);
  n.results = {given ? n.moveDim(y, 0, axis) : y, chosen, inverse, sizes};
}

} // namespace

void addUnique(OperatorTable &table) {
  table.add({"Unique", 11, kNewestOpset, convertUnique, 1, 1, 4});
}

} // namespace weft::onnx
