// The protocol in all orders in which ranks can take their steps. A step is a look at the counters, or the end of the move that it allowed: between
// the two, what is written is torn, and what is read has to stay as it is.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "runtime/src/group/exchange.h"

namespace {
/// A collective, as far as the protocol knows it.
struct task {
  int32_t pieces;
  bool has_two_stages, must_stay = false;
};

constexpr int torn = -1;

struct rank_state {
  uint32_t published = 0, consumed = 0;
  size_t task = 0;
  int32_t written = 0, read = 0;
  weft_move_t move = WEFT_MOVE_WAIT; ///< begun, not ended
  std::vector<int> window;           ///< which piece, counted from 1, lies in each slot
};

struct counters {
  const std::vector<rank_state> &ranks;

  uint32_t published(int32_t rank) const { return ranks[size_t(rank)].published; }
  uint32_t consumed(int32_t rank) const { return ranks[size_t(rank)].consumed; }
};

class all_orders {
public:
  /// `room`: how many slots there really are.
  all_orders(int32_t world, int32_t slots, int32_t ahead, std::vector<task> tasks, int32_t room)
      : slots(slots), ahead(ahead), room(room), tasks(std::move(tasks)) {
    rank_state start;
    start.window.assign(size_t(room), 0);
    begin.assign(size_t(world), start);
  }

  /// Visits every state; how many there are. Fails where a piece is overwritten too early, read too early, or nobody can go on.
  size_t visit() {
    std::vector<std::vector<rank_state>> open = {begin};
    std::set<std::vector<int>> seen = {key(begin)};
    while (!open.empty()) {
      std::vector<rank_state> state = open.back();
      open.pop_back();
      bool can_go_on = false, is_done = true;
      for (size_t rank = 0; rank < state.size(); ++rank) {
        std::vector<rank_state> next = state;
        is_done = is_done && state[rank].task == tasks.size();
        if (!step(next, rank))
          continue;
        can_go_on = true;
        if (seen.insert(key(next)).second)
          open.push_back(std::move(next));
      }
      if (!can_go_on && !is_done)
        ++stuck;
    }
    return seen.size();
  }

  int stuck = 0, overwritten = 0, too_early = 0, gone = 0;

private:
  static std::vector<int> key(const std::vector<rank_state> &state) {
    std::vector<int> out;
    for (const rank_state &r : state) {
      out.insert(out.end(),
                 {int(r.published), int(r.consumed), int(r.task), r.written, r.read, int(r.move)});
      out.insert(out.end(), r.window.begin(), r.window.end());
    }
    return out;
  }

  weft_exchange_t exchange_of(const std::vector<rank_state> &state, size_t rank) const {
    const rank_state &own = state[rank];
    uint32_t base = 0;
    for (size_t i = 0; i < own.task; ++i)
      base += uint32_t(tasks[i].pieces);
    return {int32_t(state.size()),
            int32_t(rank),
            slots,
            ahead,
            base,
            tasks[own.task].pieces,
            tasks[own.task].has_two_stages,
            own.written,
            own.read,
            tasks[own.task].must_stay};
  }

  bool step(std::vector<rank_state> &state, size_t rank) {
    rank_state &own = state[rank];
    if (own.task == tasks.size())
      return false;
    weft_exchange_t x = exchange_of(state, rank);
    if (own.move == WEFT_MOVE_WAIT) {
      own.move = weft_next_move(x, counters{state});
      if (own.move == WEFT_MOVE_WRITE)
        slot(own, x.base + uint32_t(x.written)) = torn;
      if (own.move == WEFT_MOVE_READ)
        look(state, rank, x);
      return own.move != WEFT_MOVE_WAIT;
    }
    if (own.move == WEFT_MOVE_WRITE) {
      slot(own, x.base + uint32_t(x.written)) = int(x.base) + x.written + 1;
      own.published = x.base + uint32_t(++own.written);
    } else if (own.move == WEFT_MOVE_READ) {
      look(state, rank, x);
      own.consumed = x.base + uint32_t(++own.read);
    } else {
      ++own.task;
      own.written = own.read = 0;
    }
    own.move = WEFT_MOVE_WAIT;
    return true;
  }

  int &slot(rank_state &rank, uint32_t piece) const { return rank.window[piece % uint32_t(room)]; }

  void look(std::vector<rank_state> &state, size_t rank, const weft_exchange_t &x) {
    int piece = int(x.base) + x.read;
    if (weft_piece_of(x, x.read).stage == 1 && x.read < weft_read_before(x, x.read))
      ++too_early;
    for (size_t peer = 0; peer < state.size(); ++peer) {
      overwritten += peer != rank && slot(state[peer], uint32_t(piece)) != piece + 1;
      gone += x.must_stay && state[peer].task != state[rank].task;
    }
  }

  int32_t slots, ahead, room;
  std::vector<task> tasks;
  std::vector<rank_state> begin;
};

void require_safe(int32_t world, int32_t slots, int32_t ahead, const std::vector<task> &tasks,
                  size_t least) {
  INFO(world << " ranks, " << slots << " slots, " << ahead << " ahead");
  all_orders orders(world, slots, ahead, tasks, slots);
  CHECK(orders.visit() > least);
  CHECK(orders.stuck == 0);
  CHECK(orders.overwritten == 0);
  CHECK(orders.too_early == 0);
  CHECK(orders.gone == 0);
}
} // namespace

TEST_CASE("two ranks never lose a piece and never hang, in all orders of their steps") {
  for (int32_t slots : {1, 2, 4})
    for (int32_t ahead = 1; ahead <= slots; ++ahead) {
      require_safe(2, slots, ahead, {{5, false}}, 30);
      require_safe(2, slots, ahead, {{8, true}}, 50);
      require_safe(2, slots, ahead, {{5, false, true}, {4, true, true}, {1, false, false}}, 70);
      require_safe(2, slots, ahead, {{1, false}, {2, true}, {1, false}, {6, true}, {3, false}}, 70);
    }
}

TEST_CASE("three ranks never lose a piece and never hang, in all orders of their steps") {
  for (int32_t slots : {1, 2, 4}) {
    int32_t ahead = slots < 2 ? 1 : 2;
    require_safe(3, slots, ahead, {{3, false}}, 100);
    require_safe(3, slots, ahead, {{2, false, true}, {2, true, true}, {1, false, false}}, 200);
    require_safe(3, slots, ahead, {{4, true}, {1, false}}, 200);
    require_safe(3, slots, ahead, {{1, false}, {1, false}, {2, true}, {1, false}}, 200);
  }
}

TEST_CASE("a protocol that believes in more slots than there are is found out") {
  all_orders orders(2, 4, 4, {{6, false}}, 2);
  orders.visit();
  REQUIRE(orders.overwritten > 0);
}

TEST_CASE("pieces of two stages: every result follows the parts that it is made of") {
  for (int32_t count = 1; count < 9; ++count) {
    weft_exchange_t x = {2, 0, 4, 2, 0, 2 * count, true, 0, 0, false};
    std::vector<int32_t> scattered(size_t(count), -1), gathered(size_t(count), -1);
    for (int32_t piece = 0; piece < x.pieces; ++piece) {
      weft_piece_t of = weft_piece_of(x, piece);
      REQUIRE(of.index < count);
      int32_t &at = (of.stage ? gathered : scattered)[size_t(of.index)];
      REQUIRE(at == -1);
      at = piece;
    }
    for (int32_t k = 0; k < count; ++k) {
      REQUIRE(weft_read_before(x, gathered[size_t(k)]) == scattered[size_t(k)] + 1);
      REQUIRE(gathered[size_t(k)] > scattered[size_t(k)]);
      REQUIRE(weft_read_before(x, scattered[size_t(k)]) == 0);
    }
  }
}

TEST_CASE("counters wrap around") {
  struct numbers {
    uint32_t published_by, consumed_by;
    uint32_t published(int32_t) const { return published_by; }
    uint32_t consumed(int32_t) const { return consumed_by; }
  };
  weft_exchange_t x = {2, 0, 4, 2, 0xFFFFFFFFu, 3, false, 1, 0, false};
  REQUIRE(weft_next_move(x, numbers{0xFFFFFFFFu, 0xFFFFFFFCu}) == WEFT_MOVE_WAIT);
  REQUIRE(weft_next_move(x, numbers{0xFFFFFFFFu, 0xFFFFFFFDu}) == WEFT_MOVE_WRITE);
  REQUIRE(weft_next_move(x, numbers{0, 0xFFFFFFFCu}) == WEFT_MOVE_READ);
}
