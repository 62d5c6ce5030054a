#include "runtime/src/group/ranks_text.h"

#include "runtime/src/group/layout.h"

static const int32_t most_named = 8;

void weft_text_add_ranks(weft_text_t *text, const bool *is_named, int32_t world) {
  int32_t count = 0, said = 0;
  for (int32_t rank = 0; rank < world; ++rank)
    count += is_named[rank];
  weft_text_add(text, count == 1 ? "rank" : "ranks");
  for (int32_t rank = 0; rank < world && said < most_named; ++rank)
    if (is_named[rank]) {
      weft_text_add(text, said == 0 ? " %d" : said + 1 == count ? " and %d" : ", %d", rank);
      ++said;
    }
  if (count > said)
    weft_text_add(text, " and %d more", count - said);
}

void weft_text_add_place(weft_text_t *text, const weft_place_t &place) {
  weft_text_add(text, "%s", weft_kind_name(place.kind));
  if (place.node && *place.node)
    weft_text_add(text, " after '%.96s'", place.node);
  else if (place.row)
    weft_text_add(text, " of row %u", place.row);
  if (place.pieces > 1)
    weft_text_add(text, ", piece %d of %d", place.piece, place.pieces);
}

void weft_text_add_seconds(weft_text_t *text, int32_t milliseconds) {
  weft_text_add(text, "%g s", milliseconds / 1000.0);
}
