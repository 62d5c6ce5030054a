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
// Along one more dimension, heads, values may be cut into shares, each of which travels and is built alone: what is computed of one share
// reads nothing of another.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_BLOCKS_H
#define WEFT_PASSES_PARALLEL_BLOCKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/parallel/Parts.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Which elements along a dimension. Share: those of the share that is looked at.
enum class Span : char { Whole, Rows, Columns, Share };
using Spans = llvm::SmallVector<Span, 6>;

/// What goes around: a value along the dimension of its parts, and the one along which it is cut into shares.
struct Carried {
  mlir::Value value;
  unsigned column;
  std::optional<unsigned> shared;
  bool operator==(const Carried &other) const {
    return value == other.value && column == other.column && shared == other.shared;
  }
};

/// What a rank computes of a step, in pieces of its own rows and of the columns that it has.
struct Box {
  SymExpr firstRow, rows, firstColumn, columns;
};

class Blocks {
public:
  /// With `onlyLooks` it is said how values would be made, but not tried: a quick answer where there is nothing to make.
  Blocks(MeshAttr group, const Assignment &assignment, Parts &parts, bool onlyLooks = false,
         unsigned shares = 1)
      : group(group), assignment(assignment), parts(parts), onlyLooks(onlyLooks),
        shareCount(shares) {}

  /// Decides how the value's blocks are made; nothing is built.
  bool canBuild(mlir::Value value, const Spans &spans);

  llvm::ArrayRef<Carried> carried() const { return travelling; }
  unsigned shares() const { return shareCount; }
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
  /// The neighbour gets what the rank has: all of it, value by value.
  void send(mlir::OpBuilder &builder, const llvm::Twine &because);
  /// What was sent last is here. By value, and by share.
  llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> lastSent() const { return sent; }
  void advance();
  /// In the present step.
  void look(const Box &at) { box = at; }
  void lookAtShare(unsigned at) { share = at; }
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
  unsigned sharesOf(const Carried &sent) const { return sent.shared ? shareCount : 1; }
  mlir::Value shareOf(mlir::OpBuilder &builder, mlir::Value whole, unsigned dim, unsigned at) const;
  mlir::Value exchanged(mlir::OpBuilder &builder, mlir::Value laid, unsigned dim, SymExpr piece);
  SymExpr placeOf(Span span) const;
  SymExpr shareSize(mlir::Value value, unsigned dim) const;
  bool cutsShares(mlir::Operation *op, const Cut &cut) const;
  bool canShare(mlir::Value value, const Spans &spans) const;
  SymExpr sizeOf(mlir::Value value, unsigned dim, SymExpr place, unsigned piece) const;

  MeshAttr group;
  const Assignment &assignment;
  Parts &parts;
  const bool onlyLooks;
  const unsigned shareCount;
  llvm::DenseMap<Key, How> ways;
  llvm::DenseSet<Key> refused, refusedAlone, collected;
  llvm::SmallVector<Carried, 2> travelling;
  llvm::SetVector<mlir::Operation *> again;
  llvm::DenseSet<mlir::Value> read;
  bool isNeeded = false, hasPlacement = false;

  unsigned step = 0, pieces = 1, share = 0;
  Box box;
  mlir::Operation *reader = nullptr;
  /// What has come to the rank, by value and share.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> here;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> laidParts;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>, 2> sent;
  llvm::DenseMap<std::pair<Key, unsigned>, mlir::Value> built; ///< in this step, by share
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_BLOCKS_H
