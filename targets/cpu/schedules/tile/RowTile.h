//===- RowTile.h - What products of rows and a weight share ------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWTILE_H

#include "targets/cpu/schedules/tile/RegisterTile.h"

namespace weft {

/// Rows [first, first + size) of tile `tile`.
struct RowRange {
  mlir::Value first, size;
};
RowRange rowsOfTile(KernelContext &context, mlir::Value m, mlir::Value count, mlir::Value tile);

/// Cuts `m` rows into ceil(m / tileRows) tiles of sizes that differ by at most one, and calls the function for tile `tile`'s size with
/// (leading arguments…, first row).
void callRowTile(KernelContext &context, llvm::ArrayRef<mlir::func::FuncOp> tiles, mlir::Value m,
                 mlir::Value count, mlir::Value tile,
                 llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value first)> arguments);

/// Tiles of one size that follow each other, from row `first` on; `tile` is the first of them.
struct TileRange {
  mlir::Value first, tile, count;
};
/// Tiles [from, to) of `count` that m rows are cut into, as callRowTile does, but those of one size in one call. `tiles` has null for sizes
/// that cannot be.
void callRowTiles(KernelContext &context, llvm::ArrayRef<mlir::func::FuncOp> tiles, mlir::Value m,
                  mlir::Value count, mlir::Value from, mlir::Value to,
                  llvm::function_ref<llvm::SmallVector<mlir::Value>(const TileRange &)> arguments);

/// A function of the kernel for tiles of `rows` rows. Its first argument is the kernel's words; the others are `arguments`.
mlir::func::FuncOp declareRowTile(KernelContext &context, int64_t rows,
                                  llvm::ArrayRef<mlir::Type> arguments);
/// Its code, in a context of its own.
void emitRowTile(KernelContext &kernel, mlir::func::FuncOp tile,
                 llvm::function_ref<void(KernelContext &)> body);

/// The columns of a tile: so many vectors from panel `panel` on, each of which has `ofPanel`.
struct TileColumns {
  mlir::Value panel;
  int64_t vectors, ofPanel;
  mlir::Value first(KernelContext &context) const;
};
/// Stores all results at the rows of a tile by some columns, of `n` in all, where elements of `root` are `sums`, row by row. `at` says where
/// row r lies.
void storeRowTile(
    KernelContext &context, mlir::Value root, const TileColumns &columns, int64_t n,
    llvm::ArrayRef<mlir::Value> sums,
    llvm::function_ref<llvm::SmallVector<IndexValue>(int64_t r, IndexValue column)> at);
/// The same for rows from `first` on of a matrix.
void storeRowTile(KernelContext &context, mlir::Value root, mlir::Value first,
                  const TileColumns &columns, int64_t n, llvm::ArrayRef<mlir::Value> sums);
/// The same where `n` may be a symbol: which panel is the last, and may have columns that are none, shows when the kernel runs.
void storeRowTile(KernelContext &context, mlir::Value root, mlir::Value first,
                  const TileColumns &columns, SymExpr n, llvm::ArrayRef<mlir::Value> sums);
/// What the epilogue of the next tile's rows reads beside the sums, and what it writes, at one panel. It is fetched while this panel is
/// summed, a line in each turn of the loop: many at once would keep the weights waiting.
class NextRows {
public:
  NextRows() = default;
  /// For a tile of `rows` rows from `first` on by a panel, whose sum takes so many turns.
  NextRows(KernelContext &c, mlir::Value root, int64_t rows, mlir::Value first,
           const TileColumns &panel, int64_t turns);
  void fetch(KernelContext &c, mlir::Value turn) const;
  /// The same, for what follows after `turns`.
  NextRows behind(KernelContext &c, mlir::Value turns) const;

private:
  struct Stream {
    mlir::Value from;
    int64_t rowBytes, linesOfRow;
    bool isWritten;
  };
  void fetchLine(KernelContext &c, const Stream &stream, mlir::Value line) const;

  int64_t rows = 0, turns = 0;
  mlir::Value done; ///< turns, if any
  llvm::SmallVector<Stream> streams;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_ROWTILE_H
