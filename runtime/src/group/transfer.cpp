#include "runtime/src/group/transfer.h"

#include <string.h>

#include "runtime/src/cpu/threads.h"

/// Up to so many bytes from all others every rank combines the whole: one flag instead of two, for more work. Two ranks do so always: as many
/// bytes pass between them either way.
static const int64_t one_stage_bytes = 16 << 10;
/// Pieces that are written before others have been read.
static const int32_t pieces_ahead = 2;
static const int64_t line_bytes = 64;
/// With a third-level cache of 8 MiB and with one of 32 MiB, or of more (measured: all_gather of 4 MiB, two processes; the second one takes
/// 2.4 times as long past the cache, and with 8 MiB as long either way).
static const int64_t least_cached_bytes = 4 << 20, most_cached_bytes = 8 << 20;

namespace {
struct board_flags {
  weft_board_t *board;

  uint32_t published(int32_t rank) const {
    return weft_seat(board, rank)->published.load(std::memory_order_acquire);
  }
  uint32_t consumed(int32_t rank) const {
    return weft_seat(board, rank)->consumed.load(std::memory_order_acquire);
  }
};
} // namespace

/// An all_reduce as a reduce_scatter into the rank's own part of the result, and an all_gather from there.
static void divide(weft_transfer_t *transfer, int64_t count) {
  weft_collective_t &scatter = transfer->stages[0], &gather = transfer->stages[1];
  scatter.outer = scatter.inner = 1;
  scatter.first = count;
  gather = scatter;
  scatter.kind = WEFT_REDUCE_SCATTER;
  gather.kind = WEFT_ALL_GATHER;
  int64_t begin, end;
  weft_part_of(count, transfer->exchange.world, transfer->exchange.rank, &begin, &end);
  scatter.receive = (uint8_t *)scatter.receive + begin * transfer->element_bytes;
  gather.send = scatter.receive;
}

int64_t weft_cached_bytes(void) {
  int64_t bytes = weft_last_cache_bytes() / 4;
  return bytes < least_cached_bytes  ? least_cached_bytes
         : bytes > most_cached_bytes ? most_cached_bytes
                                     : bytes;
}

void weft_transfer_begin(weft_transfer_t *transfer, const weft_board_t *board,
                         const weft_collective_t &collective, int32_t rank, uint32_t base,
                         uint64_t sequence) {
  int32_t world = (int32_t)board->world;
  transfer->signature = weft_signature_of(collective, sequence);
  transfer->element_bytes = weft_element_bits(collective.element) / 8;
  transfer->exchange = {world, rank, WEFT_SLOTS, pieces_ahead, base, 0, false, 0, 0, false};
  weft_collective_t &first = transfer->stages[0];
  first = collective;
  int64_t count = collective.outer * collective.first * collective.inner;
  int64_t from_others = count * transfer->element_bytes * (world - 1);
  if (collective.kind == WEFT_ALL_REDUCE && from_others > one_stage_bytes && world > 2) {
    transfer->exchange.has_two_stages = true;
    divide(transfer, count);
  }
  int64_t bytes = board->slot_bytes / (weft_sends_parts(first) ? world : 1);
  transfer->chunk = bytes / line_bytes * line_bytes / transfer->element_bytes;
  int64_t longest = weft_longest_sent(first, world);
  int64_t pieces = longest / transfer->chunk + (longest % transfer->chunk != 0);
  // An empty collective is a piece without elements: also then all ranks agree.
  pieces = pieces ? pieces : 1;
  transfer->exchange.pieces = (int32_t)(transfer->exchange.has_two_stages ? 2 * pieces : pieces);
}

void weft_transfer_expose(weft_transfer_t *transfer, const weft_reach_t &reach) {
  weft_exchange_t &x = transfer->exchange;
  transfer->reach = &reach;
  for (int32_t stage = 0; stage <= (x.has_two_stages ? 1 : 0); ++stage) {
    const weft_collective_t &c = transfer->stages[stage];
    int64_t bytes = weft_sent_end(c, x.world, x.rank) * transfer->element_bytes;
    // A small message goes through the window, so that nobody waits at its end; so does one whose result takes its place.
    bool is_overwritten = c.send == c.receive && !x.has_two_stages;
    bool pays = bytes > one_stage_bytes / 2 && !is_overwritten;
    transfer->sources[stage] = pays ? reach.name_of(x.rank, c.send, bytes) : 0;
    x.must_stay = x.must_stay || transfer->sources[stage];
  }
}

weft_move_t weft_transfer_move(const weft_transfer_t &transfer, weft_board_t *board) {
  return weft_next_move(transfer.exchange, board_flags{board});
}

bool weft_transfer_needs(const weft_transfer_t &transfer, weft_board_t *board, int32_t peer) {
  return weft_holds_back(transfer.exchange, board_flags{board}, peer);
}

bool weft_transfer_agrees(const weft_transfer_t &transfer, weft_board_t *board) {
  const weft_exchange_t &x = transfer.exchange;
  for (int32_t peer = 0; peer < x.world; ++peer)
    if (memcmp(&weft_slot(board, peer, x.base)->signature, &transfer.signature,
               sizeof transfer.signature) != 0)
      return false;
  return true;
}

namespace {
/// A piece as one rank sees it: which elements of every message it has.
struct piece_view {
  const weft_transfer_t &transfer;
  const weft_collective_t &stage;
  weft_board_t *board;
  uint32_t number;
  int64_t begin; ///< the first element of a message

  piece_view(const weft_transfer_t &transfer, weft_board_t *board, int32_t piece)
      : transfer(transfer), stage(transfer.stages[weft_piece_of(transfer.exchange, piece).stage]),
        board(board), number(transfer.exchange.base + (uint32_t)piece),
        begin(weft_piece_of(transfer.exchange, piece).index * transfer.chunk) {}

  weft_range_t range_of(const weft_view_t &message) const {
    int64_t size = weft_view_size(message), end = begin + transfer.chunk;
    return {begin, end < size ? end : size};
  }
  /// Where the elements that `from` sends to `to` lie in the slot.
  uint8_t *data(int32_t from, int32_t to) const {
    uint8_t *slot = weft_slot(board, from, number)->data;
    return weft_sends_parts(stage) ? slot + to * transfer.chunk * transfer.element_bytes : slot;
  }
  /// The same as a view in which elements have the numbers that they have in the message.
  weft_view_t view() const { return {-begin, 1, begin + transfer.chunk, 0}; }
  /// What `from` sends from, where this rank reaches it; NULL: it is in the slot.
  const uint8_t *source(int32_t from) const {
    if (from == transfer.exchange.rank)
      return (const uint8_t *)stage.send;
    uint64_t name = weft_slot(board, from, number)->source;
    return name ? transfer.reach->memory_of(from, name) : nullptr;
  }
};
} // namespace

/// Copies what this rank sends into its slot.
static void fill_slot(const piece_view &piece) {
  const weft_exchange_t &x = piece.transfer.exchange;
  for (int32_t to = 0; to < x.world; ++to) {
    if (to == x.rank || !weft_flows(piece.stage, x.world, x.rank, to))
      continue;
    weft_view_t sent = weft_sent(piece.stage, x.world, x.rank, to);
    weft_copy_view(piece.view(), piece.data(x.rank, to), sent, piece.stage.send,
                   piece.range_of(sent), piece.transfer.element_bytes);
    if (!weft_sends_parts(piece.stage))
      break; // the same for all
  }
}

void weft_transfer_write(weft_transfer_t *transfer, weft_board_t *board) {
  weft_exchange_t &x = transfer->exchange;
  piece_view piece(*transfer, board, x.written);
  weft_slot_t *slot = weft_slot(board, x.rank, piece.number);
  slot->source = transfer->sources[weft_piece_of(x, x.written).stage];
  if (!slot->source)
    fill_slot(piece);
  if (x.written == 0)
    slot->signature = transfer->signature;
  ++x.written;
  weft_board_raise(board, x.rank, &weft_seat(board, x.rank)->published,
                   x.base + (uint32_t)x.written);
}

/// Elements are combined where they lie, run by run; all ranks send them from the same places.
static void read_combined(const piece_view &piece) {
  const weft_exchange_t &x = piece.transfer.exchange;
  int64_t bytes = piece.transfer.element_bytes;
  weft_view_t own = weft_sent(piece.stage, x.world, x.rank, x.rank);
  const uint8_t *lies[WEFT_MAX_WORLD];
  const void *sources[WEFT_MAX_WORLD];
  for (int32_t from = 0; from < x.world; ++from)
    lies[from] = piece.source(from);
  uint64_t mode = weft_float_mode_enter();
  for (int64_t index = piece.begin, end = piece.range_of(own).end, count; index < end;
       index += count) {
    int64_t at, run = weft_view_run(own, index, &at);
    count = run < end - index ? run : end - index;
    for (int32_t from = 0; from < x.world; ++from)
      sources[from] = lies[from] ? lies[from] + at * bytes
                                 : piece.data(from, x.rank) + (index - piece.begin) * bytes;
    weft_combine(piece.stage.element, piece.stage.combiner, sources, x.world, count,
                 (uint8_t *)piece.stage.receive + index * bytes);
  }
  weft_float_mode_leave(mode);
}

/// Beginning with the next rank, so that not all read from the same one.
static void read_copied(const piece_view &piece) {
  const weft_exchange_t &x = piece.transfer.exchange;
  for (int32_t i = 1; i <= x.world; ++i) {
    int32_t from = (x.rank + i) % x.world;
    if (!weft_flows(piece.stage, x.world, from, x.rank) ||
        (from == x.rank && piece.stage.is_placed))
      continue;
    weft_view_t received = weft_received(piece.stage, x.world, from, x.rank);
    const uint8_t *source = piece.source(from);
    weft_view_t sent =
        weft_has_own_sizes(piece.stage) ? received : weft_sent(piece.stage, x.world, from, x.rank);
    int64_t bytes = piece.transfer.element_bytes;
    weft_range_t range = piece.range_of(received);
    range.passes_caches = weft_view_size(received) * bytes >= piece.transfer.cached_bytes / x.world;
    weft_copy_view(received, piece.stage.receive, source ? sent : piece.view(),
                   source ? source : piece.data(from, x.rank), range, bytes);
  }
}

void weft_transfer_read(weft_transfer_t *transfer, weft_board_t *board) {
  weft_exchange_t &x = transfer->exchange;
  piece_view piece(*transfer, board, x.read);
  if (weft_combines(piece.stage))
    read_combined(piece);
  else
    read_copied(piece);
  ++x.read;
  weft_board_raise(board, x.rank, &weft_seat(board, x.rank)->consumed, x.base + (uint32_t)x.read);
}
