//===- Families.cpp - The list of families of targets -----------------------------------------------===//

#include "targets/arm/ArmFamily.h"
#include "targets/common/Registry.h"
#include "targets/cuda/CudaFamily.h"
#include "targets/x86/X86Family.h"

namespace weft {

llvm::ArrayRef<const TargetFamily *> listedFamilies() {
  // Artifacts have code for x86-64 systems beside that of GPUs.
  static const std::unique_ptr<TargetFamily> cuda = makeCudaFamily(x86Family());
  static const TargetFamily *const all[] = {&x86Family(), &armFamily(), cuda.get()};
  return all;
}

} // namespace weft
