// What an embedder replaces, checked.
#pragma once

#include "weft/runtime.h"

/// Copies `env` (NULL: defaults) over zeros. Fails with INVALID.
weft_status_t weft_read_env(const weft_env_t *env, weft_env_t *out_env, weft_error_t *err);
