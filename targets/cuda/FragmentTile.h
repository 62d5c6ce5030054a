//===- FragmentTile.h - Operands of tensor cores in shared memory ---------------------------------------===//
//
//   FragmentTile left(k, shared, source.shape…), right(…);
//   reader.fill(source, …, left.target());
//   multiplyAdd(k, element, left.fragments(row, step, FragmentTile::Left), right.fragments(column, step, FragmentTile::Right), …);
//
// A tile of f16, bf16 or bytes lies in chunks of 16 bytes. Chunks of a line change places with its number, so that the 8 that a matrix consists of, one of
// each line, lie in different banks. Of at most 8 chunks these are the swizzles of 32, 64 and 128 bytes by which newer GPUs find elements themselves.
// Longer lines lie in pieces of 8 chunks, those of all lines behind each other.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_FRAGMENTTILE_H
#define WEFT_TARGETS_CUDA_FRAGMENTTILE_H

#include "targets/cuda/TileMemory.h"

namespace weft {

/// What an instruction of tensor cores multiplies: 16 rows by 8 columns, 16 steps of 16 bits, or 32 of bytes; its registers hold matrices of 8 lines
/// by 16 bytes.
constexpr int64_t kMatrix = 8, kMatrixRows = 16, kMatrixSteps = 16, kByteMatrixSteps = 32;

class FragmentTile {
public:
  enum Side { Left, Right };

  /// `begin`: in bytes, behind `shared`. `run`: what is line 8 m + 2 p + i of run / 2 matrices for fragments, i < 2, is line run p + 2 m + i of the
  /// source: a thread's sums are then of so many neighbours. 2: lines are in their order.
  FragmentTile(SimtKernel &k, mlir::Value shared, int64_t begin, const TileSource &source,
               int64_t run = 2);
  /// Of the shared memory that such a tile takes.
  static int64_t bytes(const TileSource &source);

  /// Chunks of 16 bytes go here.
  TileTarget target() const;
  /// Four matrices of 8 lines and a chunk's steps, from `at` and `step` on, multiples of these: those of further lines follow each other on the left,
  /// and those of later steps on the right. Bytes are neighbours along the steps.
  llvm::SmallVector<mlir::Value> fragments(mlir::Value at, mlir::Value step, Side side) const;
  /// The same of all lines as products of warpgroups take it: a number that says where it lies and how. The tile begins at a multiple of 1024 and
  /// has two chunks in a line at least.
  mlir::Value described(int64_t step) const;

private:
  mlir::Value placeOf(mlir::Value line, mlir::Value chunk) const;
  mlir::Value ordered(mlir::Value line) const;
  mlir::Value chunkPlace(mlir::Value line, mlir::Value step) const;

  SimtKernel &k;
  mlir::Value shared;
  int64_t begin, perLine, lines, run;
  bool isDeepLast;
  mlir::Type element;
  int64_t perChunk;         ///< elements
  mlir::Value matrix, line; ///< whose place the thread gives for fragments
};

/// Adds the products of 16 rows, 16 steps and 8 columns to four sums of the thread: 0 and 1 are neighbours in the row that is a quarter of its lane, 2 and 3
/// those eight rows below.
void multiplyAdd(SimtKernel &k, mlir::Type element, llvm::ArrayRef<mlir::Value> left,
                 llvm::ArrayRef<mlir::Value> right, llvm::MutableArrayRef<mlir::Value> sums);

/// The same of 32 steps of bytes, which are signed or not, and sums of i32, modulo 2^32.
void multiplyAddBytes(SimtKernel &k, mlir::Type leftElement, mlir::Type rightElement,
                      llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                      llvm::MutableArrayRef<mlir::Value> sums);

/// Two f32 as a register of two halves, rounded.
mlir::Value packHalves(SimtKernel &k, mlir::Type element, mlir::Value low, mlir::Value high);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_FRAGMENTTILE_H
