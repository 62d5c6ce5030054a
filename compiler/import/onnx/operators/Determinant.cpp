//===- Determinant.cpp - Det ------------------------------------------------------------------------===//
//
// Gaussian elimination with the largest element of each column as its pivot, in a loop over columns, for
// all matrices of a batch at once.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

NamedAttribute integer(NodeImport &n, StringRef name, int64_t value) {
  return n.attribute(name, n.attributes().getI64IntegerAttr(value));
}

/// One column: rows [b, n, n] exchanged and reduced, and the determinants [b] so far.
SmallVector<Value> eliminate(NodeImport &n, Value matrix, Value product, SymExpr k) {
  Dims dims(typeOf(matrix).getDims());
  SymExpr batch = dims[0], size = dims[1], one = n.constant(1);
  Value rows = n.iota({one, size}, 1, n.i64()), here = n.number(n.i64(), k);
  auto columnOf = [&](Value x) { return n.reshape(n.sliceDim(x, 2, k, one), {batch, size}); };
  Value open = n.compare(CompareKind::GreaterEqual, rows, here);
  Value magnitude = n.abs(columnOf(matrix));
  magnitude = n.select(open, magnitude, n.numberLike(magnitude, -1));
  NamedAttribute largest =
      n.attribute("kind", ExtremumKindAttr::get(n.context(), ExtremumKind::Max));
  Value pivotRow = n.emit<ArgReduceOp>({magnitude}, {largest, integer(n, "axis", 1)});
  Value chosen = n.unsqueeze(pivotRow, int64_t(1));
  Value isHere = n.compare(CompareKind::Equal, rows, here),
        isChosen = n.compare(CompareKind::Equal, rows, chosen);
  Value order = n.select(isHere, chosen, n.select(isChosen, here, rows));
  matrix = n.emit<GatherNdOp>({matrix, n.reshape(order, {batch, size, one})},
                              {integer(n, "batch", 1), n.clamped()});
  if (!matrix)
    return {Value(), Value()};
  Value line = n.sliceDim(matrix, 1, k, one), column = columnOf(matrix);
  Value pivot = n.reshape(n.sliceDim(line, 2, k, one), {batch});
  Value divisor = n.unsqueeze(pivot, int64_t(1));
  Value below =
      n.binary<AndOp>(n.compare(CompareKind::Greater, rows, here),
                      n.compare(CompareKind::NotEqual, divisor, n.numberLike(divisor, 0)));
  Value factor = n.select(below, n.div(column, divisor), n.numberLike(column, 0));
  matrix = n.sub(matrix, n.mul(n.unsqueeze(factor, int64_t(2)), line));
  Value kept = n.compare(CompareKind::Equal, pivotRow, here);
  Value sign = n.select(kept, n.numberLike(pivot, 1), n.numberLike(pivot, -1));
  return {matrix, n.mul(product, n.mul(pivot, sign))};
}

void convertDet(NodeImport &n) {
  Value x = n.input(0);
  if (!x)
    return;
  unsigned rank = rankOf(x);
  if (rank < 2)
    return (void)n.wrong("the input must be matrices");
  SymExpr size = n.dim(0, rank - 2);
  if (!n.requireEqual(n.dim(0, rank - 1), size, "the number of columns"))
    return;
  Type element = elementOf(x), compute = element.isF64() ? element : n.f32();
  Dims outer(typeOf(x).getDims());
  outer.resize(rank - 2);
  SymExpr batch = n.product(outer);
  Value matrix = n.reshape(n.refine(n.convert(x, compute), rank - 1, size), {batch, size, size});
  SmallVector<Value> results =
      n.loop(size, {}, {matrix, n.fill({batch}, compute, 1)},
             [&](SymExpr k, ValueRange carried, GraphBuilder::LoopBody &body) {
               body.yielded = eliminate(n, carried[0], carried[1], k);
               return !n.refused();
             });
  if (!results.empty())
    n.result(n.convert(n.reshape(results[1], outer), element));
}

} // namespace

void addDeterminant(OperatorTable &table) { table.add({"Det", 11, kNewestOpset, convertDet}); }

} // namespace weft::onnx
