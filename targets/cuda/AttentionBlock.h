//===- AttentionBlock.h - A block of threads for some queries of an attention ------------------------------===//
//
//   AttentionBlock block(k, shape, tile, elements);
//   block.fill(block.queries, zero, step, target);              // and keys, values: to shared memory
//   state = block.overKeys(state, [&](Value firstKey, ValueRange state) { … });
//   Value factor = block.add(running, scores, bits);            // scores become powers
//   factor = block.finalFactor(running);                        // sums times it to shared memory; each row once: block.leave(row, running)
//   block.store(shared);
//
// What stands before the softmax, masks above all, is computed of keys that are neighbours: a thread has so many, and reads what lies beside them at
// once where lines are whole and aligned.
//
// What all attentions have in common, whatever multiplies: which rows a block has, the walk over tiles of keys, and a softmax that goes on from
// tile to tile: of every row the largest score so far and the sum of e^(score - largest); what was summed before is multiplied by
// e^(largest before - largest). Scores never leave the block.
//
// What a kernel computes between softmax and product asks for whole weights. Then the walk is done twice: for the largest score and the sum,
// and for the weights.
//
// Few queries of few heads have few blocks. Then several share the keys, and what they have is put together as that of tiles is (AttentionParts.cpp).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_ATTENTIONBLOCK_H
#define WEFT_TARGETS_CUDA_ATTENTIONBLOCK_H

#include "targets/common/match/AttentionShape.h"
#include "targets/cuda/BlockParts.h"
#include "targets/cuda/TileMemory.h"

namespace weft {

inline int64_t roundUp(int64_t number, int64_t size) { return (number + size - 1) / size * size; }

struct AttentionTile {
  int64_t rows;            ///< of queries
  int64_t depth, keyDepth; ///< d at once, of queries and of keys
  int64_t columns;         ///< of the result
  int64_t valueColumns;    ///< at once
  int64_t keys = 64;       ///< at once
  /// Of the sums in shared memory.
  int64_t sumColumns() const;
};
/// Of the values, that a block has at most.
constexpr int64_t kMostColumns = 128;
/// Of shared memory, that a kernel may declare.
constexpr int64_t kMostShared = 48 * 1024;

/// Of a row, as one thread knows it.
struct RunningRow {
  mlir::Value largest, sum; ///< the sum is that of the thread's own powers
};

/// What a thread carries from a tile of keys to the next, as a list.
struct RunningState {
  llvm::SmallVector<RunningRow> rows;
  llvm::SmallVector<mlir::Value> sums;

  llvm::SmallVector<mlir::Value> list() const;
  static RunningState of(mlir::ValueRange list, size_t rows);
};

class AttentionBlock {
public:
  /// `flag`: 16 bytes of shared memory that nobody else uses.
  AttentionBlock(SimtKernel &k, const AttentionShape &s, const AttentionTile &tile,
                 TileElements elements, mlir::Value flag);
  AttentionBlock(const AttentionBlock &) = delete; // whose operands know it
  /// How many blocks an attention has, of so many rows each; how many of them share the same rows; and what they need of scratch.
  static SymExpr count(const AttentionShape &s, int64_t rows, const SimtMachine &machine);
  static SymExpr partsOf(const AttentionShape &s, int64_t rows, const SimtMachine &machine);
  static SymExpr scratch(const AttentionShape &s, int64_t rows, const SimtMachine &machine);
  static int64_t columnsOf(const AttentionShape &s);
  /// Queries, keys and values of a block, without the places of their elements.
  struct Sources {
    TileSource queries, keys, values; ///< lines: rows, keys, e; steps: d, d, keys
  };
  static Sources sourcesOf(const AttentionShape &s, const AttentionTile &tile);

  void fill(const TileSource &source, mlir::Value firstLine, mlir::Value firstStep,
            const TileTarget &target) {
    reader.fill(source, firstLine, firstStep, target);
  }
  llvm::SmallVector<mlir::Value>
  overKeys(mlir::ValueRange state,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// How many neighbouring keys make 16 bytes of what the kernel reads beside them; 1 where it reads nothing.
  static int64_t neighboursOf(const AttentionShape &s);
  /// Numbers of neighbouring keys, of one row.
  struct Run {
    llvm::SmallVector<mlir::Value> numbers;
    mlir::Value row, firstKey; ///< of the attention
  };
  /// Sums of products become what stands before the softmax; minus infinity behind the last key.
  void score(llvm::MutableArrayRef<Run> runs);
  /// Elements of the softmax become what is multiplied by values; 0 behind the last key.
  void weigh(llvm::MutableArrayRef<Run> runs);
  /// The values are multiplied by what the softmax gives.
  bool isPlain() const { return isPlain(s); }
  static bool isPlain(const AttentionShape &s);

  RunningRow noScores();
  /// Scores of a thread, a part of its row, whose others the threads have that differ in these bits. They become powers; returned is what earlier
  /// sums are multiplied by.
  mlir::Value add(RunningRow &row, llvm::MutableArrayRef<mlir::Value> scores,
                  llvm::ArrayRef<unsigned> bits);
  /// e^(score - largest).
  mlir::Value powerOf(mlir::Value score, mlir::Value largest);
  /// The greater; where one is nan, either: the sum of powers tells.
  mlir::Value larger(mlir::Value a, mlir::Value c);
  mlir::Value sumOver(mlir::Value own, llvm::ArrayRef<unsigned> bits);
  /// One over the sum of a row; 0 where there are no keys, since a sum over nothing is 0.
  mlir::Value inverse(mlir::Value sum);
  /// What a row's sums are multiplied by behind the last key: that, unless blocks share the keys.
  mlir::Value finalFactor(mlir::Value sum);
  /// Where blocks share the keys: of this row of the tile, and what others need to know. One thread does it.
  void leave(mlir::Value row, const RunningRow &running);
  /// Sums in shared memory, which each thread reads where TileWriter::addParts() stored it or behind a barrier, to memory.
  void store(mlir::Value sums);

  TileSource queries, keys, values;
  TileWriter results;
  mlir::Value firstRow, firstColumn;
  mlir::Value firstKey, endOfKeys; ///< of the block: a multiple of a tile's, and at most all

private:
  TileSource::Index indexOf(const AttentionOperand &operand, bool isStepRow) const;
  mlir::Value inside(mlir::Value at, SymExpr extent, int64_t size);
  /// `wanted`, of whose operand `given` the numbers are elements.
  struct Program {
    mlir::Value given, wanted;
    double behind; ///< behind the last key
  };
  void compute(const Program &program, llvm::MutableArrayRef<Run> runs);
  void computeRun(const Program &program, Run &run);
  void computeWide(const Program &program, Run &run);
  mlir::Value behindLast(const Program &program, mlir::Value number, mlir::Value key);
  mlir::Value number(double value);
  /// Of the tile's first rows, to the row of sums and columns at `place`: chunks of four columns.
  void eachChunk(llvm::function_ref<void(mlir::Value row, mlir::Value column)> body);
  mlir::Value placeInPart(mlir::Value row, mlir::Value column);
  mlir::Value placeOfRow(mlir::Value row);
  void shareKeys(SymExpr count, mlir::Value flag);
  void leaveSums(mlir::Value sums);
  void joinSums(mlir::Value sums);
  llvm::SmallVector<mlir::Value> joinSome(mlir::Value first, mlir::Value row, mlir::Value column,
                                          mlir::ValueRange carried);

  SimtKernel &k;
  AttentionShape s;
  TileReader reader;
  AttentionTile tile;
  llvm::SmallVector<mlir::Value> batch;
  std::optional<BlockParts> parts; ///< none: no size of the attention asks for several
};

/// Emits the code of a thread of one of the blocks: where both products are of f16 or of bf16, by tensor cores; else by ordinary units.
bool isHalfAttention(const AttentionShape &s);
void emitHalfAttention(SimtKernel &k, const AttentionShape &s);
void emitRealAttention(SimtKernel &k, const AttentionShape &s);
/// Rows of a block, where there are many.
int64_t rowsOfHalfAttention();
int64_t rowsOfRealAttention(const AttentionShape &s);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_ATTENTIONBLOCK_H
