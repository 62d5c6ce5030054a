// A rank's end of a group in shared memory, and how it waits for the others.
#pragma once

#include "runtime/src/group/transfer.h"
#include "runtime/src/group/watch.h"

enum { WEFT_MAX_BEGUN = 8 };

/// One allocation holds the link and its watches.
struct weft_shared_link_t {
  weft_env_t env;
  size_t bytes;
  bool in_one_process;
  int32_t rank, world, timeout_ms, spin_us;
  weft_board_t *board;
  int file; ///< that the board and areas of processes lie in; -1: none
  uint64_t file_bytes;
  weft_reach_t reach;
  void **peers[WEFT_MAX_AREAS]; ///< of each area, where the ranks' parts are
  int32_t splits;               ///< groups that were made from this one
  char rendezvous[128];
  /// Collectives that were begun and those that are done, counted from the first one; those between are in `waiting`.
  uint64_t begun, done;
  weft_collective_t waiting[WEFT_MAX_BEGUN];
  bool is_moving; ///< the first of them is in `transfer`
  weft_transfer_t transfer;
  uint32_t pieces;         ///< of all that are done
  uint64_t waits_since_ns; ///< 0: something moved since
  uint64_t moved_ns;       ///< when it last looked for a CPU of its own
  uint64_t looks_again_ns; ///< when it next looks whether others live
  weft_watch_t *watches;   ///< on every rank of another process
};

/// weft_transport_v1.share.
weft_status_t weft_link_share(weft_shared_link_t *link, int64_t bytes, void ***out_peers,
                              weft_error_t *err);
void weft_link_unshare(weft_shared_link_t *link);
/// Does a collective and returns when it is done.
weft_status_t weft_link_run(weft_shared_link_t *link, const weft_collective_t &collective,
                            weft_error_t *err);
/// Gives every rank the `bytes` that each has, by rank.
weft_status_t weft_link_gather(weft_shared_link_t *link, const char *node, const void *own,
                               int64_t bytes, void *all, weft_error_t *err);

/// Opens watches on the processes of all ranks.
void weft_link_watch(weft_shared_link_t *link);
void weft_link_unwatch(weft_shared_link_t *link);

/// Tells the others which CPU this rank is on.
void weft_link_say_cpu(weft_shared_link_t *link);
/// Returns when the transfer can move or `until_ns` is over, which *out_can_move says. Fails when the group has ended, or ends it: with LOST_PEER or TIMEOUT.
weft_status_t weft_link_wait(weft_shared_link_t *link, uint64_t until_ns, bool *out_can_move,
                             weft_error_t *err);
/// Ends the group because its ranks are at different collectives: MISMATCH, with a text that names the odd ones.
weft_status_t weft_link_fail_mismatch(weft_shared_link_t *link, weft_error_t *err);
/// Says why the group has ended; OK while it lives. `collective` is what the caller wanted.
weft_status_t weft_link_check(weft_shared_link_t *link, const weft_collective_t &collective,
                              weft_error_t *err);
