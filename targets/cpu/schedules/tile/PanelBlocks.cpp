//===- PanelBlocks.cpp - Tiles of rows by blocks of panels of a weight --------------------------===//
//
//   where the rows are one tile: it meets the panels of all blocks of the call     [single tile]
//   else for block of panels                                                       [blocks]
//     the tiles of the block among the units of the call                           [tiles before]
//     where they are many and panels are left in scratch: the first does so        [leave]
//     call the function of each size of tiles                                      [call]
//===--------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

PanelBlocks::PanelBlocks(SymExpr m, int64_t mostRows, SymExpr panels, int64_t panelBytes,
                         int64_t steps, int64_t blockKiB)
    : m(m), mostRows(mostRows), panels(panels), panelBytes(panelBytes), storedBytes(panelBytes),
      steps(steps),
      perBlock(panelsOfBlock(countOf(panels), panelBytes, blockKiB, leastOf(panelBytes))) {}

int64_t PanelBlocks::leastOf(int64_t panelBytes) { return 2 * panelBytes <= kPairBytes ? 2 : 1; }

int64_t PanelBlocks::panelsOfBlock(int64_t panels, int64_t panelBytes, int64_t blockKiB,
                                   int64_t least) {
  int64_t most = std::max<int64_t>(least, (blockKiB << 10) / panelBytes);
  return llvm::divideCeil(panels, llvm::divideCeil(panels, most));
}

void PanelBlocks::offer(std::vector<Choice> &list, int64_t rows,
                        const VectorMachine &machine) const {
  offerRows(list, m, rows, machine);
  offerBlocks(list, countOf(panels), panelBytes, leastOf(panelBytes));
}

void PanelBlocks::offerBlocks(std::vector<Choice> &list, int64_t panels, int64_t panelBytes,
                              int64_t least, int64_t estimateKiB) {
  weft::offer(list, "block", kBlockCandidates, estimateKiB,
              [&](int64_t kib) { return panelsOfBlock(panels, panelBytes, kib, least); });
}

int64_t PanelBlocks::fewestPanels() const {
  std::optional<int64_t> all = panels.asConstant();
  return all ? *all - (int64_t(llvm::divideCeil(*all, perBlock)) - 1) * perBlock : 1;
}

SymExpr PanelBlocks::units() const { return SymExpr::ceildiv(m, mostRows) * blocks(); }

std::optional<RowTiles> PanelBlocks::rowTiles(func::FuncOp spec, unsigned argument) const {
  if (!spec.getArgument(argument).hasOneUse())
    return std::nullopt;
  return RowTiles{argument, m, SymExpr::ceildiv(m, mostRows),
                  blocks().isConstant(1) ? 1 : kTilesToPart};
}

/// [tiles before] Those of a block among the units [0, `unit`). Workers get rows of their own, with all panels, where there are enough: unit u
/// is then block u % blocks of tile u / blocks, else tile u % count of block u / count.
Value PanelBlocks::tilesBefore(KernelContext &c, Value unit, Value block, Value count) const {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  Value blocks = c.e.uniform(this->blocks());
  Value byRows = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, count, number(kTilesToPart));
  Value ofRows =
      c.b.create<arith::DivUIOp>(c.add(c.sub(unit, block), c.sub(blocks, number(1))), blocks);
  Value ofPanels = c.b.create<arith::MaxSIOp>(c.sub(unit, c.mul(block, count)), number(0));
  ofPanels = c.b.create<arith::MinSIOp>(ofPanels, count);
  return c.b.create<arith::SelectOp>(byRows, ofRows, ofPanels);
}

bool PanelBlocks::mayLeave() const {
  std::optional<int64_t> rows = m.asConstant();
  return leaveFrom && (!rows || *rows > (leaveFrom - 1) * mostRows);
}

/// The loops of a call over its units.
class PanelBlocks::Units {
public:
  Units(KernelContext &c, const PanelBlocks &blocks, const TileFunctions &tiles)
      : c(c), p(blocks), tiles(tiles), rows(c.e.uniform(p.m)),
        count(c.e.uniform(SymExpr::ceildiv(p.m, p.mostRows))) {}

  void emit() {
    Value one = number(1), zero = number(0);
    Value single = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, one);
    // [single tile] Its blocks are the units.
    c.choose(
        single,
        [&] {
          run(tiles.stored, zero, one,
              {panelOf(c.begin), endOf(c.end), zero, zero, number(p.storedBytes / p.steps), zero});
        },
        [&] { emitBlocks(); });
  }

private:
  /// Panels of a call, and what Tile::ahead needs.
  struct BlockPanels {
    Value from, to, firstTile, ofTile, stride, skipped;
  };

  /// [blocks] Each stays near for all of its tiles.
  void emitBlocks() {
    Value one = number(1), zero = number(0), size = number(p.perBlock * p.storedBytes);
    Value skipped = zero;
    if (Value many = isAtLeast(count, kManyTiles); p.perBlock > 1)
      skipped = c.b.create<arith::ExtUIOp>(c.b.getI64Type(), many);
    Value fetching = c.mul(c.sub(number(p.perBlock), skipped), number(p.steps));
    c.loop(zero, c.e.uniform(p.blocks()), 1, [&](Value block) {
      Value from = p.tilesBefore(c, c.begin, block, count),
            to = p.tilesBefore(c, c.end, block, count);
      Value here = c.b.create<arith::MaxSIOp>(c.sub(to, from), one);
      Value stride = c.b.create<arith::DivUIOp>(size, c.mul(fetching, here));
      BlockPanels panels{
          panelOf(block), endOf(c.add(block, one)), from, c.mul(stride, fetching), stride, skipped};
      if (tiles.left.empty())
        return run(tiles.stored, from, to, panels);
      // [leave] For the tiles of the call.
      c.choose(
          isAtLeast(here, p.leaveFrom),
          [&] {
            Value second = c.add(from, one);
            run(tiles.left, from, second, panels);
            run(tiles.found, second, to, panels);
          },
          [&] { run(tiles.stored, from, to, panels); });
    });
  }

  /// [call] Tiles of one size follow each other.
  void run(const Functions &functions, Value from, Value to, const BlockPanels &panels) {
    callRowTiles(
        c, functions, rows, count, from, to, [&](const TileRange &r) -> SmallVector<Value> {
          Value ahead = c.add(number(p.perBlock * p.storedBytes),
                              c.mul(c.sub(r.tile, panels.firstTile), panels.ofTile));
          return {
              c.kernel.getArgument(0), r.first,        panels.from,   panels.to, c.scratch, ahead,
              panels.stride,           panels.skipped, panels.ofTile, r.count};
        });
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value panelOf(Value block) { return c.mul(block, number(p.perBlock)); }
  Value endOf(Value block) {
    return c.b.create<arith::MinSIOp>(panelOf(block), c.e.uniform(p.panels));
  }
  Value isAtLeast(Value a, int64_t least) {
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, a, number(least));
  }

  KernelContext &c;
  const PanelBlocks &p;
  const TileFunctions &tiles;
  Value rows, count;
};

PanelBlocks::TileFunctions PanelBlocks::declareTiles(KernelContext &c) const {
  Type i64 = c.b.getI64Type();
  auto declare = [&](int64_t rows, StringRef suffix) {
    func::FuncOp function =
        declareRowTile(c, rows, {i64, i64, i64, c.scratch.getType(), i64, i64, i64, i64, i64});
    function.setName((function.getName() + suffix).str());
    return function;
  };
  TileFunctions tiles;
  for (int64_t r = 1; r <= mostRows; ++r)
    tiles.stored.push_back(declare(r, ""));
  if (!mayLeave())
    return tiles;
  // Of sizes that several tiles may have.
  int64_t fewest = fewestRows(leaveFrom, mostRows);
  for (int64_t r = 1; r <= mostRows; ++r) {
    tiles.left.push_back(r < fewest ? func::FuncOp() : declare(r, "_leaves"));
    tiles.found.push_back(r < fewest ? func::FuncOp() : declare(r, "_finds"));
  }
  return tiles;
}

void PanelBlocks::emit(KernelContext &c,
                       function_ref<void(KernelContext &, int64_t rows, const Tile &)> body) const {
  TileFunctions tiles = declareTiles(c);
  Units(c, *this, tiles).emit();
  auto emitTiles = [&](const Functions &functions, Panels panels) {
    for (auto [i, function] : llvm::enumerate(functions))
      if (function)
        emitRowTile(c, function,
                    [&, rows = i + 1, function = function](KernelContext &inner) mutable {
                      auto argument = [&](unsigned i) { return function.getArgument(i); };
                      body(inner, rows,
                           {argument(1), argument(2), argument(3), argument(4), argument(5),
                            argument(6), argument(7), argument(8), argument(9), panels});
                    });
  };
  emitTiles(tiles.stored, Panels::Stored);
  emitTiles(tiles.left, Panels::Left);
  emitTiles(tiles.found, Panels::Found);
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
  Value block =
      elementPointer(c.b, weights, byte, c.mul(tile.from, constantI64(c.b, storedBytes + gap)));
  Value behind = c.add(tile.ahead, c.mul(done, tile.stride));
  if (gap) {
    Value gaps = c.b.create<arith::DivUIOp>(behind, constantI64(c.b, storedBytes));
    behind = c.add(behind, c.mul(gaps, constantI64(c.b, gap)));
  }
  Value next = elementPointer(c.b, block, byte, behind);
  Value first = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, nth, tile.skipped);
  return {c.b.create<LLVM::SelectOp>(first, nextRows, next),
          c.b.create<arith::SelectOp>(first, constantI64(c.b, kLineBytes), tile.stride)};
}

} // namespace weft
