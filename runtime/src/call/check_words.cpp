// How a failed check is told to people.
#include "runtime/src/call/entry_check.h"

#include <string.h>

#include "runtime/src/call/in_place.h"
#include "runtime/src/open/expression.h"

/// The value of symbol `index` that makes `dim` equal `size`, when the other symbols are known.
/// Works for formulas that are linear in the symbol; the answer is confirmed by evaluation.
static bool solve_linear(const weft_module_t *module, const weft_formula_v1 &dim, uint32_t index,
                         int64_t size, int64_t *values) {
  int64_t at_zero, at_one, step, rest, result;
  values[index] = 0;
  if (!weft_formula_run(module->descriptor, dim, values, &at_zero))
    return false;
  values[index] = 1;
  if (!weft_formula_run(module->descriptor, dim, values, &at_one))
    return false;
  if (__builtin_sub_overflow(at_one, at_zero, &step) || step == 0 || step == -1 ||
      __builtin_sub_overflow(size, at_zero, &rest))
    return false;
  values[index] = rest / step;
  return weft_formula_run(module->descriptor, dim, values, &result) && result == size;
}

static bool all_others_known(const weft_module_t *module, const weft_function_v1 &function,
                             const weft_formula_v1 &formula, uint32_t except, const bool *known) {
  const uint8_t *code = module->descriptor.base + formula.code.offset;
  for (uint32_t i = 0; i < function.symbols.count; ++i)
    if (i != except && !known[i] && weft_code_uses(code, formula.code.count, i))
      return false;
  return true;
}

/// What the inputs say about the symbols. bind stops at the first failure and promises nothing
/// about values[] then, so messages work the values out again.
static void find_symbols(const weft_module_t *module, const weft_function_v1 &function,
                         const weft_tensor_t *in, int64_t *values, bool *known) {
  uint32_t count = function.symbols.count;
  memset(values, 0, count * sizeof *values);
  memset(known, 0, count * sizeof *known);
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t i = 0; i < count; ++i) {
      weft_symbol_v1 symbol = weft_item<weft_symbol_v1>(module->descriptor, function.symbols, i);
      if (known[i] || symbol.bound_by_input == WEFT_NO_INDEX)
        continue;
      weft_argument_v1 input = weft_argument(module->descriptor, function, symbol.bound_by_input);
      weft_formula_v1 dim =
          weft_item<weft_formula_v1>(module->descriptor, input.dims, symbol.bound_by_dim);
      if (!all_others_known(module, function, dim, i, known))
        continue;
      int64_t size = in[symbol.bound_by_input].dim[symbol.bound_by_dim];
      known[i] = solve_linear(module, dim, i, size, values);
      progress |= known[i];
    }
  }
  for (uint32_t i = function.in_place.count; i-- > 0;) { // the first of a symbol says what it is
    weft_in_place_v1 pair = weft_pair(module, function, i);
    values[pair.symbol] = weft_room(in[pair.input], pair.dim);
    known[pair.symbol] = true;
  }
}

namespace {
/// A failed check on its way into words.
struct failure {
  const weft_module_t *module;
  const weft_function_v1 &function;
  const weft_check_v1 &row;
  const weft_tensor_t *in;
  int64_t values[WEFT_MAX_SYMBOLS];
  bool known[WEFT_MAX_SYMBOLS];
};
} // namespace

/// " (bound by input 'ids', dimension 1)"
static void add_binding(const failure &f, weft_text_t *text, const weft_symbol_v1 &symbol) {
  if (symbol.bound_by_input == WEFT_NO_INDEX)
    return;
  weft_text_add(text, " (bound by ");
  weft_text_add_argument(text, f.module, f.function, symbol.bound_by_input);
  weft_text_add(text, ", dimension %u)", symbol.bound_by_dim);
}

/// input 'mask': dimension 1 is 37, but 'seq' is 41 (bound by input 'ids', dimension 1)
static weft_status_t report_dim(const failure &f, weft_error_t *err) {
  const weft_descriptor_t &descriptor = f.module->descriptor;
  const weft_formula_v1 &expected = f.row.expected;
  const char *formula = weft_text(descriptor, expected.text);
  weft_message_t m(f.module, f.function, f.row.input);
  weft_text_add(&m.text, "dimension %u is %lld, but ", f.row.dim,
                (long long)f.in[f.row.input].dim[f.row.dim]);
  int64_t value, symbol = weft_formula_symbol(descriptor, expected);
  bool is_known = all_others_known(f.module, f.function, expected, WEFT_NO_INDEX, f.known) &&
                  weft_formula_run(descriptor, expected, f.values, &value);
  bool is_constant = is_known;
  for (uint32_t i = 0; is_constant && i < f.function.symbols.count; ++i)
    is_constant = !weft_code_uses(descriptor.base + expected.code.offset, expected.code.count, i);
  if (!is_known) {
    weft_text_add(&m.text, "'%.100s' is needed", formula);
  } else if (is_constant) {
    weft_text_add(&m.text, "%lld is needed", (long long)value);
  } else if (symbol >= 0) {
    weft_text_add(&m.text, "'%.60s' is %lld",
                  weft_symbol_name(f.module, f.function, (uint32_t)symbol), (long long)value);
    add_binding(f, &m.text,
                weft_item<weft_symbol_v1>(descriptor, f.function.symbols, (uint32_t)symbol));
  } else {
    weft_text_add(&m.text, "'%.100s' is %lld ", formula, (long long)value);
    weft_text_add_symbols(&m.text, f.module, f.function, f.values, f.known);
  }
  return m.fail(err, WEFT_INVALID, "W0411");
}

/// input 'ids': dimension 1 is 600, but 'seq' is at most 512
static weft_status_t report_range(const failure &f, weft_error_t *err) {
  weft_symbol_v1 symbol =
      weft_item<weft_symbol_v1>(f.module->descriptor, f.function.symbols, f.row.symbol);
  const char *name = weft_text(f.module->descriptor, symbol.name);
  weft_message_t m;
  if (symbol.bound_by_input != WEFT_NO_INDEX) {
    int64_t size = f.in[symbol.bound_by_input].dim[symbol.bound_by_dim];
    weft_text_add_argument(&m.text, f.module, f.function, symbol.bound_by_input);
    weft_text_add(&m.text, ": dimension %u is %lld, ", symbol.bound_by_dim, (long long)size);
    if (f.known[f.row.symbol] && f.values[f.row.symbol] != size)
      weft_text_add(&m.text, "so '%.60s' is %lld, ", name, (long long)f.values[f.row.symbol]);
    weft_text_add(&m.text, "but ");
  }
  if (f.row.kind == WEFT_CHECK_DATA) {
    weft_text_add(&m.text, "'%.60s', which the contents of tensors decide, is %lld", name,
                  (long long)f.values[f.row.symbol]);
    if (f.values[f.row.symbol] > 0)
      weft_text_add(&m.text, ", but sizes are at most 2147483647");
    return m.fail(err, WEFT_INVALID, "W0417");
  }
  const char *code = f.row.kind == WEFT_CHECK_MIN   ? "W0412"
                     : f.row.kind == WEFT_CHECK_MAX ? "W0413"
                                                    : "W0414";
  if (f.row.kind == WEFT_CHECK_MIN)
    weft_text_add(&m.text, "'%.60s' is at least %lld", name, (long long)symbol.min);
  else if (f.row.kind == WEFT_CHECK_MAX)
    weft_text_add(&m.text, "'%.60s' is at most %lld", name, (long long)symbol.max);
  else
    weft_text_add(&m.text, "'%.60s' is a multiple of %lld", name, (long long)symbol.multiple);
  return m.fail(err, WEFT_INVALID, code);
}

/// input 'x': dimension 0 is 7, but it is '2*s', and no 's' gives 7
static weft_status_t report_solve(const failure &f, weft_error_t *err) {
  long long size = f.in[f.row.input].dim[f.row.dim];
  weft_message_t m(f.module, f.function, f.row.input);
  weft_text_add(&m.text, "dimension %u is %lld, but it is '%.100s', and no '%.60s' gives %lld",
                f.row.dim, size, weft_text(f.module->descriptor, f.row.expected.text),
                weft_symbol_name(f.module, f.function, f.row.symbol), size);
  return m.fail(err, WEFT_INVALID, "W0415");
}

static weft_status_t report_fact(const failure &f, weft_error_t *err) {
  weft_message_t m;
  weft_text_add(&m.text, "'%.200s' does not hold ", weft_text(f.module->descriptor, f.row.fact));
  weft_text_add_symbols(&m.text, f.module, f.function, f.values, f.known);
  if (m.buffer[m.text.used - 1] == ' ')
    m.buffer[m.text.used - 1] = 0;
  return m.fail(err, WEFT_INVALID, "W0416");
}

static weft_status_t report_size(const failure &f, weft_error_t *err) {
  weft_message_t m;
  weft_text_add(&m.text, "this call needs a tensor of more than 2^62 bytes ");
  weft_text_add_symbols(&m.text, f.module, f.function, f.values, f.known);
  if (m.buffer[m.text.used - 1] == ' ')
    m.buffer[m.text.used - 1] = 0;
  return m.fail(err, WEFT_OVER_LIMIT, "W0422");
}

/// The first input whose room the symbol is.
static uint32_t first_with_room(const failure &f) {
  uint32_t i = 0;
  while (i + 1 < f.function.in_place.count &&
         weft_pair(f.module, f.function, i).symbol != f.row.symbol)
    ++i;
  return weft_pair(f.module, f.function, i).input;
}

/// input 'past_key_0': dimension 2 has room for 128, but 129 are needed (past = 128, seq = 1)
static weft_status_t report_room(const failure &f, weft_error_t *err) {
  int64_t needed, room = weft_room(f.in[f.row.input], f.row.dim);
  weft_message_t m(f.module, f.function, f.row.input);
  weft_text_add(&m.text, "dimension %u has room for %lld, but ", f.row.dim, (long long)room);
  if (room != f.values[f.row.symbol]) {
    weft_text_add_argument(&m.text, f.module, f.function, first_with_room(f));
    weft_text_add(&m.text, " has room for %lld, and they need the same",
                  (long long)f.values[f.row.symbol]);
    return m.fail(err, WEFT_INVALID, "W0418");
  }
  bool is_known = weft_formula_run(f.module->descriptor, f.row.expected, f.values, &needed);
  weft_text_add(&m.text, "%lld are needed ", (long long)(is_known ? needed : 0));
  bool known[WEFT_MAX_SYMBOLS];
  for (uint32_t i = 0; i < f.function.symbols.count; ++i)
    known[i] = f.known[i] && weft_code_uses(f.module->descriptor.base + f.row.expected.code.offset,
                                            f.row.expected.code.count, i);
  weft_text_add_symbols(&m.text, f.module, f.function, f.values, known);
  m.fail(err, WEFT_INVALID, "W0418");
  weft_set_hint(err,
                "give a view of a buffer that is longer along dimension %u: its strides say "
                "how long",
                f.row.dim);
  return WEFT_INVALID;
}

static weft_status_t report_row(const failure &f, weft_error_t *err) {
  switch (f.row.kind) {
  case WEFT_CHECK_DIM:
    return report_dim(f, err);
  case WEFT_CHECK_SOLVE:
    return report_solve(f, err);
  case WEFT_CHECK_FACT:
    return report_fact(f, err);
  case WEFT_CHECK_SIZE:
    return report_size(f, err);
  case WEFT_CHECK_ROOM:
    return report_room(f, err);
  default:
    return report_range(f, err);
  }
}

weft_status_t weft_report_check(const weft_module_t *module, const weft_function_v1 &function,
                                int32_t result, const weft_tensor_t *in, const int64_t *values,
                                weft_error_t *err) {
  if (result < 0 || (uint32_t)result > function.checks.count)
    return weft_fail(err, WEFT_BAD_ARTIFACT, "W0511",
                     "%.150s: its code reported check %d of %u: this is a fault of the compiler",
                     module->path(), result, function.checks.count);
  weft_check_v1 row =
      weft_item<weft_check_v1>(module->descriptor, function.checks, (uint32_t)result - 1);
  failure f = {module, function, row, in, {}, {}};
  if (values) {
    memcpy(f.values, values, function.symbols.count * sizeof *values);
    memset(f.known, true, function.symbols.count * sizeof *f.known);
  } else {
    find_symbols(module, function, in, f.values, f.known);
  }
  weft_status_t status = report_row(f, err);
  const char *node = weft_text(module->descriptor, row.node);
  if (*node)
    weft_set_hint(err, "needed by %.200s", node);
  return status;
}
