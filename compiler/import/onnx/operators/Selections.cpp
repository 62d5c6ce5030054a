//===- Selections.cpp - NonZero, Compress, NonMaxSuppression ----------------------------------===//
//
// How many elements are selected is known when the program runs. Their positions are written to the
// front of a list that has room for all, the number becomes a symbol, and the list is cut there.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Selections.h"
#include "compiler/import/onnx/operators/Operators.h"
#include <limits>

using namespace mlir;

namespace weft::onnx {
namespace {

NamedAttribute axisAttribute(NodeImport &n, unsigned axis) {
  return n.attribute("axis", n.attributes().getI64IntegerAttr(axis));
}

} // namespace

Value positionsOf(NodeImport &n, Value mask, StringRef name) {
  if (!mask)
    return {};
  SymExpr size = typeOf(mask).getDim(0);
  Value ones = n.convert(mask, n.i64());
  NamedAttribute sum = n.attribute("kind", CombinerKindAttr::get(n.context(), CombinerKind::Sum));
  NamedAttribute exclusive = n.attribute("exclusive", n.attributes().getUnitAttr());
  Value before = n.emit<CumulateOp>({ones}, {sum, axisAttribute(n, 0), exclusive});
  Value place = n.select(mask, before, n.number(n.i64(), size)); // behind the end: left out
  NamedAttribute set = n.attribute("kind", ScatterKindAttr::get(n.context(), ScatterKind::Set));
  Value room = n.fill({size}, n.i64(), 0.0), all = n.iota({size}, 0, n.i64());
  Value list =
      n.emit<ScatterElementsOp>({room, place, all}, {set, axisAttribute(n, 0), n.clamped()});
  SymExpr count = n.bindSymbol(n.reduce(CombinerKind::Sum, ones, {0}, false), name, size);
  return count ? n.sliceDim(list, 0, n.constant(0), count) : Value();
}

namespace {

Value isTrue(NodeImport &n, Value x) {
  return !x || elementOf(x).isInteger(1) ? x
                                         : n.compare(CompareKind::NotEqual, x, n.numberLike(x, 0));
}

/// Index `d` of row-major positions in a tensor of these dimensions.
Value indexOf(NodeImport &n, Value positions, ArrayRef<SymExpr> dims, unsigned d) {
  Value outer = n.div(positions, n.number(n.i64(), n.product(dims.drop_front(d + 1))));
  return d == 0 ? outer : n.binary<RemOp>(outer, n.number(n.i64(), dims[d]));
}

void convertNonZero(NodeImport &n) {
  Value x = n.input(0);
  if (!x)
    return;
  Dims dims(typeOf(x).getDims());
  Value positions = positionsOf(n, n.reshape(isTrue(n, x), n.product(dims)), "nonzero");
  if (dims.empty() && positions) // a scalar has no indices: only their number is known
    return n.result(n.fill({n.constant(0), typeOf(positions).getDim(0)}, n.i64(), 0.0));
  SmallVector<Value> rows;
  for (unsigned d = 0; d < dims.size(); ++d)
    rows.push_back(n.unsqueeze(indexOf(n, positions, dims, d), int64_t(0)));
  n.result(n.concat(rows, 0));
}

void convertCompress(NodeImport &n) {
  Value x = n.input(0), condition = isTrue(n, n.input(1));
  std::optional<int64_t> given = n.intAttribute("axis");
  if (!x || !condition)
    return;
  if (rankOf(condition) != 1)
    return (void)n.wrong("the condition must have one dimension");
  unsigned axis = given ? n.axis(*given, rankOf(x)) : 0;
  if (!given)
    x = n.reshape(x, typeOf(x).getElements());
  if (!x || !n.requireAtMost(typeOf(condition).getDim(0), typeOf(x).getDim(axis),
                             "the condition's length"))
    return;
  Value positions = positionsOf(n, condition, "selected");
  n.result(n.emit<GatherOp>({x, positions}, {axisAttribute(n, axis), n.clamped()}));
}

//===-- NonMaxSuppression ---------------------------------------------------------------------===//

/// Edges of boxes [batch, boxes], and areas.
struct Boxes {
  Value low[2], high[2], area;
};

Boxes readBoxes(NodeImport &n, Value boxes, bool byCentre) {
  Dims dims(ArrayRef<SymExpr>(typeOf(boxes).getDims()).drop_back());
  auto part = [&](int64_t k) {
    return n.reshape(n.sliceDim(boxes, 2, n.constant(k), n.constant(1)), dims);
  };
  Boxes result;
  for (int axis = 0; axis < 2; ++axis) {
    Value a = part(axis), b = part(axis + 2);
    if (byCentre) {
      Value half = n.mul(b, n.numberLike(b, 0.5));
      b = n.add(a, half);
      a = n.sub(a, half);
    }
    result.low[axis] = n.minimum(a, b);
    result.high[axis] = n.maximum(a, b);
  }
  result.area = n.mul(n.sub(result.high[0], result.low[0]), n.sub(result.high[1], result.low[1]));
  return result;
}

/// Intersection over union of one box per class, [batch, classes], with all of its batch.
Value overlaps(NodeImport &n, const Boxes &boxes, Value chosen) {
  auto ofChosen = [&](Value edge) {
    return n.unsqueeze(n.emit<GatherElementsOp>({edge, chosen}, {axisAttribute(n, 1), n.clamped()}),
                       int64_t(2));
  };
  auto ofAll = [&](Value edge) { return n.unsqueeze(edge, int64_t(1)); };
  Value common;
  for (int axis = 0; axis < 2; ++axis) {
    Value low = n.maximum(ofChosen(boxes.low[axis]), ofAll(boxes.low[axis]));
    Value high = n.minimum(ofChosen(boxes.high[axis]), ofAll(boxes.high[axis]));
    Value length = n.sub(high, low);
    length = n.maximum(length, n.numberLike(length, 0));
    common = common ? n.mul(common, length) : length;
  }
  Value all = n.sub(n.add(ofChosen(boxes.area), ofAll(boxes.area)), common);
  Value positive = n.compare(CompareKind::Greater, all, n.numberLike(all, 0));
  return n.select(positive, n.div(common, all), n.numberLike(common, 0));
}

/// The most boxes per class: the third input, a constant or a symbol.
std::optional<SymExpr> mostBoxes(NodeImport &n, SymExpr boxes) {
  if (!n.hasInput(2))
    return n.constant(0);
  const RefTensor *known = n.known(n.input(2));
  SymExpr most = known && known->size() == 1 ? elementExpr(*known, 0) : SymExpr();
  if (!most) {
    Value number = n.convert(n.input(2), n.i64());
    number = n.minimum(n.maximum(number, n.numberLike(number, 0)), n.number(n.i64(), boxes));
    most = n.bindSymbol(number, "most", boxes);
  }
  if (!most)
    return std::nullopt;
  if (most.asConstant().value_or(0) > kMaxSymbolValue)
    return boxes;
  return n.simplify(n.smaller(n.larger(most, n.constant(0)), boxes));
}

/// Best first, each time for all classes at once: what overlaps the chosen box too much drops out.
void convertNonMaxSuppression(NodeImport &n) {
  Value boxes = n.input(0), scores = n.input(1);
  bool byCentre = n.intAttribute("center_point_box", 0) != 0;
  if (!boxes || !scores)
    return;
  if (rankOf(boxes) != 3 || rankOf(scores) != 3)
    return (void)n.wrong("boxes and scores must have three dimensions");
  SymExpr batch = typeOf(boxes).getDim(0), classes = typeOf(scores).getDim(1),
          count = typeOf(boxes).getDim(1);
  if (!n.requireEqual(typeOf(scores).getDim(0), batch, "the batch of the scores") ||
      !n.requireEqual(typeOf(scores).getDim(2), count, "the number of scores") ||
      !n.requireEqual(typeOf(boxes).getDim(2), n.constant(4), "the last dimension of the boxes"))
    return;
  scores = n.refine(n.refine(scores, 0, batch), 2, count);
  std::optional<SymExpr> most = mostBoxes(n, count);
  if (!most)
    return;
  auto scalar = [&](unsigned i) { return n.hasInput(i) ? n.reshape(n.input(i), {}) : Value(); };
  Value overlapLimit = n.hasInput(3) ? scalar(3) : n.number(n.f32(), 0.0), scoreLimit = scalar(4);
  Boxes edges = readBoxes(n, boxes, byCentre);
  Value alive = scoreLimit ? n.compare(CompareKind::Greater, scores, scoreLimit)
                           : n.fill(typeOf(scores).getDims(), n.i1(), 1.0);
  SmallVector<Value> results =
      n.loop(*most, {}, {alive}, [&](SymExpr, ValueRange carried, GraphBuilder::LoopBody &body) {
        Value open =
            n.select(carried[0], scores,
                     n.number(elementOf(scores), -std::numeric_limits<double>::infinity()));
        NamedAttribute kind =
            n.attribute("kind", ExtremumKindAttr::get(n.context(), ExtremumKind::Max));
        Value best = n.emit<ArgReduceOp>({open}, {kind, axisAttribute(n, 2)});
        Value any =
            n.compare(CompareKind::Greater,
                      n.reduce(CombinerKind::Max, n.convert(carried[0], n.i32()), {2}, false),
                      n.number(n.i32(), 0.0));
        Value apart = n.compare(CompareKind::LessEqual, overlaps(n, edges, best), overlapLimit);
        Value other = n.compare(CompareKind::NotEqual,
                                n.iota({n.constant(1), n.constant(1), count}, 2, n.i64()),
                                n.unsqueeze(best, int64_t(2)));
        body.yielded = {n.binary<AndOp>(carried[0], n.binary<AndOp>(apart, other)), best, any};
        return !n.refused();
      });
  if (results.empty())
    return;
  auto flat = [&](Value x) {
    return n.reshape(n.transpose(x, {1, 2, 0}), batch * classes * *most);
  };
  Value positions = positionsOf(n, flat(results[2]), "selected");
  Value box = n.emit<GatherOp>({flat(results[1]), positions}, {axisAttribute(n, 0), n.clamped()});
  SymExpr dims[] = {batch, classes, *most};
  SmallVector<Value> columns;
  for (Value column : {indexOf(n, positions, dims, 0), indexOf(n, positions, dims, 1), box})
    columns.push_back(n.unsqueeze(column, int64_t(1)));
  n.result(n.concat(columns, 1));
}

} // namespace

void addSelections(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"NonZero", 9, newest, convertNonZero});
  table.add({"Compress", 9, newest, convertCompress, 2, 2});
  table.add({"NonMaxSuppression", 10, newest, convertNonMaxSuppression, 2, 5});
}

} // namespace weft::onnx
