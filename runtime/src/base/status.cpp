#include "runtime/src/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Names come from files: keeps a terminal safe from them, and does not end in half a UTF-8
/// character.
static void tidy(char *text, bool was_cut) {
  size_t length = strlen(text);
  if (was_cut) {
    size_t start = length;
    while (start > 0 && length - start < 4 && ((uint8_t)text[start - 1] & 0xC0) == 0x80)
      --start;
    if (start > 0 && ((uint8_t)text[start - 1] & 0xC0) == 0xC0)
      text[start - 1] = 0;
  }
  for (char *at = text; *at; ++at)
    if ((uint8_t)*at < 0x20 || *at == 0x7F)
      *at = '?';
}

static void format_into(char *text, size_t size, const char *format, va_list arguments) {
  int length = vsnprintf(text, size, format, arguments);
  tidy(text, length < 0 || (size_t)length >= size);
}

weft_status_t weft_fail(weft_error_t *err, weft_status_t status, const char *code,
                        const char *format, ...) {
  if (!err)
    return status;
  err->status = status;
  snprintf(err->code, sizeof err->code, "%s", code);
  va_list arguments;
  va_start(arguments, format);
  format_into(err->message, sizeof err->message, format, arguments);
  va_end(arguments);
  err->hint[0] = 0;
  return status;
}

void weft_set_hint(weft_error_t *err, const char *format, ...) {
  if (!err)
    return;
  va_list arguments;
  va_start(arguments, format);
  format_into(err->hint, sizeof err->hint, format, arguments);
  va_end(arguments);
}

weft_status_t weft_succeed(weft_error_t *err) {
  if (err) {
    err->status = WEFT_OK;
    err->code[0] = err->message[0] = err->hint[0] = 0;
  }
  return WEFT_OK;
}

weft_text_t weft_text_in(char *data, size_t size) {
  data[0] = 0;
  return weft_text_t{data, size, 0};
}

void weft_text_add(weft_text_t *text, const char *format, ...) {
  size_t room = text->size - text->used;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text->data + text->used, room, format, arguments);
  va_end(arguments);
  if (length < 0)
    return;
  text->used += (size_t)length < room ? (size_t)length : room - 1;
}

void weft_text_add_bytes(weft_text_t *text, uint64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    weft_text_add(text, bytes == 1 ? "%u byte" : "%u bytes", (unsigned)bytes);
    return;
  }
  int unit = 0;
  while (unit < 5 && bytes >> (10 * (unit + 2)))
    ++unit;
  // One rounded-up decimal, so that "needs X" is never printed smaller than it is.
  int shift = 10 * (unit + 1);
  uint64_t whole = bytes >> shift, rest = bytes & ((1ull << shift) - 1);
  uint64_t tenth = ((rest >> (shift - 10)) * 10 + 1023) >> 10;
  if (rest && !tenth)
    tenth = 1;
  if (tenth == 10) {
    ++whole;
    tenth = 0;
  }
  if (tenth)
    weft_text_add(text, "%llu.%llu %s", (unsigned long long)whole, (unsigned long long)tenth,
                  units[unit]);
  else
    weft_text_add(text, "%llu %s", (unsigned long long)whole, units[unit]);
}
