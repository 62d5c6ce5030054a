//===- GatheredRuns.h - The runs of a window, side by side ----------------------------------------------===//
//
// Every run of a window is padded to whole groups of bytes: of 7 x 7 columns of 3 channels, a run of 21 bytes takes the time of 24. Side by
// side, only their end is padded. The rows of a tile are copied while the tile before is summed: products read bytes that have reached the
// cache by then.
//
//   GatheredRuns gathered(c, rows, apart, rooms);      // as the runs of the first tile lie
//   RowRuns source = gathered.ofTile(nth, count);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_GATHEREDRUNS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_GATHEREDRUNS_H

#include "targets/cpu/schedules/tile/RunTile.h"

namespace weft {

class GatheredRuns {
public:
  /// Whether `runs` runs of `run` bytes take fewer groups side by side, and a vector holds each.
  static bool pays(int64_t runs, int64_t run, int64_t group, const VectorMachine &machine);

  /// Of scratch, for tiles of `rows` rows.
  static int64_t bytes(int64_t rows, int64_t runs, int64_t run);

  /// `apart` is for tiles that follow each other, `rooms` are the bytes.
  GatheredRuns(KernelContext &c, int64_t rows, const RowRuns &apart, mlir::Value rooms);
  /// Tiles are asked for in order, from 0 to `count`.
  RowRuns ofTile(mlir::Value nth, mlir::Value count);

private:
  void copy(mlir::Value nth);
  mlir::Value room(mlir::Value nth);

  KernelContext &c;
  int64_t rows;
  RowRuns apart;
  int64_t run, rowBytes;
  mlir::VectorType piece; ///< what is copied of a run
  int64_t roomBytes;
  mlir::Value rooms; ///< for two tiles
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_GATHEREDRUNS_H
