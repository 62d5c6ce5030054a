//===- Stream.h - Threads that hold 16 bytes of neighbours ----------------------------------------------===//
//
//   Stream stream(k, dims.back(), streamLanes(spec, walked));
//   stream.emit([&](unsigned lanes) { … lanes elements of a line per thread, or 1 … });
//
// What walks memory in order is emitted twice: for threads that hold as many neighbours as make accesses of 16 bytes, and for any sizes and
// addresses. All threads of a grid take the same branch at its begin, which costs a few instructions; what is known when the kernel is compiled
// leaves one version.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_STREAM_H
#define WEFT_TARGETS_CUDA_STREAM_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

/// Of a kernel that walks such a tensor: how many elements are 16 bytes of the widest operand or result that has as many, or as many lines.
/// Accesses to narrower ones are narrower; with 16 bytes of them, those to the widest would touch each sector of memory twice. Where all are
/// bytes, vectors that are read along each line count, too.
unsigned streamLanes(mlir::func::FuncOp spec, SymTensorType walked);

class Stream {
public:
  /// Lines of `width` elements follow each other; null: what is walked is one line, whose end may be ragged.
  Stream(SimtKernel &k, SymExpr width, unsigned lanes) : k(k), width(width), lanes(lanes) {}

  void emit(llvm::function_ref<void(unsigned lanes)> body);

  /// Whether no line has whole chunks.
  bool isNever() const;
  /// Whether threads can hold so many elements.
  mlir::Value condition();
  /// `body`, whose lanes are set, where the condition holds.
  void wide(llvm::function_ref<void()> body);

private:
  SimtKernel &k;
  SymExpr width;
  unsigned lanes;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_STREAM_H
