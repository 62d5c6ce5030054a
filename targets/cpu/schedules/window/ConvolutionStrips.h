//===- ConvolutionStrips.h - Copies what a block of pixels reads, borders as zeros ---------------------------===//
//
//   copyStrips(c, shape, tiling, image, channel, first, count);    // into c.scratch, behind the sums between chunks
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONSTRIPS_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONSTRIPS_H

#include "targets/cpu/schedules/window/ConvolutionTiling.h"

namespace weft {

/// Pixels [first, first + count) of an image, channels from `channel` on: strips as Convolution.cpp describes them.
void copyStrips(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t,
                mlir::Value image, mlir::Value channel, mlir::Value first, mlir::Value count);
/// Floats of scratch that copyStrips takes behind the strips.
SymExpr stripLineFloats(const ConvolutionShape &s, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CONVOLUTIONSTRIPS_H
