//===- ConvolutionTile.h - Functions for some filters by some pixels -----------------------------------------===//
//
//   ConvolutionTile tile = declareTile(c, shape, rows, ConvolutionTile::Vectors, pixels);   // then calls of tile.function
//   emitTile(c, shape, tiling, tile);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILE_H

#include "targets/cpu/schedules/window/ConvolutionTiling.h"

namespace weft {

struct ConvolutionTile {
  enum Form {
    Vectors, ///< lanes are pixels, every filter is broadcast
    Ragged,  ///< the same for the last pixels, fewer than a vector
    Few ///< lanes are filters, every pixel is broadcast: for few pixels that would waste most of a vector
  };
  Form form;
  int64_t rows;   ///< filters
  int64_t pixels; ///< of a call; at most that many when ragged
  /// (words, filters of the tile, strips at the pixel, image, first filter, first pixel, channels, totals, first chunk?, last chunk?)
  mlir::func::FuncOp function;
};

ConvolutionTile declareTile(KernelContext &c, int64_t rows, ConvolutionTile::Form form,
                            int64_t pixels);
void emitTile(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t,
              const ConvolutionTile &tile);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILE_H
