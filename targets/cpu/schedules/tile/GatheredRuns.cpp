//===- GatheredRuns.cpp - Copies the runs of a window side by side --------------------------------------===//

#include "targets/cpu/schedules/tile/GatheredRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostRuns = 16; ///< whose copies are written out
constexpr int64_t kGroup = 4;     ///< bytes that one lane multiplies at once

/// Bytes that are copied for a run: with what pads the last group, so that no byte is read that nobody wrote.
int64_t copiedBytes(int64_t run) { return llvm::PowerOf2Ceil(run + kGroup - 1); }

/// For one tile.
int64_t roomFor(int64_t rows, int64_t runs, int64_t run) {
  return llvm::alignTo(rows * llvm::alignTo(runs * run, kGroup) + copiedBytes(run), kLineBytes);
}

} // namespace

int64_t GatheredRuns::bytes(int64_t rows, int64_t runs, int64_t run) {
  return 2 * roomFor(rows, runs, run);
}

bool GatheredRuns::pays(int64_t runs, int64_t run, int64_t group, const VectorMachine &machine) {
  return group == kGroup && runs <= kMostRuns && copiedBytes(run) <= 4 * int64_t(machine.lanes()) &&
         llvm::divideCeil(runs * run, group) < runs * llvm::divideCeil(run, group);
}

GatheredRuns::GatheredRuns(KernelContext &c, int64_t rows, const RowRuns &apart, Value rooms)
    : c(c), rows(rows), apart(apart), run(apart.outer.count * apart.inner.count * apart.run),
      rowBytes(llvm::alignTo(run, kGroup)),
      piece(VectorType::get({copiedBytes(apart.run)}, c.b.getI8Type())),
      roomBytes(roomFor(rows, apart.outer.count * apart.inner.count, apart.run)), rooms(rooms) {}

Value GatheredRuns::room(Value nth) {
  Value odd = c.b.create<arith::AndIOp>(nth, constantI64(c.b, 1));
  return elementPointer(c.b, rooms, c.b.getI8Type(), c.mul(odd, constantI64(c.b, roomBytes)));
}

/// What a vector writes too much lies in the next run or row, which follows, or behind the last.
void GatheredRuns::copy(Value nth) {
  Type byte = c.b.getI8Type();
  auto at = [&](Value base, Value bytes) { return elementPointer(c.b, base, byte, bytes); };
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  Value from = at(apart.first, c.mul(nth, number(rows * apart.rowBytes))), to = room(nth);
  c.loop(number(0), number(rows), 1, [&](Value row) {
    Value source = at(from, c.mul(row, number(apart.rowBytes)));
    Value target = at(to, c.mul(row, number(rowBytes)));
    for (int64_t i = 0; i < apart.outer.count; ++i)
      for (int64_t j = 0; j < apart.inner.count; ++j) {
        Value here = i ? at(source, c.mul(number(i), apart.outer.bytes)) : source;
        here = j ? at(here, c.mul(number(j), apart.inner.bytes)) : here;
        Value there = at(target, number((i * apart.inner.count + j) * apart.run));
        c.b.create<LLVM::StoreOp>(c.b.create<LLVM::LoadOp>(piece, here, 1), there, 1);
      }
    for (int64_t i = run; i < rowBytes; ++i) // floats are multiplied by zeros there
      c.b.create<LLVM::StoreOp>(c.b.create<arith::ConstantOp>(c.b.getI8IntegerAttr(0)),
                                at(target, number(i)), 1);
  });
}

RowRuns GatheredRuns::ofTile(Value nth, Value count) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  Value isFirst = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, nth, number(0));
  Value begin = c.b.create<arith::SelectOp>(isFirst, nth, c.add(nth, number(1)));
  Value end = c.b.create<arith::MinSIOp>(c.add(nth, number(2)), count);
  c.loop(begin, end, 1, [&](Value tile) { copy(tile); });
  return {room(nth), rowBytes, run};
}

} // namespace weft
