//===- X86Machine.h - The vectors of a level of x86-64 ------------------------------------------------===//
#ifndef WEFT_TARGETS_X86_X86MACHINE_H
#define WEFT_TARGETS_X86_X86MACHINE_H

#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Of "v2", "v3", "v3+vnni", "v4", "v4+vnni", "v4+bf16" or "v4+amx".
const VectorMachine &x86Machine(llvm::StringRef level);

} // namespace weft

#endif // WEFT_TARGETS_X86_X86MACHINE_H
