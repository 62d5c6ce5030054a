// Error texts: written into the caller's weft_error_t, so failing needs no memory.
//
//   return weft_fail(err, WEFT_INVALID, "W0404", "input '%s': rank is %u, but %u is needed", …);
//
// W04xx is about the caller's arguments and tensors, W05xx about the artifact and the machine, W06xx about groups of ranks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "weft/runtime.h"

#define WEFT_PRINTF(text, first) __attribute__((format(printf, text, first)))

/// Fills *err, unless it is NULL, and returns `status`. Control characters become '?'.
weft_status_t weft_fail(weft_error_t *err, weft_status_t status, const char *code,
                        const char *format, ...) WEFT_PRINTF(4, 5);

/// Sets what the user could do about the error that was just reported.
void weft_set_hint(weft_error_t *err, const char *format, ...) WEFT_PRINTF(2, 3);

/// Makes *err say that nothing went wrong. NULL is allowed.
weft_status_t weft_succeed(weft_error_t *err);

/// A text under construction in a fixed buffer; what does not fit is cut off.
typedef struct {
  char *data;
  size_t size, used;
} weft_text_t;

/// Starts an empty text in `data`; `size` must not be 0.
weft_text_t weft_text_in(char *data, size_t size);
void weft_text_add(weft_text_t *text, const char *format, ...) WEFT_PRINTF(2, 3);
/// "60.5 MiB", "32 MiB", "12 bytes".
void weft_text_add_bytes(weft_text_t *text, uint64_t bytes);
