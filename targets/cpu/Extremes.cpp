//===- Extremes.cpp - Comparisons with selections become what the processor has -------------------------===//
//
//   before   %m = select (%a > %b), %a, %b            after   %m = maximum %a, %b
//            %r = select (%a is nan), %a, %m
//
// Operators say so because other processors have the first of these selections as one instruction, which gives the second operand where
// there is no order (emitExtreme). Where a is a constant it stands alone. Zeros of both signs are equal; which one it is may change.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/Extremes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "targets/cpu/machine/VectorMachine.h"

using namespace mlir;

namespace weft {
namespace {

using Predicate = arith::CmpFPredicate;

/// select (a better b), a, b; nothing when it is something else.
arith::CmpFOp betterOf(Value value) {
  auto best = value.getDefiningOp<arith::SelectOp>();
  auto better = best ? best.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  bool isExtreme =
      better && llvm::is_contained({Predicate::OGT, Predicate::OLT}, better.getPredicate()) &&
      better.getLhs() == best.getTrueValue() && better.getRhs() == best.getFalseValue();
  return isExtreme ? better : arith::CmpFOp();
}

/// The comparison of which `select` is the better one, or nan when any of the two is.
arith::CmpFOp extremeOf(arith::SelectOp select) {
  if (arith::CmpFOp better = betterOf(select))
    return matchPattern(better.getLhs(), m_Constant()) ? better : arith::CmpFOp();
  auto isNan = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!isNan || isNan.getPredicate() != Predicate::UNO || isNan.getLhs() != isNan.getRhs() ||
      isNan.getLhs() != select.getTrueValue())
    return {};
  arith::CmpFOp better = betterOf(select.getFalseValue());
  return better && better.getLhs() == select.getTrueValue() ? better : arith::CmpFOp();
}

} // namespace

void preferExtremes(ModuleOp module, const VectorMachine &machine) {
  if (!machine.keepsNanInExtremes())
    return;
  module.walk([](arith::SelectOp select) {
    arith::CmpFOp better = extremeOf(select);
    if (!better || !getElementTypeOrSelf(select.getType()).isF32())
      return;
    OpBuilder b(select);
    Value a = better.getLhs(), c = better.getRhs();
    Value extreme = better.getPredicate() == Predicate::OGT
                        ? Value(b.create<LLVM::MaximumOp>(select.getLoc(), a, c))
                        : b.create<LLVM::MinimumOp>(select.getLoc(), a, c);
    select.replaceAllUsesWith(extreme);
    select.erase();
  });
}

} // namespace weft
