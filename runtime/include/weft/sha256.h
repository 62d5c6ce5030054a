/* SHA-256 (FIPS 180-4), the only hash of an artifact.
 *
 *   uint8_t digest[32];
 *   weft_sha256(bytes, size, digest);
 *
 * or in pieces with weft_sha256_init, _update and _final. Needs no memory, cannot fail, any thread.
 */
#ifndef WEFT_SHA256_H
#define WEFT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "weft/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state of a hash that is being computed. Treat the members as private. */
typedef struct {
  uint32_t state[8];
  uint64_t length;
  uint8_t block[64];
} weft_sha256_t;

/* Writes the digest of the `size` bytes at `bytes`, which may be NULL when there are none. */
WEFT_API void weft_sha256(const void *bytes, size_t size, uint8_t out_digest[32]);

/* Begins a hash; whatever *hash was before is forgotten. */
WEFT_API void weft_sha256_init(weft_sha256_t *hash);
/* Adds `size` bytes behind what was added before. */
WEFT_API void weft_sha256_update(weft_sha256_t *hash, const void *bytes, size_t size);
/* Writes the digest. `hash` must be initialised again before it is used for something else. */
WEFT_API void weft_sha256_final(weft_sha256_t *hash, uint8_t out_digest[32]);

#ifdef __cplusplus
}
#endif
#endif
