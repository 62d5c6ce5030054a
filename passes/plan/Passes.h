//===- Passes.h - Passes on the plan ----------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_PASSES_H
#define WEFT_PASSES_PLAN_PASSES_H

#include "dialects/plan/Plan.h"
#include "mlir/Pass/Pass.h"
#include "passes/cost/KernelChoice.h"
#include "passes/cost/OverlapOffer.h"
#include <memory>

namespace weft {
#define GEN_PASS_DECL
#include "passes/plan/Passes.h.inc"

/// Without somebody to ask the pass fails.
std::unique_ptr<mlir::Pass> createLowerToPlan(std::shared_ptr<const KernelChooser> chooser);

/// Kernels take the time that `chooser` says of what they multiply with; `records`, or null, say what was measured.
std::unique_ptr<mlir::Pass> createOverlapExchanges(const OverlapExchangesOptions &options,
                                                   std::shared_ptr<const KernelChooser> chooser,
                                                   std::shared_ptr<const OverlapChooser> records);

#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PLAN_PASSES_H
