//===- Logic.cpp - Comparisons, booleans, bits and selection ----------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

template <CompareKind kind> void convertCompare(NodeImport &n) {
  n.result(n.compare(kind, n.input(0), n.input(1)));
}

template <typename Op> void convertBits(NodeImport &n) {
  n.result(n.binary<Op>(n.input(0), n.input(1)));
}

/// The value of a boolean tensor that is the same everywhere.
std::optional<bool> uniform(Value x) {
  auto fill = x ? x.getDefiningOp<FillOp>() : FillOp();
  return fill ? std::optional(!cast<IntegerAttr>(fill.getValue()).getValue().isZero())
              : std::nullopt;
}

/// `neutral` is true for And: such an operand only broadcasts.
template <typename Op, bool neutral> void convertBoolean(NodeImport &n) {
  Value a = n.input(0), b = n.input(1);
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)})
    if (std::optional<bool> value = uniform(one);
        value && *value == neutral && other && elementOf(one) == elementOf(other)) {
      SmallVector<Value, 3> operands = {one, other};
      Dims dims;
      return n.result(n.broadcast(operands, dims) ? n.expandTo(other, dims) : Value());
    }
  n.result(n.binary<Op>(a, b));
}

void convertNot(NodeImport &n) { n.result(n.unary<NotOp>(n.input(0))); }

void convertWhere(NodeImport &n) { n.result(n.select(n.input(0), n.input(1), n.input(2))); }

void convertIsNaN(NodeImport &n) { n.result(n.unary<IsNanOp>(n.input(0))); }

void convertIsInf(NodeImport &n) {
  bool negative = n.intAttribute("detect_negative", 1) != 0,
       positive = n.intAttribute("detect_positive", 1) != 0;
  auto &b = n.attributes();
  n.result(
      n.elementwise<IsInfOp>({n.input(0)}, {n.attribute("positive", b.getBoolAttr(positive)),
                                            n.attribute("negative", b.getBoolAttr(negative))}));
}

void convertBitShift(NodeImport &n) {
  std::string direction = n.textAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return (void)n.wrong("attribute 'direction' must be LEFT or RIGHT");
  ShiftKind kind = direction == "LEFT" ? ShiftKind::Left : ShiftKind::Right;
  n.result(n.binary<ShiftOp>(n.input(0), n.input(1),
                             n.attribute("kind", ShiftKindAttr::get(n.context(), kind))));
}

} // namespace

void addLogic(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Equal", 7, newest, convertCompare<CompareKind::Equal>, 2, 2});
  table.add({"Less", 7, newest, convertCompare<CompareKind::Less>, 2, 2});
  table.add({"LessOrEqual", 12, newest, convertCompare<CompareKind::LessEqual>, 2, 2});
  table.add({"Greater", 7, newest, convertCompare<CompareKind::Greater>, 2, 2});
  table.add({"GreaterOrEqual", 12, newest, convertCompare<CompareKind::GreaterEqual>, 2, 2});
  table.add({"And", 7, newest, convertBoolean<AndOp, true>, 2, 2});
  table.add({"Or", 7, newest, convertBoolean<OrOp, false>, 2, 2});
  table.add({"Xor", 7, newest, convertBits<XorOp>, 2, 2});
  table.add({"BitwiseAnd", 18, newest, convertBits<AndOp>, 2, 2});
  table.add({"BitwiseOr", 18, newest, convertBits<OrOp>, 2, 2});
  table.add({"BitwiseXor", 18, newest, convertBits<XorOp>, 2, 2});
  table.add({"BitwiseNot", 18, newest, convertNot});
  table.add({"BitShift", 11, newest, convertBitShift, 2, 2});
  table.add({"Not", 1, newest, convertNot});
  table.add({"Where", 9, newest, convertWhere, 3, 3});
  table.add({"IsNaN", 9, newest, convertIsNaN});
  table.add({"IsInf", 10, newest, convertIsInf});
}

} // namespace weft::onnx
