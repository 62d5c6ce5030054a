//===- Processor.cpp - What the kernel of the system says of the processor ------------------------------===//
//
// The same bits as the runtime's probe reads: LLVM's list of this machine's features leaves most of them out.
//===------------------------------------------------------------------------------------------===//

#include "targets/arm/Processor.h"
#include "llvm/TargetParser/Host.h"
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace weft {

#if defined(__aarch64__) && defined(__linux__)
std::string armHostLevel() {
  // As the Linux ABI fixes them: arithmetic on f16 of scalars and of vectors, and dot products; then products of matrices.
  const unsigned long halvesAndDots = 1ul << 9 | 1ul << 10 | 1ul << 20;
  const unsigned long matrices = 1ul << 13 | 1ul << 14;
  if ((getauxval(AT_HWCAP) & halvesAndDots) != halvesAndDots)
    return "v8";
  return (getauxval(AT_HWCAP2) & matrices) == matrices ? "v8.6" : "v8.2";
}
#else
std::string armHostLevel() { return ""; }
#endif

std::string armProcessor() {
  llvm::StringRef name = llvm::sys::getHostCPUName();
  return name.empty() ? "unknown" : name.str();
}

} // namespace weft
