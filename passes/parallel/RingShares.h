//===- RingShares.h - In how many shares keys and values go around ----------------------------------------===//
//
//   RingShares shares = …;                                     // by default everything goes around whole
//   for (unsigned count : shares.ranked(shape))                // the best first
//     if (… heads can be cut so …)
//
// Heads do not read each other. Sent one share of them after the other, a rank attends to the first ones while the rest is on its way; how each is computed
// does not change, so results have the same bits. What it costs are messages and starts of kernels.
//
//   whole       own block | wait for keys | scores | wait for values | sums         exposed: what the own block leaves of the exchange
//   in shares   own block | scores of the first heads, …, scores of the last | sums of the first heads, …      at best a share's sums
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_RINGSHARES_H
#define WEFT_PASSES_PARALLEL_RINGSHARES_H

#include "passes/cost/Link.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft {

/// Of one ring, times in nanoseconds.
struct RingShape {
  int64_t ranks;
  unsigned carried; ///< values that go around
  double block;     ///< a rank computes of one block
  double exchange;  ///< the bytes of a block are on the link
  double latency;   ///< of a message
};

/// Until the last step is computed, from when all of the own block is there. Shares are sent value by value.
double timeOfRing(const RingShape &shape, unsigned shares);

struct RingShares {
  enum Choice { Whole, Priced, Most };
  Choice choice = Whole;
  Links links;     ///< of `Priced`
  SymValues sizes; ///< at which it is priced

  /// Numbers of shares of `heads`, the best first; the last one is 1.
  llvm::SmallVector<unsigned> ranked(const RingShape &shape, int64_t heads) const;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_RINGSHARES_H
