// What copies in bulk and barriers in memory share.
#ifndef WEFT_EMULATED_OPS_BULK_H
#define WEFT_EMULATED_OPS_BULK_H

#include "runtime/plugins/emulated/code/decoder.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

/// The barrier at an address of shared memory; a finding when there is none.
memory_barrier &barrier_at(warp &w, int lane, uint64_t address);

/// The place of a byte among rows that are swizzled over 128, 64 or 32 bytes; 0: not at all. Bits of the final address are exchanged.
inline uint32_t swizzled(uint32_t address, uint32_t bytes) {
  uint32_t mask = bytes == 128 ? 7 : bytes == 64 ? 3 : bytes == 32 ? 1 : 0;
  return address ^ ((address >> 7 & mask) << 4);
}

void decode_bulk(decoder &d);

} // namespace weft_emulated

#endif
