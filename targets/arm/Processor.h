//===- Processor.h - What this machine's ARM processor has and calls itself ----------------------------===//
#ifndef WEFT_TARGETS_ARM_PROCESSOR_H
#define WEFT_TARGETS_ARM_PROCESSOR_H

#include <string>

namespace weft {

/// "neoverse-n1": the core, as LLVM names it. Printable ASCII.
std::string armProcessor();
/// The highest level that this machine has; empty where it is none of ours: another processor, or another system than Linux.
std::string armHostLevel();

} // namespace weft

#endif // WEFT_TARGETS_ARM_PROCESSOR_H
