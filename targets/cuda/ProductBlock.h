//===- ProductBlock.h - A block of threads for each tile of a product ------------------------------------===//
//
//   ProductBlock block(k, shape, tile, shared);
//   SmallVector<Value> sums = block.sum(zeros, storeChunk, [&](ValueRange sums) { … of the tiles in shared memory … });
//   … sums to shared memory; a barrier …
//   block.store(shared);
//
// What all products have in common, whatever multiplies: which tile a block has; operands, in memory or pulled, on their way to shared memory in
// chunks of 16 bytes along the dimension in which they are contiguous, zeros behind the last element; and sums on their way out, through shared
// memory, with what the kernel computes of them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
#define WEFT_TARGETS_CUDA_PRODUCTBLOCK_H

#include "targets/common/match/ProductShape.h"
#include "targets/cuda/SimtKernel.h"

namespace weft {

struct BlockTile {
  int64_t rows, columns, depth;
};

/// How many blocks a product has.
SymExpr blocksOf(const ProductShape &s, const BlockTile &tile);

/// An operand of a block: `size` rows of A, or columns of B.
struct BlockOperand {
  mlir::Value value;
  ProductShape::Factors factors;
  bool isA;
  int64_t size;
  bool isDeepLast; ///< its steps are neighbours in memory, not its rows or columns
};

class ProductBlock {
public:
  static constexpr int64_t kThreads = 128;
  /// Writes the chunk of an operand whose first element has this row or column, and this step of the tile.
  using StoreChunk =
      llvm::function_ref<void(const BlockOperand &, mlir::Value at, mlir::Value step, mlir::Value)>;

  /// `isRaw`: chunks are the bits of 8 elements of 16 bits; else 4 numbers.
  ProductBlock(SimtKernel &k, const ProductShape &s, const BlockTile &tile, bool isRaw);

  const BlockOperand &a() const { return operandA; }
  const BlockOperand &b() const { return operandB; }
  /// Carries `sums` over the tiles of all steps.
  llvm::SmallVector<mlir::Value>
  sum(mlir::ValueRange sums, StoreChunk store,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> multiply);
  /// Where a sum of the tile lies, in bytes: four neighbours, from a multiple of 4 on, stay neighbours; groups of eight change places with the
  /// row, so that the rows of a matrix lie in different banks.
  mlir::Value sumPlace(mlir::Value row, mlir::Value column);
  /// Stores results whose sums lie in shared memory.
  void store(mlir::Value sums);

private:
  void fill(const BlockOperand &operand, mlir::Value step, StoreChunk store);
  mlir::Value chunkOf(const BlockOperand &operand, IndexValue at, IndexValue step);
  mlir::Value elementsOf(const BlockOperand &operand, IndexValue at, IndexValue step);
  void storeChunk(mlir::Value sums, mlir::Value chunk, mlir::Value isAligned);
  mlir::Value both(mlir::Value a, mlir::Value c);
  static constexpr int64_t kChunk = 4; ///< results that a thread stores at once

  SimtKernel &k;
  mlir::ImplicitLocOpBuilder &builder;
  ProductShape s;
  BlockTile tile;
  bool isRaw;
  int64_t lanes;
  BlockOperand operandA, operandB;
  llvm::SmallVector<mlir::Value> outer;
  mlir::Value firstRow, firstColumn, rows, columns, depth;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
