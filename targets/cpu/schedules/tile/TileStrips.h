//===- TileStrips.h - Rows by panels of a weight, multiplied by a unit for tiles ------------------===//
//
//   TileStrips strips{root, words, [](b, unit, state, tiles) { unit.multiplyHalves(…); }};
//   strips.emit(c, rows, weights);     // stores all results where elements of root are sums
//
// A row is a sequence of words, each two bf16 or four bytes that follow each other in depth. A panel
// has as many rows of words, side by side those of 32 columns, which is what two tiles read where it
// lies. So do rows, whatever their number: no strip is ragged, but the last may begin among the rows
// of the one before, whose sums it then has once more.
//
// A unit is one panel with a block of rows, whose panels follow each other: what a worker writes of
// many rows in one layer it reads in the next.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_TILESTRIPS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_TILESTRIPS_H

#include "targets/cpu/Schedule.h"
#include "targets/cpu/machine/TileUnit.h"

namespace weft {

struct TileStrips {
  using Multiply = std::function<void(mlir::ImplicitLocOpBuilder &b, const TileUnit &unit,
                                      mlir::Value state, TileUnit::Tiles tiles)>;
  mlir::Value root;  ///< [m, n] of f32 or i32 in the specification, n constant
  int64_t words;     ///< of a row, and rows of a panel
  Multiply multiply; ///< what is added to sums of the root's type

  /// Whether the machine has tiles, and two of them are a panel.
  static bool fit(const VectorMachine &machine);
  Launch launch(const VectorMachine &machine) const;
  /// A row's sums do not depend on the strip that it is in.
  std::optional<RowTiles> rowTiles(mlir::func::FuncOp spec, unsigned argument) const;
  /// How much of a panel rows meet before they meet the next of it, and how many rows do.
  void offer(std::vector<Choice> &list) const;
  /// `rows` and `weights` are where the first of them begin.
  void emit(KernelContext &c, mlir::Value rows, mlir::Value weights) const;

private:
  class Emitter;
  SymTensorType type() const { return llvm::cast<SymTensorType>(root.getType()); }
  SymExpr m() const { return type().getDim(0); }
  int64_t n() const { return *type().getDim(1).asConstant(); }
  int64_t panels() const;
  bool rowsStay() const;
  bool isFar() const;
  int64_t estimatePairs() const;
  int64_t pairsOfBlock() const;
  int64_t steps() const;
  int64_t chunks() const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_TILESTRIPS_H
