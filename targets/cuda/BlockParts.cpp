//===- BlockParts.cpp -----------------------------------------------------------------------------===//
//
//   part and group of the block, from its number
//   what a part has, to scratch; a barrier
//   one thread counts: releases the block's, acquires the others'                  [last]
//     the counter is 0 again when all have counted
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/BlockParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/common/KernelTarget.h"

using namespace mlir;

namespace weft {

SymExpr BlockParts::countOf(SymExpr groups, SymExpr most, int64_t blocks) {
  assert(blocks / 2 <= kBlockCounters && "each group that shares has a counter");
  MLIRContext *context = groups.getContext();
  SymExpr one = SymExpr::constant(context, 1);
  SymExpr each = SymExpr::floordiv(SymExpr::constant(context, blocks), SymExpr::max(groups, one));
  SymExpr count = SymExpr::max(one, SymExpr::min(most, each));
  // A grid of too many symbols has no formula for parts of it.
  bool hasFormula = !SymExpr::min(groups * count, one * blocks).isOverflow();
  return hasFormula ? count : one;
}

/// One part of a group leaves nothing.
SymExpr BlockParts::scratchOf(SymExpr groups, SymExpr count, int64_t bytes, int64_t blocks) {
  SymExpr parts = SymExpr::min(groups * count, SymExpr::constant(groups.getContext(), blocks));
  return count.isConstant(1) ? SymExpr::constant(groups.getContext(), 0) : parts * bytes;
}

BlockParts::BlockParts(SimtKernel &k, SymExpr count, int64_t bytes, Value flag)
    : count(k.e.uniform(count)), k(k), bytes(bytes), flag(flag) {
  ImplicitLocOpBuilder &b = k.b;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value block = b.create<arith::TruncIOp>(i32, k.block),
        all = b.createOrFold<arith::TruncIOp>(i32, this->count);
  part = b.create<arith::ExtUIOp>(i64, b.create<arith::RemUIOp>(block, all));
  group = b.create<arith::ExtUIOp>(i64, b.create<arith::DivUIOp>(block, all));
}

Value BlockParts::at(Value which) const {
  Value place = k.add(k.mul(group, count), which);
  return k.b.create<LLVM::GEPOp>(k.scratch.getType(), k.b.getI8Type(), k.scratch,
                                 ArrayRef<LLVM::GEPArg>{k.mul(place, constantI64(k.b, bytes))});
}

/// [last] Barriers before and behind: what others of the block wrote is released, too, and what is acquired is seen by all.
Value BlockParts::isLast(Leavers leavers) {
  ImplicitLocOpBuilder &b = k.b;
  Type i32 = b.getI32Type();
  Value most = b.createOrFold<arith::TruncIOp>(i32, k.sub(count, constantI64(b, 1))),
        none = constantI64(b, 0);
  if (leavers == Leavers::Block)
    k.gatherBlock();
  else
    k.gatherWarp();
  k.when(k.less(k.inBlock, constantI64(b, 1)), [&] {
    Value counter =
        b.create<LLVM::GEPOp>(k.counters.getType(), i32, k.counters, ArrayRef<LLVM::GEPArg>{group});
    Value address = b.create<LLVM::PtrToIntOp>(b.getI64Type(), counter);
    Value before = k.assembly("atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}",
                              {i32}, {address, most})[0];
    k.storeShared(before, flag, none);
  });
  k.gatherBlock();
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, k.loadShared(i32, flag, none), most);
}

Value BlockParts::join(function_ref<void()> leave, function_ref<void()> read, Leavers leavers) {
  ImplicitLocOpBuilder &b = k.b;
  auto isParted = b.create<scf::IfOp>(TypeRange{b.getI1Type()}, k.less(constantI64(b, 1), count),
                                      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(isParted.thenBlock());
  k.e.forget();
  leave();
  Value isMine = isLast(leavers);
  k.when(isMine, read);
  b.create<scf::YieldOp>(isMine);
  b.setInsertionPointToStart(isParted.elseBlock());
  Value yes = b.create<arith::ConstantOp>(b.getBoolAttr(true));
  b.create<scf::YieldOp>(yes);
  k.e.forget();
  return isParted.getResult(0);
}

} // namespace weft
