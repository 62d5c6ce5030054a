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
    bool picks = false;      ///< copies only pixels that windows of one pixel read
    int64_t beyond = 0; ///< rows of the result behind the last, which may be read and mean nothing
  };
  PaddedRows(const ConvolutionShape &s, Block block) : s(s), block(block) {}

  /// Of one element in scratch.
  int64_t elementBytes() const {
    return block.widen ? 2 : block.decodes ? 4 : elementBits(element()) / 8;
  }
  int64_t columnBytes() const { return (block.channels + block.gap) * elementBytes(); }
  SymExpr pitch() const { return span() * columnBytes(); }
  /// Of scratch, with what whole vectors write too much.
  SymExpr bytes(const VectorMachine &machine) const;
  void emitCopy(KernelContext &c, mlir::Value image, mlir::Value firstRow, mlir::Value rows) const;
  /// Columns and lines from one window to the next, as they lie there.
  int64_t stepAcross() const { return block.picks ? 1 : s.window[1].stride; }
  int64_t stepDown() const { return block.picks ? 1 : s.window[0].stride; }

private:
  mlir::Type element() const {
    return llvm::cast<SymTensorType>(s.op.getInput().getType()).getElementType();
  }
  /// Columns that a row of the result reads.
  SymExpr span() const;

  const ConvolutionShape &s;
  Block block;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PADDEDROWS_H
