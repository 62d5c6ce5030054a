//===- RingSteps.h - What every rank computes in the steps of a ring --------------------------------------===//
//
//   RingSteps steps(scores, spans, blocks, group, facts);
//   blocks.start(reader, steps.pieces());
//   for (unsigned step = 0; step < steps.count(); ++step)
//     blocks.look(steps.boxAt(step));
//
// In step s the rank at place p has the keys of the one at p - s. Which masks hide them is found by HiddenBlocks for every place, and
// said as a formula of the place and of the length of parts. Where ranks would see more of them than others do, as with causal masks,
// each gets two pieces, of which one is early and one is late.
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

  unsigned pieces() const { return chosen->pieces; }
  /// Up to the last in which a rank sees something.
  unsigned count() const { return chosen->steps; }
  Box boxAt(unsigned step) const;

private:
  /// By place: the length of pieces from which it sees nothing.
  using Hidden = llvm::SmallVector<int64_t, 8>;
  /// One way to lay rows and columns.
  struct Way {
    unsigned pieces, steps;
    SymExpr length;    ///< of a piece
    int64_t least = 1; ///< that it has
    std::vector<std::array<std::array<Hidden, 2>, 2>>
        hidden; ///< by step, piece of rows and piece of columns

    Hidden rows(unsigned step, unsigned piece) const;
    Hidden columns(unsigned step, unsigned piece) const;
  };

  Way wayOf(mlir::Value scores, const Spans &spans, const Blocks &blocks, unsigned pieces,
            std::optional<int64_t> fewest) const;
  double workOf(const Way &way) const;
  SymExpr seenWhere(const Way &way, const Hidden &from) const;
  SymExpr among(int64_t first, int64_t last) const;

  MeshAttr group;
  std::optional<Way> chosen;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_RINGSTEPS_H
