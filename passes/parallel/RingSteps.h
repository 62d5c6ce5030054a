//===- RingSteps.h - What every rank computes in the steps of a ring --------------------------------------===//
//
//   RingSteps steps(scores, spans, row, blocks, group, facts);
//   for (unsigned step = 0; step < steps.count(); ++step)
//     blocks.look(steps.boxAt(step));
//
// In step s the rank at place p has the keys of the one at p - s. Which masks hide them is found by HiddenBlocks for every place, and
// said as a formula of the place and of the length of parts.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_RINGSTEPS_H
#define WEFT_PASSES_PARALLEL_RINGSTEPS_H

#include "passes/parallel/HiddenBlocks.h"

namespace weft {

class RingSteps {
public:
  /// `facts`: of the program's symbols.
  RingSteps(mlir::Value scores, const Spans &spans, const Blocks &blocks, MeshAttr group,
            const SymFacts &facts);

  /// Up to the last in which a rank sees something.
  unsigned count() const { return steps; }
  Box boxAt(unsigned step) const;

private:
  /// By place: the length of parts from which it sees nothing.
  using Hidden = llvm::SmallVector<int64_t, 8>;

  SymExpr seenWhere(const Hidden &from) const;
  SymExpr among(int64_t first, int64_t last) const;

  MeshAttr group;
  SymExpr length;
  int64_t least = 1;
  unsigned steps;
  llvm::SmallVector<Hidden, 8> hidden; ///< by step
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_RINGSTEPS_H
