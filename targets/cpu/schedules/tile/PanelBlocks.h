//===- PanelBlocks.h - Tiles of rows by blocks of panels of a weight ------------------------------------===//
//
//   for block of panels (so many that they stay in L2) { for tile of rows { for panel in block } }
//
// A unit is one (block, tile). Workers part the rows where there are many, so that what one writes in a layer it reads in the next, and the
// blocks otherwise. Meanwhile every tile fetches its part of the next block: what follows in memory, here or in the next kernel's weight.
// Where there are many tiles, their first panel fetches the rows of the next tile instead. A single tile reads every panel once: blocks are
// units of work then, and the distance to fetch ahead.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_PANELBLOCKS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_PANELBLOCKS_H

#include "targets/cpu/schedules/tile/RegisterTile.h"

namespace weft {

/// KiB of packed weights that are used again and again before the next are.
constexpr int64_t kBlockCandidates[] = {200, 400, 800};
constexpr int64_t kBlockKiB = 400; ///< stays in L2

struct PanelBlocks {
  SymExpr m;
  int64_t mostRows; ///< of a tile
  SymExpr panels;   ///< in all
  int64_t
      panelBytes; ///< by which blocks are measured: as it is multiplied, of 16 bits as it is stored
  int64_t storedBytes;   ///< of a panel in memory, from where the next block's are fetched
  int64_t gap = 0;       ///< bytes between a panel in memory and the next, which others have
  int64_t steps;         ///< of a panel's sum: as often, something may be fetched
  int64_t perBlock;      ///< panels
  int64_t leaveFrom = 0; ///< tiles of a block in a call, its first leaves panels; 0: never

  /// Blocks have `blockKiB` of weights at most, but a panel at least, or two that are small.
  PanelBlocks(SymExpr m, int64_t mostRows, SymExpr panels, int64_t panelBytes, int64_t steps,
              int64_t blockKiB);
  /// Rows of tiles and KiB of blocks, for the schedule that estimates `rows`.
  void offer(std::vector<Choice> &list, int64_t rows, const VectorMachine &machine) const;

  /// How many panels a block of so many KiB has, `least` if that is more, and the choice of its size.
  static int64_t panelsOfBlock(int64_t panels, int64_t panelBytes, int64_t blockKiB,
                               int64_t least = 1);
  static void offerBlocks(std::vector<Choice> &list, int64_t panels, int64_t panelBytes,
                          int64_t least = 1, int64_t estimateKiB = kBlockKiB);
  /// That every block has at least.
  int64_t fewestPanels() const;
  SymExpr blocks() const { return SymExpr::ceildiv(panels, perBlock); }
  SymExpr units() const;
  /// How units follow the rows of this argument of the specification; nothing when its rows are read in another way, too.
  std::optional<RowTiles> rowTiles(mlir::func::FuncOp spec, unsigned argument) const;

  /// How a tile reads its block: where many tiles meet it, the first leaves the panels in scratch in the form in which the others read them.
  enum class Panels { Stored, Left, Found };
  /// What the function for tiles of a size is called with.
  struct Tile {
    mlir::Value first;    ///< row
    mlir::Value from, to; ///< panels
    mlir::Value scratch;
    mlir::Value ahead, stride, skipped; ///< what ahead() needs
    mlir::Value ofTile;                 ///< by how much `ahead` grows with every tile
    mlir::Value count;                  ///< tiles, one behind the other
    Panels panels = Panels::Stored;
    /// The n-th of them alone.
    Tile nth(KernelContext &c, mlir::Value n, int64_t rows) const;
  };
  /// Emits the units' loops and, with `body`, a function for every number of rows; where first tiles leave panels, two more for those of many tiles.
  void emit(KernelContext &c,
            llvm::function_ref<void(KernelContext &, int64_t rows, const Tile &)> body) const;
  /// That a tile has, where so many tiles of at most `mostRows` rows are needed.
  static int64_t fewestRows(int64_t tiles, int64_t mostRows) {
    return ((tiles - 1) * mostRows + 1) / tiles;
  }
  /// Whether first tiles leave panels of some calls.
  bool mayLeave() const;
  /// What to fetch while a panel is summed. `weights` is the argument's first byte, `nextRows` that of the rows behind the tile's.
  Ahead ahead(KernelContext &c, const Tile &tile, mlir::Value panel, mlir::Value weights,
              mlir::Value nextRows) const;

private:
  static int64_t leastOf(int64_t panelBytes);
  /// Of which blocks are made alike: many where the number is a symbol.
  static int64_t countOf(SymExpr panels) { return panels.asConstant().value_or(1 << 20); }
  mlir::Value tilesBefore(KernelContext &c, mlir::Value unit, mlir::Value block,
                          mlir::Value count) const;
  /// Functions for tiles of 1, 2, … rows; null where there are none of that size.
  using Functions = llvm::SmallVector<mlir::func::FuncOp>;
  /// Of each form of panels.
  struct TileFunctions {
    Functions stored, left, found;
  };
  TileFunctions declareTiles(KernelContext &c) const;
  class Units;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_PANELBLOCKS_H
