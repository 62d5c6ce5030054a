// In which pieces an exchange travels while kernels compute, which of their rows are computed when, and in which order a rank does both. It moves and
// computes nothing by itself, so that a test can go through all orders in which ranks take their steps.
#pragma once

#include "weft/artifact.h"
#include "weft/transport.h"

/// Rows [outer, first] of the exchange, of which every rank has a part of first, and the pieces that they travel in: one or some rows of outer, and
/// where these are few, some rows of every part.
struct weft_cut_t {
  weft_collective_t whole; ///< its inner is a row
  bool has_parts;          ///< not of a sum that all get
  int64_t rank, part, own; ///< rows of the largest part, and of this rank's; all of such a sum
  int64_t outer_step, row_step, per_outer, pieces;

  /// `most`: pieces; 0: as many as there can be.
  weft_cut_t(const weft_collective_t &collective, int64_t rows, int32_t rank, int32_t world,
             int64_t most);
  /// The piece that a row is of, and whether this rank has the row.
  int64_t piece_of(int64_t row, bool *out_is_own) const;
  /// The rows from this one on that are of the same piece and rank.
  __attribute__((noinline)) int64_t run_of(int64_t row) const;
  weft_collective_t piece(int64_t number) const;
};

/// What a rank does next.
enum weft_overlap_act_kind_t {
  WEFT_OVERLAP_BEGIN, ///< begins piece `from`
  WEFT_OVERLAP_RUN,   ///< computes the rows of steps [from, to)
  WEFT_OVERLAP_LOOK, ///< goes on with what was begun, up to piece `from`, as far as that takes no waiting
  WEFT_OVERLAP_WAIT, ///< goes on with it until piece `from` is done
  WEFT_OVERLAP_END
};
struct weft_overlap_act_t {
  weft_overlap_act_kind_t kind;
  int64_t from, to;
};

/// The order of a rank's steps: of its own rows, and of others' by pieces.
struct weft_overlap_order_t {
  bool comes_first, has_parts;
  int64_t own_steps, pieces;
  int64_t begun, run, own,
      come; ///< pieces, pieces with their rows computed, steps of own rows, and pieces that came, so far
  bool looks; ///< its last act was to look

  weft_overlap_order_t(const weft_cut_t &cut, bool comes_first);
  /// Whether the piece that it looked at last is done: `was_done`.
  weft_overlap_act_t next(bool was_done);
  /// The step in which a row is computed.
  int64_t step_of(int64_t piece, bool is_own) const;

private:
  weft_overlap_act_t next_behind(bool was_done);
  weft_overlap_act_t next_before();
};

/// Steps of tiles are noted for so many of them, or for blocks of tiles.
enum { WEFT_MOST_BLOCKS = 1024 };

/// How many blocks there are, and the step of each: the last one of its rows where the exchange comes first, else the first one.
int64_t weft_steps_of_tiles(const weft_cut_t &cut, const weft_overlap_order_t &order,
                            const weft_row_tiles_v1 &tiles, uint8_t *out_steps);
