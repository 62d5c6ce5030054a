//===- KernelImages.h - The code of all kernels of an artifact ---------------------------------------===//
//
//   KernelImages kernels;
//   if (llvm::Error failure = kernels.compile(variants, options)) …
//   std::vector<std::string> objects = kernels.takeObjects(variants);   // to link
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_KERNELIMAGES_H
#define WEFT_COMPILER_DRIVER_KERNELIMAGES_H

#include "compiler/plan/Variant.h"
#include "weft/compiler.hpp"
#include <map>
#include <set>

namespace weft {

/// Each with its target, variant by variant; those of one target may share some.
std::vector<std::pair<const KernelTarget *, const PlannedKernel *>>
distinctKernels(const std::vector<Variant> &variants);

class KernelImages {
public:
  /// One image per kernel, by as many threads as the options say. What is left when the options' caller cancels is not compiled.
  llvm::Error compile(const std::vector<Variant> &variants, const CompileOptions &options);
  /// Of kernels for processors, in the order of `distinctKernels`. Variants for devices get their code.
  std::vector<std::string> takeObjects(std::vector<Variant> &variants);
  /// Of a kernel for a device.
  const std::string &text(const PlannedKernel &kernel) const {
    return images.at(kernel.symbol).bytes;
  }
  /// Symbols of kernels that do not multiply f32.
  const std::map<Unit, std::set<std::string>> &byUnit() const { return units; }

private:
  std::map<std::string, KernelImage> images; ///< by symbol
  std::map<Unit, std::set<std::string>> units;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_KERNELIMAGES_H
