// One rank under mpirun: the plug-in against the transports that are built in, bit by bit, and what goes wrong. Every rank says what it found wrong,
// and ends with 1 then.
//
//   mpirun -n 3 mpi_ranks
//   mpirun -n 2 mpi_ranks 1 3 inside stop    # rank 1 stops inside its third collective, counted from 0, or ends before it: before kill
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/src/group/started.h"
#include "weft/group.h"

namespace {

int32_t rank, world;
int failures;

void expect(bool is_good, const std::string &what) {
  if (is_good)
    return;
  ++failures;
  fprintf(stderr, "rank %d of %d: %s\n", rank, world, what.c_str());
}

weft_group_t *open_group(const char *transport, int32_t own_rank, const char *name,
                         int32_t timeout_ms = 20000) {
  weft_group_options_t options = {sizeof options, own_rank, world,  timeout_ms,
                                  transport,      name,     nullptr};
  weft_error_t err = WEFT_ERROR_INIT;
  weft_group_t *group = nullptr;
  weft_group_open(nullptr, &options, &group, &err);
  expect(group, std::string(transport) + " cannot be opened: " + err.message);
  if (!group)
    exit(1);
  return group;
}

struct shape {
  uint16_t kind, element, combiner, is_reversed;
  int32_t peer;
  int64_t outer, first, middle, second, inner;

  std::string text() const {
    return "kind " + std::to_string(kind) + " of " + weft_element_name(element) + ", combiner " +
           std::to_string(combiner) + ", first " + std::to_string(first) + ", inner " +
           std::to_string(inner) + ", peer " + std::to_string(peer);
  }
};

/// Bytes of all ranks' parts together, and more.
size_t room(const shape &s) {
  return size_t(8 * (s.outer * (s.first + world) * s.middle * (s.second + world) * s.inner + 1));
}

/// Makes numbers whose exponent is all ones infinite.
template <class Bits> void no_nans(std::vector<uint8_t> &bytes, bool are_these, Bits exponent) {
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  for (size_t at = 0; are_these && at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    memcpy(&bits, &bytes[at], sizeof bits);
    if ((bits & exponent) == exponent)
      bits &= Bits(sign | exponent);
    memcpy(&bytes[at], &bits, sizeof bits);
  }
}

/// Any bits, the same for one rank everywhere: floats among them that are infinite or tiny. None is a nan, of which processors take either when
/// they combine two. Booleans are 0 and 1.
std::vector<uint8_t> bits_of(const shape &s, int32_t of_rank, uint32_t seed) {
  std::mt19937 random(seed * 64 + uint32_t(of_rank));
  std::vector<uint8_t> bytes(room(s));
  for (uint8_t &byte : bytes)
    byte = uint8_t(s.element == WEFT_BOOL ? random() % 2 : random());
  no_nans<uint16_t>(bytes, s.element == WEFT_F16, 0x7C00);
  no_nans<uint16_t>(bytes, s.element == WEFT_BF16, 0x7F80);
  no_nans<uint32_t>(bytes, s.element == WEFT_F32, 0x7F800000);
  no_nans<uint64_t>(bytes, s.element == WEFT_F64, 0x7FF0000000000000);
  return bytes;
}

struct answer {
  weft_status_t status;
  std::string text;
  std::vector<uint8_t> bytes;
};

/// In place where that is allowed and `in_place`.
answer call(weft_group_t *group, const shape &s, uint32_t seed, bool in_place) {
  std::vector<uint8_t> send = bits_of(s, weft_group_rank(group), seed), receive(send.size(), 0xEE);
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = s.kind;
  c.element = s.element;
  c.combiner = s.combiner;
  c.is_reversed = s.is_reversed;
  c.peer = s.peer;
  c.node = "here";
  c.send = send.data();
  c.receive = in_place ? send.data() : receive.data();
  c.outer = s.outer;
  c.first = s.first;
  c.middle = s.middle;
  c.second = s.second;
  c.inner = s.inner;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_group_collective(group, &c, &err);
  return {status, err.message, in_place ? send : receive};
}

std::vector<shape> all_shapes() {
  std::vector<shape> all;
  for (int element = WEFT_BOOL; element <= WEFT_F8E8M0; ++element) {
    if (weft_element_bits(uint32_t(element)) < 8)
      continue;
    auto type = uint16_t(element);
    for (int64_t first : {0, 1, 5, 301})
      for (uint16_t combiner : {WEFT_SUM, WEFT_MAX, WEFT_MIN, WEFT_PROD})
        for (uint16_t kind : {WEFT_ALL_REDUCE, WEFT_REDUCE_SCATTER})
          all.push_back({kind, type, combiner, 0, 0, 2, first, 1, 1, 3});
    for (int64_t first : {1, 5, 101}) {
      all.push_back({WEFT_ALL_GATHER, type, 0, 0, 0, 3, first, 1, 1, 2});
      all.push_back({WEFT_ALL_TO_ALL, type, 0, 0, 0, 2, first, 3, 7, 2});
      all.push_back({WEFT_ALL_TO_ALL, type, 0, 1, 0, 2, first, 3, 7, 2});
      all.push_back({WEFT_BROADCAST, type, 0, 0, world - 1, 1, first, 1, 1, 5});
      for (int32_t shift : {0, 1, -1})
        for (uint16_t is_mirrored : {0, 1})
          if (std::abs(shift) < world)
            all.push_back({WEFT_PERMUTE, type, 0, is_mirrored, shift, 1, first, 1, 1, 5});
    }
  }
  for (uint16_t element : {WEFT_F32, WEFT_BF16}) // in two stages, and more than MPI sends at once
    all.push_back({WEFT_ALL_REDUCE, element, WEFT_SUM, 0, 0, 1, 70001, 1, 1, 1});
  return all;
}

/// What ranks of this process give, by rank.
std::vector<answer> of_threads(const std::vector<weft_group_t *> &groups, const shape &s,
                               uint32_t seed, bool in_place) {
  std::vector<answer> all(groups.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < groups.size(); ++i)
    threads.emplace_back([&, i] { all[i] = call(groups[i], s, seed, in_place); });
  for (std::thread &thread : threads)
    thread.join();
  return all;
}

void compare_transports(weft_group_t *mpi) {
  weft_group_t *shm = open_group("shm", rank, ("mpi-ranks-" + std::to_string(getppid())).c_str());
  std::vector<weft_group_t *> groups(static_cast<size_t>(world));
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < world; ++i)
    threads.emplace_back([&, i] { groups[size_t(i)] = open_group("threads", i, "here"); });
  for (std::thread &thread : threads)
    thread.join();
  uint32_t seed = 0;
  for (const shape &s : all_shapes())
    for (bool in_place : {false, true}) {
      if (in_place && s.kind != WEFT_ALL_REDUCE && s.kind != WEFT_BROADCAST)
        continue;
      ++seed;
      answer by_mpi = call(mpi, s, seed, in_place), by_shm = call(shm, s, seed, in_place);
      answer by_threads = of_threads(groups, s, seed, in_place)[size_t(rank)];
      expect(by_mpi.status == by_threads.status && by_mpi.text == by_threads.text,
             s.text() + ": " + by_mpi.text + " / " + by_threads.text);
      expect(by_mpi.bytes == by_threads.bytes, s.text() + ": mpi and threads differ");
      expect(by_mpi.bytes == by_shm.bytes, s.text() + ": mpi and shm differ");
    }
  for (weft_group_t *group : groups)
    weft_group_release(group);
  weft_group_release(shm);
}

void permute_other_sizes(weft_group_t *mpi) {
  int32_t before = (rank + world - 1) % world;
  auto size_of = [](int32_t r) { return int64_t(r == 0 ? 0 : 1000 * r); };
  std::vector<int32_t> own(size_t(size_of(rank)) + 1, rank), got(size_t(size_of(before)) + 1, -1);
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = WEFT_PERMUTE;
  c.element = WEFT_I32;
  c.peer = 1;
  c.send = own.data();
  c.receive = got.data();
  c.outer = c.inner = 1;
  c.first = size_of(rank);
  c.received = size_of(before);
  c.longest = 1000 * world;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_group_collective(mpi, &c, &err);
  expect(!err.status, std::string("permute: ") + err.message);
  for (int64_t i = 0; i <= size_of(before); ++i)
    expect(got[size_t(i)] == (i < size_of(before) ? before : -1), "permute of other sizes");
}

weft_status_t sum(weft_group_t *group, int64_t count, const char *node, std::string *out_text) {
  std::vector<float> data(size_t(count), 1);
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = WEFT_ALL_REDUCE;
  c.combiner = WEFT_SUM;
  c.element = WEFT_F32;
  c.node = node;
  c.send = c.receive = data.data();
  c.outer = c.inner = 1;
  c.first = count;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_group_collective(group, &c, &err);
  *out_text = std::string(err.code) + " " + err.message;
  expect(status || data == std::vector<float>(size_t(count), float(world)), "a sum is wrong");
  return status;
}

void split(weft_group_t *mpi) {
  weft_group_t *part = nullptr;
  weft_error_t err = WEFT_ERROR_INIT;
  int32_t color = rank + 1 == world ? -1 : rank % 2, sum_of = 0, wanted = 0, size = 0;
  expect(!weft_group_split(mpi, color, -rank, &part, &err), err.message);
  expect((part == nullptr) == (color < 0), "a colour below 0 is in no group");
  for (int32_t other = 0; other + 1 < world; ++other)
    if (other % 2 == color) {
      wanted += other;
      ++size;
    }
  if (!part)
    return;
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = WEFT_ALL_REDUCE;
  c.element = WEFT_I32;
  c.combiner = WEFT_SUM;
  c.send = &rank;
  c.receive = &sum_of;
  c.outer = c.first = c.inner = 1;
  expect(!weft_group_collective(part, &c, &err) && sum_of == wanted, "a part of a group");
  expect(weft_group_world(part) == size, "the size of a part");
  // Ranks are ordered by keys, which fall.
  expect(weft_group_rank(part) == (world - 2 - rank) / 2, "the rank in a part");
  void **peers = nullptr;
  expect(weft_group_share(part, 64, &peers, &err) == WEFT_UNSUPPORTED, "there is no such memory");
  weft_group_release(part);
}

/// A fresh group of which one rank does something else; all get the same status and text, but for the odd one where it has its own.
void fail_together() {
  std::string text, last = std::to_string(world - 1);
  bool is_odd = rank + 1 == world;
  weft_group_t *group = open_group("mpi", rank, "mismatch");
  sum(group, 5, "first", &text);
  weft_status_t status = sum(group, is_odd ? 9 : 8, "block.1", &text);
  expect(status == WEFT_MISMATCH && text == "W0604 all_reduce after 'block.1': rank " + last +
                                                " calls all_reduce (sum) of f32 [1, 9, 1], the "
                                                "others all_reduce (sum) of f32 [1, 8, 1]",
         "mismatch: " + text);
  expect(sum(group, 8, "block.2", &text) == WEFT_MISMATCH, "a group that has ended: " + text);
  weft_group_release(group);

  group = open_group("mpi", rank, "late", 500);
  sum(group, 5, "first", &text);
  if (is_odd)
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
  status = sum(group, 20000, "block.1", &text);
  expect(status == WEFT_TIMEOUT && text == "W0606 all_reduce after 'block.1': waited 0.5 s for "
                                           "rank " +
                                               last +
                                               ", which came no further than "
                                               "all_reduce after 'first'",
         "late: " + text);
  weft_group_release(group);

  group = open_group("mpi", rank, "abort");
  std::thread other;
  if (is_odd)
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      weft_group_abort(group);
    });
  if (rank == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  status = sum(group, 8, "block.1", &text);
  if (other.joinable())
    other.join();
  expect(status == WEFT_CANCELLED &&
             text == "W0607 all_reduce after 'block.1': rank " + last + " ended the group",
         "abort: " + text);
  weft_group_release(group);

  group = open_group("mpi", rank, "leave");
  sum(group, 5, "first", &text);
  if (!is_odd) {
    status = sum(group, 8, "block.1", &text);
    expect(status == WEFT_LOST_PEER &&
               text == "W0605 all_reduce after 'block.1': rank " + last + " has left the group",
           "left: " + text);
  }
  weft_group_release(group);
}

/// Groups come and go: nothing of one is heard in the next.
void open_often() {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    weft_group_t *group = open_group("mpi", rank, "often");
    expect(!sum(group, 100 + i, "x", &text), "group " + std::to_string(i) + ": " + text);
    weft_group_release(group);
  }
}

void refuse() {
  weft_group_options_t options = {sizeof options, rank, world + 1, 0, "mpi", "x", nullptr};
  weft_error_t err = WEFT_ERROR_INIT;
  weft_group_t *group = nullptr;
  expect(weft_group_open(nullptr, &options, &group, &err) == WEFT_INVALID, "another world");
  std::string ranks = "rank " + std::to_string(rank) + " of ";
  expect(err.message == "transport 'mpi': " + ranks + std::to_string(world + 1) +
                            " is asked for, but MPI says that this is " + ranks +
                            std::to_string(world),
         err.message);
}

/// One collective of every kind, over and over; the victim ends or stops in one of the second round. The others say how they are told, and end with 5.
int strike(int32_t victim, int at, bool inside, int how) {
  weft_group_t *group = open_group("mpi", rank, "strike", 1000);
  std::vector<float> send(60000, 1), receive(60000);
  for (int i = 0;; ++i) {
    weft_collective_t c = {};
    c.struct_size = sizeof c;
    c.kind = uint16_t(WEFT_ALL_REDUCE + i % 6);
    c.combiner = WEFT_SUM;
    c.element = WEFT_F32;
    std::string node = "layer." + std::to_string(i % 6);
    c.node = node.c_str();
    c.send = send.data();
    c.receive = receive.data();
    c.outer = c.middle = c.inner = 1;
    c.first = 20000;
    c.second = c.kind == WEFT_ALL_TO_ALL ? world : 1;
    c.peer = c.kind == WEFT_PERMUTE;
    bool is_there = rank == victim && i == 6 + at;
    if (is_there && !inside)
      raise(how);
    weft_error_t err = WEFT_ERROR_INIT;
    weft_started_t started;
    weft_status_t status = weft_group_start(group, c, &started, &err);
    if (!status)
      status = weft_group_advance(group, &started, /*waits=*/false, &err);
    if (is_there && inside)
      raise(how);
    if (!status)
      status = weft_group_advance(group, &started, /*waits=*/true, &err);
    if (!status)
      continue;
    fprintf(stderr, "error[%s]: %s\n", err.code, err.message);
    weft_group_release(group);
    return 5;
  }
}

} // namespace

int main(int count, char **words) {
  const char *rank_text = getenv("OMPI_COMM_WORLD_RANK"),
             *world_text = getenv("OMPI_COMM_WORLD_SIZE");
  if (!rank_text || !world_text)
    return fprintf(stderr, "mpirun has to start this\n"), 2;
  rank = atoi(rank_text);
  world = atoi(world_text);
  if (count == 5)
    return strike(atoi(words[1]), atoi(words[2]), words[3] == std::string("inside"),
                  words[4] == std::string("kill") ? SIGKILL : SIGSTOP);
  weft_group_t *mpi = open_group("mpi", rank, "ranks");
  compare_transports(mpi);
  permute_other_sizes(mpi);
  split(mpi);
  weft_group_release(mpi);
  open_often();
  refuse();
  fail_together();
  if (rank == 0 && !failures)
    printf("%d ranks: the bits of mpi, shm and threads are the same\n", world);
  return failures ? 1 : 0;
}
