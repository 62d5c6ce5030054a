/* How ranks reach each other: a table of functions that a transport fills. Programs use weft/group.h; this header is for what stands behind it.
 *
 *   const weft_transport_v1 *calls = …;
 *   weft_link_t *link = NULL;
 *   if (calls->open(&env, &options, &link, &err)) …                    every rank, with its rank and the same rendezvous
 *   if (calls->start(link, NULL, &collective, &ticket, &err)) …        every rank, the same collectives in the same order
 *   do
 *     if (calls->progress(link, ticket, 1000, &done, &err)) …
 *   while (!done);
 *   calls->close(link);
 *
 * Threads: functions of a link are called by one thread at a time, `abort` by any.
 * Errors: as in weft/device.h. After LOST_PEER, TIMEOUT, MISMATCH or an abort the group has ended: all that is left is `close`, and every rank is
 * told the same reason.
 * The table only grows, at its end; struct_size says how far it goes.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include "weft/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One collective, as one rank calls it. A dimension of n that is split over t ranks has rows [min(r * c, n), min((r + 1) * c, n)) on rank r, where
 * c = ceil(n / t): the last parts may be smaller, or empty. Memory is row-major and without gaps:
 *
 *   all_gather      [outer, part of first, inner] -> [outer, first, inner]
 *   reduce_scatter  [outer, first, inner] -> [outer, part of first, inner]
 *   all_to_all      [outer, part of first, middle, second, inner] -> [outer, first, middle, part of second, inner];
 *                   is_reversed: [outer, first, middle, part of second, inner] -> [outer, part of first, middle, second, inner]
 *   others          [outer, first, inner], the same before and after
 *
 * permute: every rank sends to the one `peer` places further on, around; is_reversed: to the one at place `peer` - rank, which may be itself.
 * middle and second are for all_to_all only, combiner for the two that combine, peer for broadcast (the root) and permute. A permute whose
 * ranks have other sizes has outer = inner = 1, `first` elements to send and `received` to get, and `longest` > 0 on all ranks alike: the most that
 * one of them sends. all_gather and reduce_scatter with `rows` > 0 move rows [from, from + rows) of every rank's part only, as far as it has them: outer
 * is 1 then, and what is a part in the lines above (the smaller of send and receive) is these rows of it. send and receive do not overlap, but they may be
 * the same memory for all_reduce and broadcast, whose ranks other than the root need no send. */
typedef struct {
  uint32_t struct_size;
  uint16_t kind, element; /* weft_collective_kind_t, weft_element_t of at least 8 bits */
  uint16_t combiner, is_reversed;
  int32_t peer;
  uint32_t row; /* of the user's program, for messages of a collective without `node` */
  const char
      *node; /* what the collective follows in the user's program, for messages; may be NULL */
  const void *send;
  void *receive;
  int64_t outer, first, middle, second, inner;
  int64_t received, longest; /* of a permute of other sizes; else 0 */
  int64_t from, rows;        /* a piece of an all_gather or reduce_scatter; else 0 */
  /* For messages and histories: which piece, from 1, of how many that an exchange was cut into, which may be 1; 0: it cannot be cut. */
  int32_t piece, pieces;
  /* 1: what this rank gives an all_gather lies at its place of `receive`, too, and is not copied there. */
  int32_t is_placed, reserved;
} weft_collective_t;

typedef struct weft_transport_v1 weft_transport_v1;

/* Who a rank is and where it meets the others. */
typedef struct {
  uint32_t struct_size;
  int32_t rank, world; /* 0 <= rank < world */
  int32_t timeout_ms;  /* the longest wait, for start and collectives alike; 0: 30 seconds */
  /* "threads": ranks of one process, "shm": processes of one machine; another NAME is the plug-in libweft_NAME.so: "mpi" */
  const char *transport;
  const char *
      rendezvous; /* a name, or the path of a socket that is made and removed; the same on all ranks */
  const weft_transport_v1 *table; /* another transport, in place of the built-in one; NULL: none */
  int32_t records, reserved;      /* collectives that weft_group_dump knows of; 0: the last 64 */
  /* The processes of all ranks by rank, where a caller knows them: one that ends before it came is lost at once, not when the time is over. NULL: nobody knows. */
  const int32_t *processes;
} weft_group_options_t;

/* A rank's end of a transport: an implementation's own. */
typedef struct weft_link weft_link_t;

struct weft_transport_v1 {
  uint32_t struct_size, reserved;
  const char *name;
  /* Meets the other ranks and returns when all have come. `env` and `options` have been checked and have no defaults left; both are valid
   * during the call only. Fails with LOST_PEER, TIMEOUT, MISMATCH, BUSY when the rendezvous is in use, IO, OUT_OF_MEMORY. */
  weft_status_t (*open)(const weft_env_t *env, const weft_group_options_t *options,
                        weft_link_t **out_link, weft_error_t *err);
  /* Makes groups of the ranks with one colour, ordered by key and then by rank; every rank of the link calls it. A negative colour is in no
   * group: its *out_link is NULL. */
  weft_status_t (*split)(weft_link_t *link, int32_t color, int32_t key, weft_link_t **out_link,
                         weft_error_t *err);
  /* Who this end is: its rank, of how many. */
  void (*place)(weft_link_t *link, int32_t *out_rank, int32_t *out_world);
  /* Begins a collective, behind those that were begun before, and may return before it is done: its memory and its node are in use until
   * `progress` says that it is. What a rank of a reduce_scatter keeps to itself is not read before `progress` is called for it, or waits for one before it:
   * it may come later than what others are sent. `queue` is what the memory belongs to (weft/device.h); NULL is the host's. Fails with INVALID before
   * anything is sent, and with BUSY when too many are under way: there is room for 8. */
  weft_status_t (*start)(weft_link_t *link, weft_queue_t *queue,
                         const weft_collective_t *collective, uint64_t *out_ticket,
                         weft_error_t *err);
  /* Goes on with what was begun, for about `wait_us` at most when it has to wait. *out_done is 1 when the collective with this ticket is done. */
  weft_status_t (*progress)(weft_link_t *link, uint64_t ticket, int64_t wait_us, int32_t *out_done,
                            weft_error_t *err);
  /* Gives every rank `bytes` > 0 of memory that the others can read, too; all ranks call it with the same number. *out_peers are the addresses
   * of all by rank, where this one sees them; they live as long as the link, and begin as zeros. Fails with OUT_OF_MEMORY, MISMATCH, without
   * an end of the group, on all ranks alike. NULL for a transport that has none. */
  weft_status_t (*share)(weft_link_t *link, int64_t bytes, void ***out_peers, weft_error_t *err);
  /* Ends the group for all ranks: what waits fails with CANCELLED. Any thread, signal handlers too. */
  void (*abort)(weft_link_t *link);
  /* Leaves the group and frees the link. Ranks that still need this one are told that it is lost. NULL is allowed. */
  void (*close)(weft_link_t *link);
};

/* A plug-in libweft_NAME.so is a transport that the runtime opens when a group asks for NAME. It exports one function of this name and type,
 * which gives its table; the library is never closed. */
#define WEFT_TRANSPORT_PLUGIN "weft_transport_plugin"
typedef const weft_transport_v1 *(*weft_transport_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
