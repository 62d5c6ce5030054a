//===- TileStrips.h - Rows by panels of a weight, multiplied by a unit for tiles ------------------===//
//
//   TileStrips strips{m, words, n, f32, [](b, unit, state, tiles) { unit.multiplyHalves(…); }};
//   strips.emit(c, rows, weights, root);     // stores all results where elements of root are sums
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
  SymExpr m;
  int64_t words;     ///< of a row, and rows of a panel
  int64_t n;         ///< columns
  mlir::Type sum;    ///< f32 or i32
  Multiply multiply; ///< what is added to sums of this type

  /// Whether the machine has tiles, and two of them are a panel.
  static bool fit(const VectorMachine &machine);
  Launch launch(const VectorMachine &machine) const;
  /// `rows` and `weights` are where the first of them begin.
  void emit(KernelContext &c, mlir::Value rows, mlir::Value weights, mlir::Value root) const;

private:
  class Emitter;
  int64_t panels() const;
  int64_t pairsOfBlock() const;
  int64_t steps() const;
  int64_t chunks() const;
  int64_t chunkSteps() const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_TILESTRIPS_H
