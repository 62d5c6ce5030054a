#include "runtime/src/open/words.h"

weft_message_t::weft_message_t(const weft_module_t *module, const weft_function_v1 &function,
                               uint32_t argument)
    : weft_message_t() {
  weft_text_add_argument(&text, module, function, argument);
  weft_text_add(&text, ": ");
}

weft_status_t weft_message_t::fail(weft_error_t *err, weft_status_t status,
                                   const char *code) const {
  return weft_fail(err, status, code, "%s", buffer);
}

void weft_text_add_argument(weft_text_t *text, const weft_module_t *module,
                            const weft_function_v1 &function, uint32_t index) {
  weft_argument_v1 argument = weft_argument(module->descriptor, function, index);
  bool is_input = index < function.inputs.count;
  const char *name = weft_text(module->descriptor, argument.name);
  const char *kind = is_input ? "input" : "output";
  if (*name)
    weft_text_add(text, "%s '%.100s'", kind, name);
  else
    weft_text_add(text, "%s %u", kind, is_input ? index : index - function.inputs.count);
}

const char *weft_symbol_name(const weft_module_t *module, const weft_function_v1 &function,
                             uint32_t index) {
  return weft_text(module->descriptor,
                   weft_item<weft_symbol_v1>(module->descriptor, function.symbols, index).name);
}

void weft_text_add_symbols(weft_text_t *text, const weft_module_t *module,
                           const weft_function_v1 &function, const int64_t *symbols,
                           const bool *known) {
  const char *before = "(";
  for (uint32_t i = 0; i < function.symbols.count; ++i) {
    if ((known && !known[i]) || symbols[i] < 0) // it has no value yet
      continue;
    weft_text_add(text, "%s%.40s = %lld", before, weft_symbol_name(module, function, i),
                  (long long)symbols[i]);
    before = ", ";
  }
  if (*before == ',')
    weft_text_add(text, ")");
}

weft_status_t weft_check_symbols(const weft_module_t *module, const weft_function_v1 &function,
                                 const int64_t *symbols, weft_error_t *err) {
  if (!symbols && function.symbols.count)
    return weft_fail(err, WEFT_INVALID, "W0401", "symbols is NULL");
  for (uint32_t i = 0; i < function.symbols.count; ++i) {
    weft_symbol_v1 symbol = weft_item<weft_symbol_v1>(module->descriptor, function.symbols, i);
    const char *name = weft_text(module->descriptor, symbol.name);
    long long value = symbols[i];
    if (value < symbol.min)
      return weft_fail(err, WEFT_INVALID, "W0412", "'%.100s' is %lld, but is at least %lld", name,
                       value, (long long)symbol.min);
    if (value > symbol.max)
      return weft_fail(err, WEFT_INVALID, "W0413", "'%.100s' is %lld, but is at most %lld", name,
                       value, (long long)symbol.max);
    if (value % symbol.multiple != 0)
      return weft_fail(err, WEFT_INVALID, "W0414", "'%.100s' is %lld, but is a multiple of %lld",
                       name, value, (long long)symbol.multiple);
  }
  return WEFT_OK;
}
