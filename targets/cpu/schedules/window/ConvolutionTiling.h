//===- ConvolutionTiling.h - How a convolution is cut for a processor -------------------------------------===//
//
//   ConvolutionTiling t(shape, machine);      // t.rows filters by t.vectors vectors of pixels in registers, blocks of t.pixels
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILING_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILING_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct ConvolutionTiling {
  int64_t rows, lastRows, tiles; ///< filters of a tile, of a group's last tile, tiles of a group
  int64_t vectors;               ///< of pixels in a tile
  int64_t pixels;                ///< of a block
  int64_t phases, planes;        ///< strips of a channel: per residue of rows, in all
  int64_t reach;                 ///< rows that the last tap reads further than the first
  int64_t sameRow, sameReach;    ///< taps i and i + sameRow share a strip, sameReach rows apart
  int64_t chunk;                 ///< channels summed in one call of a tile
  int64_t totalFloats;           ///< sums of a block between chunks
  bool inPlace;                  ///< no strips

  ConvolutionTiling(const ConvolutionShape &s, const VectorMachine &machine);
  static std::vector<Choice> choices(const ConvolutionShape &s, const VectorMachine &machine);
  /// Whether all channels are summed in one call of a tile.
  bool isWhole(const ConvolutionShape &s) const { return chunk >= s.channels; }
  /// Whole tiles, when a block shall have so many pixels at most.
  int64_t pixelsOfBlock(const ConvolutionShape &s, const VectorMachine &machine,
                        int64_t most) const;
  /// Floats for the sums of one pixel by a tile.
  int64_t slot(const VectorMachine &machine) const { return llvm::alignTo(rows, machine.lanes()); }
  /// Positions of one strip: what the last tap of the last pixel reads, and what whole vectors read and write behind it.
  SymExpr stripFloats(const ConvolutionShape &s, const VectorMachine &machine) const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONTILING_H
