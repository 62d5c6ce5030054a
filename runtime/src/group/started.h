// Collectives that go on while a rank computes.
#pragma once

#include "weft/group.h"

struct weft_started_t {
  uint64_t ticket, note; ///< the note is in the history
  uint64_t sequence;     ///< of the group's collectives, from 1
  uint64_t spent_ns;     ///< in the functions below
  int32_t is_done;
  bool is_noted; ///< that it is done
};

/// Begins a collective behind those that were begun before; its memory is in use until it is done.
weft_status_t weft_group_start(weft_group_t *group, const weft_collective_t &collective,
                               weft_started_t *out_started, weft_error_t *err);
/// Goes on with what was begun, this one at last; until it is done, or only as far as that takes no waiting.
weft_status_t weft_group_advance(weft_group_t *group, weft_started_t *started, bool waits,
                                 weft_error_t *err);
