//===- Regions.h - Kernels that run at the same time ----------------------------------------------------===//
//
// A region is one or more kernels that do not depend on each other: the host gives their units to the workers together and waits once.
// Kernels of a run, which is what lies between two steps of the host, are ordered anew so that independent ones come together:
//
//   a = k1(x)   b = k2(a)   c = k3(x)   d = k4(b, c)        becomes   { k1, k3 }   { k2 }   { k4 }
//
// What is alive at any time may not grow much by that. Whether a region is worth its while is decided when it runs: sizes are known then.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_REGIONS_H
#define WEFT_PASSES_PLAN_REGIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace weft {

/// A kernel of a run.
struct RegionKernel {
  llvm::SmallVector<unsigned> needs; ///< kernels of the run whose results it reads
  bool splitsWell;                   ///< it has units for many workers, whatever the sizes are
};

/// Memory that kernels of a run write or read.
struct RegionValue {
  std::optional<unsigned> producer; ///< none: it was written before the run
  llvm::SmallVector<unsigned> readers;
  bool isKept; ///< something behind the run needs it
  llvm::SmallVector<int64_t, 4>
      bytes; ///< at each of a few sizes of the program; as many for all values
};

using Regions = std::vector<llvm::SmallVector<unsigned>>;

/// Every kernel once, behind those it needs; regions and their kernels in the order of the program as far as possible.
Regions formRegions(llvm::ArrayRef<RegionKernel> kernels, llvm::ArrayRef<RegionValue> values);

} // namespace weft

#endif
