//===- Processor.h - What this machine's processor calls itself --------------------------------------===//
#ifndef WEFT_TARGETS_X86_PROCESSOR_H
#define WEFT_TARGETS_X86_PROCESSOR_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace weft {

/// "AMD EPYC 9B14 (25/17)": brand, and family and model in parentheses. Printable ASCII.
std::string x86Processor();
/// That of another machine, of its /proc/cpuinfo; empty where that does not say.
std::string x86ProcessorIn(llvm::StringRef text);
/// Whether this processor begins products of pairs of bf16 as often as products of f32. Intel's begin a quarter as many.
bool x86HasFastHalves();

} // namespace weft

#endif // WEFT_TARGETS_X86_PROCESSOR_H
