// How messages speak of ranks and of where they are.
#pragma once

#include "runtime/src/base/status.h"
#include "weft/transport.h"

/// "rank 2", "ranks 0, 1 and 5": those with a true; at most eight are named.
void weft_text_add_ranks(weft_text_t *text, const bool *is_named, int32_t world);
/// Which collective a rank is at.
struct weft_place_t {
  uint32_t kind;
  const char *node; ///< that it follows; may be NULL
  uint32_t row;
  int32_t piece, pieces;
};
inline weft_place_t weft_place_of(const weft_collective_t &c) {
  return {c.kind, c.node, c.row, c.piece, c.pieces};
}
/// "all_reduce after 'encoder.layer.3'", "all_reduce of row 12" without a node, "all_reduce" without both; of a piece also ", piece 3 of 8".
void weft_text_add_place(weft_text_t *text, const weft_place_t &place);
/// "30 s", "0.25 s".
void weft_text_add_seconds(weft_text_t *text, int32_t milliseconds);
