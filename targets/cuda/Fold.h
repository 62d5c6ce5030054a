//===- Fold.h - What threads carry along while they combine elements -----------------------------------===//
//
//   std::unique_ptr<Fold> fold = Fold::of(k, shape.root);
//   Fold::State state = fold->none(lanes);
//   state = fold->add(state, elements, position);      // of each of the lanes
//   state = fold->join(state, another);
//
// A reduction carries what elements before were combined to; the place of an extreme besides where that came from.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_FOLD_H
#define WEFT_TARGETS_CUDA_FOLD_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

class Fold {
public:
  /// A value for each of `types`: scalars, or vectors of the lanes.
  using State = llvm::SmallVector<mlir::Value, 2>;

  static std::unique_ptr<Fold> of(SimtKernel &k, mlir::Operation *root);
  virtual ~Fold() = default;

  /// Of a scalar state, as they are stored.
  llvm::ArrayRef<mlir::Type> types() const { return fields; }
  /// Of nothing, in lanes of its own where there are more than one.
  virtual State none(unsigned lanes) = 0;
  /// A state, and one more element in each of its lanes. `position` comes behind those that the state knows.
  virtual State add(const State &before, mlir::Value elements, mlir::Value position) = 0;
  /// What all `add`s to a state of nothing gave, where there were some; the first was at `position`.
  virtual State settled(const State &state, mlir::Value hasAny, mlir::Value position) {
    return state;
  }
  virtual State join(const State &a, const State &c) = 0;
  /// The states of all lanes, joined.
  State joinLanes(const State &state);

  /// Along a line, chunk by chunk: states are of `lineLanes`. Positions are numbers of chunks there.
  virtual unsigned lineLanes(unsigned lanes) { return lanes; }
  virtual State addChunk(const State &before, mlir::Value elements, mlir::Value chunk) {
    return add(before, elements, chunk);
  }
  /// With the position of an element instead: `pull` gives the chunk's.
  virtual State placed(const State &state, unsigned lanes,
                       llvm::function_ref<mlir::Value(mlir::Value chunk)> pull) {
    return state;
  }
  /// The root's element.
  virtual mlir::Value result(const State &state) = 0;
  /// How many elements a thread takes side by side, at most.
  virtual unsigned mostLanes() const { return 8; }

protected:
  Fold(SimtKernel &k, mlir::Operation *root, Combiner combiner);

  SimtKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Type element, scalar; ///< of the input, and as it is computed
  Combiner combiner;
  llvm::SmallVector<mlir::Type, 2> fields;
};

/// Joins the states of threads of a block whose numbers differ by multiples of a power of two, 32 at most; the first of them gets what they give
/// together, in the order of a tree. All threads of a block take part.
class BlockFold {
public:
  /// For states of so many lanes at most.
  BlockFold(SimtKernel &k, Fold &fold, unsigned lanes, int64_t threads);

  Fold::State join(Fold::State state, mlir::Value distance);
  /// The same within each warp.
  Fold::State joinWarp(Fold::State state, mlir::Value distance);
  /// A word of shared memory that no state comes to.
  mlir::Value spare() const;
  /// Of the neighbours of each group of so many threads, a power of two.
  Fold::State joinNeighbours(Fold::State state, mlir::Value count);

private:
  Fold::State exchanged(const Fold::State &state, unsigned bits);
  Fold::State joinIf(mlir::Value condition, const Fold::State &state, unsigned bits);
  Fold::State through(const Fold::State &state, int64_t distance);
  void write(const Fold::State &state, mlir::Value thread, int64_t base, int64_t count);
  Fold::State read(const Fold::State &like, mlir::Value thread, int64_t base, int64_t count);

  SimtKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  Fold &fold;
  int64_t threads, bytes; ///< bytes: of a state
  mlir::Value shared;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_FOLD_H
