#include "runtime/src/open/expression.h"

#include "weft/artifact.h"

/// Reads a LEB128 number of at most 64 bits and moves *at behind it. False when it is cut off or
/// larger.
static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (*at == end)
      return false;
    uint8_t byte = *(*at)++;
    if (shift == 63 && byte > 1)
      return false;
    value |= (uint64_t)(byte & 0x7F) << shift;
    if (!(byte & 0x80)) {
      *out = value;
      return true;
    }
  }
  return false;
}

static int64_t unzigzag(uint64_t value) { return (int64_t)((value >> 1) ^ (0 - (value & 1))); }

bool weft_code_check(const uint8_t *code, size_t size, uint32_t n_symbols) {
  const uint8_t *at = code, *end = code + size;
  unsigned depth = 0;
  while (at != end) {
    uint64_t number;
    switch (*at++) {
    case WEFT_CODE_CONST:
    case WEFT_CODE_SYMBOL: {
      bool is_symbol = at[-1] == WEFT_CODE_SYMBOL;
      if (!read_number(&at, end, &number) || (is_symbol && number >= n_symbols))
        return false;
      if (++depth > WEFT_CODE_DEPTH)
        return false;
      break;
    }
    case WEFT_CODE_ADD:
    case WEFT_CODE_MUL:
    case WEFT_CODE_FLOORDIV:
    case WEFT_CODE_BCAST:
    case WEFT_CODE_MAX:
      if (depth < 2)
        return false;
      --depth;
      break;
    case WEFT_CODE_POS:
      if (depth < 1)
        return false;
      break;
    default:
      return false;
    }
  }
  return depth == 1;
}

/// a op b. False on overflow or a divisor <= 0.
static bool apply(uint8_t operation, int64_t a, int64_t b, int64_t *out) {
  switch (operation) {
  case WEFT_CODE_ADD:
    return !__builtin_add_overflow(a, b, out);
  case WEFT_CODE_MUL:
    return !__builtin_mul_overflow(a, b, out);
  case WEFT_CODE_FLOORDIV:
    if (b <= 0)
      return false;
    *out = a / b - (a % b < 0);
    return true;
  case WEFT_CODE_BCAST:
    *out = a == 1 ? b : a;
    return true;
  default: // WEFT_CODE_MAX
    *out = a > b ? a : b;
    return true;
  }
}

bool weft_code_run(const uint8_t *code, size_t size, const int64_t *symbols, int64_t *out_value) {
  const uint8_t *at = code, *end = code + size;
  int64_t stack[WEFT_CODE_DEPTH];
  unsigned depth = 0;
  while (at != end) {
    uint8_t operation = *at++;
    uint64_t number;
    switch (operation) {
    case WEFT_CODE_CONST:
      read_number(&at, end, &number);
      stack[depth++] = unzigzag(number);
      break;
    case WEFT_CODE_SYMBOL:
      read_number(&at, end, &number);
      stack[depth++] = symbols[number];
      break;
    case WEFT_CODE_POS:
      if (stack[depth - 1] < 0)
        stack[depth - 1] = 0;
      break;
    default:
      --depth;
      if (!apply(operation, stack[depth - 1], stack[depth], &stack[depth - 1]))
        return false;
    }
  }
  *out_value = stack[0];
  return true;
}

int64_t weft_code_symbol(const uint8_t *code, size_t size) {
  const uint8_t *at = code + 1, *end = code + size;
  uint64_t number;
  if (size < 2 || code[0] != WEFT_CODE_SYMBOL || !read_number(&at, end, &number) || at != end)
    return -1;
  return (int64_t)number;
}

bool weft_code_uses(const uint8_t *code, size_t size, uint32_t symbol) {
  const uint8_t *at = code, *end = code + size;
  while (at != end) {
    uint8_t operation = *at++;
    uint64_t number;
    if (operation != WEFT_CODE_CONST && operation != WEFT_CODE_SYMBOL)
      continue;
    if (!read_number(&at, end, &number))
      return false;
    if (operation == WEFT_CODE_SYMBOL && number == symbol)
      return true;
  }
  return false;
}
