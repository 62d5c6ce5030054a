//===- PaddedRows.h - Rows of an image with the border around them, in scratch ---------------------------===//
//
//   PaddedRows padded(shape, {rowsOfBlock, shape.channels, &dot});       // channels are last
//   padded.emitCopy(c, image, firstRow, rows);            // what rows of the result read, at c.scratch
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PADDEDROWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PADDEDROWS_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/schedules/tile/IntegerDot.h"

namespace weft {

class PaddedRows {
public:
  struct Block {
    int64_t rows, channels;
    const IntegerDot *widen; ///< makes numbers of 16 bits of bytes, when not null
    bool decodes = false;    ///< makes f32 of floats of 16 bits
    int64_t gap = 0;         ///< elements between columns, whose channels are whole vectors then
    bool planes = false; ///< pixels with the same rests by the strides lie together; no dilation
    int64_t beyond = 0;  ///< rows of the result behind the last, which may be read and mean nothing
  };
  PaddedRows(const ConvolutionShape &s, Block block) : s(s), block(block) {}

  /// Of one element in scratch.
  int64_t elementBytes() const {
    return block.widen ? 2 : block.decodes ? 4 : elementBits(element()) / 8;
  }
  int64_t columnBytes() const { return (block.channels + block.gap) * elementBytes(); }
  SymExpr pitch() const { return span() * columnBytes(); }
  /// Columns of a line that a row of the result reads, or those of them in a plane.
  SymExpr span() const;
  /// Of scratch, with what whole vectors write too much.
  SymExpr bytes(const VectorMachine &machine) const;
  void emitCopy(KernelContext &c, mlir::Value image, mlir::Value firstRow, mlir::Value rows) const;
  /// Columns and lines from one window to the next, as they lie there.
  int64_t stepAcross() const { return step(s.window[1]); }
  int64_t stepDown() const { return step(s.window[0]); }
  /// Of places with the same rest by the strides, down and across: those that a window has taps in.
  int64_t planesDown() const { return planes(s.window[0]); }
  int64_t planesAcross() const { return planes(s.window[1]); }
  SymExpr planeBytes() const;

private:
  mlir::Type element() const {
    return llvm::cast<SymTensorType>(s.op.getInput().getType()).getElementType();
  }
  int64_t step(const ConvolutionWindow &w) const { return block.planes ? 1 : w.stride; }
  int64_t planes(const ConvolutionWindow &w) const {
    return block.planes ? std::min(w.stride, w.kernel) : 1;
  }
  /// Places from the first that a window reads to the last, or those of them in a plane.
  int64_t reach(const ConvolutionWindow &w) const;

  const ConvolutionShape &s;
  Block block;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PADDEDROWS_H
