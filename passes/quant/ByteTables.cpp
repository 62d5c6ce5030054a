//===- ByteTables.cpp -------------------------------------------------------------------------===//

#include "passes/quant/ByteTables.h"
#include "dialects/weft/ops/Quantize.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLeastElements = 1 << 12; ///< of a table that is worth a decision
constexpr float kMostByte = 127;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Each row by a scale of its own.
ByteWeight roundRows(ArrayRef<float> elements, size_t columns) {
  ByteWeight rounded;
  for (; !elements.empty(); elements = elements.drop_front(columns)) {
    float most = 0;
    for (float each : elements.take_front(columns))
      most = std::max(most, std::fabs(each));
    float scale = most > 0 ? most / kMostByte : 1; // a row of zeros has a scale, too
    rounded.scales.push_back(scale);
    for (float each : elements.take_front(columns))
      rounded.bytes.push_back(
          int8_t(std::clamp(std::nearbyint(each / scale), -kMostByte, kMostByte)));
  }
  return rounded;
}

} // namespace

std::vector<ByteTable> byteTables(func::FuncOp function) {
  std::vector<ByteTable> tables;
  for (auto read : function.getBody().front().getOps<GatherOp>()) {
    auto table = read.getInput().getDefiningOp<ConstantOp>();
    if (!table || !typeOf(table.getResult()).getElementType().isF32())
      continue;
    auto dims = typeOf(table.getResult()).getConstantDims();
    if (dims && dims->size() == 2 && (*dims)[1] > 1 && (*dims)[0] * (*dims)[1] >= kLeastElements &&
        table->hasOneUse() && read.getAxis() == 0)
      tables.push_back({read, table, (*dims)[0], (*dims)[1]});
  }
  return tables;
}

Value buildTable(ImplicitLocOpBuilder &b, const ByteTable &table, const WeightFiles &files) {
  std::vector<float> elements = floatsOf(table.table, files.read);
  if (elements.empty())
    return {};
  ByteWeight rounded = roundRows(elements, size_t(table.columns));
  Value bytes = byteConstant(b, typeOf(table.table.getResult()).withElement(b.getI8Type()),
                             std::move(rounded.bytes), files);
  Value scales = b.create<ConstantOp>(
      SymTensorType::get(
          {SymExpr::constant(b.getContext(), table.rows), SymExpr::constant(b.getContext(), 1)},
          b.getF32Type()),
      DenseElementsAttr::get(RankedTensorType::get({table.rows, 1}, b.getF32Type()),
                             ArrayRef<float>(rounded.scales)));
  SymTensorType result = typeOf(table.read.getResult());
  SmallVector<SymExpr> one(result.getDims());
  one.back() = SymExpr::constant(b.getContext(), 1);
  auto readOf = [&](Value from, SymTensorType type) {
    Operation *read = b.clone(*table.read);
    read->removeAttr(kTableChosenAttr);
    read->setOperand(0, from);
    read->getResult(0).setType(type);
    return read->getResult(0);
  };
  Value q = readOf(bytes, result.withElement(b.getI8Type()));
  Value s = readOf(scales, SymTensorType::get(one, b.getF32Type()));
  Value zero = b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), b.getI8Type()),
                                b.getIntegerAttr(b.getI8Type(), 0));
  return b.create<DequantizeOp>(q, s, zero);
}

} // namespace weft
