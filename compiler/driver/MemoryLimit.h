//===- MemoryLimit.h - Whether every call of a program does with so much memory ---------------===//
//
//   if (Result<void> done = checkMemory(program, 64 << 20); !done) return done.diagnostics();
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_MEMORYLIMIT_H
#define WEFT_COMPILER_DRIVER_MEMORYLIMIT_H

#include "compiler/plan/PlannedProgram.h"
#include "weft/compiler.hpp"

namespace weft {

/// Refuses a program some call of which could need more than `limit` bytes of arena and of one
/// worker's scratch, or of which nobody can tell: a symbol has no upper bound.
Result<void> checkMemory(const Program &program, int64_t limit);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_MEMORYLIMIT_H
