// Memory that all ranks of a group reach: all that there is for threads, and what was shared for processes.
#pragma once

#include <stdint.h>

enum { WEFT_MAX_AREAS = 8 };

/// Memory that all ranks have in the same size, one behind the other.
struct weft_area_t {
  uint8_t *begin;
  int64_t bytes; ///< of each rank
};

struct weft_reach_t {
  bool is_one_process;
  int32_t area_count;
  weft_area_t areas[WEFT_MAX_AREAS];

  /// A name of memory of `rank` that all ranks understand; 0 where others do not reach it.
  uint64_t name_of(int32_t rank, const void *memory, int64_t bytes) const {
    uintptr_t at = (uintptr_t)memory;
    if (is_one_process)
      return at;
    for (int32_t i = 0; i < area_count; ++i) {
      uintptr_t begin = (uintptr_t)(areas[i].begin + rank * areas[i].bytes);
      if (at >= begin && at - begin <= (uintptr_t)areas[i].bytes &&
          (uintptr_t)bytes <= (uintptr_t)areas[i].bytes - (at - begin))
        return (uint64_t)(i + 1) << area_shift | (uint64_t)(at - begin);
    }
    return 0;
  }

  /// What `rank` named so.
  const uint8_t *memory_of(int32_t rank, uint64_t name) const {
    if (is_one_process)
      return (const uint8_t *)(uintptr_t)name;
    const weft_area_t &area = areas[(name >> area_shift) - 1];
    return area.begin + rank * area.bytes + (name & ((uint64_t(1) << area_shift) - 1));
  }

  static constexpr int area_shift = 48;
};
