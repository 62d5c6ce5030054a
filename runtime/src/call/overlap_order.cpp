#include "runtime/src/call/overlap_order.h"

#include "runtime/src/base/element.h"
#include "runtime/src/group/layout.h"

/// Steps of a rank's own rows: between them it looks after what is on its way.
static const int64_t most_own_steps = 2;

static int64_t ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

weft_cut_t::weft_cut_t(const weft_collective_t &collective, int64_t rows, int32_t rank,
                       int32_t world, int64_t most)
    : whole(collective), has_parts(whole.kind != WEFT_ALL_REDUCE), rank(rank), pieces(0) {
  if (!has_parts && rows > 0) {
    whole.inner = whole.outer * whole.first * whole.inner / rows;
    whole.outer = 1;
    whole.first = rows;
  }
  int64_t begin = 0, end = whole.first;
  if (has_parts)
    weft_part_of(whole.first, world, rank, &begin, &end);
  own = end - begin;
  part = has_parts ? ceildiv(whole.first, world) : whole.first;
  if (whole.outer < 1 || part < 1 || rows < 1)
    return;
  if (!most)
    most = WEFT_MOST_PIECES;
  outer_step = ceildiv(whole.outer, most);
  int64_t per = most / least_of(whole.outer, most);
  int64_t fitting = part / WEFT_LEAST_ROWS;
  if (whole.kind != WEFT_ALL_GATHER)
    fitting =
        least_of(fitting, part / WEFT_LEAST_ROWS_OF_SUM > 2 ? part / WEFT_LEAST_ROWS_OF_SUM : 2);
  per = least_of(per, fitting);
  row_step = ceildiv(part, per > 1 ? per : 1);
  per_outer = ceildiv(part, row_step);
  pieces = ceildiv(whole.outer, outer_step) * per_outer;
}

int64_t weft_cut_t::piece_of(int64_t row, bool *out_is_own) const {
  int64_t in_first = row % whole.first, owner = in_first / part;
  *out_is_own = has_parts && owner == rank;
  return row / whole.first / outer_step * per_outer + in_first % part / row_step;
}

int64_t weft_cut_t::run_of(int64_t row) const {
  int64_t in_first = row % whole.first, in_part = in_first % part;
  int64_t to_step = row_step - in_part % row_step;
  return least_of(least_of(to_step, part - in_part), whole.first - in_first);
}

weft_collective_t weft_cut_t::piece(int64_t number) const {
  weft_collective_t c = whole;
  int64_t outer = number / per_outer * outer_step, from = number % per_outer * row_step;
  int64_t row_bytes = c.inner * (weft_element_bits(c.element) / 8);
  int64_t in_whole = outer * c.first * row_bytes,
          in_part = (outer * own + least_of(from, own)) * row_bytes;
  c.piece = (int32_t)number + 1;
  c.pieces = (int32_t)pieces;
  c.outer = least_of(outer_step, c.outer - outer);
  if (c.kind == WEFT_ALL_REDUCE)
    c.first = least_of(row_step, c.first - from);
  else if (per_outer > 1)
    c.from = from, c.rows = row_step;
  c.send = (const uint8_t *)c.send + (c.kind == WEFT_REDUCE_SCATTER ? in_whole : in_part);
  c.receive = (uint8_t *)c.receive + (c.kind == WEFT_ALL_GATHER ? in_whole : in_part);
  return c;
}

//===----------------------------------------------------------------------===//
// Who does what when
//===----------------------------------------------------------------------===//

weft_overlap_order_t::weft_overlap_order_t(const weft_cut_t &cut, bool comes_first)
    : comes_first(comes_first), has_parts(cut.has_parts),
      own_steps(cut.has_parts ? least_of(most_own_steps, cut.pieces) : 0), pieces(cut.pieces),
      begun(0), run(0), own(0), come(0), looks(false) {}

int64_t weft_overlap_order_t::step_of(int64_t piece, bool is_own) const {
  int64_t own_step = piece * own_steps / pieces;
  if (comes_first)
    return is_own ? own_step : own_steps + piece;
  return is_own ? pieces + own_step : piece;
}

weft_overlap_act_t weft_overlap_order_t::next(bool was_done) {
  return comes_first ? next_behind(was_done) : next_before();
}

/// Kernels read what is gathered: all pieces are begun, then rows computed as they come.
weft_overlap_act_t weft_overlap_order_t::next_behind(bool was_done) {
  if (begun < pieces)
    return {WEFT_OVERLAP_BEGIN, begun++, 0};
  if (own < own_steps) {
    looks = !looks;
    if (looks)
      return {WEFT_OVERLAP_RUN, own, own + 1};
    ++own;
    return {WEFT_OVERLAP_LOOK, pieces - 1, 0};
  }
  if (come == run) {
    if (run == pieces)
      return {WEFT_OVERLAP_END, 0, 0};
    return {WEFT_OVERLAP_WAIT, come++, 0};
  }
  bool is_known = looks && !was_done; // that the next one has not come
  come += looks && was_done;
  looks = !is_known && come < pieces;
  if (looks)
    return {WEFT_OVERLAP_LOOK, come, 0};
  int64_t from = run;
  run = come;
  return {WEFT_OVERLAP_RUN, own_steps + from, own_steps + come};
}

/// Kernels make what is sent. What a rank adds to what comes is not looked at before it is there.
weft_overlap_act_t weft_overlap_order_t::next_before() {
  if (looks) {
    looks = false;
    return {WEFT_OVERLAP_LOOK, own ? ceildiv(own * pieces, own_steps) - 1 : begun - 1, 0};
  }
  if (run == begun && begun < pieces) {
    ++run;
    return {WEFT_OVERLAP_RUN, begun, run};
  }
  if (begun < run) {
    looks = !has_parts;
    return {WEFT_OVERLAP_BEGIN, begun++, 0};
  }
  if (own < own_steps) {
    looks = true;
    ++own;
    return {WEFT_OVERLAP_RUN, pieces + own - 1, pieces + own};
  }
  if (come < pieces)
    return {WEFT_OVERLAP_WAIT, come++, 0};
  return {WEFT_OVERLAP_END, 0, 0};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t step_of_row(const weft_cut_t &cut, const weft_overlap_order_t &order, int64_t row) {
  bool is_own;
  int64_t piece = cut.piece_of(row, &is_own);
  return order.step_of(piece, is_own);
}

/// Row `tile` begins at.
static int64_t row_of(const weft_row_tiles_v1 &tiles, int64_t tile) {
  int64_t more = tiles.rows % tiles.tiles;
  return tile * (tiles.rows / tiles.tiles) + least_of(tile, more);
}

int64_t weft_steps_of_tiles(const weft_cut_t &cut, const weft_overlap_order_t &order,
                            const weft_row_tiles_v1 &tiles, uint8_t *out_steps) {
  int64_t together = ceildiv(tiles.tiles, WEFT_MOST_BLOCKS);
  int64_t blocks = ceildiv(tiles.tiles, together);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t row = row_of(tiles, block * together), step = step_of_row(cut, order, row);
    int64_t end = row_of(tiles, least_of((block + 1) * together, tiles.tiles));
    while ((row += cut.run_of(row)) < end) {
      int64_t other = step_of_row(cut, order, row);
      step = (other > step) == order.comes_first ? other : step;
    }
    out_steps[block] = (uint8_t)step;
  }
  return blocks;
}
