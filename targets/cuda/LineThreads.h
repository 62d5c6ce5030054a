//===- LineThreads.h - Who has a line together -----------------------------------------------------------===//
//
//   LineThreads threads = LineThreads::warp(k, first);
//   … elements threads.member, member + step, … of line threads.line …
//   Value all = threads.combine(Combiner::Sum, element, own);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_LINETHREADS_H
#define WEFT_TARGETS_CUDA_LINETHREADS_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

class LineThreads {
public:
  /// Several lines a warp: as many threads each as the power of two with these bits. `first` is the block's first line.
  static LineThreads group(SimtKernel &k, mlir::Value first, mlir::Value bits);
  static LineThreads warp(SimtKernel &k, mlir::Value first);
  /// All threads of the block have line `line`. `shared`: kBytes for each warp.
  static LineThreads block(SimtKernel &k, mlir::Value line, mlir::Value shared, int64_t threads);
  static constexpr int64_t kBytes = 2 * 8;

  /// The thread's line, its number among those that have it, and how many these are.
  mlir::Value line, member, count;

  /// The values of all that have the line combined, in each of them: in the order of a tree, so always the same. All threads of a block come here.
  mlir::Value combine(Combiner combiner, mlir::Type element, mlir::Value value);

  bool hasBarriers() const { return kind == Kind::Block; }
  /// Whether the next combination of a block may begin without a barrier, that of its next line, too.
  bool isPassed() const { return place == 0; }

private:
  enum class Kind { Group, Warp, Block };
  LineThreads(SimtKernel &k, Kind kind) : k(k), b(k.b), kind(kind) {}
  mlir::Value combineGroup(Combiner combiner, mlir::Type element, mlir::Value value);
  mlir::Value combineBlock(Combiner combiner, mlir::Type element, mlir::Value value);

  SimtKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  Kind kind;
  mlir::Value shared;
  int64_t warps = 1;
  int64_t place = 0; ///< of two, of which neighbouring combinations take one each
};

/// Lines of which threads hold so many elements, in blocks of so many threads.
struct LineGrid {
  int64_t lanes, threads;
  int64_t warpsChunks; ///< lines of more chunks of lanes have a block each,
  int64_t mostLong;    ///< up to so many; 0: none is as long
};

/// How many blocks: short lines have a thread for each chunk, and a warp where they have no whole chunks, as long as few blocks are more.
SymExpr lineBlocks(SymExpr lines, SymExpr width, const LineGrid &grid, const SimtMachine &machine);

/// Bits of the least power of two that is as large as `count`, or of a warp.
mlir::Value groupBits(SimtKernel &k, mlir::Value count);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_LINETHREADS_H
