//===- CudaFamily.h - NVIDIA GPUs as targets -----------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_CUDAFAMILY_H
#define WEFT_TARGETS_CUDA_CUDAFAMILY_H

#include "targets/common/Registry.h"

namespace weft {

/// The program that calls the kernels is for the first level of `host`.
std::unique_ptr<TargetFamily> makeCudaFamily(const TargetFamily &host);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_CUDAFAMILY_H
