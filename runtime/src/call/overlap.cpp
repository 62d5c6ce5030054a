// An exchange in pieces, and kernels that compute meanwhile.
//
// What is gathered: a rank computes tiles of its own rows, then those of others as their pieces come; of all that have come at once, as larger runs of
// tiles read weights less often. What is sent behind kernels: it makes others' rows, of which every piece is begun when it is there, and at last
// its own, to which it adds what has come meanwhile; of a sum that all get, all rows are others'. A tile with rows of several steps is computed in the last
// of them, when what it reads is there, or in the first, before what it makes is sent; and as it would be alone, so results have the same bits. Pieces depend
// on sizes only, and not on how a rank's kernels are made, so all ranks have the same.
#include "runtime/src/call/overlap.h"

#include <string.h>

#include "runtime/src/base/element.h"
#include "runtime/src/call/ranks.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/started.h"

/// Steps of a rank's own rows: between them it looks after what is on its way.
static const int64_t most_own_steps = 2;
/// Steps of tiles are noted for so many of them, or for blocks of tiles.
static const int64_t most_blocks = 1024;

static int64_t ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

namespace {
/// Rows [outer, first] of the exchange, of which every rank has a part of first, and the pieces that they travel in: one or some rows of outer, and
/// where these are few, some rows of every part.
struct cut_t {
  weft_collective_t whole; ///< its inner is a row
  bool has_parts;          ///< not of a sum that all get
  int64_t rank, part, own; ///< rows of the largest part, and of this rank's; all of such a sum
  int64_t outer_step, row_step, per_outer, pieces;

  cut_t(const weft_collective_t &collective, int64_t rows, int32_t rank, int32_t world);
  /// The piece that a row is of, and whether this rank has the row.
  int64_t piece_of(int64_t row, bool *out_is_own) const;
  /// The rows from this one on that are of the same piece and rank.
  __attribute__((noinline)) int64_t run_of(int64_t row) const;
  weft_collective_t piece(int64_t number) const;
};
} // namespace

cut_t::cut_t(const weft_collective_t &collective, int64_t rows, int32_t rank, int32_t world)
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
  outer_step = ceildiv(whole.outer, WEFT_MOST_PIECES);
  int64_t per = WEFT_MOST_PIECES / least_of(whole.outer, WEFT_MOST_PIECES);
  int64_t fitting = part / WEFT_LEAST_ROWS;
  if (whole.kind != WEFT_ALL_GATHER)
    fitting =
        least_of(fitting, part / WEFT_LEAST_ROWS_OF_SUM > 2 ? part / WEFT_LEAST_ROWS_OF_SUM : 2);
  per = least_of(per, fitting);
  row_step = ceildiv(part, per > 1 ? per : 1);
  per_outer = ceildiv(part, row_step);
  pieces = ceildiv(whole.outer, outer_step) * per_outer;
}

int64_t cut_t::piece_of(int64_t row, bool *out_is_own) const {
  int64_t in_first = row % whole.first, owner = in_first / part;
  *out_is_own = has_parts && owner == rank;
  return row / whole.first / outer_step * per_outer + in_first % part / row_step;
}

int64_t cut_t::run_of(int64_t row) const {
  int64_t in_first = row % whole.first, in_part = in_first % part;
  int64_t to_step = row_step - in_part % row_step;
  return least_of(least_of(to_step, part - in_part), whole.first - in_first);
}

weft_collective_t cut_t::piece(int64_t number) const {
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

namespace {
/// A kernel whose units are those of another from `first` on.
struct shifted_t {
  weft_kernel_fn kernel;
  const uint64_t *words;
  int64_t first;
};

/// A kernel's tiles, block by block, and the step of each. Units are those of all blocks, `turns` times, unless it is called for rows.
struct stepped_t {
  const weft_part_v1 *part;
  const weft_row_tiles_v1 *tiles;
  int64_t blocks, units_of_block, turns;
  uint8_t step[most_blocks];
};

struct overlapping_t {
  weft_frame_v1 *frame;
  weft_context_t *context;
  weft_group *group;
  cut_t cut;
  bool comes_first;
  int32_t count;
  int64_t own_steps, steps;
  weft_started_t started[WEFT_MOST_PIECES];
  stepped_t kernels[WEFT_MAX_PARTS];

  /// Not inlined, as the next: they would be in several places.
  __attribute__((noinline)) int64_t step_of_row(int64_t row) const;
  void set_steps(stepped_t *kernel) const;
  void run(int64_t from, int64_t to) const;
  void run_blocks(const stepped_t &kernel, int64_t turn, int64_t block, int64_t end) const;
  void run_rows(const stepped_t &kernel, int64_t row, int64_t end) const;
  void start(int64_t piece);
  bool advance(int64_t piece, bool waits);
  void run_behind();
  void run_before();
};
} // namespace

static void run_shifted(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  const shifted_t *shifted = (const shifted_t *)words;
  shifted->kernel(shifted->words, shifted->first + begin, shifted->first + end, worker);
}

int64_t overlapping_t::step_of_row(int64_t row) const {
  bool is_own;
  int64_t piece = cut.piece_of(row, &is_own);
  int64_t own_step = piece * own_steps / cut.pieces;
  if (comes_first)
    return is_own ? own_step : own_steps + piece;
  return is_own ? cut.pieces + own_step : piece;
}

/// Row `tile` begins at.
static int64_t row_of(const weft_row_tiles_v1 &tiles, int64_t tile) {
  int64_t more = tiles.rows % tiles.tiles;
  return tile * (tiles.rows / tiles.tiles) + least_of(tile, more);
}

void overlapping_t::set_steps(stepped_t *kernel) const {
  const weft_row_tiles_v1 &tiles = *kernel->tiles;
  if (tiles.height || tiles.tiles < 1)
    return;
  int64_t together = ceildiv(tiles.tiles, most_blocks),
          per_tile = kernel->part->units / tiles.tiles;
  bool is_by_tiles = tiles.tiles >= tiles.least;
  kernel->blocks = ceildiv(tiles.tiles, together);
  kernel->units_of_block = together * (is_by_tiles ? per_tile : 1);
  kernel->turns = is_by_tiles ? 1 : per_tile;
  for (int64_t block = 0; block < kernel->blocks; ++block) {
    int64_t row = row_of(tiles, block * together), step = step_of_row(row);
    int64_t end = row_of(tiles, least_of((block + 1) * together, tiles.tiles));
    while ((row += cut.run_of(row)) < end) {
      int64_t other = step_of_row(row);
      step = (other > step) == comes_first ? other : step;
    }
    kernel->step[block] = (uint8_t)step;
  }
}

/// The tiles, or rows, of steps [from, to), run by run.
void overlapping_t::run(int64_t from, int64_t to) const {
  for (int32_t i = 0; i < count; ++i) {
    const stepped_t &kernel = kernels[i];
    bool is_by_rows = kernel.tiles->height != 0;
    int64_t all = is_by_rows ? kernel.tiles->rows : kernel.blocks;
    auto behind = [&](int64_t at) { return at + (is_by_rows ? cut.run_of(at) : 1); };
    auto is_of = [&](int64_t at) {
      int64_t step = is_by_rows ? step_of_row(at) : kernel.step[at];
      return step >= from && step < to;
    };
    for (int64_t turn = 0; turn < (is_by_rows ? 1 : kernel.turns); ++turn)
      for (int64_t at = 0, end; at < all; at = end) {
        bool is_due = is_of(at);
        for (end = behind(at); end < all && is_of(end) == is_due;)
          end = behind(end);
        if (is_due)
          is_by_rows ? run_rows(kernel, at, end) : run_blocks(kernel, turn, at, end);
      }
  }
}

void overlapping_t::run_blocks(const stepped_t &kernel, int64_t turn, int64_t block,
                               int64_t end) const {
  const weft_part_v1 &part = *kernel.part;
  int64_t of_turn = part.units / kernel.turns, first = block * kernel.units_of_block,
          last = least_of(end * kernel.units_of_block, of_turn);
  context->call.whole = &part;
  shifted_t shifted = {part.kernel, part.words, turn * of_turn + first};
  frame->host->parallel(frame, run_shifted, (const uint64_t *)&shifted, last - first, part.grain,
                        part.kernel_id);
  context->call.whole = nullptr;
}

/// In one call of the kernel, which then has no other rows.
void overlapping_t::run_rows(const stepped_t &kernel, int64_t row, int64_t end) const {
  const weft_row_tiles_v1 &tiles = *kernel.tiles;
  const weft_part_v1 &part = *kernel.part;
  uint64_t words[WEFT_MAX_WORDS];
  memcpy(words, part.words, sizeof words);
  for (int64_t i = 0; i < tiles.addresses; ++i)
    words[i] += (uint64_t)(row * tiles.row_bytes[i]);
  words[tiles.count_word] = (uint64_t)(end - row);
  int64_t units = part.units / tiles.tiles * ceildiv(end - row, tiles.height);
  frame->host->parallel(frame, part.kernel, words, units, part.grain, part.kernel_id);
}

void overlapping_t::start(int64_t piece) {
  weft_collective_t c = cut.piece(piece);
  if (weft_status_t status = weft_group_start(group, c, &started[piece], context->call.err))
    weft_leave_call(context, status);
}

/// Whether it is done.
bool overlapping_t::advance(int64_t piece, bool waits) {
  if (weft_status_t status = weft_group_advance(group, &started[piece], waits, context->call.err))
    weft_leave_call(context, status);
  return started[piece].is_done;
}

/// Kernels read what is gathered.
void overlapping_t::run_behind() {
  for (int64_t piece = 0; piece < cut.pieces; ++piece)
    start(piece);
  for (int64_t step = 0; step < own_steps; ++step) {
    run(step, step + 1);
    advance(cut.pieces - 1, /*waits=*/false);
  }
  for (int64_t piece = 0, end; piece < cut.pieces; piece = end) {
    advance(piece, /*waits=*/true);
    end = piece + 1;
    while (end < cut.pieces && advance(end, /*waits=*/false))
      ++end;
    run(own_steps + piece, own_steps + end);
  }
}

/// Kernels make what is sent. What a rank adds to what comes is not looked at before it is there.
void overlapping_t::run_before() {
  for (int64_t piece = 0; piece < cut.pieces; ++piece) {
    run(piece, piece + 1);
    start(piece);
    if (!cut.has_parts)
      advance(piece, /*waits=*/false);
  }
  for (int64_t step = 0; step < own_steps; ++step) {
    run(cut.pieces + step, cut.pieces + step + 1);
    int64_t behind = ceildiv((step + 1) * cut.pieces, own_steps);
    advance(behind - 1, /*waits=*/false);
  }
  for (int64_t piece = 0; piece < cut.pieces; ++piece)
    advance(piece, /*waits=*/true);
}

/// Puts the rows that this rank has where all will be gathered.
static void place_own(const weft_collective_t &c, int32_t rank, int32_t world) {
  weft_view_t to = weft_received(c, world, rank, rank), from = weft_sent(c, world, rank, rank);
  weft_copy_view(to, c.receive, from, c.send, {0, weft_view_size(from)},
                 weft_element_bits(c.element) / 8);
}

static void exchange_whole(weft_context_t *context, weft_group *group, weft_collective_t whole) {
  whole.piece = whole.pieces = 1;
  if (weft_status_t status = weft_group_collective(group, &whole, context->call.err))
    weft_leave_call(context, status);
}

/// One after the other.
static void run_whole(weft_frame_v1 *frame, const weft_overlap_v1 &overlap, weft_group *group,
                      const weft_collective_t &whole) {
  weft_context_t *context = (weft_context_t *)frame->context;
  if (overlap.comes_first)
    exchange_whole(context, group, whole);
  frame->host->together(frame, overlap.parts, overlap.count);
  if (!overlap.comes_first)
    exchange_whole(context, group, whole);
}

void weft_overlap_whole(weft_frame_v1 *frame, const weft_overlap_v1 *overlap) {
  weft_collective_t whole;
  weft_group *group = weft_find_exchange((weft_context_t *)frame->context, overlap->exchange,
                                         overlap->words, &whole);
  run_whole(frame, *overlap, group, whole);
}

void weft_overlap_ranks(weft_frame_v1 *frame, const weft_overlap_v1 *overlap) {
  weft_context_t *context = (weft_context_t *)frame->context;
  weft_collective_t whole;
  weft_group *group = weft_find_exchange(context, overlap->exchange, overlap->words, &whole);
  int32_t rank = weft_group_rank(group), world = weft_group_world(group);
  cut_t cut(whole, overlap->tiles->rows, rank, world);
  if (world == 1 || cut.pieces < 2 || context->exchanges_apart)
    return run_whole(frame, *overlap, group, whole);
  int64_t own_steps = cut.has_parts ? least_of(most_own_steps, cut.pieces) : 0;
  overlapping_t o = {frame,
                     context,
                     group,
                     cut,
                     overlap->comes_first != 0,
                     overlap->count,
                     own_steps,
                     cut.pieces + own_steps,
                     {},
                     {}};
  for (int32_t i = 0; i < o.count; ++i) {
    o.kernels[i].part = &overlap->parts[i];
    o.kernels[i].tiles = &overlap->tiles[i];
    o.set_steps(&o.kernels[i]);
  }
  if (!o.comes_first)
    return o.run_before();
  place_own(whole, rank, world);
  o.cut.whole.is_placed = 1; // so transports do not copy it once more
  o.run_behind();
}
