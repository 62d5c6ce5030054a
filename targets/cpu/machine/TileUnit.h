//===- TileUnit.h - The unit of a processor that multiplies small matrices ------------------------===//
//
//   unit.configure(b, state, sizes);              // once per call of a kernel
//   unit.zero(b, state, 0);
//   unit.load(b, state, 4, rows, stride);         // rows of pairs of bf16, or of four bytes
//   unit.load(b, state, 6, columns, stride);      // pairs below each other, a column per word
//   unit.multiplyHalves(b, state, {0, 4, 6});     // tile 0 += tile 4 * tile 6
//   unit.store(b, state, 0, sums, stride);
//   unit.release(b, state);                       // before the kernel returns
//
// A tile is a register that holds a matrix: rows of words, which are i32, f32, two bf16 or four
// bytes. Its number is part of the code, its number of rows may be data. `state` is memory that the
// unit needs, the same in all calls from configure to release, and untouched by others in between.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_MACHINE_TILEUNIT_H
#define WEFT_TARGETS_CPU_MACHINE_TILEUNIT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

class TileUnit {
public:
  static constexpr int64_t kTiles = 8;
  static constexpr int64_t kRows = 16;     ///< of a tile, at most
  static constexpr int64_t kRowBytes = 64; ///< at most
  static constexpr int64_t kRowWords = kRowBytes / 4;

  struct Size {
    mlir::Value rows; ///< i64 in [1, kRows]
    int64_t words;    ///< of a row, in [1, kRowWords]
  };
  /// Numbers of three tiles: sums of as many rows as `rows` has, and words as `columns`; rows of as
  /// many words as `columns` has rows.
  struct Tiles {
    int64_t sums, rows, columns;
  };
  /// Whether bytes of rows and of columns are signed.
  struct Signs {
    bool rows, columns;
  };
  /// Whether what is loaded is soon loaded again, and is worth a place in the first-level cache.
  enum class Reuse { Soon, Late };

  virtual ~TileUnit() = default;
  virtual int64_t stateBytes() const = 0;
  /// Gives tiles 0, 1, … their sizes. What they hold is undefined then.
  virtual void configure(mlir::ImplicitLocOpBuilder &b, mlir::Value state,
                         llvm::ArrayRef<Size> sizes) const = 0;
  virtual void release(mlir::ImplicitLocOpBuilder &b, mlir::Value state) const = 0;

  virtual void zero(mlir::ImplicitLocOpBuilder &b, mlir::Value state, int64_t tile) const = 0;
  /// Reads the rows of a tile, `stride` bytes apart, and nothing else.
  virtual void load(mlir::ImplicitLocOpBuilder &b, mlir::Value state, int64_t tile,
                    mlir::Value pointer, mlir::Value stride, Reuse reuse = Reuse::Soon) const = 0;
  virtual void store(mlir::ImplicitLocOpBuilder &b, mlir::Value state, int64_t tile,
                     mlir::Value pointer, mlir::Value stride) const = 0;

  /// Adds products of bf16 to f32: even and odd elements of the rows are summed apart, then both
  /// are added, then that to the sum before. Denormal numbers count as 0.
  virtual void multiplyHalves(mlir::ImplicitLocOpBuilder &b, mlir::Value state,
                              Tiles tiles) const = 0;
  /// Adds products of bytes to i32, modulo 2^32.
  virtual void multiplyBytes(mlir::ImplicitLocOpBuilder &b, mlir::Value state, Tiles tiles,
                             Signs areSigned) const = 0;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_MACHINE_TILEUNIT_H
