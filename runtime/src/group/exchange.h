// The protocol by which ranks exchange pieces through memory that all of them map: who may write or read what next. It moves nothing by itself, so
// that a test can go through all orders in which ranks take their steps.
//
// Every rank has a window of `slots` slots, and two counters that all can read: pieces published, and pieces consumed. Piece n of every rank, counted
// since the group began, lies in slot n % slots. A rank
//   writes piece n when all others have consumed piece n - slots, and then publishes it;
//   reads piece n of all others when all have published it, and then counts it as consumed.
// Counters only grow, and are compared by differences, so that they may wrap around.
//
// Where all ranks reach the memory of a sender, a piece is published where it lies, and the sender is done when all have consumed all of it.
//
// A collective is a number of pieces. One of two stages (a large all_reduce: scatter and combine, then gather) sends the result of combined piece k
// as a piece of its own, two behind, so that every rank has something to do while others combine:
//   scatter 0, scatter 1, gather 0, scatter 2, gather 1, …, scatter K-1, gather K-2, gather K-1
#pragma once

#include <stdint.h>

struct weft_exchange_t {
  int32_t world, rank;
  int32_t slots;  ///< a power of two
  int32_t ahead;  ///< pieces that are written before they are read; 1 to slots
  uint32_t base;  ///< pieces before this collective
  int32_t pieces; ///< of this collective, with both stages
  bool has_two_stages;
  int32_t written, read; ///< of these
  bool must_stay;        ///< others read this rank's memory: it is done when they are
};

enum weft_move_t { WEFT_MOVE_WAIT, WEFT_MOVE_WRITE, WEFT_MOVE_READ, WEFT_MOVE_DONE };

/// Which part of a message a piece is.
struct weft_piece_t {
  int32_t stage, index;
};

inline weft_piece_t weft_piece_of(const weft_exchange_t &x, int32_t piece) {
  if (!x.has_two_stages)
    return {0, piece};
  if (piece == 0)
    return {0, 0};
  if (piece == x.pieces - 1)
    return {1, x.pieces / 2 - 1};
  return piece % 2 ? weft_piece_t{0, (piece + 1) / 2} : weft_piece_t{1, piece / 2 - 1};
}

/// How many pieces have to be read before this one can be written: a result has to be combined first.
inline int32_t weft_read_before(const weft_exchange_t &x, int32_t piece) {
  weft_piece_t of = weft_piece_of(x, piece);
  if (of.stage == 0)
    return 0;
  return of.index == 0 ? 1 : 2 * of.index; // the number of scatter piece k is 2k - 1, but for 0
}

inline bool weft_wants_to_write(const weft_exchange_t &x) {
  return x.written < x.pieces && x.written < x.read + x.ahead &&
         x.read >= weft_read_before(x, x.written);
}

/// `flags` has published(rank) and consumed(rank), the counters as they are now or were a while ago.
template <class Flags>
bool weft_holds_back_write(const weft_exchange_t &x, const Flags &flags, int32_t peer) {
  uint32_t needed = x.base + (uint32_t)x.written + 1 - (uint32_t)x.slots;
  return (int32_t)(flags.consumed(peer) - needed) < 0;
}

template <class Flags>
bool weft_holds_back_read(const weft_exchange_t &x, const Flags &flags, int32_t peer) {
  return (int32_t)(flags.published(peer) - (x.base + (uint32_t)x.read + 1)) < 0;
}

template <class Flags>
bool weft_holds_back_end(const weft_exchange_t &x, const Flags &flags, int32_t peer) {
  return (int32_t)(flags.consumed(peer) - (x.base + (uint32_t)x.pieces)) < 0;
}

/// Whether this rank waits for `peer`, when its next move is to wait.
template <class Flags>
bool weft_holds_back(const weft_exchange_t &x, const Flags &flags, int32_t peer) {
  if (peer == x.rank)
    return false;
  if (x.read == x.pieces)
    return x.must_stay && weft_holds_back_end(x, flags, peer);
  return (x.read < x.written && weft_holds_back_read(x, flags, peer)) ||
         (weft_wants_to_write(x) && weft_holds_back_write(x, flags, peer));
}

/// What this rank can do now.
template <class Flags> weft_move_t weft_next_move(const weft_exchange_t &x, const Flags &flags) {
  if (x.read == x.pieces) {
    for (int32_t peer = 0; peer < x.world; ++peer)
      if (weft_holds_back(x, flags, peer))
        return WEFT_MOVE_WAIT;
    return WEFT_MOVE_DONE;
  }
  bool can_write = weft_wants_to_write(x), can_read = x.read < x.written;
  for (int32_t peer = 0; peer < x.world; ++peer)
    if (peer != x.rank) {
      can_write = can_write && !weft_holds_back_write(x, flags, peer);
      can_read = can_read && !weft_holds_back_read(x, flags, peer);
    }
  return can_write ? WEFT_MOVE_WRITE : can_read ? WEFT_MOVE_READ : WEFT_MOVE_WAIT;
}
