//===- Families.cpp - The list of families of targets -----------------------------------------------===//

#include "targets/arm/ArmFamily.h"
#include "targets/common/Registry.h"
#include "targets/x86/X86Family.h"

namespace weft {

llvm::ArrayRef<const TargetFamily *> listedFamilies() {
  static const TargetFamily *const all[] = {&x86Family(), &armFamily()};
  return all;
}

} // namespace weft
