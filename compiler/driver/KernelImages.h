//===- KernelImages.h - The code of all kernels of an artifact ---------------------------------------===//
//
//   KernelImages kernels;
//   if (llvm::Error failure = runJobs(kernels.jobs(variants, options), options)) …
//   std::vector<std::string> objects = kernels.takeObjects(variants);   // to link
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_KERNELIMAGES_H
#define WEFT_COMPILER_DRIVER_KERNELIMAGES_H

#include "compiler/driver/Jobs.h"
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
  /// One per kernel, each for an image of its own.
  std::vector<Job> jobs(const std::vector<Variant> &variants, const CompileOptions &options);
  /// Of kernels for processors, in the order of `distinctKernels`. Variants for devices get their code.
  std::vector<std::string> takeObjects(std::vector<Variant> &variants);
  /// Of a kernel for a device.
  const std::string &text(const PlannedKernel &kernel) const {
    return images.at(kernel.symbol).bytes;
  }
  /// How many an earlier compilation made.
  size_t kept() const;
  /// Symbols of kernels that do not multiply f32.
  std::map<Unit, std::set<std::string>> byUnit() const;

private:
  std::map<std::string, KernelImage> images; ///< by symbol
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_KERNELIMAGES_H
