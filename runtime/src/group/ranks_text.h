// How messages speak of ranks and of where they are.
#pragma once

#include "runtime/src/base/status.h"

/// "rank 2", "ranks 0, 1 and 5": those with a true; at most eight are named.
void weft_text_add_ranks(weft_text_t *text, const bool *is_named, int32_t world);
/// "all_reduce after 'encoder.layer.3'", "all_reduce of row 12" without a node, "all_reduce" without both.
void weft_text_add_place(weft_text_t *text, uint32_t kind, const char *node, uint32_t row);
/// "30 s", "0.25 s".
void weft_text_add_seconds(weft_text_t *text, int32_t milliseconds);
