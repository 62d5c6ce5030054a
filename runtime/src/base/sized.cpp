#include "runtime/src/base/sized.h"

#include <string.h>

#include "runtime/src/base/status.h"

/// More than a struct will ever have: a larger struct_size is a mistake, and what lies there must not be read.
static const uint32_t most_bytes = 4096;

size_t weft_known_size(const size_t *sizes, size_t count, uint32_t given) {
  size_t known = 0;
  for (size_t i = 0; i < count && sizes[i] <= given; ++i)
    known = sizes[i];
  return known;
}

weft_status_t weft_copy_sized(const void *given, const char *name, const size_t *sizes,
                              size_t count, void *known, weft_error_t *err) {
  uint32_t size;
  memcpy(&size, given, sizeof size);
  size_t newest = sizes[count - 1], copied = weft_known_size(sizes, count, size);
  if (!copied || size > most_bytes)
    return weft_fail(err, WEFT_INVALID, "W0401", "%s.struct_size is %u instead of %zu", name, size,
                     newest);
  for (size_t at = newest; at < size; ++at)
    if (((const uint8_t *)given)[at])
      return weft_fail(err, WEFT_INVALID, "W0401",
                       "%s asks for something that this version of the library does not know: "
                       "byte %zu of %u is set, but it knows %zu",
                       name, at, size, newest);
  memcpy(known, given, copied);
  return WEFT_OK;
}

void weft_fill_sized(void *out, const void *value, const size_t *sizes, size_t count) {
  uint32_t size;
  memcpy(&size, out, sizeof size);
  memcpy((uint8_t *)out + sizeof size, (const uint8_t *)value + sizeof size,
         weft_known_size(sizes, count, size) - sizeof size);
}
