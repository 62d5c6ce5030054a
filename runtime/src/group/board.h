// The memory that all ranks of a group on one machine map: counters by which they see each other, and windows through which they send.
//
//   weft_board_layout_t layout = weft_board_layout(world);       the same on every rank
//   weft_board_t *board = weft_board_in(memory, layout);         `memory` has layout.bytes zeros; by one rank
//   weft_board_raise(board, rank, &mine->published, value);      wakes who sleeps
//
// Every counter that a rank writes has 128 bytes of its own: processors fetch lines in pairs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "runtime/src/group/combine.h"
#include "runtime/src/group/signature.h"

enum { WEFT_NODE_BYTES = 96 };

/// What one rank tells the others.
struct weft_seat_t {
  alignas(128) std::atomic<uint32_t> published;
  alignas(128) std::atomic<uint32_t> consumed;
  alignas(128) std::atomic<uint32_t> bell; ///< the futex that the rank sleeps on
  std::atomic<uint32_t> is_asleep;
  /// For messages: where the rank is. Written by itself, in words, so that it may be read meanwhile.
  alignas(128) std::atomic<uint32_t> has_left;
  std::atomic<int32_t> process;
  std::atomic<uint64_t> sequence; ///< collectives that were begun
  std::atomic<uint32_t> kind;     ///< of the last one
  std::atomic<int32_t> cpu; ///< that it was on when it began the last one, or moved; -1: unknown
  std::atomic<int32_t> piece, pieces; ///< of it
  std::atomic<uint64_t> node[WEFT_NODE_BYTES / 8];
};

/// Why the group has ended.
struct weft_ending_t {
  int32_t status;
  char code[8], text[320];
};

struct weft_board_t {
  uint64_t bytes;       ///< of the mapping
  uint64_t slot_stride; ///< from one slot to the next one
  int64_t slot_bytes;   ///< for the elements of a piece
  uint32_t world;
  std::atomic<uint32_t> users; ///< ranks that have the same mapping
  /// 0: the group lives; 1: its ending is being written; 2: it can be read
  alignas(128) std::atomic<uint32_t> has_ended;
  weft_ending_t ending;
};

enum { WEFT_SLOTS = 4 };

/// Bytes of the board for so many ranks.
size_t weft_board_bytes(int32_t world);
/// Makes a board in as many zeros.
weft_board_t *weft_board_in(void *memory, int32_t world);

inline weft_seat_t *weft_seat(weft_board_t *board, int32_t rank) {
  return (weft_seat_t *)((uint8_t *)board + sizeof(weft_board_t)) + rank;
}

/// A slot of a rank's window: a signature, in the first piece of a collective, and the elements, or where they lie.
struct weft_slot_t {
  alignas(128) weft_signature_t signature;
  uint64_t source; ///< weft_reach_t's name of what the sender sends; 0: it is in `data`
  alignas(128) uint8_t data[128]; ///< the first of slot_bytes
};
weft_slot_t *weft_slot(weft_board_t *board, int32_t rank, uint32_t piece);

/// Sets a counter of `rank`, after everything that was written before, and wakes the others that sleep.
void weft_board_raise(weft_board_t *board, int32_t rank, std::atomic<uint32_t> *counter,
                      uint32_t value);
/// Wakes all but `rank` that sleep; -1: all. Signal handlers, too.
void weft_board_ring(weft_board_t *board, int32_t rank);
/// Sleeps until somebody rings after `bell` was read from the rank's seat, at most `microseconds`.
void weft_board_sleep(weft_seat_t *seat, uint32_t bell, int64_t microseconds);

/// Ends the group, unless it has ended, and wakes everybody. Signal handlers, too.
void weft_board_end(weft_board_t *board, const weft_ending_t &ending);
/// Why the group has ended; NULL while it lives.
const weft_ending_t *weft_board_ending(const weft_board_t *board);

/// Says where the rank is. `node` NULL: nowhere that has a name.
void weft_seat_set_node(weft_seat_t *seat, const char *node);
/// Reads it as text.
void weft_seat_node(const weft_seat_t *seat, char (&node)[WEFT_NODE_BYTES]);
