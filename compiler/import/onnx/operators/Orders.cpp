//===- Orders.cpp - Positions of extremes, the largest of a line, running sums ----------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

NamedAttribute axisAttribute(NodeImport &n, int64_t axis) {
  return n.attribute("axis", n.attributes().getI64IntegerAttr(axis));
}

Value positionOf(NodeImport &n, ExtremumKind kind, Value x, int64_t axis, bool last) {
  SmallVector<NamedAttribute> list = {n.attribute("kind", ExtremumKindAttr::get(n.context(), kind)),
                                      axisAttribute(n, axis)};
  if (last)
    list.push_back(n.attribute("select_last", n.attributes().getUnitAttr()));
  return n.emit<ArgReduceOp>({x}, list);
}

template <ExtremumKind kind> void convertArg(NodeImport &n) {
  int64_t axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  bool keepDims = n.intAttribute("keepdims", 1) != 0,
       last = n.intAttribute("select_last_index", 0) != 0;
  if (n.refused())
    return;
  n.requireAtMost(n.constant(1), n.dim(0, axis), "the line in which a position is looked for");
  Value at = positionOf(n, kind, n.input(0), axis, last);
  n.result(keepDims ? n.unsqueeze(at, axis) : at);
}

/// 1 at the first of the largest elements along `axis`, else 0.
Value hardmax(NodeImport &n, Value x, int64_t axis) {
  Value at = n.unsqueeze(positionOf(n, ExtremumKind::Max, x, axis, false), axis);
  if (!at)
    return {};
  Dims line(rankOf(x), n.constant(1));
  line[axis] = typeOf(x).getDim(axis);
  return n.convert(n.compare(CompareKind::Equal, at, n.iota(line, axis, n.i64())), elementOf(x));
}

void convertHardmax(NodeImport &n) {
  int64_t axis = n.axis(n.intAttribute("axis", -1), n.rank(0));
  if (!n.refused())
    n.result(hardmax(n, n.input(0), axis));
}

/// Below opset 13: all dimensions from `axis` on are one line.
void convertFlatHardmax(NodeImport &n) {
  unsigned axis = n.axis(n.intAttribute("axis", 1), n.rank(0));
  if (n.refused())
    return;
  Dims dims = n.dims(0), flat(ArrayRef<SymExpr>(dims).take_front(axis));
  flat.push_back(n.product(ArrayRef<SymExpr>(dims).drop_front(axis)));
  n.result(n.reshape(hardmax(n, n.reshape(n.input(0), flat), axis), dims));
}

//===-- TopK ----------------------------------------------------------------------------------===//

void buildTopK(NodeImport &n, SymExpr k, bool smallest) {
  int64_t axis = n.axis(n.intAttribute("axis", -1), n.rank(0));
  n.ignoreAttributes({"sorted"}); // any order will do when it is 0
  if (n.refused() || !n.requireAtMost(n.constant(0), k, "the number of elements") ||
      !n.requireAtMost(k, n.dim(0, axis), "the number of elements"))
    return;
  SmallVector<NamedAttribute> list = {n.attribute("k", n.dimsAttr({k})), axisAttribute(n, axis)};
  if (smallest)
    list.push_back(n.attribute("smallest", n.attributes().getUnitAttr()));
  n.results = n.emitAll<TopKOp>({n.input(0)}, list);
}

void convertTopKAttribute(NodeImport &n) {
  buildTopK(n, n.constant(n.intAttribute("k", -1)), false);
}

void convertTopK(NodeImport &n) {
  bool smallest = n.opset >= 11 && n.intAttribute("largest", 1) == 0;
  if (std::optional<SymExpr> k = n.sizeScalar(1))
    buildTopK(n, *k, smallest);
}

//===-- Running sums --------------------------------------------------------------------------===//

template <CombinerKind kind> void convertCumulate(NodeImport &n) {
  bool exclusive = n.intAttribute("exclusive", 0) != 0, reverse = n.intAttribute("reverse", 0) != 0;
  std::optional<int64_t> given = n.constantScalar(1);
  int64_t axis = given ? n.axis(*given, n.rank(0)) : 0;
  Value x = n.input(0);
  if (n.refused())
    return;
  SmallVector<NamedAttribute> list = {n.attribute("kind", CombinerKindAttr::get(n.context(), kind)),
                                      axisAttribute(n, axis)};
  if (exclusive)
    list.push_back(n.attribute("exclusive", n.attributes().getUnitAttr()));
  if (reverse)
    list.push_back(n.attribute("reverse", n.attributes().getUnitAttr()));
  n.result(n.emit<CumulateOp>({x}, list));
}

} // namespace

void addOrders(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"ArgMax", 1, newest, convertArg<ExtremumKind::Max>});
  table.add({"ArgMin", 1, newest, convertArg<ExtremumKind::Min>});
  table.add({"Hardmax", 1, 12, convertFlatHardmax});
  table.add({"Hardmax", 13, newest, convertHardmax});
  table.add({"TopK", 1, 9, convertTopKAttribute, 1, 1, 2});
  table.add({"TopK", 10, newest, convertTopK, 2, 2, 2});
  table.add({"CumSum", 11, newest, convertCumulate<CombinerKind::Sum>, 2, 2});
  table.add({"CumProd", 26, newest, convertCumulate<CombinerKind::Prod>, 2, 2});
}

} // namespace weft::onnx
