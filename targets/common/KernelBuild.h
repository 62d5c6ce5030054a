//===- KernelBuild.h - Which Weft makes kernels ----------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_KERNELBUILD_H
#define WEFT_TARGETS_COMMON_KERNELBUILD_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// "weft 0.1.0 (8b1d33a0c2f4e596)": the version, and a hash of the sources of all that makes code. What one build measured of kernels
/// another must not believe.
llvm::StringRef kernelBuild();

} // namespace weft

#endif // WEFT_TARGETS_COMMON_KERNELBUILD_H
