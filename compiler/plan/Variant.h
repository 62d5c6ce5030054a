//===- Variant.h - A model for one host and mesh -----------------------------------------------------------------===//
//
//   if (failed(variant.findKernelTargets())) …          // behind the last phase
//   … variant.targetOf(kernel).compile(kernel.text, kernel.symbol, kernel.schedule) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PLAN_VARIANT_H
#define WEFT_COMPILER_PLAN_VARIANT_H

#include "compiler/plan/PlannedProgram.h"
#include "targets/common/Registry.h"

namespace weft {

/// An artifact has one or several, the best first; weights are common to them.
struct Variant {
  FoundTarget target; ///< of the host's program, and of kernels that are planned here
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringRef phase; ///< the last one that it has behind it
  Program program;
  /// Those that the plan's kernels name.
  llvm::StringMap<std::shared_ptr<const KernelTarget>> kernelTargets;
  std::string
      deviceCode;   ///< of all kernels, once they are compiled; empty where they run on the host
  std::string mesh; ///< over which the model is split, as options say it; empty: as it says itself

  /// Reports kernels of a target that there is not.
  mlir::LogicalResult findKernelTargets();
  /// Whether a plan that was read is for this host, and its kernels are computed by schedules that take them and started as these need it;
  /// reports what is not so.
  mlir::LogicalResult checkPlan() const;
  const KernelTarget &targetOf(const PlannedKernel &kernel) const {
    return *kernelTargets.lookup(kernel.target);
  }
  /// Other targets than the host's that kernels are compiled for, in the order of the kernels.
  std::vector<std::string> otherTargets() const;
  /// What the code needs of a processor: that of the host's program first.
  std::vector<std::string> features() const;
  /// The formula for the arena of the first function.
  std::string peakText() const;
};

} // namespace weft

#endif
