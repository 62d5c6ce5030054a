//===- PanelBlocks.cpp - Tiles of rows by blocks of panels of a weight ----------------------------------===//

#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kPairBytes =
    512 << 10; ///< of two panels, to be a block: rows are then read half as often
constexpr int64_t kManyTiles = 4; ///< that then fetch a block's weights with most of their panels
constexpr int64_t kTilesToPart =
    8; ///< among workers: each then reads the whole weight, but nobody else's rows

} // namespace

PanelBlocks::PanelBlocks(SymExpr m, int64_t mostRows, int64_t panels, int64_t panelBytes,
                         int64_t steps, int64_t blockKiB)
    : m(m), mostRows(mostRows), panels(panels), panelBytes(panelBytes), steps(steps),
      perBlock(panelsOfBlock(panels, panelBytes, blockKiB, leastOf(panelBytes))) {}

int64_t PanelBlocks::leastOf(int64_t panelBytes) { return 2 * panelBytes <= kPairBytes ? 2 : 1; }

int64_t PanelBlocks::panelsOfBlock(int64_t panels, int64_t panelBytes, int64_t blockKiB,
                                   int64_t least) {
  int64_t most = std::max<int64_t>(least, (blockKiB << 10) / panelBytes);
  return llvm::divideCeil(panels, llvm::divideCeil(panels, most));
}

void PanelBlocks::offer(std::vector<Choice> &list, int64_t rows,
                        const VectorMachine &machine) const {
  offerRows(list, m, rows, machine);
  offerBlocks(list, panels, panelBytes, leastOf(panelBytes));
}

void PanelBlocks::offerBlocks(std::vector<Choice> &list, int64_t panels, int64_t panelBytes,
                              int64_t least) {
  weft::offer(list, "block", kBlockCandidates, kBlockKiB,
              [&](int64_t kib) { return panelsOfBlock(panels, panelBytes, kib, least); });
}

SymExpr PanelBlocks::units() const {
  return SymExpr::ceildiv(m, mostRows) * llvm::divideCeil(panels, perBlock);
}

/// The tiles of a block among the units [0, `unit`). Workers get rows of their own, with all panels, where there are enough: unit u
/// is then block u % blocks of tile u / blocks, else tile u % count of block u / count.
Value PanelBlocks::tilesBefore(KernelContext &c, Value unit, Value block, Value count) const {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  int64_t blocks = llvm::divideCeil(panels, perBlock);
  Value byRows = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, count, number(kTilesToPart));
  Value ofRows =
      c.b.create<arith::DivUIOp>(c.add(c.sub(unit, block), number(blocks - 1)), number(blocks));
  Value ofPanels = c.b.create<arith::MaxSIOp>(c.sub(unit, c.mul(block, count)), number(0));
  ofPanels = c.b.create<arith::MinSIOp>(ofPanels, count);
  return c.b.create<arith::SelectOp>(byRows, ofRows, ofPanels);
}

void PanelBlocks::emitUnits(KernelContext &c, ArrayRef<func::FuncOp> tiles) const {
  Value rows = c.e.uniform(m), count = c.e.uniform(SymExpr::ceildiv(m, mostRows));
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  auto run = [&](Value from, Value to, Value fromBlock, Value toBlock, Value ofTile, Value stride,
                 Value skipped) {
    Value fromPanel = c.mul(fromBlock, number(perBlock)),
          toPanel = c.mul(toBlock, number(perBlock));
    toPanel = c.b.create<arith::MinSIOp>(toPanel, number(panels));
    callRowTiles(c, tiles, rows, count, from, to, [&](const TileRange &r) -> SmallVector<Value> {
      Value ahead = c.add(number(perBlock * panelBytes), c.mul(c.sub(r.tile, from), ofTile));
      return {c.kernel.getArgument(0),
              r.first,
              fromPanel,
              toPanel,
              c.scratch,
              ahead,
              stride,
              skipped,
              ofTile,
              r.count};
    });
  };
  Value one = number(1), zero = number(0), size = number(perBlock * panelBytes);
  Value single = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, one);
  auto branch = c.b.create<scf::IfOp>(single, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(c.b);
  c.b.setInsertionPointToStart(branch.thenBlock());
  run(zero, one, c.begin, c.end, zero, number(panelBytes / steps), zero);
  c.b.setInsertionPointToStart(branch.elseBlock());
  Value many = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, count, number(kManyTiles));
  Value skipped =
      perBlock > 1 ? c.b.create<arith::ExtUIOp>(c.b.getI64Type(), many).getResult() : zero;
  Value fetching = c.mul(c.sub(number(perBlock), skipped), number(steps));
  c.loop(zero, number(llvm::divideCeil(panels, perBlock)), 1, [&](Value block) {
    Value from = tilesBefore(c, c.begin, block, count), to = tilesBefore(c, c.end, block, count);
    Value here = c.b.create<arith::MaxSIOp>(c.sub(to, from), one);
    Value stride = c.b.create<arith::DivUIOp>(size, c.mul(fetching, here));
    run(from, to, block, c.add(block, one), c.mul(stride, fetching), stride, skipped);
  });
}

void PanelBlocks::emit(KernelContext &c,
                       function_ref<void(KernelContext &, int64_t rows, const Tile &)> body) const {
  Type i64 = c.b.getI64Type();
  SmallVector<func::FuncOp> tiles;
  for (int64_t r = 1; r <= mostRows; ++r)
    tiles.push_back(
        declareRowTile(c, r, {i64, i64, i64, c.scratch.getType(), i64, i64, i64, i64, i64}));
  emitUnits(c, tiles);
  for (auto [i, function] : llvm::enumerate(tiles))
    emitRowTile(c, function, [&, rows = i + 1, function = function](KernelContext &inner) mutable {
      auto argument = [&](unsigned i) { return function.getArgument(i); };
      body(inner, rows,
           {argument(1), argument(2), argument(3), argument(4), argument(5), argument(6),
            argument(7), argument(8), argument(9)});
    });
}

PanelBlocks::Tile PanelBlocks::Tile::nth(KernelContext &c, Value n, int64_t rows) const {
  Tile one = *this;
  one.first = c.add(first, c.mul(n, constantI64(c.b, rows)));
  one.ahead = c.add(ahead, c.mul(n, ofTile));
  one.count = constantI64(c.b, 1);
  return one;
}

Ahead PanelBlocks::ahead(KernelContext &c, const Tile &tile, Value panel, Value weights,
                         Value nextRows) const {
  Type byte = c.b.getI8Type();
  Value nth = c.sub(panel, tile.from),
        done = c.mul(c.sub(nth, tile.skipped), constantI64(c.b, steps));
  Value block = elementPointer(c.b, weights, byte, c.mul(tile.from, constantI64(c.b, panelBytes)));
  Value next = elementPointer(c.b, block, byte, c.add(tile.ahead, c.mul(done, tile.stride)));
  Value first = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, nth, tile.skipped);
  return {c.b.create<LLVM::SelectOp>(first, nextRows, next),
          c.b.create<arith::SelectOp>(first, constantI64(c.b, kLineBytes), tile.stride)};
}

} // namespace weft
