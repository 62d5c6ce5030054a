//===- WindowTiling.h - How windows of pixels are cut for a processor -----------------------------===//
//
//   WindowTiling t(shape, machine);
//   t.rows … t.panelsOfBlock … t.block(shape)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_WINDOWTILING_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_WINDOWTILING_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/UnitTile.h"
#include "targets/cpu/schedules/tile/WidenedPanels.h"
#include "targets/cpu/schedules/window/PaddedRows.h"

namespace weft {

struct WindowTiling {
  static constexpr int64_t kNearBytes = 24
                                        << 10; ///< of filters, that stay in the first-level cache
  std::optional<IntegerDot> dot;               ///< of bytes
  std::optional<PackedWeight> narrow;          ///< filters of 16 bits
  bool pairs;    ///< of bf16 are multiplied, and counted as one product
  bool tiles;    ///< are multiplied by a unit for them
  bool oddPairs; ///< of odd channels: `apart` are bytes
  int64_t
      gap; ///< elements between columns in scratch, that rows of a tile are in different sets of the cache
  bool planes; ///< columns apart would meet there, and those of a plane follow each other
  bool inPlace;
  bool rowsPass; ///< all blocks of rows meet a block of filters before the next one does
  int64_t apart, runsApart[2]; ///< products of a run as it lies in memory; rows and columns of runs
  bool gathers;                ///< puts them side by side
  int64_t tapsOfRun, run, runs[2]; ///< the same as they are summed; taps of a run
  int64_t rows;                    ///< of the result in a block
  int64_t lines;                   ///< of the result in a tile, each of
  int64_t folds = 1, foldRows = 0; ///< so many of its rows, so many neighbours apart in scratch
  int64_t mostPixels;              ///< of a line of a tile
  int64_t vectors, columns;        ///< of a panel: one where filters are few
  int64_t panels, panelsOfBlock;
  int64_t panelBytes, steps; ///< of a panel, and of its sum

  WindowTiling(const ConvolutionShape &s, const VectorMachine &machine);
  /// Whether floats of 16 bits become f32 in scratch.
  bool widens() const { return narrow && !pairs; }
  /// Of a panel in memory.
  int64_t storedBytes() const { return widens() ? narrow->panelBytes(steps, columns) : panelBytes; }
  WidenedPanels widened() const { return {*narrow, steps, columns}; }
  /// Of filters, which many rows drive from the first-level cache anyway.
  TileUnit::Reuse reuse() const {
    return panels * panelBytes > kNearBytes ? TileUnit::Reuse::Late : TileUnit::Reuse::Soon;
  }
  int64_t blocksOfFilters() const { return llvm::divideCeil(panels, panelsOfBlock); }
  PaddedRows::Block block(const ConvolutionShape &s) const;
  /// Of scratch: rows, then gathered runs or filters.
  SymExpr roomsAt(const PaddedRows &padded, const VectorMachine &machine) const;
  int64_t roomsBytes() const;
  /// Whether a tile's line may have so many pixels: lines are cut into parts that differ by one at most.
  bool isPossible(const ConvolutionShape &s, int64_t pixels) const;
  /// Neighbours in a row of the result that are the rows of a tile.
  int64_t estimatePixels(const VectorMachine &machine) const;
  /// Rows of the result in a block: more where filters, which each block reads anew, are many.
  int64_t estimateLines(const ConvolutionShape &s) const;
  /// KiB of filters in a block: processors with tiles have 2 MiB that are near.
  int64_t estimateBlock() const { return tiles ? 1000 : kBlockKiB; }

private:
  /// Places that are copied for one of the result.
  int64_t copiedOf(const ConvolutionWindow &w) const {
    return planes ? std::min(w.stride, w.kernel) : w.stride;
  }
  /// Rows of narrow images follow each other in scratch, with columns between them that are no
  /// results: a tile's line has several, if it has room.
  void fold(const ConvolutionShape &s);
  /// Whether filters that leave the second-level cache are more bytes to fetch for every block of rows than
  /// rows are to copy, and read, for every block of filters.
  bool copiesAreCheaper(const ConvolutionShape &s) const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_WINDOWTILING_H
