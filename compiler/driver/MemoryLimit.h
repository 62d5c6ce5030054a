//===- MemoryLimit.h - Whether every call of a program does with so much memory ---------------===//
//
//   if (std::optional<Diagnostic> why = refuseMemory(program, 64 << 20)) return *why;
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_MEMORYLIMIT_H
#define WEFT_COMPILER_DRIVER_MEMORYLIMIT_H

#include "compiler/plan/PlannedProgram.h"
#include "weft/compiler.hpp"

namespace weft {

/// Why some call of `program` could need more than `limit` bytes of arena and of one worker's
/// scratch, or why nobody can tell: a symbol without an upper bound. Nothing when all calls fit.
std::optional<Diagnostic> refuseMemory(const Program &program, int64_t limit);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_MEMORYLIMIT_H
