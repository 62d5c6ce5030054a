//===- HiddenBlocks.h - Blocks of scores of which a mask shows nothing ------------------------------------===//
//
//   HiddenBlocks hidden(blocks);
//   hidden.from(scores, spans, {own, 0, 1}, {other, 0, 1}, least);  // hidden when pieces have at least as many tokens
//
// A mask that is computed from positions is computed here for positions that stand for all of a block: the operators' own reference
// semantics, on expressions. What they prove to be minus infinity contributes nothing to any line.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_HIDDENBLOCKS_H
#define WEFT_PASSES_PARALLEL_HIDDENBLOCKS_H

#include "dialects/weft/reference/Reference.h"
#include "passes/parallel/Blocks.h"

namespace weft {

constexpr int64_t kNeverHidden = INT64_MAX;

/// Neighbouring tokens. Every rank owns a part of all, which is one piece, or two of which the second may be shorter by one.
struct Stretch {
  int64_t owner;
  unsigned piece, pieces;
};

class HiddenBlocks {
public:
  explicit HiddenBlocks(const Blocks &blocks) : blocks(blocks) {}

  /// The least length of pieces, of `least` or more, from which all of a block of scores is hidden; kNeverHidden if it may be seen.
  int64_t from(mlir::Value scores, const Spans &spans, Stretch rows, Stretch columns,
               int64_t least);

private:
  bool isHidden(mlir::Value scores, const Spans &spans, Stretch rows, Stretch columns,
                int64_t least);
  Scalar at(mlir::Value value, const Spans &spans);

  const Blocks &blocks;
  SymExpr row, column; ///< positions among all tokens
  const SymFacts *facts = nullptr;
  unsigned looks = 0;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_HIDDENBLOCKS_H
