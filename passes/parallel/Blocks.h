//===- Blocks.h - The part of a value that one step of a ring needs -------------------------------------===//
//
//   Blocks blocks(group, assignment, parts);
//   if (blocks.canBuild(scores, {Span::Whole, Span::Rows, Span::Columns})) … // nothing is built yet
//   blocks.start(reader);
//   Value block = blocks.build(builder, scores, spans);                        // of the rank's own keys
//   blocks.advance(builder, because);                                           // now of the keys of the rank before
//
// In step s a rank has columns that the rank s places before it made: they travel. What stands between them and the value is computed
// again for every block, and so is whatever reads only what all ranks have: masks, positions, biases. Rows are always the rank's own.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_BLOCKS_H
#define WEFT_PASSES_PARALLEL_BLOCKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/parallel/Parts.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Which elements along a dimension.
enum class Span : char { Whole, Rows, Columns };
using Spans = llvm::SmallVector<Span, 6>;

/// What a rank computes of a step, in pieces of its own rows and of the columns that it has.
struct Box {
  SymExpr firstRow, rows, firstColumn, columns;
};

class Blocks {
public:
  /// With `onlyLooks` it is said how values would be made, but not tried: a quick answer where there is nothing to make.
  Blocks(MeshAttr group, const Assignment &assignment, Parts &parts, bool onlyLooks = false)
      : group(group), assignment(assignment), parts(parts), onlyLooks(onlyLooks) {}

  /// Decides how the value's blocks are made; nothing is built.
  bool canBuild(mlir::Value value, const Spans &spans);

  /// What travels; each value with the dimension of its parts.
  llvm::ArrayRef<std::pair<mlir::Value, unsigned>> carried() const { return travelling; }
  /// What is computed for every block.
  const llvm::SetVector<mlir::Operation *> &rebuilt() const { return again; }
  /// Whether blocks are made of the value as it is in the program.
  bool isRead(mlir::Value value) const { return read.contains(value); }
  /// Whether ranks have only parts of some columns.
  bool areApart() const { return isNeeded; }
  /// Whether users said so.
  bool arePlaced() const { return hasPlacement; }

  /// Parts are laid into `pieces` of one length each, filled up with zeros. Of two, the second goes to the mirrored rank, so that every
  /// rank has an early and a late piece.
  void start(mlir::Operation *reader, unsigned pieces);
  void advance(mlir::OpBuilder &builder, const llvm::Twine &because);
  /// In the present step.
  void look(const Box &at) { box = at; }
  mlir::Value build(mlir::OpBuilder &builder, mlir::Value value, const Spans &spans);
  SymTensorType typeOf(mlir::Value value, const Spans &spans) const;

  /// Which columns of a block are keys, rather than what fills it up: [1, …, columns]; null where all are.
  mlir::Value keysIn(mlir::OpBuilder &builder, mlir::Value scores);
  /// The rank's part of what was computed for rows of pieces.
  mlir::Value partOf(mlir::OpBuilder &builder, mlir::Value made, mlir::Value value, unsigned dim);

  /// What an operation needs of its operands for a block of its result; nothing where it is not computed piece by piece.
  std::optional<llvm::SmallVector<Spans, 3>> operandSpans(mlir::Operation *op,
                                                          const Spans &spans) const;
  /// The dimension along which ranks have parts of a value when the program has been split; nothing when they have all of it.
  std::optional<unsigned> partsOf(mlir::Value value) const;

private:
  /// As parts are, in one step or another.
  SymTensorType exactType(mlir::Value value, const Spans &spans, unsigned step) const;
  enum class Way { Whole, Part, Sliced, Carried, Rebuilt };
  struct How {
    Way way;
    llvm::SmallVector<Spans, 3> operands; ///< of what is built again
  };
  using Key = std::pair<mlir::Value, uint64_t>;
  static Key keyOf(mlir::Value value, const Spans &spans);

  bool decide(mlir::Value value, const Spans &spans, bool alone);
  std::optional<How> choose(mlir::Value value, const Spans &spans, bool alone);
  std::optional<How> rebuild(mlir::Value value, const Spans &spans, bool alone);
  std::optional<Cut> cutAlong(mlir::Operation *op, unsigned dim) const;
  bool buildsFrom(mlir::Operation *op, llvm::ArrayRef<Spans> operands, const Spans &spans);
  bool isSmallest(mlir::Value value, unsigned dim) const;
  void collect(mlir::Value value, const Spans &spans);
  bool wasPlaced(mlir::Value value, unsigned dim) const;
  std::optional<std::pair<mlir::Value, unsigned>> source(mlir::Value value, unsigned dim) const;
  mlir::Value sliced(mlir::OpBuilder &builder, mlir::Value value, const Spans &spans);
  mlir::Value laid(mlir::OpBuilder &builder, mlir::Value whole, mlir::Value value, unsigned dim,
                   SymExpr place);
  mlir::Value laidPart(mlir::OpBuilder &builder, mlir::Value value, unsigned dim);
  mlir::Value boxOf(mlir::OpBuilder &builder, mlir::Value laid, mlir::Value value,
                    const Spans &spans);
  mlir::Value exchanged(mlir::OpBuilder &builder, mlir::Value laid, unsigned dim, SymExpr piece);
  SymExpr placeOf(Span span) const;
  SymExpr sizeOf(mlir::Value value, unsigned dim, SymExpr place, unsigned piece) const;

  MeshAttr group;
  const Assignment &assignment;
  Parts &parts;
  const bool onlyLooks;
  llvm::DenseMap<Key, How> ways;
  llvm::DenseSet<Key> refused, refusedAlone, collected;
  llvm::SmallVector<std::pair<mlir::Value, unsigned>, 2> travelling;
  llvm::SetVector<mlir::Operation *> again;
  llvm::DenseSet<mlir::Value> read;
  bool isNeeded = false, hasPlacement = false;

  unsigned step = 0, pieces = 1;
  Box box;
  mlir::Operation *reader = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> here; ///< what has come to the rank
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> laidParts;
  llvm::DenseMap<Key, mlir::Value> built; ///< in this step
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_BLOCKS_H
