//===- SimtMachine.h - What code generation asks about a GPU ----------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_SIMTMACHINE_H
#define WEFT_TARGETS_CUDA_SIMTMACHINE_H

#include <cstdint>
#include <string>

namespace weft {

/// One architecture of NVIDIA GPUs.
struct SimtMachine {
  std::string architecture; ///< "sm_80", as LLVM and the assembler name it
  std::string features;     ///< for LLVM: the version of PTX
  /// Of a GPU that has it, the one that most compute on: grids are cut for so many. Others get the same blocks, so all have the same bits.
  int64_t multiprocessors;
  bool hasGroupProducts = false; ///< four warps multiply together, from shared memory
  /// Of shared memory, for tiles of operands on their way: so many that a multiprocessor has two such blocks.
  int64_t tileBytes = 47 * 1024;
  /// Threads that execute together.
  static constexpr int64_t kWarp = 32;
  /// Of a block, unless a schedule says otherwise.
  static constexpr int64_t kThreads = 256;
};

} // namespace weft

#endif // WEFT_TARGETS_CUDA_SIMTMACHINE_H
