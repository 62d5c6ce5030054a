//===- ProductBlock.h - A block of threads for each tile of a product ------------------------------------===//
//
//   ProductBlock block(k, shape, tile, isRaw);
//   SmallVector<Value> sums = block.sum(zeros, storeChunk, [&](ValueRange sums) { … of the tiles in shared memory … });
//   … sums to shared memory, at block.writer().place(row, column); a barrier …
//   block.store(shared);
//
// What all products have in common, whatever multiplies: which tile a block has, and the loop over tiles of steps.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
#define WEFT_TARGETS_CUDA_PRODUCTBLOCK_H

#include "targets/common/match/ProductShape.h"
#include "targets/cuda/TileMemory.h"

namespace weft {

struct BlockTile {
  int64_t rows, columns, depth;
};

/// How many blocks a product has.
SymExpr blocksOf(const ProductShape &s, const BlockTile &tile);

class ProductBlock {
public:
  /// Writes the chunk of an operand whose first element has this row or column, and this step of the tile.
  using StoreChunk =
      llvm::function_ref<void(const TileSource &, mlir::Value at, mlir::Value step, mlir::Value)>;

  ProductBlock(SimtKernel &k, const ProductShape &s, const BlockTile &tile, bool isRaw);
  ProductBlock(const ProductBlock &) = delete; // whose operands know it

  const TileSource &a() const { return operandA; }
  const TileSource &b() const { return operandB; }
  const TileWriter &writer() const { return results; }
  /// Carries `sums` over the tiles of all steps.
  llvm::SmallVector<mlir::Value>
  sum(mlir::ValueRange sums, StoreChunk store,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> multiply);
  /// Stores results whose sums lie in shared memory.
  void store(mlir::Value sums) { results.store(sums, firstRow, firstColumn); }

private:
  TileSource operand(bool isA) const;

  SimtKernel &k;
  ProductShape s;
  BlockTile tile;
  TileReader reader;
  TileSource operandA, operandB;
  TileWriter results;
  llvm::SmallVector<mlir::Value> outer;
  mlir::Value firstRow, firstColumn;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
