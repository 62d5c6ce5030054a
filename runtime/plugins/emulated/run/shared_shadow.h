// Who touched a block's shared memory last, and whether it may be touched now.
#ifndef WEFT_EMULATED_RUN_SHARED_SHADOW_H
#define WEFT_EMULATED_RUN_SHARED_SHADOW_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_emulated {

struct warp;
constexpr uint16_t nobody = 0xffff;
constexpr uint8_t many_lanes = 255;

/// Of 4 bytes.
struct shared_cell {
  uint32_t write_clock = 0, write_sync = 0, write_stamp = 0, read_sync = 0;
  uint16_t writer = nobody, reader = nobody;
  uint8_t write_lane = 0, read_lane = 0, written = 0, read = 0; ///< masks of bytes behind the lanes
  uint8_t initialised = 0;                                      ///< mask of bytes
  uint8_t landing = 0;    ///< asynchronous copies are on their way here
  uint16_t in_flight = 0; ///< reads by products of warps that go on
  bool is_generic = false, is_atomic = false;
};

/// A lane's access to shared memory. A lane of -1 is a warp that acts as one.
struct shared_access {
  uint32_t address, bytes;
  int lane;
  bool is_atomic = false;
  bool is_async_proxy = false;
};

class shared_shadow {
public:
  void reset(uint32_t bytes, uint32_t warps);
  void read(warp &w, const shared_access &access);
  void write(warp &w, const shared_access &access);
  /// An asynchronous copy begins to write there; it is a write of this lane until it lands.
  void begin_copy(warp &w, const shared_access &access);
  /// It has landed, seen by `w`; `writer` wrote at `clock`.
  void land_copy(warp &w, const shared_access &access, uint16_t writer, uint32_t clock);
  /// A matrix instruction begins to read there, and nobody may write until it ends: what is right now is right then.
  void begin_flight(warp &w, const shared_access &access);
  /// It has read until now.
  void end_flight(warp &w, const shared_access &access);

private:
  struct view;

  /// Whether a write is right at a glance.
  bool is_free(const shared_cell &cell, const view &by) const;
  void check_write(warp &w, const shared_access &access, shared_cell &cell, uint8_t mask);
  /// Whether a read of words is right at a glance: most are, of what another warp wrote before a barrier.
  static bool is_settled(const shared_cell &cell, const shared_access &access, uint8_t mask,
                         const view &by);
  void check_read(warp &w, const shared_access &access, const shared_cell &cell, uint8_t mask);
  void note_read(const view &by, uint8_t lane, size_t i, uint8_t mask);

  std::vector<shared_cell> cells;
  std::vector<uint32_t> read_clocks; ///< [cell][warp]
  uint32_t stride = 0;
};

} // namespace weft_emulated

#endif
