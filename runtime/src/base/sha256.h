// The compression function of SHA-256 that needs no special instructions, for comparison in tests;
// weft/sha256.h is the interface.
#pragma once

#include "weft/sha256.h"

/// Adds `blocks` blocks of 64 bytes to `state`.
void weft_sha256_compress_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks);
