//===- ProductBlock.h - A block of threads for each tile of a product ------------------------------------===//
//
//   ProductBlock block(k, product, tile, elements, flag);
//   SmallVector<Value> sums = block.sum(zeros, stages, target, [&](Value stage, ValueRange sums) { … of the tiles there … });
//   … sums to shared memory, at block.writer().place(row, column); a barrier …
//   block.store(shared);
//
// What all products have in common, whatever multiplies: which tile a block has, and the loop over tiles of steps. Where tiles are few, blocks share
// the steps of one (ProductParts.cpp).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
#define WEFT_TARGETS_CUDA_PRODUCTBLOCK_H

#include "targets/cuda/BlockParts.h"
#include "targets/cuda/TiledProduct.h"

namespace weft {

struct BlockTile {
  int64_t rows, columns, depth;
  /// Of blocks: so many at least shall a product have, two for each multiprocessor, and so many at most share tiles.
  int64_t filled, atOnce;
};

/// How many blocks a product has with the first of these tiles, largest first, of which there are enough to fill a GPU and that rows fill; else with
/// the last. Whether some share a tile, and the scratch that these need.
SymExpr blocksOf(const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles);
bool hasParts(const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles);
SymExpr scratchOf(const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles);
/// Emits code for each of these tiles, by its number, of which the one runs that blocksOf() takes.
void chooseTile(SimtKernel &k, const TiledProduct &p, llvm::ArrayRef<BlockTile> tiles,
                llvm::function_ref<void(size_t)> emit);

/// Tiles of both operands lie in shared memory so many times: products of one are computed while the next ones are on their way.
struct TileStages {
  int64_t bytes; ///< of each
  int64_t count;
  bool isForProducts = false; ///< that read shared memory themselves
  /// As many as fit in so much shared memory.
  static TileStages of(int64_t bytes, int64_t all);
  int64_t all() const { return bytes * count; }
};

class ProductBlock {
public:
  /// Where an operand goes in the stage that begins so many bytes behind the first.
  using TargetOf = llvm::function_ref<TileTarget(const TileSource &, mlir::Value stage)>;
  using Multiply =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value stage, mlir::ValueRange)>;

  /// `flag`: kFlagBytes of shared memory that nobody else uses.
  ProductBlock(SimtKernel &k, const TiledProduct &p, const BlockTile &tile, TileElements elements,
               mlir::Value flag);
  static constexpr int64_t kFlagBytes = 16;
  ProductBlock(const ProductBlock &) = delete; // whose operands know it

  const TileSource &a() const { return operandA; }
  const TileSource &b() const { return operandB; }
  const TileWriter &writer() const { return results; }
  /// Carries `sums` over the tiles of all steps. A barrier is behind.
  llvm::SmallVector<mlir::Value> sum(mlir::ValueRange sums, const TileStages &stages,
                                     TargetOf target, Multiply multiply);
  /// Stores results whose sums lie in shared memory, which each thread reads where TileWriter::addParts() stored it or behind a barrier.
  void store(mlir::Value sums);

private:
  /// Which tile it has.
  struct Place {
    llvm::SmallVector<mlir::Value> outer;
    mlir::Value row, column; ///< the first
  };
  static Place placeOf(SimtKernel &k, const TiledProduct &p, const BlockTile &tile);
  void shareSteps(SymExpr count, mlir::Value flag);
  /// Some chunks of the thread: their numbers, of which those are there that are less than `end`.
  void
  someChunks(llvm::function_ref<void(llvm::ArrayRef<mlir::Value> chunks, mlir::Value end)> body);
  mlir::Value placeOf(mlir::Value chunk);
  void leaveSums(mlir::Value sums);
  void addSums(mlir::Value sums);
  llvm::SmallVector<mlir::Value> addSome(llvm::ArrayRef<mlir::Value> chunks, mlir::Value first,
                                         mlir::ValueRange sums);
  void fill(mlir::Value step, mlir::Value stage, TargetOf target);

  SimtKernel &k;
  const TiledProduct &p;
  BlockTile tile;
  TileReader reader;
  Place place;
  TileSource operandA, operandB;
  TileWriter results;
  llvm::SmallVector<TileSource::Held> heldA, heldB; ///< what the thread knows of its lines
  mlir::Value firstStep, endOfSteps; ///< of the block: a multiple of a tile's, and at most all
  std::optional<BlockParts> parts;   ///< none: no size of the product asks for several
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_PRODUCTBLOCK_H
