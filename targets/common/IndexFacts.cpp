//===- IndexFacts.cpp -----------------------------------------------------------------------------===//

#include "targets/common/IndexFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft {

int64_t divisorOf(Value index) {
  constexpr int64_t most = 1 << 20;
  llvm::APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return number.isZero() ? most : int64_t(1) << std::min(number.countr_zero(), 20u);
  Operation *op = index.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return 1;
  int64_t left = divisorOf(op->getOperand(0)), right = divisorOf(op->getOperand(1));
  if (isa<arith::MulIOp>(op))
    return std::min(most, left * right);
  if (isa<arith::AndIOp>(op))
    return std::max(left, right);
  return isa<arith::AddIOp, arith::SubIOp>(op) ? std::min(left, right) : 1;
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

Value sameInAllLanes(ImplicitLocOpBuilder &b, Value condition) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  if (Value scalar = scalarOf(b, condition))
    return scalar;
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    Value left = scalarOf(b, compare.getLhs()), right = scalarOf(b, compare.getRhs());
    return left && right ? Value(b.create<arith::CmpIOp>(compare.getPredicate(), left, right))
                         : Value();
  }
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return {};
  Value left = sameInAllLanes(b, both.getLhs()),
        right = left ? sameInAllLanes(b, both.getRhs()) : Value();
  return right ? Value(b.create<arith::AndIOp>(left, right)) : Value();
}

} // namespace weft
