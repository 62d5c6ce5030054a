// Formula code of an artifact (weft_code_t): checked once when a module is opened, then evaluated
// without any risk by queries.
//
//   if (!weft_code_check(code, size, n_symbols)) refuse;
//   if (!weft_code_run(code, size, symbols, &value)) overflow;
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { WEFT_CODE_DEPTH = 32 };

/// True when `code` is well formed: known operations, complete numbers, symbols below `n_symbols`,
/// at most WEFT_CODE_DEPTH values deep, exactly one value left. One pass, no loops in code.
bool weft_code_check(const uint8_t *code, size_t size, uint32_t n_symbols);

/// Evaluates checked code. False when a step overflows int64 or divides by a value <= 0.
bool weft_code_run(const uint8_t *code, size_t size, const int64_t *symbols, int64_t *out_value);

/// The symbol that checked code consists of, or -1 when it is anything else.
int64_t weft_code_symbol(const uint8_t *code, size_t size);

/// True when checked code mentions `symbol`.
bool weft_code_uses(const uint8_t *code, size_t size, uint32_t symbol);
