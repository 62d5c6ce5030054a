//===- ProductBlock.h - A block of threads for each tile of a product ------------------------------------===//
//
//   ProductBlock block(k, product, tile, isRaw);
//   SmallVector<Value> sums = block.sum(zeros, stages, target, [&](Value stage, ValueRange sums) { … of the tiles there … });
//   … sums to shared memory, at block.writer().place(row, column); a barrier …
//   block.store(shared);
//
// What all products have in common, whatever multiplies: which tile a block has, and the loop over tiles of steps.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
#define WEFT_TARGETS_CUDA_PRODUCTBLOCK_H

#include "targets/cuda/TiledProduct.h"

namespace weft {

struct BlockTile {
  int64_t rows, columns, depth;
};

/// How many blocks a product has with the first of these tiles, largest first, of which there are enough to fill a GPU and that rows fill; else with
/// the last.
SymExpr blocksOf(const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles);
/// Emits code for each of these tiles, by its number, of which the one runs that blocksOf() takes.
void chooseTile(SimtKernel &k, const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles,
                llvm::function_ref<void(size_t)> emit);

/// Tiles of both operands lie in shared memory so many times: products of one are computed while the next ones are on their way.
struct TileStages {
  int64_t bytes; ///< of each
  int64_t count;
  bool isForProducts = false; ///< that read shared memory themselves
  /// As many as fit.
  static TileStages of(int64_t bytes);
  int64_t all() const { return bytes * count; }
};

class ProductBlock {
public:
  /// Where an operand goes in the stage that begins so many bytes behind the first.
  using TargetOf = llvm::function_ref<TileTarget(const TileSource &, mlir::Value stage)>;
  using Multiply =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value stage, mlir::ValueRange)>;

  ProductBlock(SimtKernel &k, const TiledProduct &p, const BlockTile &tile, bool isRaw);
  ProductBlock(const ProductBlock &) = delete; // whose operands know it

  const TileSource &a() const { return operandA; }
  const TileSource &b() const { return operandB; }
  const TileWriter &writer() const { return results; }
  /// Carries `sums` over the tiles of all steps. A barrier is behind.
  llvm::SmallVector<mlir::Value> sum(mlir::ValueRange sums, const TileStages &stages,
                                     TargetOf target, Multiply multiply);
  /// Stores results whose sums lie in shared memory.
  void store(mlir::Value sums) { results.store(sums, place.row, place.column); }

private:
  /// Which tile it has.
  struct Place {
    llvm::SmallVector<mlir::Value> outer;
    mlir::Value row, column; ///< the first
  };
  static Place placeOf(SimtKernel &k, const TiledProduct &p, const BlockTile &tile);
  using Held = llvm::SmallVector<TileSource::Held>;
  void fill(mlir::Value step, mlir::Value stage, TargetOf target);

  SimtKernel &k;
  const TiledProduct &p;
  BlockTile tile;
  TileReader reader;
  Place place;
  TileSource operandA, operandB;
  TileWriter results;
  Held heldA, heldB; ///< what the thread knows of its lines
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
