//===- IndexFacts.cpp -----------------------------------------------------------------------------===//

#include "targets/common/IndexFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft {

int64_t divisorOf(Value index) {
  constexpr int64_t most = 1 << 20;
  llvm::APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return number.isZero() ? most : int64_t(1) << std::min(number.countr_zero(), 20u);
  if (scf::ForOp loop = scf::getForInductionVarOwner(index))
    return std::min(divisorOf(loop.getLowerBound()), divisorOf(loop.getStep()));
  Operation *op = index.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return 1;
  int64_t left = divisorOf(op->getOperand(0)), right = divisorOf(op->getOperand(1));
  if (isa<arith::MulIOp>(op))
    return std::min(most, left * right);
  if (isa<arith::AndIOp>(op))
    return std::max(left, right);
  // A remainder is the number less a multiple of what it was divided by.
  return isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp>(op) ? std::min(left, right) : 1;
}

/// The number that all lanes of a vector have.
static Value scalarOf(ImplicitLocOpBuilder &b, Value vector) {
  if (auto splat = vector.getDefiningOp<vector::SplatOp>())
    return splat.getInput();
  DenseElementsAttr number;
  if (matchPattern(vector, m_Constant(&number)) && number.isSplat())
    return b.create<arith::ConstantOp>(cast<TypedAttr>(number.getSplatValue<Attribute>()));
  return {};
}

/// The first of numbers that follow each other, as many as there are lanes, where it is a multiple of their count; null for others.
static Value firstOfRun(Value vector) {
  auto sum = vector.getDefiningOp<arith::AddIOp>();
  auto first = sum ? sum.getLhs().getDefiningOp<vector::SplatOp>() : vector::SplatOp();
  DenseElementsAttr steps;
  if (!first || !matchPattern(sum.getRhs(), m_Constant(&steps)))
    return {};
  int64_t lanes = 0;
  for (const llvm::APInt &step : steps.getValues<llvm::APInt>())
    if (step.getSExtValue() != lanes++)
      return {};
  return divisorOf(first.getInput()) % lanes ? Value() : first.getInput();
}

/// Of neighbours and a limit, both of which chunks of lanes begin with: all are below it, or none.
static Value sameOfRun(ImplicitLocOpBuilder &b, arith::CmpIOp compare) {
  auto predicate = compare.getPredicate();
  if (predicate != arith::CmpIPredicate::slt && predicate != arith::CmpIPredicate::sge)
    return {};
  int64_t lanes = cast<VectorType>(compare.getLhs().getType()).getNumElements();
  Value first = firstOfRun(compare.getLhs()),
        limit = first ? scalarOf(b, compare.getRhs()) : Value();
  if (!limit || divisorOf(limit) % lanes)
    return {};
  return b.create<arith::CmpIOp>(predicate, first, limit);
}

Value sameInAllLanes(ImplicitLocOpBuilder &b, Value condition, bool ofRuns) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  if (Value scalar = scalarOf(b, condition))
    return scalar;
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    Value left = scalarOf(b, compare.getLhs()), right = scalarOf(b, compare.getRhs());
    return left && right ? Value(b.create<arith::CmpIOp>(compare.getPredicate(), left, right))
           : ofRuns      ? sameOfRun(b, compare)
                         : Value();
  }
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return {};
  Value left = sameInAllLanes(b, both.getLhs(), ofRuns),
        right = left ? sameInAllLanes(b, both.getRhs(), ofRuns) : Value();
  return right ? Value(b.create<arith::AndIOp>(left, right)) : Value();
}

} // namespace weft
