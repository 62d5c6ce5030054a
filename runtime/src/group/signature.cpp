#include "runtime/src/group/signature.h"

#include <string.h>

#include "runtime/src/group/combine.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/ranks_text.h"

weft_signature_t weft_signature_of(const weft_collective_t &c, uint64_t sequence) {
  bool is_exchange = c.kind == WEFT_ALL_TO_ALL;
  bool has_peer = c.kind == WEFT_BROADCAST || c.kind == WEFT_PERMUTE;
  bool has_pieces = c.kind == WEFT_ALL_GATHER || c.kind == WEFT_REDUCE_SCATTER;
  return {c.kind,
          c.element,
          weft_combines(c) ? c.combiner : (uint16_t)0,
          is_exchange || c.kind == WEFT_PERMUTE ? c.is_reversed : (uint16_t)0,
          has_peer ? c.peer : 0,
          0,
          sequence,
          c.outer,
          weft_has_own_sizes(c) ? c.longest : c.first,
          is_exchange  ? c.middle
          : has_pieces ? c.from
                       : 1,
          is_exchange  ? c.second
          : has_pieces ? c.rows
                       : 1,
          c.inner};
}

bool weft_same_signature(const weft_signature_t &a, const weft_signature_t &b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static void add_signature(weft_text_t *text, const weft_signature_t &s) {
  weft_text_add(text, "%s", weft_kind_name(s.kind));
  if (s.combiner)
    weft_text_add(text, " (%s)", weft_combiner_name(s.combiner));
  if (s.kind == WEFT_BROADCAST)
    weft_text_add(text, " from rank %d", s.peer);
  if (s.kind == WEFT_PERMUTE)
    weft_text_add(text, " by %d", s.peer);
  weft_text_add(text, " of %s [%lld, %lld, ", weft_element_name(s.element), (long long)s.outer,
                (long long)s.first);
  if (s.kind == WEFT_ALL_TO_ALL)
    weft_text_add(text, "%lld, %lld, ", (long long)s.middle, (long long)s.second);
  weft_text_add(text, "%lld]%s", (long long)s.inner, s.is_reversed ? " back" : "");
  bool is_piece = s.second && (s.kind == WEFT_ALL_GATHER || s.kind == WEFT_REDUCE_SCATTER);
  if (is_piece)
    weft_text_add(text, ", rows %lld to %lld of every part", (long long)s.middle,
                  (long long)(s.middle + s.second));
}

/// What most ranks do, or of several such things what the first rank of them does.
static const weft_signature_t &most_common(const weft_signature_t *const *all, int32_t world) {
  int32_t best = 0, most = 0;
  for (int32_t rank = 0; rank < world; ++rank) {
    int32_t count = 0;
    for (int32_t other = 0; other < world; ++other)
      count += weft_same_signature(*all[other], *all[rank]);
    if (count > most) {
      best = rank;
      most = count;
    }
  }
  return *all[best];
}

void weft_text_add_mismatch(weft_text_t *text, const weft_signature_t *const *all, int32_t world) {
  bool is_odd[WEFT_MAX_WORLD] = {};
  const weft_signature_t &usual = most_common(all, world);
  int32_t first = -1, odd = 0;
  for (int32_t rank = world - 1; rank >= 0; --rank) {
    is_odd[rank] = !weft_same_signature(*all[rank], usual);
    odd += is_odd[rank];
    first = is_odd[rank] ? rank : first;
  }
  weft_text_add_ranks(text, is_odd, world);
  weft_text_add(text, odd == 1 ? " calls " : " call ");
  add_signature(text, *all[first]);
  weft_text_add(text, ", the others ");
  add_signature(text, usual);
}
