//===- KernelBuild.cpp -------------------------------------------------------------------------------===//

#include "targets/common/KernelBuild.h"

llvm::StringRef weft::kernelBuild() {
  return
#include "targets/common/KernelBuild.inc"
      ;
}
