//===- TrailingRows.cpp - Results of a panel, stored while the next one is summed ------------------------===//

#include "targets/cpu/schedules/tile/TrailingRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

/// 1 or 0
Value asNumber(KernelContext &c, arith::CmpIPredicate predicate, Value a, Value d) {
  return c.b.create<arith::ExtUIOp>(c.b.getI64Type(), c.b.create<arith::CmpIOp>(predicate, a, d));
}

} // namespace

TrailingRows::TrailingRows(RunTile &tile, Value root, int64_t n, Place at, Value some)
    : tile(tile), c(tile.c), root(root), n(n), at(std::move(at)),
      some(some ? some : constantI64(c.b, tile.rows)),
      type(VectorType::get({c.machine.lanes()},
                           cast<SymTensorType>(root.getType()).getElementType())) {
  if (tile.leavesRegisters() || tile.fillsRegisters())
    kept = c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), type,
                                      constantI64(c.b, tile.rows * tile.vectors),
                                      /*alignment=*/kLineBytes);
}

Value TrailingRows::place(Value row, int64_t vector) {
  return elementPointer(
      c.b, kept, type, c.add(c.mul(row, constantI64(c.b, tile.vectors)), constantI64(c.b, vector)));
}

void TrailingRows::storeRow(Value row, Value nth, Value panel) {
  c.e.forget();
  SmallVector<Value> sums;
  for (int64_t v = 0; v < tile.vectors; ++v)
    sums.push_back(c.b.create<LLVM::LoadOp>(type, place(tile.keptRow(row), v), kLineBytes));
  storeRowTile(c, root, {panel, tile.vectors, tile.columns}, n, sums,
               [&](int64_t, IndexValue column) { return at(nth, row, column); });
}

/// The rows of the panel before, which may be the last one of the tile before; the first of all has none.
Beside TrailingRows::beside(Value nth, Value panel, Value from, Value to) {
  Value one = constantI64(c.b, 1), isFirst = asNumber(c, arith::CmpIPredicate::eq, panel, from),
        isLater = asNumber(c, arith::CmpIPredicate::ne, nth, constantI64(c.b, 0));
  Value panelBefore = c.sub(c.b.create<arith::SelectOp>(
                                c.b.create<arith::TruncIOp>(c.b.getI1Type(), isFirst), to, panel),
                            one),
        nthBefore = c.sub(nth, isFirst);
  Value due = c.b.create<arith::OrIOp>(isLater, c.sub(one, isFirst));
  return {tile.rows, due, some,
          [this, nthBefore, panelBefore](Value row) { storeRow(row, nthBefore, panelBefore); }};
}

void TrailingRows::keep(ArrayRef<Value> sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    c.b.create<LLVM::StoreOp>(sum, place(constantI64(c.b, i / tile.vectors), i % tile.vectors),
                              kLineBytes);
}

void TrailingRows::loop(Value count, Value from, Value to, function_ref<RowRuns(Value)> sourceOf,
                        function_ref<Value(Value, Value, RowRuns &)> prepare) {
  Value zero = constantI64(c.b, 0), one = constantI64(c.b, 1);
  bool isBeside = tile.leavesRegisters();
  c.loop(zero, count, 1, [&](Value nth) {
    c.e.forget();
    RowRuns ofTile = sourceOf(nth);
    c.loop(from, to, 1, [&](Value panel) {
      c.e.forget();
      RowRuns source = ofTile;
      Value weights = prepare(nth, panel, source);
      if (isBeside) {
        source.beside = beside(nth, panel, from, to);
        source.kept = kept;
      }
      SmallVector<Value> sums = tile.accumulate(source, weights);
      if (kept)
        keep(sums);
      else
        storeRowTile(
            c, root, {panel, tile.vectors, tile.columns}, n, sums,
            [&](int64_t r, IndexValue column) { return at(nth, constantI64(c.b, r), column); });
      if (kept && !isBeside)
        c.loop(zero, some, 1, [&](Value row) { storeRow(row, nth, panel); });
      c.e.forget();
    });
  });
  if (!isBeside)
    return;
  Value any = c.b.create<arith::MulIOp>(asNumber(c, arith::CmpIPredicate::slt, from, to),
                                        asNumber(c, arith::CmpIPredicate::slt, zero, count));
  c.loop(zero, c.mul(any, some), 1,
         [&](Value row) { storeRow(row, c.sub(count, one), c.sub(to, one)); });
}

} // namespace weft
