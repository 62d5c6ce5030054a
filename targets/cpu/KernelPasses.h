//===- KernelPasses.h - What LLVM does to kernels before they become code ---------------------------===//
#ifndef WEFT_TARGETS_CPU_KERNELPASSES_H
#define WEFT_TARGETS_CPU_KERNELPASSES_H

#include "llvm/Passes/PassBuilder.h"

namespace weft {

/// Passes of O2 in its order, without those that change nothing in kernels as generators write them. The builder's analyses are registered.
/// Long loops may be left out of what is considered for unrolling.
llvm::ModulePassManager kernelPasses(llvm::PassBuilder &builder, bool onlyShortLoops);

} // namespace weft

#endif // WEFT_TARGETS_CPU_KERNELPASSES_H
