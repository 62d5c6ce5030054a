// What is wrong, in words: how arguments and symbols of a function are named to people.
#pragma once

#include "runtime/src/base/status.h"
#include "runtime/src/open/module.h"

/// Appends "(b = 16, s = 512)"; nothing when there are no symbols. `known` may be NULL.
void weft_text_add_symbols(weft_text_t *text, const weft_module_t *module,
                           const weft_function_v1 &function, const int64_t *symbols,
                           const bool *known);

/// The name of symbol `index`, as long as the module lives.
const char *weft_symbol_name(const weft_module_t *module, const weft_function_v1 &function,
                             uint32_t index);

/// "input 'ids'", or "input 0" when it has no name; `index` counts inputs, then outputs.
void weft_text_add_argument(weft_text_t *text, const weft_module_t *module,
                            const weft_function_v1 &function, uint32_t index);

/// What is wrong, in words. They take longer than all checks of a call: made when one failed.
struct weft_message_t {
  char buffer[488];
  weft_text_t text;

  weft_message_t() : text(weft_text_in(buffer, sizeof buffer)) {}
  /// It starts with "input 'ids': "; most do.
  weft_message_t(const weft_module_t *module, const weft_function_v1 &function, uint32_t argument);
  weft_message_t(const weft_message_t &) = delete;
  weft_status_t fail(weft_error_t *err, weft_status_t status, const char *code) const;
};

/// Checks symbol values that a caller gave against their ranges.
weft_status_t weft_check_symbols(const weft_module_t *module, const weft_function_v1 &function,
                                 const int64_t *symbols, weft_error_t *err);
