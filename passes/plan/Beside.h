//===- Beside.h - Blocks of a ring travel while a rank computes -----------------------------------------===//
//
//   for (Beside &each : llvm::reverse(exchangesBeside(function)))
//     if (… price of each.exchange beside each.launches …)
//       goOnBeside(each);
//
// What a rank sends to its neighbour (`permute`) is begun as soon as it is made, and awaited where it is read first: a ring attends to one block of keys
// while the next one comes. Products and the collectives of their rows are `plan.overlap`s instead.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_BESIDE_H
#define WEFT_PASSES_PLAN_BESIDE_H

#include "dialects/plan/Plan.h"

namespace weft {

/// An exchange that was moved to where it can begin, and the launches in front of the first that has to do with what it brings.
struct Beside {
  plan::ExchangeOp exchange;
  llvm::SmallVector<plan::LaunchOp> launches;
  mlir::Operation *last; ///< what it can be awaited behind
};

/// All that have launches. Every exchange of the kind begins as early as it can, whether it is awaited at once or not.
llvm::SmallVector<Beside> exchangesBeside(plan::FuncOp function);

/// False, and changes nothing, where too many are on their way, or one between that is waited for at once: those behind are asked first.
bool goOnBeside(const Beside &beside);

} // namespace weft

#endif // WEFT_PASSES_PLAN_BESIDE_H
