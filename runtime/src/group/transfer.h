// One collective on its way through the windows of a board, piece by piece.
#pragma once

#include "runtime/src/group/board.h"
#include "runtime/src/group/exchange.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/reach.h"

struct weft_transfer_t {
  weft_exchange_t exchange;
  weft_signature_t signature;
  weft_collective_t stages[2]; ///< the second one of an all_reduce in two stages
  const weft_reach_t *reach;
  uint64_t sources
      [2]; ///< of each stage, the name of what this rank sends; 0: it goes through the window
  int64_t element_bytes;
  int64_t chunk; ///< elements that a piece has for one rank, or for all when all get the same
  int64_t cached_bytes; ///< see weft_cached_bytes; of the link, not of one collective
};

/// What all ranks send one, of which this much is written past the caches: its reader would find nothing of it there.
int64_t weft_cached_bytes(void);

/// Prepares a collective that has been checked, behind `base` pieces of this group.
void weft_transfer_begin(weft_transfer_t *transfer, const weft_board_t *board,
                         const weft_collective_t &collective, int32_t rank, uint32_t base,
                         uint64_t sequence);
/// Lets others read this rank's memory where it lies, as far as they reach it and it pays.
void weft_transfer_expose(weft_transfer_t *transfer, const weft_reach_t &reach);
/// What can be done now.
weft_move_t weft_transfer_move(const weft_transfer_t &transfer, weft_board_t *board);
/// Whether the transfer waits for this rank.
bool weft_transfer_needs(const weft_transfer_t &transfer, weft_board_t *board, int32_t peer);
/// Writes the next piece into this rank's window, and publishes it.
void weft_transfer_write(weft_transfer_t *transfer, weft_board_t *board);
/// Reads the next piece of all ranks. Of the first piece, weft_transfer_agrees has to be asked before.
void weft_transfer_read(weft_transfer_t *transfer, weft_board_t *board);
/// Whether all ranks are at the same collective, by the first pieces of all.
bool weft_transfer_agrees(const weft_transfer_t &transfer, weft_board_t *board);
