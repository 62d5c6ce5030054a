// Memory of modules, contexts and the CPU: the embedder's functions when it gave some,
// else libc and, from 2 MiB on, mappings that may become huge pages.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "weft/runtime.h"

enum { WEFT_HUGE_PAGE = 2 << 20 };

/// `bytes` > 0 at a multiple of `alignment` (a power of two), or NULL.
void *weft_allocate(const weft_env_t *env, size_t bytes, size_t alignment);
/// Ends what weft_allocate gave; `bytes` must be the same. NULL is allowed.
void weft_free(const weft_env_t *env, void *pointer, size_t bytes);
/// The alignment that a block of `bytes` deserves: a huge page when it is that large, else 64.
size_t weft_block_alignment(size_t bytes);
