// What a launch did, in numbers that a real GPU would answer for.
#ifndef WEFT_EMULATED_RUN_COUNTERS_H
#define WEFT_EMULATED_RUN_COUNTERS_H

#include <cstddef>
#include <cstdint>

#include "runtime/plugins/emulated/code/instruction.h"

namespace weft_emulated {

struct counters {
  uint64_t instructions = 0, lanes = 0; ///< of warps, and of their threads
  uint64_t by_unit[unit_count] = {};    ///< of warps
  uint64_t divergent_branches = 0;
  uint64_t tensor_products = 0; ///< multiply-adds of tensor cores
  uint64_t shared_wavefronts = 0, shared_ideal = 0;
  uint64_t sectors = 0, ideal_sectors = 0; ///< of 32 bytes of global memory
  uint64_t bytes_read = 0, bytes_written = 0;
  uint64_t narrow_accesses = 0; ///< global ones of less than 16 bytes a thread

  void add(const counters &other) {
    instructions += other.instructions, lanes += other.lanes;
    for (size_t i = 0; i < unit_count; ++i)
      by_unit[i] += other.by_unit[i];
    divergent_branches += other.divergent_branches;
    tensor_products += other.tensor_products;
    shared_wavefronts += other.shared_wavefronts, shared_ideal += other.shared_ideal;
    sectors += other.sectors, ideal_sectors += other.ideal_sectors;
    bytes_read += other.bytes_read, bytes_written += other.bytes_written;
    narrow_accesses += other.narrow_accesses;
  }
};

struct warp;
/// Counts one access of the lanes in `mask`, `bytes` each at `address`.
void count_shared(warp &w, const uint64_t *address, uint32_t mask, uint32_t bytes);
void count_global(warp &w, const uint64_t *address, uint32_t mask, uint32_t bytes);

} // namespace weft_emulated

#endif
