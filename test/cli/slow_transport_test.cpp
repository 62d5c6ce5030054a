// A link that is not there: results stay, time does not fall below what it takes, and what is computed meanwhile hides it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "test/runtime/group/ranks.h"
#include "tools/weft/link/SlowTransport.h"

using namespace weft::cli;
using namespace weft_test;

namespace {

constexpr weft_collective_kind_t kinds[] = {WEFT_ALL_REDUCE, WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER,
                                            WEFT_ALL_TO_ALL, WEFT_BROADCAST,  WEFT_PERMUTE};

/// Seconds of the clock by which links deliver.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Broadcasts come from rank 1, permutes from the rank before.
weft_collective_t collective(weft_collective_kind_t kind, int64_t first, const void *send,
                             void *receive) {
  weft_collective_t c = collective_of(kind, WEFT_F32, first, send, receive);
  c.second = kind == WEFT_ALL_TO_ALL ? 6 : 1;
  c.peer = kind == WEFT_PERMUTE || kind == WEFT_BROADCAST ? 1 : 0;
  return c;
}

/// Bytes that a rank receives of it; `first` is a multiple of the number of ranks.
double bytes_of(weft_collective_kind_t kind, double first, double world, int32_t rank) {
  double whole = first * 4, others = (world - 1) / world;
  switch (kind) {
  case WEFT_ALL_REDUCE:
    return 2 * others * whole;
  case WEFT_ALL_TO_ALL: // of the result, which is first times a part of second
    return others * whole * 6 / world;
  case WEFT_BROADCAST:
    return rank == 1 ? 0 : whole;
  case WEFT_PERMUTE:
    return whole;
  default:
    return others * whole;
  }
}

/// What all ranks have behind every collective, in a group and in one that was made from it.
std::vector<float> results(const std::string &name, int32_t world, const rank_settings &settings) {
  constexpr size_t room = 64, each = std::size(kinds) * 2 * room;
  shared_array<float> all(each * size_t(world));
  auto body = [&](weft_group_t *group, weft_error_t *err) {
    int32_t rank = weft_group_rank(group);
    weft_group_t *part = nullptr;
    weft_status_t status = weft_group_split(group, 0, world - rank, &part, err);
    std::vector<float> send(room);
    for (size_t i = 0; i < room; ++i)
      send[i] = float(rank + 1) * 0.37f + float(i);
    float *at = &all[size_t(rank) * each];
    for (weft_collective_kind_t kind : kinds)
      for (weft_group_t *used : {group, part}) {
        weft_collective_t c = collective(kind, 7, send.data(), at);
        status = status ? status : weft_group_collective(used, &c, err);
        at += room;
      }
    weft_group_release(part);
    return status;
  };
  for (const verdict &verdict : run_ranks(name, world, body, settings))
    REQUIRE(verdict.text == "");
  return std::vector<float>(all.data, all.data + each * size_t(world));
}

/// A rank's end, by the functions of the table.
struct end {
  const weft_transport_v1 *calls;
  weft_link_t *link = nullptr;
  int32_t rank = 0, world = 0, failures = 0;

  uint64_t start(const weft_collective_t &c) {
    uint64_t ticket = 0;
    failures += calls->start(link, nullptr, &c, &ticket, nullptr) != WEFT_OK;
    return ticket;
  }
  bool is_done(uint64_t ticket, int64_t wait_us) {
    int32_t done = 0;
    failures += calls->progress(link, ticket, wait_us, &done, nullptr) != WEFT_OK;
    return done != 0;
  }
  void finish(uint64_t ticket) {
    while (!failures && !is_done(ticket, 1000000))
      ;
  }
  /// All ranks leave it at about the same time.
  void meet() {
    uint8_t own = 0, all[8];
    weft_collective_t c = collective_of(WEFT_ALL_GATHER, WEFT_U8, world, &own, all);
    c.node = "bench"; // is no program's, and takes no time
    finish(start(c));
  }
};

/// Runs ranks that are threads, each with its end.
void with_ends(const SlowTransport &slow, int32_t world, const std::function<void(end &)> &body) {
  std::string rendezvous = fresh_name();
  std::vector<int32_t> failures(static_cast<size_t>(world), 0);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      weft_env_t env = {};
      env.struct_size = sizeof env;
      weft_group_options_t options = {sizeof options,     rank,        world, 20000, "threads",
                                      rendezvous.c_str(), slow.table()};
      end own{slow.table()};
      own.failures = slow.table()->open(&env, &options, &own.link, nullptr) != WEFT_OK;
      own.calls->place(own.link, &own.rank, &own.world);
      if (!own.failures)
        body(own);
      own.calls->close(own.link);
      failures[size_t(rank)] = own.failures;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int32_t count : failures)
    REQUIRE(count == 0);
}

} // namespace

TEST_CASE("a link is read as 'weft compile' reads it") {
  std::optional<LinkSpeed> speed = readLinkSpeed("2.5GB/s, 20us");
  REQUIRE(speed);
  CHECK(speed->bytesPerNanosecond == 2.5);
  CHECK(speed->latency == 20000);
  CHECK(readLinkSpeed("3KB/s,1s")->bytesPerNanosecond == Approx(3e-6));
  for (const char *wrong : {"", "2GB/s", "2GB/s,", ",20us", "2,20", "2GB/s,20", "2GiB/s,20us",
                            "0GB/s,20us", "-1GB/s,20us", "2GB/s,20us,1", "infGB/s,1us",
                            "1..2GB/s,1us", "dp=2GB/s,20us", "2GB/s,0us", ".GB/s,1us"})
    CHECK_FALSE(readLinkSpeed(wrong));
}

TEST_CASE("a link has one thing after the other on it") {
  IncomingLink link({0.5, 100});
  CHECK(link.deliver({1000, 1}, 5000) == 5000 + 2000 + 100);
  CHECK(link.deliver({1000, 2}, 5000) ==
        5000 + 4000 + 200); // waits for the first, not for its latency
  CHECK(link.deliver({10, 1}, 20000) == 20000 + 20 + 100); // finds it free
}

TEST_CASE("what a rank receives") {
  for (int32_t world : {1, 2, 3})
    for (int32_t rank = 0; rank < world; ++rank)
      for (weft_collective_kind_t kind : kinds) {
        weft_collective_t c = collective(kind, 12, nullptr, nullptr);
        c.peer = world == 1 ? 0 : c.peer;
        bool isNothing = world == 1 || (kind == WEFT_BROADCAST && rank == 1);
        Arrival arrival = arrivalOf(c, world, rank);
        CAPTURE(world, rank, int(kind));
        CHECK(double(arrival.bytes) == (isNothing ? 0 : bytes_of(kind, 12, world, rank)));
        CHECK(arrival.latencies == (isNothing ? 0 : kind == WEFT_ALL_REDUCE ? 2 : 1));
      }
  weft_collective_t other = collective(WEFT_PERMUTE, 12, nullptr, nullptr);
  other.received = 5, other.longest = 12;
  CHECK(arrivalOf(other, 2, 0).bytes == 20);
  // 5 rows over 3 ranks are 2, 2 and 1.
  CHECK(arrivalOf(collective(WEFT_REDUCE_SCATTER, 5, nullptr, nullptr), 3, 2).bytes == 8);
  CHECK(arrivalOf(collective(WEFT_ALL_GATHER, 5, nullptr, nullptr), 3, 2).bytes == 16);
}

TEST_CASE("results are those of the transport behind it") {
  for (const char *name : {"threads", "shm"})
    for (int32_t world : {2, 3}) {
      CAPTURE(name, world);
      SlowTransport slow(*sharedMemoryTransport(name), *readLinkSpeed("1MB/s,50us"));
      rank_settings settings;
      settings.change = [&](weft_group_options_t &options) { options.table = slow.table(); };
      std::vector<float> expected = results(name, world, {});
      CHECK(std::count(expected.begin(), expected.end(), 0.0f) < int64_t(expected.size()));
      CHECK(results(name, world, settings) == expected);
    }
  CHECK(sharedMemoryTransport("mpi") == nullptr);
}

TEST_CASE("no collective is done before the link has delivered it") {
  SlowTransport slow(*sharedMemoryTransport("threads"), *readLinkSpeed("2MB/s,1ms"));
  constexpr int64_t first = 1200;
  for (int32_t world : {2, 3})
    for (weft_collective_kind_t kind : kinds) {
      std::vector<double> begin(static_cast<size_t>(world)), done(static_cast<size_t>(world));
      with_ends(slow, world, [&](end &own) {
        std::vector<float> send(first * 6), receive(first * 6);
        own.meet();
        begin[size_t(own.rank)] = now();
        own.finish(own.start(collective(kind, first, send.data(), receive.data())));
        done[size_t(own.rank)] = now();
      });
      for (int32_t rank = 0; rank < world; ++rank) {
        double bytes = bytes_of(kind, first, world, rank), from = 0;
        for (int32_t sender = 0; sender < world; ++sender)
          if (isSender(collective(kind, first, nullptr, nullptr), world, sender, rank))
            from = std::max(from, begin[size_t(sender)]);
        double least = bytes ? bytes / 2e6 + (kind == WEFT_ALL_REDUCE ? 2e-3 : 1e-3) : 0;
        CAPTURE(world, rank, int(kind), least);
        CHECK(done[size_t(rank)] - from > least - 1e-6);
      }
    }
}

TEST_CASE("what is computed meanwhile hides the link") {
  constexpr double work = 20e-3, link = 20e-3; // 2 stages of latency, 36 kB
  SlowTransport slow(*sharedMemoryTransport("threads"), *readLinkSpeed("2MB/s,1ms"));
  for (int32_t world : {2, 3}) {
    std::vector<double> seconds;
    with_ends(slow, world, [&](end &own) {
      int64_t count = 36000 / 4 * world / (2 * (world - 1));
      std::vector<float> data(static_cast<size_t>(count));
      for (int round = 0; round < 9; ++round) {
        own.meet();
        double begin = now();
        uint64_t ticket = own.start(collective(WEFT_ALL_REDUCE, count, data.data(), data.data()));
        while (now() < begin + work)
          ;
        own.finish(ticket);
        if (own.rank == 0)
          seconds.push_back(now() - begin);
      }
    });
    std::sort(seconds.begin(), seconds.end());
    CAPTURE(world, seconds);
    CHECK(seconds.front() >= std::max(work, link));
    CHECK(seconds[4] < work + 0.7 * link);
  }
}

TEST_CASE("collectives under way share the link, and asking does not wait") {
  SlowTransport slow(*sharedMemoryTransport("threads"), *readLinkSpeed("2MB/s,1ms"));
  for (int32_t world : {2, 3}) {
    std::vector<double> begin(static_cast<size_t>(world)), first(begin), second(begin);
    std::vector<int> early(static_cast<size_t>(world));
    with_ends(slow, world, [&](end &own) {
      size_t rank = size_t(own.rank);
      std::vector<float> send(20000), receive(2 * 20000);
      own.meet();
      begin[rank] = now();
      // 20 ms each
      uint64_t one = own.start(collective(WEFT_PERMUTE, 10000, send.data(), receive.data()));
      uint64_t two = own.start(collective(WEFT_PERMUTE, 10000, send.data(), &receive[20000]));
      early[rank] = own.is_done(two, 0);
      own.finish(one);
      first[rank] = now();
      own.finish(two);
      second[rank] = now();
    });
    for (size_t rank = 0; rank < size_t(world); ++rank) {
      double from = begin[(rank + size_t(world) - 1) % size_t(world)];
      CHECK(early[rank] == 0);
      CHECK(first[rank] - from > 21e-3 - 1e-6);
      CHECK(second[rank] - from > 41e-3 - 1e-6);
    }
  }
}

TEST_CASE("as many as the stamps hold, and no more than may be under way") {
  SlowTransport slow(*sharedMemoryTransport("threads"), *readLinkSpeed("1GB/s,1us"));
  with_ends(slow, 2, [&](end &own) {
    std::vector<int32_t> data(16, 1);
    for (int round = 0; round < 40; ++round) {
      std::vector<uint64_t> tickets;
      for (int i = 0; i < 8; ++i) {
        weft_collective_t c =
            collective_of(WEFT_ALL_REDUCE, WEFT_I32, 1, &data[0], &data[size_t(i)]);
        c.send = &data[8];
        tickets.push_back(own.start(c));
      }
      weft_collective_t more = collective_of(WEFT_ALL_REDUCE, WEFT_I32, 1, &data[8], &data[9]);
      uint64_t ticket = 0;
      own.failures += own.calls->start(own.link, nullptr, &more, &ticket, nullptr) != WEFT_BUSY;
      own.finish(tickets.back());
      own.failures += std::count(data.begin(), data.begin() + 8, 2) != 8;
      own.failures += !own.is_done(tickets.front(), 0);
    }
  });
}

TEST_CASE("who waits for a link hears that the group was ended") {
  SlowTransport slow(*sharedMemoryTransport("threads"), *readLinkSpeed("1KB/s,1s"));
  rank_settings settings;
  settings.change = [&](weft_group_options_t &options) { options.table = slow.table(); };
  auto body = [](weft_group_t *group, weft_error_t *err) {
    std::vector<float> data(100000); // 400 s
    weft_collective_t c = collective(WEFT_BROADCAST, 100000, data.data(), data.data());
    c.node = "x";
    weft_status_t status = weft_group_collective(group, &c, err);
    if (weft_group_rank(group) == 1) // the root, which waits for nobody's link
      weft_group_abort(group);
    return status;
  };
  std::vector<verdict> all = run_ranks("threads", 2, body, settings);
  CHECK(all[0].text == "W0607 broadcast after 'x': rank 1 ended the group");
  CHECK(all[0].status == WEFT_CANCELLED);
  CHECK(all[1].text == "");
}
