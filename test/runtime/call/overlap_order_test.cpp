// Ranks that compute while an exchange travels in pieces: every row once and at its turn, on up to sixteen ranks; and all orders in which two and three
// ranks can take their steps, through the protocol of transports that share memory. A step is a decision, or the end of the move that it allowed.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "runtime/src/call/overlap_order.h"
#include "runtime/src/group/exchange.h"
#include "runtime/src/group/layout.h"

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t row_elements = 2;
uint8_t memory[1]; // addresses count from here, and are not looked at

weft_collective_t exchange_of(uint16_t kind, int64_t outer, int64_t first) {
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = kind;
  c.element = WEFT_F32;
  c.send = c.receive = memory;
  c.outer = outer;
  c.first = first;
  c.middle = c.second = 1;
  c.inner = row_elements;
  return c;
}

struct rows_of {
  weft_collective_t whole;
  int32_t rank, world;
  weft_cut_t cut;

  rows_of(const weft_collective_t &whole, int32_t rank, int32_t world, int64_t most = 0)
      : whole(whole), rank(rank), world(world),
        cut(whole, whole.outer * whole.first, rank, world, most) {}

  bool gathers() const { return whole.kind == WEFT_ALL_GATHER; }
  int64_t rows() const { return whole.outer * whole.first; }

  /// How often pieces have each element of the whole, and whether it is in the piece that its row is of.
  void count(std::vector<int> *out_times, int *out_elsewhere) const {
    for (int64_t number = 0; number < cut.pieces; ++number) {
      weft_collective_t c = cut.piece(number);
      const void *begins = gathers() ? c.receive : c.send;
      int64_t base = ((const uint8_t *)begins - memory) / 4;
      // A sum that all get is sent to each as a whole.
      for (int32_t other = 0; other < (cut.has_parts ? world : 1); ++other) {
        weft_view_t view =
            gathers() ? weft_received(c, world, other, rank) : weft_sent(c, world, rank, other);
        for (int64_t block = 0; block < view.blocks; ++block)
          for (int64_t i = 0; i < view.run; ++i) {
            int64_t at = base + view.at + block * view.stride + i;
            bool is_own, is_inside = at >= 0 && at < (int64_t)out_times->size();
            *out_elsewhere += !is_inside || cut.piece_of(at / row_elements, &is_own) != number;
            if (is_inside)
              ++(*out_times)[(size_t)at];
          }
      }
    }
  }

  /// Whether every block of tiles is computed when its rows are there, or before they are sent, and own ones first, or last.
  bool are_in_order(int64_t tiles) const {
    weft_overlap_order_t order(cut, gathers());
    weft_row_tiles_v1 row_tiles = {rows(), tiles, 0, 0, 0, 0, nullptr};
    uint8_t steps[WEFT_MOST_BLOCKS];
    int64_t blocks = weft_steps_of_tiles(cut, order, row_tiles, steps);
    int64_t together = (tiles + WEFT_MOST_BLOCKS - 1) / WEFT_MOST_BLOCKS, row = 0;
    bool is_right = blocks == (tiles + together - 1) / together;
    for (int64_t block = 0; block < blocks; ++block) {
      bool are_own = true, is_one = false;
      for (int64_t tile = block * together; tile < (block + 1) * together && tile < tiles; ++tile)
        for (int64_t end = row + rows() / tiles + (tile < rows() % tiles); row < end; ++row) {
          bool is_own;
          int64_t piece = cut.piece_of(row, &is_own), step = order.step_of(piece, is_own);
          are_own = are_own && is_own;
          is_one = is_one || step == steps[block];
          is_right = is_right && (gathers() ? step <= steps[block] : step >= steps[block]);
        }
      bool is_early = steps[block] < order.own_steps, is_late = steps[block] >= order.pieces;
      is_right = is_right && is_one && are_own == (gathers() ? is_early : is_late);
    }
    return is_right && row == rows();
  }
};

void check_rows(uint16_t kind, int64_t outer, int64_t first, int32_t world, int64_t most) {
  weft_collective_t whole = exchange_of(kind, outer, first);
  INFO(weft_kind_name(kind) << " of [" << outer << ", " << first << "] on " << world
                            << " ranks in at most " << most << " pieces");
  for (int32_t rank = 0; rank < world; ++rank) {
    rows_of of(whole, rank, world, most);
    CHECK(of.cut.pieces <= (most ? most : WEFT_MOST_PIECES));
    std::vector<int> times(size_t(of.rows() * row_elements), 0);
    int elsewhere = 0;
    of.count(&times, &elsewhere);
    CHECK(std::count(times.begin(), times.end(), 1) == (int64_t)times.size());
    CHECK(elsewhere == 0);
    for (int64_t tiles : {int64_t(1), int64_t(7), of.rows() / 6, of.rows()})
      CHECK((tiles < 1 || tiles > of.rows() || of.are_in_order(tiles)));
  }
}
} // namespace

TEST_CASE("every row is in one piece, and computed at its turn: own rows first of what is "
          "gathered, last of "
          "what is sent") {
  for (int32_t world = 2; world <= 16; ++world)
    for (uint16_t kind : {WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER, WEFT_ALL_REDUCE})
      for (int64_t outer : {1, 3, 9})
        for (int64_t first : {int64_t(1), int64_t(world), int64_t(33), world * int64_t(40) - 3})
          for (int64_t most : {0, 2, 3, 7})
            check_rows(kind, outer, first, world, most);
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

namespace {
constexpr int torn = -1;

struct rank_state {
  weft_overlap_order_t order;
  weft_overlap_act_t act = {};
  bool is_acting = false, was_done = false;
  uint32_t computed = 0; ///< a bit of every step
  uint32_t published = 0, consumed = 0;
  int64_t done = 0;                  ///< pieces of the exchange
  int32_t written = 0, read = 0;     ///< of the next one
  weft_move_t move = WEFT_MOVE_WAIT; ///< begun, not ended
  std::vector<int> window;           ///< which piece, counted from 1, lies in each slot

  bool has_ended() const { return is_acting && act.kind == WEFT_OVERLAP_END; }
};
using ranks_state = std::vector<rank_state>;

struct counters {
  const ranks_state &ranks;

  uint32_t published(int32_t rank) const { return ranks[size_t(rank)].published; }
  uint32_t consumed(int32_t rank) const { return ranks[size_t(rank)].consumed; }
};

/// How the exchange and the windows are made.
struct setting {
  uint16_t kind;
  int64_t pieces;   ///< of the exchange
  int32_t messages; ///< that a piece is sent in
  int32_t slots, ahead;
  bool has_two_stages = false, must_stay = false;
};

class all_orders {
public:
  all_orders(int32_t world, const setting &s) : s(s) {
    // As many rows as make so many pieces.
    int64_t least =
        s.kind == WEFT_ALL_GATHER || s.pieces == 2 ? WEFT_LEAST_ROWS : WEFT_LEAST_ROWS_OF_SUM;
    int64_t first = s.pieces * least * (s.kind == WEFT_ALL_REDUCE ? 1 : world);
    for (int32_t rank = 0; rank < world; ++rank) {
      rows_of of(exchange_of(s.kind, 1, first), rank, world);
      REQUIRE(of.cut.pieces == s.pieces);
      begin.push_back({weft_overlap_order_t(of.cut, of.gathers())});
      begin.back().window.assign(size_t(s.slots), 0);
    }
  }

  /// Visits every state; how many there are.
  size_t visit() {
    std::vector<ranks_state> open = {begin};
    std::set<std::vector<int>> seen = {key(begin)};
    while (!open.empty()) {
      ranks_state state = open.back();
      open.pop_back();
      bool can_go_on = false, has_ended = true;
      for (size_t rank = 0; rank < state.size(); ++rank) {
        ranks_state next = state;
        has_ended = has_ended && state[rank].has_ended();
        if (!step(next, rank))
          continue;
        can_go_on = true;
        if (seen.insert(key(next)).second)
          open.push_back(std::move(next));
      }
      stuck += !can_go_on && !has_ended;
      if (has_ended)
        for (const rank_state &r : state)
          incomplete += r.computed + 1 != 1u << (r.order.pieces + r.order.own_steps) ||
                        r.done != r.order.pieces;
    }
    return seen.size();
  }

  ranks_state begin;
  int stuck = 0, incomplete = 0;
  int too_early = 0;   ///< rows are read that have not come
  int not_made = 0;    ///< rows are sent, or added to, that were not computed
  int twice = 0;       ///< rows are computed again
  int overwritten = 0; ///< a message is read that is not there, or not any more

private:
  static std::vector<int> key(const ranks_state &state) {
    std::vector<int> out;
    for (const rank_state &r : state) {
      const weft_overlap_order_t &o = r.order;
      for (int64_t each : {o.begun, o.run, o.own, o.come, int64_t(o.looks), int64_t(r.act.kind),
                           r.act.from, int64_t(r.is_acting), int64_t(r.was_done), r.done})
        out.push_back(int(each));
      out.insert(out.end(), {int(r.computed), int(r.published), int(r.consumed), r.written, r.read,
                             int(r.move)});
      out.insert(out.end(), r.window.begin(), r.window.end());
    }
    return out;
  }

  bool has_computed(const rank_state &r, int64_t piece, bool is_own) const {
    return r.computed >> r.order.step_of(piece, is_own) & 1;
  }

  bool step(ranks_state &state, size_t rank) {
    rank_state &own = state[rank];
    if (own.has_ended())
      return false;
    if (own.is_acting)
      return go_on(state, rank);
    own.act = own.order.next(own.was_done);
    own.is_acting = own.act.kind != WEFT_OVERLAP_BEGIN && own.act.kind != WEFT_OVERLAP_RUN;
    if (own.act.kind == WEFT_OVERLAP_BEGIN)
      not_made += s.kind != WEFT_ALL_GATHER && !has_computed(own, own.act.from, false);
    for (int64_t i = own.act.from; own.act.kind == WEFT_OVERLAP_RUN && i < own.act.to; ++i) {
      too_early += s.kind == WEFT_ALL_GATHER && i - own.order.own_steps >= own.done;
      twice += own.computed >> i & 1;
      own.computed |= 1u << i;
    }
    return true;
  }

  /// With pieces that were begun, up to that of the act.
  bool go_on(ranks_state &state, size_t rank) {
    rank_state &own = state[rank];
    if (own.done > own.act.from) {
      own.was_done = true;
      own.is_acting = false;
      return true;
    }
    int32_t messages = s.messages * (1 + s.has_two_stages);
    weft_exchange_t x = {int32_t(state.size()),
                         int32_t(rank),
                         s.slots,
                         s.ahead,
                         uint32_t(own.done * messages),
                         messages,
                         s.has_two_stages,
                         own.written,
                         own.read,
                         s.must_stay};
    if (own.move != WEFT_MOVE_WAIT) {
      end_move(state, rank, x);
      return true;
    }
    own.move = weft_next_move(x, counters{state});
    if (own.move == WEFT_MOVE_WRITE)
      slot(own, x.base + uint32_t(x.written)) = torn;
    if (own.move == WEFT_MOVE_READ)
      look(state, rank, x);
    if (own.move != WEFT_MOVE_WAIT || own.act.kind == WEFT_OVERLAP_WAIT)
      return own.move != WEFT_MOVE_WAIT;
    own.was_done = own.is_acting = false;
    return true;
  }

  void end_move(ranks_state &state, size_t rank, const weft_exchange_t &x) {
    rank_state &own = state[rank];
    if (own.move == WEFT_MOVE_WRITE) {
      slot(own, x.base + uint32_t(x.written)) = int(x.base) + x.written + 1;
      own.published = x.base + uint32_t(++own.written);
    } else if (own.move == WEFT_MOVE_READ) {
      look(state, rank, x);
      own.consumed = x.base + uint32_t(++own.read);
    } else {
      ++own.done;
      own.written = own.read = 0;
    }
    own.move = WEFT_MOVE_WAIT;
  }

  int &slot(rank_state &rank, uint32_t message) const {
    return rank.window[message % uint32_t(s.slots)];
  }

  void look(ranks_state &state, size_t rank, const weft_exchange_t &x) {
    rank_state &own = state[rank];
    uint32_t message = x.base + uint32_t(x.read);
    for (size_t peer = 0; peer < state.size(); ++peer)
      overwritten += peer != rank && slot(state[peer], message) != int(message) + 1;
    not_made += s.kind == WEFT_REDUCE_SCATTER && !has_computed(own, own.done, true);
  }

  setting s;
};

void require_safe(int32_t world, const setting &s) {
  INFO(world << " ranks, " << weft_kind_name(s.kind) << " in " << s.pieces << " pieces of "
             << s.messages << ", " << s.slots << " slots, " << s.ahead << " ahead");
  all_orders orders(world, s);
  CHECK(orders.visit() > 100);
  CHECK(orders.stuck == 0);
  CHECK(orders.incomplete == 0);
  CHECK(orders.too_early == 0);
  CHECK(orders.not_made == 0);
  CHECK(orders.twice == 0);
  CHECK(orders.overwritten == 0);
}

constexpr uint16_t kinds[] = {WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER, WEFT_ALL_REDUCE};
} // namespace

TEST_CASE("two ranks that compute meanwhile read nothing early and never hang, in all orders of "
          "their steps") {
  for (uint16_t kind : kinds)
    for (int32_t slots : {1, 2, 4})
      for (int64_t pieces : {2, 3, 4})
        for (bool must_stay : {false, true}) {
          int32_t ahead = slots < 2 ? 1 : 2;
          require_safe(2, {kind, pieces, 1, slots, ahead, false, must_stay});
          require_safe(2, {kind, pieces, 3, slots, ahead, false, must_stay});
          if (kind == WEFT_ALL_REDUCE)
            require_safe(2, {kind, pieces, 2, slots, ahead, true, must_stay});
        }
}

TEST_CASE("three ranks that compute meanwhile read nothing early and never hang, in all orders of "
          "their steps") {
  for (uint16_t kind : kinds)
    for (int32_t slots : {1, 2})
      for (bool must_stay : {false, true}) {
        require_safe(3, {kind, 2, 1, slots, 1, false, must_stay});
        if (kind == WEFT_ALL_REDUCE)
          require_safe(3, {kind, 2, 1, slots, 1, true, must_stay});
      }
}

TEST_CASE("ranks that believe that all has come, or that all was made, are found out") {
  for (uint16_t kind : kinds) {
    all_orders orders(2, {kind, 2, 1, 2, 1});
    rank_state &first = orders.begin[0];
    (kind == WEFT_ALL_GATHER ? first.order.come : first.order.run) = 2;
    orders.visit();
    CHECK((kind == WEFT_ALL_GATHER ? orders.too_early : orders.not_made) > 0);
  }
}
