/* Groups: ranks that compute together, each with memory of its own, and the collectives by which they exchange what they have.
 *
 *   weft_group_options_t options = {sizeof options, rank, world, 0, "shm", "my-job"};
 *   weft_group_t *group = NULL;
 *   if (weft_group_open(NULL, &options, &group, &err)) return fail(err.message);
 *   weft_collective_t sum = {sizeof sum, WEFT_ALL_REDUCE, WEFT_F32, WEFT_SUM};
 *   sum.send = sum.receive = data; sum.outer = sum.inner = 1; sum.first = count;
 *   if (weft_group_collective(group, &sum, &err)) return fail(err.message);
 *   weft_group_release(group);
 *
 * Every rank calls the same collectives in the same order. A rank that ends, stops or calls another one never hangs the others: they fail with
 * LOST_PEER, TIMEOUT or MISMATCH and a text that names it. After that the group has ended, and only weft_group_release is left.
 * Threads: one call on a group at a time, but weft_group_abort from any. No global state.
 */
#ifndef WEFT_GROUP_H
#define WEFT_GROUP_H

#include "weft/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_group weft_group_t;

/* Meets the other ranks, which do the same, and returns when all have come. `env` (NULL: defaults; copied) gives the group's memory, but for what
 * ranks share. On success the caller owns *out_group; on failure it is NULL. Fails with INVALID, TIMEOUT, which names who has not come,
 * MISMATCH for another world or version, BUSY when the rendezvous is in use, LOST_PEER, IO, OUT_OF_MEMORY. */
WEFT_API weft_status_t weft_group_open(const weft_env_t *env, const weft_group_options_t *options,
                                       weft_group_t **out_group, weft_error_t *err);
/* Makes groups of the ranks that name the same colour, ordered by key and then by rank. All ranks of `group` call it; who names a negative
 * colour gets NULL. The new group lives on its own. Fails as collectives and weft_group_open do. */
WEFT_API weft_status_t weft_group_split(weft_group_t *group, int32_t color, int32_t key,
                                        weft_group_t **out_group, weft_error_t *err);
/* The rank of this caller. */
WEFT_API int32_t weft_group_rank(const weft_group_t *group);
/* How many ranks there are. */
WEFT_API int32_t weft_group_world(const weft_group_t *group);
/* Gives every rank `bytes` > 0 of memory that the others can read, too; all ranks call it, with the same number. *out_peers are the addresses
 * of all by rank, where this caller sees them: its own, with zeros, is (*out_peers)[rank]. They live as long as the group. What is sent from there
 * is read where it lies, as is all memory of ranks that are threads: nothing is copied on the way. Fails with UNSUPPORTED for a transport without
 * such memory, INVALID, OUT_OF_MEMORY, or MISMATCH on all ranks, after which the group goes on, and as collectives do. */
WEFT_API weft_status_t weft_group_share(weft_group_t *group, int64_t bytes, void ***out_peers,
                                        weft_error_t *err);
/* Does one collective and returns when its result is there. Fails with INVALID before anything is sent; with LOST_PEER, TIMEOUT, MISMATCH,
 * CANCELLED the group has ended and the result is undefined. */
WEFT_API weft_status_t weft_group_collective(weft_group_t *group,
                                             const weft_collective_t *collective,
                                             weft_error_t *err);
/* Says what the group is for in what weft_group_dump writes: "tp". Contexts name theirs by the axes. */
WEFT_API void weft_group_set_name(weft_group_t *group, const char *name);
/* Writes what this rank did last, here and in all groups that were made from this one, contexts' groups too, to an open file as text, which
 * `weft ranks` reads beside those of other ranks: how far each group is, and the last options.records collectives with their times
 * (CLOCK_MONOTONIC). `reason` is one line, or NULL. Any thread, while collectives wait, and after the group has ended; nothing is allocated.
 * Fails with INVALID, IO. */
WEFT_API weft_status_t weft_group_dump(const weft_group_t *group, int file, const char *reason,
                                       weft_error_t *err);
/* Ends the group for all its ranks: what waits fails with CANCELLED. Any thread, signal handlers too. */
WEFT_API void weft_group_abort(weft_group_t *group);
/* Leaves the group and ends it for this rank, also where others go on. No call may run. NULL is allowed. */
WEFT_API void weft_group_release(weft_group_t *group);

#ifdef __cplusplus
}
#endif
#endif
