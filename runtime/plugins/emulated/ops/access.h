// Addresses of lanes become places, with all that is checked on the way.
#ifndef WEFT_EMULATED_OPS_ACCESS_H
#define WEFT_EMULATED_OPS_ACCESS_H

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

/// The space of a generic address, which becomes one within it.
inline space space_of(uint64_t &address) {
  if (address & shared_window) {
    address -= shared_window;
    return space::shared;
  }
  if (address & local_window) {
    address -= local_window;
    return space::local;
  }
  if (address & parameter_window) {
    address -= parameter_window;
    return space::param;
  }
  return space::global;
}

/// An address in shared memory, which may have been written as a generic one.
inline uint64_t shared_address(uint64_t address) {
  return address & shared_window ? address - shared_window : address;
}

/// Shared memory of the warp's block; a finding when it is out of bounds or not at a multiple of `alignment`.
uint8_t *shared_place(warp &w, int lane, uint64_t address, uint32_t bytes, uint32_t alignment);
uint8_t *local_place(warp &w, int lane, uint64_t address, uint32_t bytes);
const uint8_t *parameter_place(warp &w, int lane, uint64_t address, uint32_t bytes);
/// Global memory, noted as accessed.
uint8_t *global_place(warp &w, int lane, const global_access &access);

/// What a strong access at an address makes known to others, and learns from them.
void release_at(warp &w, uint64_t address, scope s, bool is_release);
void acquire_at(warp &w, uint64_t address, scope s, bool is_acquire);
/// A fence of a scope.
void fence(warp &w, scope s);

} // namespace weft_emulated

#endif
