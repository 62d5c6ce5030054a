//===- RowsAhead.cpp - Rows of 16 bits become f32 beside the products of others -----------------===//

#include "targets/cpu/schedules/tile/RowsAhead.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"

using namespace mlir;

namespace weft {

RowsAhead RowsAhead::behind(KernelContext &c, Value turns) const {
  RowsAhead later = *this;
  later.done = done ? c.add(done, turns) : turns;
  return later;
}

void RowsAhead::widen(KernelContext &c, Value turn) const {
  if (!from)
    return;
  int64_t vectors = llvm::divideCeil(rows.count * rows.k, int64_t(c.machine.lanes())),
          ofTurn = llvm::divideCeil(vectors, turns);
  Value first = c.mul(done ? c.add(done, turn) : turn, constantI64(c.b, ofTurn));
  Value isLeft =
      c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, first, constantI64(c.b, vectors));
  auto branch = c.b.create<scf::IfOp>(isLeft, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(c.b);
  c.b.setInsertionPointToStart(branch.thenBlock());
  for (int64_t i = 0; i < ofTurn; ++i)
    widenVector(c, c.add(first, constantI64(c.b, i)));
}

/// The last vector is the last of elements, and may be written twice in part.
void RowsAhead::widenVector(KernelContext &c, Value nth) const {
  int64_t lanes = c.machine.lanes(), gap = rows.stride - rows.k;
  Value at = c.mul(nth, constantI64(c.b, lanes)),
        last = constantI64(c.b, rows.count * rows.k - lanes);
  at = c.b.create<arith::MinSIOp>(at, last);
  Value reals = loadReals(c, rows.element, elementPointer(c.b, from, memoryType(rows.element), at));
  if (gap) {
    Value row = c.b.create<arith::DivUIOp>(at, constantI64(c.b, rows.k));
    at = c.add(at, c.mul(row, constantI64(c.b, gap)));
  }
  c.b.create<LLVM::StoreOp>(reals, elementPointer(c.b, to, c.b.getF32Type(), at), 4);
}

} // namespace weft
