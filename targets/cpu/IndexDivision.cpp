//===- IndexDivision.cpp - Quotients of vectors of indices ----------------------------------------===//
//
// A quotient of doubles, rounded to nearest, is below the next integer as long as the sum of both
// numbers is below 2^52: a / c misses it by 1 / c at the least, which is more than half of a last
// place. Indices of elements in memory are far below. Constant divisors are left to LLVM, which
// multiplies.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/IndexDivision.h"
#include "dialects/weft/interfaces/OfIndices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace weft {

static Value quotient(ImplicitLocOpBuilder &b, Value numbers, vector::SplatOp divisor) {
  auto type = cast<VectorType>(numbers.getType());
  auto reals = VectorType::get(type.getShape(), b.getF64Type());
  Value scalar = b.create<arith::SIToFPOp>(b.getF64Type(), divisor.getInput());
  Value by = b.create<vector::SplatOp>(scalar, reals);
  Value real = b.create<arith::DivFOp>(b.create<arith::SIToFPOp>(reals, numbers), by);
  return b.create<arith::FPToSIOp>(type, real);
}

void divideIndicesInDoubles(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!op->hasAttr(kOfIndicesAttr) || !isa<VectorType>(op->getResult(0).getType()))
      return;
    auto divisor = op->getOperand(1).getDefiningOp<vector::SplatOp>();
    if (!divisor)
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value numbers = op->getOperand(0), result = quotient(b, numbers, divisor);
    if (isa<arith::RemUIOp>(op))
      result =
          b.create<arith::SubIOp>(numbers, b.create<arith::MulIOp>(result, divisor.getResult()));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}

} // namespace weft
