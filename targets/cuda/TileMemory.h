//===- TileMemory.h - Tiles of matrices on their way to and from a block's shared memory ------------------===//
//
//   TileReader reader(k, TileElements::Halves);
//   reader.fill(source, firstLine, firstStep, {[&](Value line, Value step, Value chunk) { … to shared memory … }, place});
//   k.endCopies(); … k.awaitCopies(0); a barrier; sums of products to shared memory, each at writer.place(row, column); a barrier …
//   writer.store(shared, firstRow, firstColumn);
//
// What every schedule with sums of products has in common, whatever multiplies: operands, in memory or pulled, go to shared memory in chunks of 16
// bytes along the dimension in which they are contiguous, with zeros behind the last element; what lies in memory as products read it is copied
// while threads go on. Sums come out of shared memory with what the kernel computes of them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_TILEMEMORY_H
#define WEFT_TARGETS_CUDA_TILEMEMORY_H

#include "targets/cuda/SimtKernel.h"
#include <optional>

namespace weft {

/// A matrix of which a block reads a tile. Products sum along its steps.
struct TileSource {
  using Index =
      std::function<llvm::SmallVector<IndexValue>(const IndexValue &line, const IndexValue &step)>;
  mlir::Value value; ///< of the kernel: in memory, or pulled
  Index index;       ///< there
  SymExpr lines, steps;
  int64_t size, depth; ///< lines and steps of the tile
  bool isDeepLast;     ///< its steps are neighbours in memory, not its lines

  /// Where elements are found in two parts, in place of `index`: what a line has in common for all steps, which each thread finds once, and from it an
  /// element, which is zero where it is not inside. Its steps are neighbours.
  struct Spot {
    llvm::SmallVector<IndexValue> index;
    mlir::Value isInside; ///< null: all are
  };
  using Held = llvm::SmallVector<mlir::Value>;
  std::function<Held(mlir::Value line)> hold = {};
  std::function<Spot(llvm::ArrayRef<mlir::Value> held, const IndexValue &step)> spot = {};
  /// So many elements lie side by side, from each multiple of them on; else a line of the tensor.
  std::optional<SymExpr> run = {};
  /// Elements of a step lie side by side, though chunks are of steps: neighbouring threads have neighbouring lines.
  bool areLinesBeside = false;
  /// Where it lies otherwise than `value` says.
  mlir::Value pointer = {};
  SymTensorType type = {};
};

/// Where a tile goes in shared memory. A chunk's first element has this line and step of the tile.
struct TileTarget {
  std::function<void(mlir::Value line, mlir::Value step, mlir::Value chunk)> store;
  /// A pointer to where it lies; null where a chunk's elements are no neighbours there.
  std::function<mlir::Value(mlir::Value line, mlir::Value step)> place;
};

/// Threads of every block that multiplies.
constexpr int64_t kTileThreads = 128;

/// What chunks hold: 4 numbers of f32, or the bits of 8 elements of 16 bits or 16 bytes.
enum class TileElements { Reals, Halves, Bytes };

class TileReader {
public:
  TileReader(SimtKernel &k, TileElements elements);
  /// The lanes of elements are one before and behind. What is copied is there when the thread has waited for its copies (awaitCopies).
  void fill(const TileSource &source, mlir::Value firstLine, mlir::Value firstStep,
            const TileTarget &target, llvm::ArrayRef<TileSource::Held> held = {});
  /// What the thread holds of the lines of its chunks. Nothing where it is to be found for each chunk.
  llvm::SmallVector<TileSource::Held> hold(const TileSource &source, mlir::Value firstLine);

private:
  using Spot = TileSource::Spot;
  /// A chunk of the thread: its first element.
  struct Chunk {
    mlir::Value at, deep;  ///< of the tile
    IndexValue line, step; ///< of the source, with neighbours
    TileSource::Held held; ///< of the line
  };
  mlir::Value pointerOf(const TileSource &source) const;
  std::optional<TileSource> inMemory(const TileSource &source);
  bool isCopied(const TileSource &source) const;
  void copyChunk(const TileSource &source, const Chunk &chunk, mlir::Value to);
  /// Chunks of a thread that are written out: of those that are computed, and of those that are copied, or whose lines it holds.
  static constexpr int64_t kSome = 4, kMany = 16;
  unsigned unrolledChunks(const TileSource &source, int64_t most) const;
  std::pair<mlir::Value, mlir::Value> placeOf(const TileSource &source, mlir::Value number);
  /// Where the tile begins in the source, and what the thread holds of its lines.
  struct Begin {
    mlir::Value line, step;
    llvm::ArrayRef<TileSource::Held> held;
  };
  void eachChunk(const TileSource &source, const Begin &begin, unsigned unrolled,
                 llvm::function_ref<void(const Chunk &)> body);
  Spot spotOf(const TileSource &source, const Chunk &chunk);
  mlir::Value chunkOf(const TileSource &source, const Chunk &chunk);
  mlir::Value elementsOf(const TileSource &source, llvm::ArrayRef<IndexValue> index);
  mlir::Value asWords(mlir::Value elements);
  mlir::Value both(mlir::Value a, mlir::Value c);

  SimtKernel &k;
  mlir::ImplicitLocOpBuilder &builder;
  mlir::Type raw; ///< bits of an element; null: numbers
  int64_t lanes;
};

/// Results of a block, whose sums of 32 bits lie in shared memory.
struct TileWriter {
  using Index =
      std::function<llvm::SmallVector<IndexValue>(const IndexValue &row, const IndexValue &column)>;
  SimtKernel &k;
  mlir::Value root; ///< whose elements the sums are
  Index index;      ///< there
  SymExpr rows, columns;
  int64_t tileRows, tileColumns;
  int64_t stride; ///< of rows of sums in shared memory, a multiple of kColumns
  std::optional<SymExpr> run =
      {}; ///< so many columns lie side by side, from each multiple of them on; else all

  static constexpr int64_t kColumns = 32;

  /// Where a sum of the tile lies, in bytes: four neighbours, from a multiple of 4 on, stay neighbours; groups of eight change places with the
  /// row, so that the rows of a matrix lie in different banks, and so do neighbouring rows of 16.
  mlir::Value place(mlir::Value row, mlir::Value column) const;
  /// f32, or i32 of integers.
  mlir::Type sumType() const;
  /// Of one list of sums, in bytes.
  int64_t bytes() const { return 4 * tileRows * stride; }
  /// Adds so many lists of sums, which follow each other, to the first, in their order. A barrier is before; each thread stores the sums that it
  /// adds.
  void addParts(mlir::Value sums, int64_t parts) const;
  void store(mlir::Value sums, mlir::Value firstRow, mlir::Value firstColumn) const;

private:
  static constexpr int64_t kChunk = 4; ///< results that a thread stores at once
  void put(mlir::Value sum, mlir::Value row, IndexValue column) const;
  void storeChunk(mlir::Value sums, mlir::Value chunk, mlir::Value firstRow,
                  mlir::Value firstColumn, mlir::Value isAligned) const;
};

/// Whether so many are whole tiles of this size, whatever the symbols are.
bool isMultiple(SymExpr extent, int64_t size);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_TILEMEMORY_H
