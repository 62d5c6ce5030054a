//===- KernelCode.h - Code of kernels that several compilations need --------------------------===//
#ifndef WEFT_COMPILER_DRIVER_KERNELCODE_H
#define WEFT_COMPILER_DRIVER_KERNELCODE_H

#include "targets/common/KernelTarget.h"
#include "weft/compiler.hpp"
#include <mutex>

namespace weft {

/// The code of a kernel: what a folder has, else compiled and kept there.
llvm::Expected<KernelImage> imageOf(const KernelTarget &target, llvm::StringRef specification,
                                    llvm::StringRef symbol, llvm::StringRef schedule);

struct KernelCode::Impl {
  /// The same, once.
  llvm::Expected<KernelImage> imageOf(const KernelTarget &target, llvm::StringRef specification,
                                      llvm::StringRef symbol, llvm::StringRef schedule);

private:
  std::mutex mutex;
  std::map<std::string, KernelImage> known;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_KERNELCODE_H
