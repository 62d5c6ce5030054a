//===- TrailingRows.cpp - Results of a panel, stored while the next one is summed ------------------------===//

#include "targets/cpu/schedules/TrailingRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/schedules/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

/// 1 or 0
Value asNumber(KernelContext &c, arith::CmpIPredicate predicate, Value a, Value d) {
  return c.b.create<arith::ExtUIOp>(c.b.getI64Type(), c.b.create<arith::CmpIOp>(predicate, a, d));
}

} // namespace

TrailingRows::TrailingRows(RunTile &tile, Value root, int64_t n, Place at)
    : tile(tile), c(tile.c), root(root), n(n), at(std::move(at)),
      type(VectorType::get({c.isa.lanes}, cast<SymTensorType>(root.getType()).getElementType())) {
  if (tile.leavesRegisters())
    kept = c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), type,
                                      constantI64(c.b, tile.rows * tile.vectors),
                                      /*alignment=*/kLineBytes);
}

Value TrailingRows::place(Value row, int64_t vector) {
  return elementPointer(
      c.b, kept, type, c.add(c.mul(row, constantI64(c.b, tile.vectors)), constantI64(c.b, vector)));
}

void TrailingRows::storeRow(Value row, Value panel) {
  c.e.forget();
  SmallVector<Value> sums;
  for (int64_t v = 0; v < tile.vectors; ++v)
    sums.push_back(c.b.create<LLVM::LoadOp>(type, place(row, v), kLineBytes));
  storeRowTile(c, root, panel, tile.vectors, n, sums,
               [&](int64_t, IndexValue column) { return at(row, column); });
}

/// The rows of the panel before `panel`, unless that is the first.
Beside TrailingRows::beside(Value panel, Value first) {
  Value before = c.sub(panel, constantI64(c.b, 1));
  return {tile.rows, asNumber(c, arith::CmpIPredicate::ne, panel, first),
          [this, before](Value row) { storeRow(row, before); }};
}

void TrailingRows::keep(ArrayRef<Value> sums) {
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors; ++v)
      c.b.create<LLVM::StoreOp>(sums[r * tile.vectors + v], place(constantI64(c.b, r), v),
                                kLineBytes);
}

void TrailingRows::loop(Value from, Value to, RowRuns source,
                        function_ref<Value(Value, RowRuns &)> prepare) {
  c.loop(from, to, 1, [&](Value panel) {
    c.e.forget();
    Value weights = prepare(panel, source);
    if (kept)
      source.beside = beside(panel, from);
    SmallVector<Value> sums = tile.accumulate(source, weights);
    if (kept)
      keep(sums);
    else
      storeRowTile(c, root, panel, tile.vectors, n, sums,
                   [&](int64_t r, IndexValue column) { return at(constantI64(c.b, r), column); });
    c.e.forget();
  });
  if (!kept)
    return;
  Value some = asNumber(c, arith::CmpIPredicate::slt, from, to);
  c.loop(constantI64(c.b, 0), c.mul(some, constantI64(c.b, tile.rows)), 1,
         [&](Value row) { storeRow(row, c.sub(to, constantI64(c.b, 1))); });
}

} // namespace weft
