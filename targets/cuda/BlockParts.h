//===- BlockParts.h - Blocks of threads that each do a part of one sum -------------------------------------===//
//
//   BlockParts parts(k, count, bytes, shared);                 // of each group of blocks; what a part leaves takes so many bytes
//   Value isMine = parts.join([&] { … to parts.own() … }, [&] { … from parts.at(i), i < parts.count, in this order … });
//   k.when(isMine, [&] { … the results of the group … });
//
// Where a grid would have too few blocks to fill a GPU, several share one's work. Each leaves what it has in the launch's scratch and counts itself; the
// one that comes last finds all others' there. Which that is nobody knows, but all do the same then, in the order of the parts: the bits are those of
// every run.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_BLOCKPARTS_H
#define WEFT_TARGETS_CUDA_BLOCKPARTS_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

class BlockParts {
public:
  /// In the order of blocks, parts of one group follow each other. `flag`: where 4 bytes of shared memory are nobody else's.
  BlockParts(SimtKernel &k, SymExpr count, int64_t bytes, mlir::Value flag);
  /// How many there are of each of so many groups: no more than `most`, and than make so many blocks. 1 where no formula says more.
  static SymExpr countOf(SymExpr groups, SymExpr most, int64_t blocks);
  /// Of scratch, that so many groups need.
  static SymExpr scratchOf(SymExpr groups, SymExpr count, int64_t bytes, int64_t blocks);

  mlir::Value own() const { return at(part); }
  mlir::Value at(mlir::Value which) const;
  /// Who leaves what the block has.
  enum class Leavers { Block, FirstWarp };
  /// All threads of the block come here. Where there is more than one part, `leave` writes this one's, and the block that comes last has those of all
  /// to read. Returned is whether this one does what follows: it was the last, or the only one.
  mlir::Value join(llvm::function_ref<void()> leave, llvm::function_ref<void()> read,
                   Leavers leavers = Leavers::Block);

  mlir::Value count, part, group;

private:
  mlir::Value isLast(Leavers leavers);

  SimtKernel &k;
  int64_t bytes;
  mlir::Value flag;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_BLOCKPARTS_H
