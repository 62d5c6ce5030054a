//===- Memory.h - What a call allocates, beside what the artifact's formula says ------------------------===//
//
//   MemoryOfCall memory = memoryOfCall(program, {{"b", 2}, {"s", 16}}, 2);   // of two threads
//   CHECK(memory.most == memory.arena + 2 * memory.scratch);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_MEMORY_H
#define WEFT_TEST_SUPPORT_MEMORY_H

#include "test/support/Program.h"

namespace weft::test {

struct MemoryOfCall {
  int64_t most = 0; ///< bytes that the call held at once, as the caller's allocator counts them
  int64_t arena = 0, scratch = 0;      ///< the formulas that 'weft inspect' prints, evaluated
  int64_t allocationsOfSecondCall = 0; ///< of the same sizes
  int64_t leaked = 0;                  ///< held after everything is released
  std::string what, error; ///< sizes and formulas for messages; not empty when the call failed
};

/// Opens the artifact anew, with an allocator that counts, and calls it twice. Outputs are the caller's memory.
MemoryOfCall memoryOfCall(Program &program, const Sizes &sizes, int threads);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_MEMORY_H
