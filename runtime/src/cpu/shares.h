// Who computes what of several kernels that run together.
//
// Every worker gets one contiguous piece of every part, maybe an empty one. A part that splits well is split as if it ran alone;
// what remains of parts with few chunks goes to the workers that have least to do by then. So workers idle less than when the
// parts run one after the other, and estimates that are wrong cost no more than what they level out.
#pragma once

#include "weft/artifact.h"

/// Room for the shares of WEFT_MAX_PARTS parts.
struct weft_shares_t {
  double *loads;   ///< of each worker, in nanoseconds
  int64_t *ends;   ///< by part and worker: chunks of the part up to the end of the worker's piece
  uint64_t *spent; ///< by part and worker: nanoseconds that the piece took, when somebody looks
};

/// Number of grains in `units`.
int64_t weft_chunks(int64_t units, int64_t grain);

/// Bytes of the three arrays together, for so many workers; sets where they lie in `memory`.
size_t weft_shares_bytes(int32_t workers);
weft_shares_t weft_shares_in(void *memory, int32_t workers);

/// Whether workers idle when the parts run one after the other, by their numbers of chunks.
bool weft_have_gaps(const weft_part_v1 *parts, int32_t count, int32_t workers);
/// Divides the parts; returns how many workers have something to do, which are the first ones. Every unit belongs to one piece,
/// whatever `work` of the parts says.
int32_t weft_share(const weft_part_v1 *parts, int32_t count, int32_t workers,
                   const weft_shares_t &shares);
/// Whether the division ends sooner than the parts one after the other. `are_awake`: workers wait for work without sleeping.
bool weft_sharing_pays(const weft_part_v1 *parts, int32_t count, int32_t workers, bool are_awake,
                       const weft_shares_t &shares);
/// Units [*out_begin, *out_end) of the part that the worker computes.
void weft_share_of(const weft_part_v1 *parts, int32_t part, int32_t workers, int32_t worker,
                   const weft_shares_t &shares, int64_t *out_begin, int64_t *out_end);
