// Who sends which elements of a collective to whom, and where they come to lie.
//
// All kinds are one thing: what rank a sends to rank b is a view of a's memory, and lies in a view of b's. Both have the same elements in the
// same order, so that a piece of a message is a range of them.
#pragma once

#include "weft/transport.h"

/// `blocks` runs of `run` elements, `stride` apart; the first one begins at element `at`.
struct weft_view_t {
  int64_t at, blocks, run, stride;
};

inline int64_t weft_view_size(const weft_view_t &view) { return view.blocks * view.run; }

/// All of a row-major block of elements.
inline weft_view_t weft_view_whole(int64_t size) { return {0, 1, size, size}; }

/// Rows [*out_begin, *out_end) of `extent` are rank `rank`'s.
void weft_part_of(int64_t extent, int32_t world, int32_t rank, int64_t *out_begin,
                  int64_t *out_end);

/// Whether the kind combines what the ranks send.
inline bool weft_combines(const weft_collective_t &c) {
  return c.kind == WEFT_ALL_REDUCE || c.kind == WEFT_REDUCE_SCATTER;
}
/// Whether every rank is sent something else.
inline bool weft_sends_parts(const weft_collective_t &c) {
  return c.kind == WEFT_REDUCE_SCATTER || c.kind == WEFT_ALL_TO_ALL;
}
/// Whether it is a permute whose ranks have other sizes: weft_sent is then for the sender alone, and weft_received for the receiver.
inline bool weft_has_own_sizes(const weft_collective_t &c) {
  return c.kind == WEFT_PERMUTE && c.longest;
}
/// Whether `to` gets something from `from`.
bool weft_flows(const weft_collective_t &c, int32_t world, int32_t from, int32_t to);
/// What `from` sends to `to`, in the sender's memory.
weft_view_t weft_sent(const weft_collective_t &c, int32_t world, int32_t from, int32_t to);
/// The same elements in the receiver's memory.
weft_view_t weft_received(const weft_collective_t &c, int32_t world, int32_t from, int32_t to);
/// The elements of the sender's memory that are sent to anybody are below this one.
int64_t weft_sent_end(const weft_collective_t &c, int32_t world, int32_t from);
/// The most elements that one rank sends to another.
int64_t weft_longest_sent(const weft_collective_t &c, int32_t world);

/// How many elements lie behind each other from element `index` of the view on, which lies at *out_at.
int64_t weft_view_run(const weft_view_t &view, int64_t index, int64_t *out_at);
/// Elements of a view, by their numbers in it.
struct weft_range_t {
  int64_t begin, end;
  bool passes_caches = false; ///< is of a whole that is too large for them
};
/// Copies a range of one view's elements to the same ones of another.
void weft_copy_view(const weft_view_t &to_view, void *to, const weft_view_t &from_view,
                    const void *from, const weft_range_t &range, int64_t element_bytes);

/// Gives every rank the `bytes` that each has, in the order of ranks.
inline weft_collective_t weft_gather_of_bytes(int32_t world, const char *node, const void *own,
                                              int64_t bytes, void *all) {
  weft_collective_t gather = {};
  gather.struct_size = sizeof gather;
  gather.kind = WEFT_ALL_GATHER;
  gather.element = WEFT_U8;
  gather.node = node;
  gather.send = own;
  gather.receive = all;
  gather.outer = 1;
  gather.first = world;
  gather.inner = bytes;
  return gather;
}

/// Refuses what no rank could do. Fails with INVALID.
weft_status_t weft_check_collective(const weft_collective_t &c, int32_t rank, int32_t world,
                                    weft_error_t *err);
/// "all_reduce"; "?" for an unknown kind.
const char *weft_kind_name(uint32_t kind);
/// "sum"; "?" for an unknown one.
const char *weft_combiner_name(uint32_t combiner);
