//===- KernelCode.h - Code of kernels that several compilations need --------------------------===//
#ifndef WEFT_COMPILER_DRIVER_KERNELCODE_H
#define WEFT_COMPILER_DRIVER_KERNELCODE_H

#include "targets/common/KernelTarget.h"
#include "weft/compiler.hpp"
#include <mutex>

namespace weft {

/// By all that decides the code: the target with its accuracy, the schedule, the symbol and the
/// specification.
struct KernelCode::Impl {
  llvm::Expected<KernelImage> imageOf(const KernelTarget &target, llvm::StringRef specification,
                                      llvm::StringRef symbol, llvm::StringRef schedule);

private:
  std::mutex mutex;
  std::map<std::string, KernelImage> known;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_KERNELCODE_H
