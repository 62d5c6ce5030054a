//===- HiddenBlocks.cpp ---------------------------------------------------------------------------===//

#include "passes/parallel/HiddenBlocks.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLongest = int64_t(1) << 24; ///< pieces of which a mask is still worth a look
constexpr unsigned kMostLooks = 500;           ///< at operations, for one block

Scalar none() { return Scalar::of(SymExpr()); }

bool isLeast(const Scalar &value) { return value.kind == Scalar::Real && value.real == -INFINITY; }

/// The number that all elements of a constant are.
Scalar numberOf(ConstantOp constant) {
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  Attribute number = splat ? splat.getSplatValue<Attribute>() : Attribute();
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return Scalar::of(real.getValueAsDouble());
  auto integer = dyn_cast_or_null<IntegerAttr>(number);
  if (!integer || integer.getValue().getBitWidth() > 64)
    return none();
  bool extendsSign = !isUnsigned(elementOf(constant.getResult())) &&
                     integer.getValue().getBitWidth() > 1; // true is 1
  return Scalar::of(extendsSign ? integer.getValue().getSExtValue()
                                : int64_t(integer.getValue().getZExtValue()));
}

/// Each element is one of the operand, or a function of the elements at its place.
bool isPointwise(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  if (!element || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  if (op->getNumOperands() == 1 && element.rootKind() == RootKind::View)
    return elementOf(op->getOperand(0)) == elementOf(op->getResult(0));
  if (element.rootKind() == RootKind::Serial || !isa<RuleOpInterface>(op) ||
      isa<PositionsOpInterface>(op))
    return false;
  IterationRule rule = IterationRule::of(op);
  auto isPoint = [](const Access &access) {
    return access.kind == AccessKind::Point || access.kind == AccessKind::Fixed;
  };
  for (unsigned i = 0; i < rule.operandCount(); ++i)
    if (!llvm::all_of(rule.operand(i), isPoint))
      return false;
  return llvm::none_of(rule.factors(), [](const Factor &factor) { return factor.reduced; });
}

/// The first position of a stretch of pieces of `length` tokens; parts are shorter by `less` than their pieces together.
SymExpr firstOf(Stretch at, SymExpr length, SymExpr less) {
  return at.pieces == 1 ? length * at.owner
                        : (length * 2 - less) * at.owner + length * int64_t(at.piece);
}

} // namespace

Scalar HiddenBlocks::at(Value value, const Spans &spans) {
  Operation *op = value.getDefiningOp();
  if (!op || ++looks > kMostLooks)
    return none();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return numberOf(constant);
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.evaluateScalar({}, facts);
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Span span = spans[iota.getDim()];
    return span == Span::Rows      ? Scalar::of(row)
           : span == Span::Columns ? Scalar::of(column)
                                   : none();
  }
  if (!isPointwise(op))
    return none();
  std::optional<SmallVector<Spans, 3>> needed = blocks.operandSpans(op, spans);
  if (!needed)
    return none();
  SmallVector<Scalar> elements;
  for (auto [operand, of] : llvm::zip_equal(op->getOperands(), *needed))
    elements.push_back(at(operand, of));
  if (isa<AddOp>(op) && llvm::any_of(elements, isLeast)) // whatever the other is
    return Scalar::of(-double(INFINITY));
  Scalar made = cast<ElementOpInterface>(op).evaluateScalar(elements, facts);
  if (made.kind == Scalar::Integer)
    made.integer = wrapInteger(elementOf(value), made.integer);
  return made;
}

bool HiddenBlocks::isHidden(Value scores, const Spans &spans, Stretch rows, Stretch columns,
                            int64_t least) {
  MLIRContext *context = scores.getContext();
  auto symbol = [&](StringRef name) { return SymExpr::symbol(context, name); };
  SymExpr length = symbol("piece.length"), less = symbol("piece.less"), i = symbol("piece.row"),
          j = symbol("piece.column"), one = SymExpr::constant(context, 1);
  auto lastOf = [&](Stretch at) {
    return at.pieces > 1 && at.piece + 1 == at.pieces ? length - less - 1 : length - 1;
  };
  SymFacts assumed = SymFacts(context)
                         .with(SymPred::le(one * least, length))
                         .with(SymPred::le(less, one))
                         .with(SymPred::le(i, lastOf(rows)))
                         .with(SymPred::le(j, lastOf(columns)));
  row = firstOf(rows, length, less) + i;
  column = firstOf(columns, length, less) + j;
  facts = &assumed;
  looks = 0;
  bool isHidden = isLeast(at(scores, spans));
  facts = nullptr;
  return isHidden;
}

int64_t HiddenBlocks::from(Value scores, const Spans &spans, Stretch rows, Stretch columns,
                           int64_t least) {
  if (isHidden(scores, spans, rows, columns, least))
    return least;
  int64_t low = least, high = kLongest;
  if (low >= high || !isHidden(scores, spans, rows, columns, high))
    return kNeverHidden;
  while (low + 1 < high) {
    int64_t middle = low + (high - low) / 2;
    (isHidden(scores, spans, rows, columns, middle) ? high : low) = middle;
  }
  return high;
}

} // namespace weft
