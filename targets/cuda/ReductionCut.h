//===- ReductionCut.h - How much of a reduction a block does -----------------------------------------------===//
//
//   ReductionCut cut(spec, *matchReduction(spec), machine);
//   … cut.blocks(), of which cut.parts() share each of cut.groups() …
//
// A group is a line's result, or the results of neighbouring columns. All are expressions of sizes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_REDUCTIONCUT_H
#define WEFT_TARGETS_CUDA_REDUCTIONCUT_H

#include "targets/common/match/ReductionShape.h"
#include "targets/cuda/BlockParts.h"

namespace weft {

/// Of dimensions together.
SymExpr elementsOf(mlir::MLIRContext *context, llvm::ArrayRef<SymExpr> dims);

class ReductionCut {
public:
  ReductionCut(mlir::func::FuncOp spec, const ReductionShape &shape, const SimtMachine &machine);

  static constexpr int64_t kThreads = 512;
  /// A warp walks so many chunks of a line, or, where there are so many lines, more of them.
  static constexpr int64_t kWarpsChunks = 64, kManyLines = 2048;

  /// How many blocks share a group: one where there is enough to do for all.
  SymExpr parts() const;
  bool isParted() const { return !parts().isConstant(1); }
  SymExpr groups() const;
  /// Of columns, beside each other.
  SymExpr groupsBeside() const;
  int64_t groupColumns() const;
  SymExpr blocks() const;
  /// What a part leaves: fields of a state, each of all its columns.
  int64_t fieldBytes() const { return 8 * groupColumns(); }
  int64_t partBytes() const;
  SymExpr scratch() const;
  /// Neighbours that a thread holds, where it can.
  unsigned laneCount() const { return lanes; }

private:
  SymExpr number(int64_t value) const { return SymExpr::constant(context, value); }
  SymExpr mostParts() const;
  SymExpr sharedBlocks() const;

  mlir::MLIRContext *context;
  const ReductionShape &shape;
  const SimtMachine &machine;
  int64_t mostBlocks;
  unsigned lanes;
  SymExpr results, combined;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_REDUCTIONCUT_H
