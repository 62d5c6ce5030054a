//===- Processor.h - What this machine's ARM processor has and calls itself ----------------------------===//
#ifndef WEFT_TARGETS_ARM_PROCESSOR_H
#define WEFT_TARGETS_ARM_PROCESSOR_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace weft {

/// "neoverse-n1": the core, as LLVM names it. Printable ASCII.
std::string armProcessor();
/// That of another machine, of its /proc/cpuinfo.
std::string armProcessorIn(llvm::StringRef text);
/// The highest level that this machine has; empty where it is none of ours: another processor, or another system than Linux.
std::string armHostLevel();

} // namespace weft

#endif // WEFT_TARGETS_ARM_PROCESSOR_H
