//===- OverlapKey.h - What records know an exchange beside kernels by ---------------------------------------===//
#ifndef WEFT_PASSES_PLAN_OVERLAPKEY_H
#define WEFT_PASSES_PLAN_OVERLAPKEY_H

#include "dialects/plan/Plan.h"
#include "passes/cost/Link.h"

namespace weft {

/// 16 hexadecimal digits, the same in every process: of the collective with its sizes and ranks, of the kernels' specifications without picks, and
/// of the link. Places in the model are no part of it, so equal layers have one key.
std::string overlapKey(plan::ExchangeOp exchange, llvm::ArrayRef<plan::LaunchOp> launches,
                       const Link &link);

} // namespace weft

#endif // WEFT_PASSES_PLAN_OVERLAPKEY_H
