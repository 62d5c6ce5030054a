// Sums, products and extremes of what several ranks have, element by element in the order of ranks.
#pragma once

#include "weft/transport.h"

/// More ranks than any machine has processors for.
enum { WEFT_MAX_WORLD = 1024 };

/// Whether elements of a type have such a combination.
bool weft_can_combine(uint32_t element, uint32_t combiner);

/// result[i] = sources[0][i] + sources[1][i] + …, for `count` elements. `result` may be one of the sources, but overlap none otherwise.
void weft_combine(uint32_t element, uint32_t combiner, const void *const *sources,
                  int32_t source_count, int64_t count, void *result);
