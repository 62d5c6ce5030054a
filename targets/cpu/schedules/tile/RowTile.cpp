//===- RowTile.cpp - What contraction and attention share: rows of a tile in registers --------===//
//
//   m rows are `count` tiles; the first m mod count have a row more          [cut rows]
//   for size of the tiles [from, to): the larger first, then the smaller     [sizes]
//     call the function for so many rows, for one tile or those of the size  [call]
//       read the kernel's words; then what the schedule emits                [function]
//         in turns of its sum: fetch a line for the next tile's epilogue     [fetch]
//         for vector of columns, row of the tile                             [store]
//           epilogue and store; masked when n ends inside a panel
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/RowTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
/// [cut rows] Sizes differ by at most one.
RowRange rowsOfTile(KernelContext &c, Value m, Value count, Value tile) {
  Value small = c.b.create<arith::DivUIOp>(m, count), larger = c.b.create<arith::RemUIOp>(m, count);
  Value first = c.add(c.mul(tile, small), c.b.create<arith::MinSIOp>(tile, larger));
  Value isLarger = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, tile, larger);
  return {first, c.add(small, c.b.create<arith::ExtUIOp>(c.b.getI64Type(), isLarger))};
}

func::FuncOp declareRowTile(KernelContext &c, int64_t rows, ArrayRef<Type> arguments) {
  OpBuilder::InsertionGuard insertion(c.b);
  c.b.setInsertionPoint(c.kernel);
  SmallVector<Type> types{LLVM::LLVMPointerType::get(c.b.getContext())};
  llvm::append_range(types, arguments);
  auto tile = c.b.create<func::FuncOp>((c.kernel.getName() + "_rows" + Twine(rows)).str(),
                                       c.b.getFunctionType(types, {}));
  tile.setPrivate();
  return tile;
}

/// [function] Values of the kernel are not in scope there: all that it needs are arguments.
void emitRowTile(KernelContext &kernel, func::FuncOp tile,
                 function_ref<void(KernelContext &)> body) {
  OpBuilder::InsertionGuard insertion(kernel.b);
  kernel.b.setInsertionPointToStart(tile.addEntryBlock());
  ElementEmitter e(kernel.b, kernel.machine.lanes(), tile.getArgument(0));
  KernelContext c{{kernel.b, kernel.spec, tile, e}, kernel.machine, {}, {}, {}};
  bindWords(c, tile.getArgument(0));
  body(c);
  kernel.b.create<func::ReturnOp>();
}

/// [call] Calls the function for tiles of `size` rows.
static void callForSize(KernelContext &c, ArrayRef<func::FuncOp> tiles, Value size,
                        ArrayRef<Value> operands) {
  SmallVector<int64_t> cases;
  for (auto [i, function] : llvm::enumerate(tiles))
    if (function)
      cases.push_back(i + 1);
  func::FuncOp first = tiles[cases.front() - 1];
  cases.erase(cases.begin());
  Value index = c.b.create<arith::IndexCastOp>(c.b.getIndexType(), size);
  auto choose = c.b.create<scf::IndexSwitchOp>(TypeRange(), index, cases, cases.size());
  auto fill = [&](Region &region, func::FuncOp function) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.createBlock(&region);
    c.b.create<func::CallOp>(function, operands);
    c.b.create<scf::YieldOp>();
  };
  fill(choose.getDefaultRegion(), first);
  for (auto [i, rows] : llvm::enumerate(cases))
    fill(choose.getCaseRegions()[i], tiles[rows - 1]);
}

void callRowTile(KernelContext &c, ArrayRef<func::FuncOp> tiles, Value m, Value count, Value tile,
                 function_ref<SmallVector<Value>(Value)> arguments) {
  auto [first, size] = rowsOfTile(c, m, count, tile);
  callForSize(c, tiles, size, arguments(first));
}

void callRowTiles(KernelContext &c, ArrayRef<func::FuncOp> tiles, Value m, Value count, Value from,
                  Value to, function_ref<SmallVector<Value>(const TileRange &)> arguments) {
  Value any = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, from, to);
  Value parts = c.b.create<arith::SelectOp>(any, constantI64(c.b, 2), constantI64(c.b, 0));
  // [sizes] Those with a row more come first. A part without tiles is skipped.
  c.loop(constantI64(c.b, 0), parts, 1, [&](Value part) {
    Value isSecond = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, part, constantI64(c.b, 0));
    Value larger = c.b.create<arith::RemUIOp>(m, count);
    Value border = c.b.create<arith::MaxSIOp>(from, c.b.create<arith::MinSIOp>(to, larger));
    Value begin = c.b.create<arith::SelectOp>(isSecond, border, from),
          end = c.b.create<arith::SelectOp>(isSecond, to, border);
    Value some = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, begin, end);
    auto due = c.b.create<scf::IfOp>(some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(due.thenBlock());
    auto [first, size] = rowsOfTile(c, m, count, begin);
    callForSize(c, tiles, size, arguments({first, begin, c.sub(end, begin)}));
  });
}

namespace {

/// Of a tile; without `end` none is masked.
struct Columns : TileColumns {
  std::optional<IndexValue> end;
};

} // namespace

/// [store] All rows of a vector of columns share one mask.
static void storeColumns(KernelContext &c, Value root, const Columns &columns, ArrayRef<Value> sums,
                         function_ref<SmallVector<IndexValue>(int64_t, IndexValue)> at) {
  Value first = columns.first(c);
  for (int64_t v = 0; v < columns.vectors; ++v) {
    IndexValue column{c.add(first, constantI64(c.b, v * c.machine.lanes())), 1};
    if (columns.end)
      c.e.setTailMask(c.e.less(column, *columns.end));
    for (int64_t r = 0; r * columns.vectors < int64_t(sums.size()); ++r) {
      Value sum = sums[r * columns.vectors + v];
      c.e.provide(root, [&](ArrayRef<IndexValue>) { return sum; });
      c.storeResults(at(r, column));
    }
    c.e.setTailMask({});
    c.e.forget();
  }
}

/// Of `n` columns in all. Which panel is the last, and has columns that are none, shows when the kernel runs.
static void storeAnyColumns(KernelContext &c, Value root, Columns columns, SymExpr n,
                            ArrayRef<Value> sums,
                            function_ref<SmallVector<IndexValue>(int64_t, IndexValue)> at) {
  Value end = c.add(columns.first(c), constantI64(c.b, columns.vectors * c.machine.lanes()));
  Value size = c.e.uniform(n),
        isFull = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, end, size);
  c.e.forget();
  c.choose(
      isFull, [&] { storeColumns(c, root, columns, sums, at); },
      [&] {
        columns.end = IndexValue{size};
        storeColumns(c, root, columns, sums, at);
      });
}

Value TileColumns::first(KernelContext &c) const { return c.mul(panel, constantI64(c.b, ofPanel)); }

void storeRowTile(KernelContext &c, Value root, const TileColumns &tile, int64_t n,
                  ArrayRef<Value> sums,
                  function_ref<SmallVector<IndexValue>(int64_t, IndexValue)> at) {
  Columns columns{tile, {}};
  bool mayEnd = n % tile.ofPanel != 0;
  if (mayEnd && !c.machine.masksWords())
    return storeAnyColumns(c, root, columns, SymExpr::constant(c.b.getContext(), n), sums, at);
  if (mayEnd)
    columns.end = c.e.constant(n);
  storeColumns(c, root, columns, sums, at);
}

void storeRowTile(KernelContext &c, Value root, Value first, const TileColumns &columns, int64_t n,
                  ArrayRef<Value> sums) {
  storeRowTile(c, root, first, columns, SymExpr::constant(c.b.getContext(), n), sums);
}

void storeRowTile(KernelContext &c, Value root, Value first, const TileColumns &columns, SymExpr n,
                  ArrayRef<Value> sums) {
  auto at = [&](int64_t r, IndexValue column) {
    return SmallVector<IndexValue>{{c.add(first, constantI64(c.b, r))}, column};
  };
  if (n.asConstant())
    return storeRowTile(c, root, columns, *n.asConstant(), sums, at);
  storeAnyColumns(c, root, {columns, {}}, n, sums, at);
}

NextRows::NextRows(KernelContext &c, Value root, int64_t rows, Value first,
                   const TileColumns &panel, int64_t turns)
    : rows(rows), turns(turns) {
  auto rootType = cast<SymTensorType>(root.getType());
  int64_t n = *rootType.getDim(rootType.getRank() - 1).asConstant();
  Value row = c.mul(c.add(first, constantI64(c.b, rows)), constantI64(c.b, n)),
        at = c.add(row, panel.first(c));
  auto add = [&](Value pointer, SymTensorType type, bool isWritten) {
    if (type.getDimAttributes() != rootType.getDimAttributes())
      return;
    int64_t bytes = llvm::divideCeil(elementBits(type.getElementType()), 8);
    Value from = elementPointer(c.b, pointer, c.b.getI8Type(), c.mul(at, constantI64(c.b, bytes)));
    streams.push_back(
        {from, n * bytes, int64_t(llvm::divideCeil(panel.ofPanel * bytes, kLineBytes)), isWritten});
  };
  for (BlockArgument argument : c.spec.getArguments())
    add(c.inputs[argument.getArgNumber()], cast<SymTensorType>(argument.getType()), false);
  for (unsigned i = 0; i < c.outputs.size(); ++i)
    add(c.outputs[i], c.resultType(i), true);
}

void NextRows::fetchLine(KernelContext &c, const Stream &stream, Value line) const {
  Value lines = constantI64(c.b, stream.linesOfRow);
  Value row = c.b.createOrFold<arith::DivUIOp>(line, lines),
        byte = c.mul(c.b.createOrFold<arith::RemUIOp>(line, lines), constantI64(c.b, kLineBytes));
  Value at = c.add(c.mul(row, constantI64(c.b, stream.rowBytes)), byte);
  c.machine.prefetch(c.b, elementPointer(c.b, stream.from, c.b.getI8Type(), at),
                     VectorMachine::Cache::First, stream.isWritten);
}

NextRows NextRows::behind(KernelContext &c, Value turns) const {
  NextRows later = *this;
  later.done = done ? c.add(done, turns) : turns;
  return later;
}

/// [fetch] Several lines in a turn where turns are few, else one line in several.
void NextRows::fetch(KernelContext &c, Value turn) const {
  if (done)
    turn = c.add(done, turn);
  for (const Stream &stream : streams) {
    int64_t lines = rows * stream.linesOfRow, ofTurn = llvm::divideCeil(lines, turns),
            turnsOfLine = llvm::bit_floor<uint64_t>(std::max<int64_t>(1, turns / lines));
    Value begin = ofTurn > 1
                      ? c.mul(turn, constantI64(c.b, ofTurn))
                      : c.b.createOrFold<arith::DivUIOp>(turn, constantI64(c.b, turnsOfLine));
    for (int64_t i = 0; i < ofTurn; ++i)
      fetchLine(c, stream, c.add(begin, constantI64(c.b, i)));
  }
}

} // namespace weft
