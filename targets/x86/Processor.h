//===- Processor.h - What this machine's processor calls itself --------------------------------------===//
#ifndef WEFT_TARGETS_X86_PROCESSOR_H
#define WEFT_TARGETS_X86_PROCESSOR_H

#include <string>

namespace weft {

/// "AMD EPYC 9B14 (25/17)": brand, and family and model in parentheses. Printable ASCII.
std::string x86Processor();

} // namespace weft

#endif // WEFT_TARGETS_X86_PROCESSOR_H
