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
#include "runtime/src/call/overlap_order.h"
#include "runtime/src/call/ranks.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/started.h"

static int64_t ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

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
  uint8_t step[WEFT_MOST_BLOCKS];
};

struct overlapping_t {
  weft_frame_v1 *frame;
  weft_context_t *context;
  weft_group *group;
  weft_cut_t cut;
  weft_overlap_order_t order;
  int32_t count;
  weft_started_t started[WEFT_MOST_PIECES];
  stepped_t kernels[WEFT_MAX_PARTS];

  /// Not inlined: it would be in several places.
  __attribute__((noinline)) int64_t step_of_row(int64_t row) const;
  void set_steps(stepped_t *kernel) const;
  void run(int64_t from, int64_t to) const;
  void run_blocks(const stepped_t &kernel, int64_t turn, int64_t block, int64_t end) const;
  void run_rows(const stepped_t &kernel, int64_t row, int64_t end) const;
  void start(int64_t piece);
  bool advance(int64_t piece, bool waits);
  void run_all();
};
} // namespace

static void run_shifted(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  const shifted_t *shifted = (const shifted_t *)words;
  shifted->kernel(shifted->words, shifted->first + begin, shifted->first + end, worker);
}

int64_t overlapping_t::step_of_row(int64_t row) const {
  bool is_own;
  int64_t piece = cut.piece_of(row, &is_own);
  return order.step_of(piece, is_own);
}

void overlapping_t::set_steps(stepped_t *kernel) const {
  const weft_row_tiles_v1 &tiles = *kernel->tiles;
  if (tiles.height || tiles.tiles < 1)
    return;
  int64_t together = ceildiv(tiles.tiles, WEFT_MOST_BLOCKS),
          per_tile = kernel->part->units / tiles.tiles;
  bool is_by_tiles = tiles.tiles >= tiles.least;
  kernel->units_of_block = together * (is_by_tiles ? per_tile : 1);
  kernel->turns = is_by_tiles ? 1 : per_tile;
  kernel->blocks = weft_steps_of_tiles(cut, order, tiles, kernel->step);
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

void overlapping_t::run_all() {
  bool was_done = false;
  for (;;) {
    weft_overlap_act_t act = order.next(was_done);
    switch (act.kind) {
    case WEFT_OVERLAP_BEGIN:
      start(act.from);
      break;
    case WEFT_OVERLAP_RUN:
      run(act.from, act.to);
      break;
    case WEFT_OVERLAP_LOOK:
    case WEFT_OVERLAP_WAIT:
      was_done = advance(act.from, act.kind == WEFT_OVERLAP_WAIT);
      break;
    case WEFT_OVERLAP_END:
      return;
    }
  }
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
  weft_cut_t cut(whole, overlap->tiles->rows, rank, world, whole.pieces);
  if (world == 1 || cut.pieces < 2 || context->exchanges_apart)
    return run_whole(frame, *overlap, group, whole);
  weft_overlap_order_t order(cut, overlap->comes_first != 0);
  overlapping_t o = {frame, context, group, cut, order, overlap->count, {}, {}};
  for (int32_t i = 0; i < o.count; ++i) {
    o.kernels[i].part = &overlap->parts[i];
    o.kernels[i].tiles = &overlap->tiles[i];
    o.set_steps(&o.kernels[i]);
  }
  if (order.comes_first) {
    place_own(whole, rank, world);
    o.cut.whole.is_placed = 1; // so transports do not copy it once more
  }
  o.run_all();
}
