//===- Processor.cpp - What the kernel of the system says of the processor ------------------------------===//
//
// The same bits as the runtime's probe reads: LLVM's list of this machine's features leaves most of them out.
//===------------------------------------------------------------------------------------------===//

#include "targets/arm/Processor.h"
#include "llvm/TargetParser/Host.h"
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace weft {

#if defined(__aarch64__) && defined(__linux__)
std::string armHostLevel() {
  // As the Linux ABI fixes them: arithmetic on f16 of scalars and of vectors, and dot products; SVE; products of matrices; SVE2.
  const unsigned long halves = 1ul << 9 | 1ul << 10, dots = halves | 1ul << 20, sve = 1ul << 22,
                      matrices = 1ul << 13 | 1ul << 14, sve2 = 1ul << 1;
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const int askForLength = 51, lengthBytes = 0xffff, length = prctl(askForLength);
  auto hasVectorsOf = [&](int bits) {
    return (first & sve) && length > 0 && (length & lengthBytes) * 8 == bits;
  };
  if ((first & halves) == halves && hasVectorsOf(512))
    return "sve512";
  if ((first & dots) != dots)
    return "v8";
  if ((second & matrices) != matrices)
    return "v8.2";
  return hasVectorsOf(256) ? "sve256" : (first & sve) && (second & sve2) ? "v9" : "v8.6";
}
#else
std::string armHostLevel() { return ""; }
#endif

std::string armProcessor() {
  llvm::StringRef name = llvm::sys::getHostCPUName();
  return name.empty() ? "unknown" : name.str();
}

std::string armProcessorIn(llvm::StringRef text) {
  return llvm::sys::detail::getHostCPUNameForARM(text).str();
}

} // namespace weft
