//===- TurnShape.cpp ------------------------------------------------------------------------------===//
//
//   from the results back to the arguments: which of the result's dimensions each one follows     [follow]
//     as the operator's rule says; without a rule, those at the same place                         [rule]
//   arguments with more than one dimension: the last one follows the result's last, or another     [last]
//
// What is found here only decides who computes which element: any answer is right.
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/TurnShape.h"
#include "dialects/weft/Aliases.h"
#include "targets/common/match/Points.h"

using namespace mlir;

namespace weft {
namespace {

/// By dimension of a value, the result's that it follows step by step, or none.
using Followed = SmallVector<std::optional<unsigned>>;

SmallVector<SymExpr> dimsOf(Value value) { return cast<SymTensorType>(value.getType()).getDims(); }

/// [rule]
Followed throughRule(Operation *op, unsigned result, unsigned operand, const Followed &own) {
  IterationRule rule = IterationRule::of(op);
  SmallVector<std::optional<unsigned>> byFactor(rule.factors().size());
  for (auto [access, dim] : llvm::zip(rule.result(result), own))
    if (access.kind == AccessKind::Point)
      byFactor[access.factor()] = dim;
  Followed followed;
  for (const Access &access : rule.operand(operand)) {
    bool isStep = access.terms.size() == 1 && access.terms.front().coefficient.isConstant(1);
    followed.push_back(isStep || access.kind == AccessKind::Point ? byFactor[access.factor()]
                                                                  : std::nullopt);
  }
  return followed;
}

/// From the last dimension on, as long as sizes are the same; all, where there are as many.
Followed throughOther(Value result, Value operand, const Followed &own) {
  SmallVector<SymExpr> from = dimsOf(result), to = dimsOf(operand);
  if (from.size() == to.size())
    return own;
  Followed followed(to.size());
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (from[from.size() - 1 - i] != to[to.size() - 1 - i])
      break;
    followed[to.size() - 1 - i] = own[from.size() - 1 - i];
  }
  return followed;
}

/// [follow]
class Follower {
public:
  void follow(Value value, const Followed &own) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return look(value, own);
    if (!seen.insert(value).second)
      return;
    Operation *op = result.getOwner();
    for (OpOperand &use : op->getOpOperands()) {
      if (!isa<SymTensorType>(use.get().getType()))
        continue;
      follow(use.get(), isa<RuleOpInterface>(op)
                            ? throughRule(op, result.getResultNumber(), use.getOperandNumber(), own)
                            : throughOther(value, use.get(), own));
    }
  }
  std::optional<unsigned> turned;
  bool hasOthers = false;
  unsigned last = 0;

private:
  /// [last]
  void look(Value argument, const Followed &own) {
    SmallVector<SymExpr> dims = dimsOf(argument);
    std::optional<size_t> end;
    for (size_t d = 0; d < dims.size(); ++d)
      if (!dims[d].isConstant(1))
        end = d;
    if (llvm::count_if(dims, [](SymExpr dim) { return !dim.isConstant(1); }) < 2)
      return;
    std::optional<unsigned> followed = own[*end];
    if (!followed || *followed == last || (turned && *turned != *followed))
      hasOthers = true;
    else
      turned = followed;
  }
  llvm::DenseSet<Value> seen;
};

bool computesElements(func::FuncOp spec) {
  return llvm::all_of(spec.getBody().front().without_terminator(), [](Operation &op) {
    auto element = dyn_cast<ElementOpInterface>(op);
    return element &&
           (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::View);
  });
}

} // namespace

SymExpr TurnShape::line() const {
  SymExpr all = SymExpr::constant(dims.front().getContext(), 1);
  for (SymExpr dim : inner())
    all = all * dim;
  return all;
}

Match<TurnShape> TurnShape::match(func::FuncOp spec) {
  Match<SymTensorType> space = matchPoints(spec);
  if (!space)
    return space.decline();
  if (!computesElements(spec))
    return Decline::otherKind("an operator sums, or has loops of its own");
  TurnShape s{space->getDims(), 0};
  Follower follower;
  Followed own;
  for (auto [d, dim] : llvm::enumerate(s.dims)) {
    own.push_back(unsigned(d));
    if (!dim.isConstant(1))
      follower.last = unsigned(d);
  }
  for (Value result : spec.getBody().front().getTerminator()->getOperands()) {
    if (inPlaceWrite(result))
      return Decline::otherKind("a result lies in the memory of an operand");
    follower.follow(result, own);
  }
  if (!follower.turned || follower.hasOthers || *follower.turned > follower.last)
    return Decline::otherKind("not all operands lie in one order that is not the results'");
  s.turned = *follower.turned;
  constexpr int64_t least = 8;
  for (SymExpr size : {s.turnedSize(), s.line()})
    if (size.asConstant().value_or(least) < least)
      return Decline{"there are too few elements in an order to change it in tiles"};
  return s;
}

} // namespace weft
