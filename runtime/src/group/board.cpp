#include "runtime/src/group/board.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Elements of a piece. Four of them, of two ranks, stay in a second-level cache; one is large enough that its counters cost little.
static const int64_t slot_data_bytes = 64 << 10;

static_assert(sizeof(weft_board_t) % 128 == 0 && sizeof(weft_seat_t) % 128 == 0, "whole lines");

static size_t slot_stride() { return offsetof(weft_slot_t, data) + slot_data_bytes; }

static size_t windows_at(int32_t world) {
  return sizeof(weft_board_t) + (size_t)world * sizeof(weft_seat_t);
}

size_t weft_board_bytes(int32_t world) {
  return windows_at(world) + (size_t)world * WEFT_SLOTS * slot_stride();
}

weft_board_t *weft_board_in(void *memory, int32_t world) {
  weft_board_t *board = (weft_board_t *)memory;
  board->bytes = weft_board_bytes(world);
  board->slot_stride = slot_stride();
  board->slot_bytes = slot_data_bytes;
  board->world = (uint32_t)world;
  return board;
}

weft_slot_t *weft_slot(weft_board_t *board, int32_t rank, uint32_t piece) {
  size_t index = (size_t)rank * WEFT_SLOTS + piece % WEFT_SLOTS;
  return (weft_slot_t *)((uint8_t *)board + windows_at((int32_t)board->world) +
                         index * board->slot_stride);
}

static void futex(std::atomic<uint32_t> *word, int operation, uint32_t value,
                  const timespec *timeout) {
  syscall(SYS_futex, (uint32_t *)word, operation, value, timeout, nullptr, 0);
}

// Who sleeps first says so and then looks at the counters; who sets a counter looks for sleepers
// afterwards. All four accesses have one order, so one of the two sees the other.
void weft_board_raise(weft_board_t *board, int32_t rank, std::atomic<uint32_t> *counter,
                      uint32_t value) {
  counter->store(value);
  weft_board_ring(board, rank);
}

void weft_board_ring(weft_board_t *board, int32_t rank) {
  for (int32_t peer = 0; peer < (int32_t)board->world; ++peer) {
    weft_seat_t *seat = weft_seat(board, peer);
    if (peer == rank || !seat->is_asleep.load())
      continue;
    seat->bell.fetch_add(1);
    futex(&seat->bell, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

void weft_board_sleep(weft_seat_t *seat, uint32_t bell, int64_t microseconds) {
  timespec time = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000 * 1000)};
  futex(&seat->bell, FUTEX_WAIT, bell, &time);
}

void weft_board_end(weft_board_t *board, const weft_ending_t &ending) {
  uint32_t lives = 0;
  if (board->has_ended.compare_exchange_strong(lives, 1)) {
    board->ending = ending;
    board->has_ended.store(2);
  }
  weft_board_ring(board, -1);
}

const weft_ending_t *weft_board_ending(const weft_board_t *board) {
  return board->has_ended.load(std::memory_order_acquire) == 2 ? &board->ending : nullptr;
}

void weft_seat_set_node(weft_seat_t *seat, const char *node) {
  uint64_t words[WEFT_NODE_BYTES / 8] = {};
  if (node)
    strncpy((char *)words, node, sizeof words - 1);
  for (int i = 0; i < WEFT_NODE_BYTES / 8; ++i)
    seat->node[i].store(words[i], std::memory_order_relaxed);
}

void weft_seat_node(const weft_seat_t *seat, char (&node)[WEFT_NODE_BYTES]) {
  for (int i = 0; i < WEFT_NODE_BYTES / 8; ++i) {
    uint64_t word = seat->node[i].load(std::memory_order_relaxed);
    memcpy(node + 8 * i, &word, 8);
  }
  node[WEFT_NODE_BYTES - 1] = 0;
}
