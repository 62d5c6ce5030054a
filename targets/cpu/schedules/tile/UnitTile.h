//===- UnitTile.h - Rows that lie in runs by a panel, multiplied by a unit for tiles -----------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_UNITTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_UNITTILE_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/machine/TileUnit.h"
#include "targets/cpu/schedules/tile/RunTile.h"

namespace weft {

/// Whether windows of the convolution are words for the machine's unit: pairs of bf16, or bytes, of
/// which the image's are unsigned and the filters' signed.
bool hasTiledWindows(const ConvolutionShape &shape, const VectorMachine &machine);
/// Whether windows are pairs of bf16, which the machine multiplies, only when their runs lie side by
/// side: channels are odd.
bool gathersPairs(const ConvolutionShape &shape, const VectorMachine &machine);

/// Sums of one or two tiles of rows, as many in each, by one or two of columns. Runs and panels are
/// words, of two bf16 or of four bytes, the last of a run padded in the panel.
class UnitTile : public RunTile {
public:
  using Multiply = std::function<void(mlir::Value state, TileUnit::Tiles tiles)>;
  struct Products {
    int64_t group;     ///< products that a word has, as runs count them
    Multiply multiply; ///< what is added to sums of this type
  };
  static int64_t mostRows() { return TileUnit::kRows; } ///< of a line
  /// Lines of rows, each of `folds` parts of `part` rows, which begin `apart` rows after each other:
  /// those between them mean nothing.
  struct Lines {
    int64_t lines, part, folds = 1, apart = 0;
    int64_t rows() const { return (folds - 1) * apart + part; } ///< of a line
  };

  /// All runs have `run` products. Gives the unit's tiles their sizes; finish() takes them back.
  /// `reuse` is that of panels.
  UnitTile(KernelContext &c, Lines shape, int64_t vectors, int64_t run, Products products,
           TileUnit::Reuse reuse);
  int64_t runBytes(int64_t run) const override { return steps(run) * columns * 4; }
  int64_t steps(int64_t run) const override { return llvm::divideCeil(run, products.group); }
  /// None that something may be fetched in: that slows the unit down.
  int64_t turns(const RowRuns &) const override { return 0; }
  llvm::SmallVector<mlir::Value> accumulate(const RowRuns &rows, mlir::Value panel) override;
  bool leavesRegisters() const override { return true; }
  mlir::Value keptRow(mlir::Value row) override;
  void finish() override;

private:
  Sums addRun(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums) override;
  /// Of all runs, those of sixteen words.
  int64_t wholeSteps(const RowRuns &source) const;
  /// Of tiles for lines and for columns, which may take turns in one.
  struct Numbers {
    int64_t lines[2], columns[2];
  };
  void step(const RowRuns &source, mlir::Value from, mlir::Value panel, mlir::Value word,
            const Numbers &tiles);
  /// Of what is beside the tile, in the next step.
  void emitBeside(const Beside &beside, int64_t rows);
  void store(mlir::Value place);
  int64_t sumsOf(int64_t line, int64_t vector) const { return 2 * line + vector; }
  mlir::Value at(mlir::Value base, mlir::Value bytes);
  mlir::Value number(int64_t value) { return constantI64(c.b, value); }
  int64_t columnBytes() const { return columns * 4; }

  const Products products;
  const TileUnit &unit;
  const Lines shape;
  const TileUnit::Reuse reuse;
  Numbers whole, tail; ///< of steps of sixteen words, and of the last of a run
  mlir::Value state,
      passed; ///< on the stack: the unit's, and rows beside the tile that had their turn
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_UNITTILE_H
