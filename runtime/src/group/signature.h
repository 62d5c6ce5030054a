// What ranks compare before a collective, and what they are told when it differs.
#pragma once

#include "runtime/src/base/status.h"
#include "weft/transport.h"

/// What the ranks compare before a collective: equal bytes are the same collective.
struct weft_signature_t {
  uint16_t kind, element, combiner, is_reversed;
  int32_t peer;
  uint32_t reserved;
  uint64_t sequence;
  int64_t outer, first, middle, second, inner;
};
static_assert(sizeof(weft_signature_t) == 64, "one line, without gaps");

weft_signature_t weft_signature_of(const weft_collective_t &collective, uint64_t sequence);
bool weft_same_signature(const weft_signature_t &a, const weft_signature_t &b);
/// "rank 2 calls all_gather of f32 [1, 8, 4], the others all_reduce (sum) of f32 [1, 8, 4]": by rank, of which not all are the same.
void weft_text_add_mismatch(weft_text_t *text, const weft_signature_t *const *all, int32_t world);
