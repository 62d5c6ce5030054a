//===- Assignment.cpp ---------------------------------------------------------------------------===//

#include "passes/parallel/Assignment.h"
#include "dialects/symbolic/Multiples.h"
#include "dialects/weft/ranks/Together.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGuess = 128; ///< what symbols are taken for
constexpr double kGivenWeight =
    1e9; ///< of votes that users gave: they decide against all that follows
constexpr unsigned kMostRounds = 20;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Every dimension that a cut goes through, with its stride, but for those that are cut on their own.
void forDims(Operation *op, const Cut &cut, function_ref<void(Value, Cut::Dim)> visit) {
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), cut.operands))
    if (dim && dim->stride)
      visit(operand, *dim);
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), cut.results))
    if (dim)
      visit(result, *dim);
}

} // namespace

double guessedBytes(Value value) {
  SymExpr elements = typeOf(value).getElements();
  SymValues values;
  for (StringAttr symbol : elements.symbols())
    values[symbol] = symbol.getValue().starts_with("rank_") ? 0 : kGuess;
  FailureOr<int64_t> count = elements.evaluate(values);
  return (failed(count) ? double(kGuess) : double(*count)) *
         double(elementBytes(typeOf(value).getElementType(), 8)) / 8;
}

bool isRepeated(Operation *op, unsigned dim) {
  auto splits = dyn_cast<SplitOpInterface>(op);
  if (!splits || splits.sizesName().empty() || splits.splitText().empty())
    return false;
  FailureOr<IterationRule> rule = IterationRule::bind(splits.splitText(), op->getOperandTypes(),
                                                      op->getResultTypes(), [](const Twine &) {});
  if (failed(rule) || rule->result(0)[dim].kind != AccessKind::Point)
    return false;
  unsigned factor = rule->result(0)[dim].factor();
  for (unsigned i = 0; i < rule->operandCount(); ++i)
    for (const Access &access : rule->operand(i))
      if (llvm::any_of(access.terms,
                       [&](const Access::Term &term) { return term.factor == factor; }))
        return false;
  return true;
}

PlacementAttr placementOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function
               ? function.getArgAttrOfType<PlacementAttr>(argument.getArgNumber(), kPlacementAttr)
               : PlacementAttr();
  }
  Operation *op = value.getDefiningOp();
  return value == op->getResult(0) ? op->getAttrOfType<PlacementAttr>(kPlacementAttr)
                                   : PlacementAttr();
}

Wish wishFor(Value value, StringAttr axis) {
  PlacementAttr placement = placementOf(value);
  if (!placement)
    return {};
  std::optional<unsigned> dim = placement.getDim(axis);
  return {!dim && !placement.isWhole(), dim};
}

Assignment::Assignment(func::FuncOp function, StringAttr axis)
    : axis(axis),
      ranks(function->getAttrOfType<MeshAttr>(kSplitOverAttr).getSize(axis).value_or(1)) {
  for (Operation &op : function.getBody().front()) {
    Choices cuts;
    if (auto splits = dyn_cast<SplitOpInterface>(op))
      cuts = splits.cuts();
    if (auto together = dyn_cast<TogetherOpInterface>(op))
      cuts.append(together.cutsTogether());
    llvm::erase_if(cuts, [&](const Cut &cut) { return leavesRanksIdle(&op, cut); });
    if (!cuts.empty())
      choices.emplace_back(&op, std::move(cuts));
  }
  findUnits();
  for (unsigned place = 0; place < choices.size(); ++place)
    places[choices[place].first] = place;
  for (auto &[op, cuts] : choices)
    llvm::erase_if(cuts, [&, op = op](const Cut &cut) { return !isUsable(op, cut); });
  for (BlockArgument argument : function.getArguments())
    if (Wish wish = wishFor(argument, axis); wish.dim)
      split[argument] = *wish.dim;
  for (Operation &op : function.getBody().front())
    if (isa<ConstantOp>(op))
      if (Wish wish = wishFor(op.getResult(0), axis); wish.dim)
        split[op.getResult(0)] = *wish.dim;
  spreadForward();
  spreadBackward();
}

//===-- Units ------------------------------------------------------------------------------------===//

SymExpr Assignment::unitOf(Value value, unsigned dim) const {
  auto found = units.find({value, dim});
  return found == units.end() ? SymExpr::constant(value.getContext(), 1) : found->second;
}

/// Heads of keys that several heads of queries share, fewer than there are ranks: cut between them, some ranks would have none. Not cut, all ranks
/// have them, and each reads those that its queries share.
bool Assignment::leavesRanksIdle(Operation *op, const Cut &cut) const {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 || !cut.operands[0] || !cut.results[0])
    return false;
  Operation *repeats = op->getOperand(0).getDefiningOp();
  unsigned dim = cut.operands[0]->dim;
  SymTensorType from = typeOf(op->getOperand(0));
  auto shared = cut.results[0]->stride ? cut.results[0]->stride.asConstant() : std::nullopt,
       heads = from.getDim(dim).asConstant();
  if (!repeats || !shared || !heads || *shared < 2 || *heads >= ranks ||
      dim + 1 >= from.getRank() || !from.getDim(dim + 1).isConstant(*shared) ||
      !isRepeated(repeats, dim + 1))
    return false;
  return llvm::divideCeil(*heads, ranks) * *shared > llvm::divideCeil(*heads * *shared, ranks);
}

/// The least step of the cut by which every dimension is cut between its units; null when there is none.
SymExpr Assignment::stepOf(Operation *op, const Cut &cut) const {
  SymExpr step = SymExpr::constant(op->getContext(), 1);
  forDims(op, cut, [&](Value value, Cut::Dim dim) {
    SymExpr whole = step ? commonMultiple(unitOf(value, dim.dim), dim.stride) : SymExpr(),
            needed = whole ? exactQuotient(whole, dim.stride) : SymExpr();
    step = needed ? commonMultiple(step, needed) : SymExpr();
  });
  return step;
}

/// Whether units grew.
bool Assignment::join(Operation *op, const Cut &cut) {
  SymExpr step = stepOf(op, cut);
  bool hasGrown = false;
  if (step)
    forDims(op, cut, [&](Value value, Cut::Dim dim) {
      SymExpr unit = step * dim.stride;
      hasGrown |= unit != unitOf(value, dim.dim);
      units[{value, dim.dim}] = unit;
    });
  return hasGrown;
}

void Assignment::findUnits() {
  bool hasGrown = true;
  for (unsigned round = 0; hasGrown && round < kMostRounds; ++round) {
    hasGrown = false;
    for (const auto &[op, cuts] : choices)
      for (const Cut &cut : cuts)
        hasGrown |= join(op, cut);
  }
}

/// One step is the same everywhere, and there are several.
bool Assignment::isUsable(Operation *op, const Cut &cut) const {
  SymExpr step = stepOf(op, cut);
  bool isUsable = bool(step);
  forDims(op, cut, [&](Value value, Cut::Dim dim) {
    if (!isUsable || step * dim.stride != unitOf(value, dim.dim)) {
      isUsable = false;
      return;
    }
    SymExpr count = exactQuotient(typeOf(value).getDim(dim.dim), unitOf(value, dim.dim));
    isUsable = count && count.asConstant().value_or(2) >= 2;
  });
  return isUsable;
}

//===-- Votes ------------------------------------------------------------------------------------===//

const Cut *Assignment::cutOf(Operation *op) const {
  auto found = chosen.find(op);
  return found == chosen.end() ? nullptr : &found->second;
}

ArrayRef<Cut> Assignment::cutsOf(Operation *op) const {
  auto found = places.find(op);
  return found == places.end() ? ArrayRef<Cut>() : choices[found->second].second;
}

std::optional<unsigned> Assignment::wantedBy(Value value) const {
  std::optional<unsigned> wanted;
  for (OpOperand &use : value.getUses()) {
    const Cut *cut = cutOf(use.getOwner());
    if (!cut || !cut->operands[use.getOperandNumber()])
      return std::nullopt;
    unsigned dim = cut->operands[use.getOperandNumber()]->dim;
    if (wanted && *wanted != dim)
      return std::nullopt;
    wanted = dim;
  }
  return wanted;
}

/// Bytes that lie as the cut wants them. What is summed is sent about twice, but a gathered operand would be, too, and computed by all.
double Assignment::scoreOf(Operation *op, const Cut &cut) const {
  double score = 0;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), cut.operands))
    if (auto found = split.find(operand); found != split.end() && dim && dim->dim == found->second)
      score += guessedBytes(operand) * (wishFor(operand, axis).dim ? kGivenWeight : 1);
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), cut.results)) {
    if (cut.partial)
      score -= guessedBytes(result) / 2;
    Wish wish = wishFor(result, axis);
    if (wish.isOpen)
      continue;
    if (wish.dim && dim && dim->dim == *wish.dim)
      score += guessedBytes(result) * kGivenWeight;
    if (dim && (!wish.dim || *wish.dim != dim->dim))
      score -= guessedBytes(result) * kGivenWeight;
  }
  return score;
}

void Assignment::choose(Operation *op, const Cut &cut) {
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), cut.results))
    if (dim)
      split[result] = dim->dim;
  chosen[op] = cut;
}

void Assignment::spreadForward() {
  for (const auto &[op, cuts] : choices) {
    const Cut *best = nullptr;
    double most = 0;
    for (const Cut &cut : cuts)
      if (double score = scoreOf(op, cut); score > most)
        best = &cut, most = score;
    if (best)
      choose(op, *best);
    if (Wish wish = wishFor(op->getResult(0), axis); !wish.isOpen) {
      split.erase(op->getResult(0));
      if (wish.dim)
        split[op->getResult(0)] = *wish.dim;
    }
  }
}

/// What is only read in parts is only computed in parts.
void Assignment::spreadBackward() {
  for (const auto &[op, cuts] : llvm::reverse(choices)) {
    if (chosen.contains(op) || op->getNumResults() != 1 || !wishFor(op->getResult(0), axis).isOpen)
      continue;
    std::optional<unsigned> wanted = wantedBy(op->getResult(0));
    for (const Cut &cut : cuts)
      if (wanted && cut.results[0] && cut.results[0]->dim == *wanted && !cut.inPieces) {
        choose(op, cut);
        break;
      }
  }
}

} // namespace weft
