//===- Split.cpp - Cuts that follow from rules ------------------------------------------------------===//

#include "dialects/weft/interfaces/SplitStored.h"

using namespace mlir;

namespace weft {

std::string splitTextByRule(Operation *op) {
  return isa<RuleOpInterface>(op) ? cast<RuleOpInterface>(op).ruleText() : "";
}

namespace {

/// How one factor lies in the dimensions of tensors.
class FactorCut {
public:
  FactorCut(const IterationRule &rule, unsigned factor) : rule(rule), factor(factor) {}

  /// Nothing when it does not lie in one dimension as a whole, or in none.
  std::optional<std::optional<Cut::Dim>> in(ArrayRef<Access> accesses, SymTensorType type) {
    std::optional<Cut::Dim> found;
    for (auto [d, access] : llvm::enumerate(accesses)) {
      if (llvm::none_of(access.terms,
                        [&](const Access::Term &term) { return term.factor == factor; }))
        continue;
      SymExpr stride = strideIn(access, type.getDim(d));
      if (found || !stride)
        return std::nullopt;
      found = Cut::Dim{unsigned(d), stride};
    }
    return found;
  }

  bool isCoupled = false;

private:
  /// Neighbours that one step of the factor spans; null when others lie before it.
  SymExpr strideIn(const Access &access, SymExpr dim) {
    SymExpr stride = SymExpr::constant(dim.getContext(), 1);
    switch (access.kind) {
    case AccessKind::Coupled:
      isCoupled = true;
      return stride;
    case AccessKind::Point:
      return stride;
    case AccessKind::Merge: {
      bool isBehind = false;
      for (const Access::Term &term : access.terms) {
        SymExpr extent = rule.factors()[term.factor].extent;
        if (isBehind)
          stride = stride * extent;
        else if (term.factor == factor)
          isBehind = true;
        else if (!extent.isConstant(1))
          return {};
      }
      return stride;
    }
    case AccessKind::Window: { // all elements where they are
      bool isPoint = access.terms.size() == 1 && access.terms[0].coefficient.isConstant(1) &&
                     access.offset.isConstant(0) && dim == rule.factors()[factor].extent;
      return isPoint ? stride : SymExpr();
    }
    case AccessKind::Fixed:
    case AccessKind::Maybe:
    case AccessKind::Ordered:
    case AccessKind::Whole:
      return {};
    }
    llvm_unreachable("closed set");
  }

  const IterationRule &rule;
  unsigned factor;
};

/// Ranks combine no bits of numbers, and no floats of 8 bits or less.
bool isCombined(Combiner combiner, SymTensorType type) {
  Type element = type.getElementType();
  bool isOfBits = combiner == Combiner::And || combiner == Combiner::Or;
  if (element.isInteger(1))
    return isOfBits || combiner == Combiner::Max || combiner == Combiner::Min;
  return !isOfBits && (!isFloat(element) || elementBits(element) > 8);
}

std::optional<Cut> cutBy(Operation *op, const IterationRule &rule, unsigned factor) {
  if (std::optional<int64_t> extent = rule.factors()[factor].extent.asConstant();
      extent && *extent < 2)
    return std::nullopt;
  FactorCut lies(rule, factor);
  Cut cut;
  bool isRead = false;
  for (unsigned i = 0; i < rule.operandCount(); ++i) {
    auto dim = lies.in(rule.operand(i), cast<SymTensorType>(op->getOperand(i).getType()));
    if (!dim)
      return std::nullopt;
    isRead |= dim->has_value();
    cut.operands.push_back(*dim);
  }
  for (unsigned i = 0; i < rule.resultCount(); ++i) {
    auto dim = lies.in(rule.result(i), cast<SymTensorType>(op->getResult(i).getType()));
    if (!dim || (!*dim && !rule.factors()[factor].reduced))
      return std::nullopt;
    if (*dim && isPacked(cast<SymTensorType>(op->getResult(i).getType()).getElementType()))
      return std::nullopt; // ranks could not send each other what they compute
    cut.results.push_back(*dim);
  }
  if (rule.factors()[factor].reduced) {
    cut.partial = rule.namedCombiner();
    if (!cut.partial || !isCombined(*cut.partial, cast<SymTensorType>(op->getResult(0).getType())))
      return std::nullopt;
  }
  cut.inPieces = lies.isCoupled;
  if (!isRead || (cut.inPieces && !isa<CompositeOpInterface>(op)))
    return std::nullopt;
  fillBytes(op, cut);
  return cut;
}

} // namespace

SmallVector<Cut, 4> cutsByText(Operation *op, StringRef text) {
  SmallVector<Cut, 4> cuts;
  if (auto blocks = dyn_cast<DequantizeBlocksOp>(op)) // has no rule
    return cutsOfBlocks(blocks);
  if (text.empty())
    return cuts;
  FailureOr<IterationRule> rule =
      IterationRule::bind(text, op->getOperandTypes(), op->getResultTypes(), [](const Twine &) {});
  if (failed(rule))
    return cuts;
  for (unsigned factor = 0; factor < rule->factors().size(); ++factor)
    if (std::optional<Cut> cut = cutBy(op, *rule, factor))
      cuts.push_back(std::move(*cut));
  return cuts;
}

} // namespace weft
