// What goes wrong between ranks: everybody gets out in time, with the same clear reason, and nothing is left behind.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "test/runtime/group/ranks.h"

using namespace weft_test;
using Catch::Contains;

static const std::vector<std::string> both = {"threads", "shm"};

/// An all_reduce of `count` elements behind a node.
static weft_status_t sum(weft_group_t *group, int64_t count, const char *node, weft_error_t *err) {
  std::vector<float> data(size_t(count), 1);
  weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, count, data.data(), data.data());
  c.node = node;
  return weft_group_collective(group, &c, err);
}

//===----------------------------------------------------------------------===//
// Ranks at different collectives
//===----------------------------------------------------------------------===//

/// All ranks but the last call a sum of 8 x 4 floats, the last one what `change` makes of it.
static std::string mismatch(const std::string &transport, int32_t world,
                            const std::function<void(weft_collective_t &)> &change) {
  static float send[8192], receive[4 * 8192]; // of all that ranks say they have
  std::vector<verdict> all =
      run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
        if (weft_status_t status = sum(group, 5, "first", err))
          return status;
        weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, 8, send,
                                            receive + 8192 * weft_group_rank(group));
        c.inner = 4;
        c.node = "block.1";
        if (weft_group_rank(group) + 1 == world)
          change(c);
        return weft_group_collective(group, &c, err);
      });
  for (const verdict &each : all) {
    CHECK(each.status == WEFT_MISMATCH);
    CHECK(each.seconds < 2);
  }
  for (int32_t rank = 1; rank + 1 < world; ++rank)
    CHECK(all[size_t(rank)].text == all[0].text);
  return all[0].text;
}

TEST_CASE("ranks that call different collectives are named, with what they call") {
  for (const std::string &transport : both) {
    CHECK(mismatch(transport, 3, [](auto &c) { c.kind = WEFT_ALL_GATHER; }) ==
          "W0604 all_reduce after 'block.1': rank 2 calls all_gather of f32 [1, 8, 4], the others "
          "all_reduce (sum) of f32 [1, 8, 4]");
    CHECK(mismatch(transport, 3, [](auto &c) { c.element = WEFT_I32; }) ==
          "W0604 all_reduce after 'block.1': rank 2 calls all_reduce (sum) of i32 [1, 8, 4], the "
          "others all_reduce (sum) of f32 [1, 8, 4]");
    CHECK_THAT(
        mismatch(transport, 3, [](auto &c) { c.combiner = WEFT_MAX; }),
        Contains("rank 2 calls all_reduce (max) of f32 [1, 8, 4], the others all_reduce (sum)"));
    CHECK_THAT(mismatch(transport, 3, [](auto &c) { c.first = 9; }),
               Contains("rank 2 calls all_reduce (sum) of f32 [1, 9, 4]"));
    CHECK_THAT(mismatch(transport, 3, [](auto &c) { c.outer = 0; }),
               Contains("rank 2 calls all_reduce (sum) of f32 [0, 8, 4]"));
    CHECK_THAT(mismatch(transport, 3, [](auto &c) { c.inner = 1000; }), Contains("[1, 8, 1000]"));
    CHECK_THAT(mismatch(transport, 2, [](auto &c) { c.kind = WEFT_PERMUTE; }),
               Contains("rank 1 calls permute by 0 of f32"));
    CHECK_THAT(mismatch(transport, 4,
                        [](auto &c) {
                          c.kind = WEFT_BROADCAST;
                          c.peer = 2;
                        }),
               Contains("rank 3 calls broadcast from rank 2 of f32"));
    CHECK_THAT(mismatch(transport, 3,
                        [](auto &c) {
                          c.kind = WEFT_ALL_TO_ALL;
                          c.is_reversed = 1;
                        }),
               Contains("rank 2 calls all_to_all of f32 [1, 8, 1, 1, 4] back"));
  }
}

TEST_CASE("the roots of a broadcast have to be the same, and so have the shifts of a permutation") {
  std::vector<verdict> all = run_ranks("threads", 4, [&](weft_group_t *group, weft_error_t *err) {
    float data[2] = {}, out[2];
    weft_collective_t c = collective_of(WEFT_BROADCAST, WEFT_F32, 2, data, out);
    c.peer = weft_group_rank(group) < 2 ? 0 : 1;
    return weft_group_collective(group, &c, err);
  });
  for (const verdict &each : all)
    CHECK(each.text ==
          "W0604 broadcast: ranks 2 and 3 call broadcast from rank 1 of f32 [1, 2, 1], the "
          "others broadcast from rank 0 of f32 [1, 2, 1]");
}

//===----------------------------------------------------------------------===//
// Ranks that end or stop
//===----------------------------------------------------------------------===//

TEST_CASE(
    "a rank that is killed is named to all others within two seconds, whatever it was doing") {
  for (int32_t victim : {0, 2})
    for (int collectives : {0, 1, 5}) {
      size_t before = open_descriptors();
      std::vector<verdict> all = run_ranks("shm", 3, [&](weft_group_t *group, weft_error_t *err) {
        for (int i = 0;; ++i) {
          if (i == collectives && weft_group_rank(group) == victim)
            raise(SIGKILL);
          if (weft_status_t status = sum(group, i % 2 ? 300000 : 10, "layer.3", err))
            return status;
        }
      });
      for (int32_t rank = 0; rank < 3; ++rank) {
        const verdict &each = all[size_t(rank)];
        CHECK(each.signal == (rank == victim ? SIGKILL : 0));
        if (rank == victim)
          continue;
        CHECK(each.status == WEFT_LOST_PEER);
        CHECK(each.seconds < 2);
        CHECK_THAT(each.text, Contains("W0605 all_reduce after 'layer.3': rank " +
                                       std::to_string(victim) + " is lost (process "));
        CHECK_THAT(each.text, Contains(" ended)"));
      }
      CHECK(open_descriptors() == before);
    }
}

TEST_CASE("a rank that leaves while others need it is named") {
  for (const std::string &transport : both) {
    std::vector<verdict> all = run_ranks(transport, 3, [&](weft_group_t *group, weft_error_t *err) {
      if (weft_status_t status = sum(group, 70000, "a", err))
        return status;
      return weft_group_rank(group) == 1 ? WEFT_OK : sum(group, 70000, "b", err);
    });
    CHECK(all[1].text == "");
    for (size_t rank : {0, 2}) {
      // A child that has left is soon one that has ended: either is seen.
      CHECK_THAT(all[rank].text, Contains("W0605 all_reduce after 'b': rank 1 has left the group"));
      CHECK(all[rank].seconds < 2);
    }
  }
}

TEST_CASE("a rank that stops ends the others when the time is over, and they say where it was") {
  for (const std::string &transport : both) {
    rank_settings settings;
    settings.timeout_ms = 400;
    std::vector<verdict> all = run_ranks(
        transport, 3,
        [&](weft_group_t *group, weft_error_t *err) {
          if (weft_status_t status = sum(group, 10, "layer.1", err))
            return status;
          if (weft_group_rank(group) == 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(900));
          return sum(group, 10, "layer.2", err);
        },
        settings);
    for (const verdict &each : all) {
      CHECK(each.status == WEFT_TIMEOUT);
      CHECK(each.seconds < 2.4);
      CHECK(each.text == "W0606 all_reduce after 'layer.2': waited 0.4 s for rank 2, which came no "
                         "further than all_reduce after 'layer.1'");
    }
  }
}

TEST_CASE("all ranks that are late are named, with how far they came") {
  for (const std::string &transport : both) {
    rank_settings settings;
    settings.timeout_ms = 400;
    std::vector<verdict> all = run_ranks(
        transport, 5,
        [&](weft_group_t *group, weft_error_t *err) {
          if (weft_status_t status = sum(group, 10, "layer.1", err))
            return status;
          if (weft_group_rank(group) % 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(900));
          return sum(group, 10, "layer.2", err);
        },
        settings);
    for (const verdict &each : all)
      CHECK(each.text == "W0606 all_reduce after 'layer.2': waited 0.4 s for ranks 1 and 3, which "
                         "came no further than all_reduce after 'layer.1'");
  }
}

TEST_CASE("a stopped process is named in time, and is told why when it goes on") {
  rank_settings settings;
  settings.timeout_ms = 500;
  shared_array<pid_t> stopped(1);
  std::thread waker([&] {
    while (!__atomic_load_n(&stopped[0], __ATOMIC_ACQUIRE))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    kill(stopped[0], SIGCONT);
  });
  std::vector<verdict> all = run_ranks(
      "shm", 3,
      [&](weft_group_t *group, weft_error_t *err) {
        if (weft_group_rank(group) == 1) {
          __atomic_store_n(&stopped[0], getpid(), __ATOMIC_RELEASE);
          raise(SIGSTOP);
        }
        return sum(group, 100000, "layer.2", err);
      },
      settings);
  waker.join();
  for (size_t rank : {0, 2}) {
    CHECK(all[rank].text ==
          "W0606 all_reduce after 'layer.2': waited 0.5 s for rank 1, which has not "
          "begun a collective");
    CHECK(all[rank].seconds < 1);
  }
  CHECK(all[1].text == all[0].text);
}

TEST_CASE("an abort by any thread ends what waits on every rank, and all that comes later") {
  for (const std::string &transport : both) {
    std::vector<verdict> all = run_ranks(transport, 3, [&](weft_group_t *group, weft_error_t *err) {
      std::thread other;
      if (weft_group_rank(group) == 1)
        other = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          weft_group_abort(group);
        });
      if (weft_group_rank(group) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
      weft_status_t status = sum(group, 10, "x", err);
      if (other.joinable())
        other.join();
      return status;
    });
    for (const verdict &each : all) {
      CHECK(each.text == "W0607 all_reduce after 'x': rank 1 ended the group");
      CHECK(each.status == WEFT_CANCELLED);
      CHECK(each.seconds < 1);
    }
  }
}

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

static weft_status_t nothing(weft_group_t *, weft_error_t *) { return WEFT_OK; }

TEST_CASE("a rank that never starts is named when the time is over") {
  for (const std::string &transport : both)
    for (std::vector<int32_t> absent : {std::vector<int32_t>{2}, {1, 2}, {0}}) {
      rank_settings settings;
      settings.timeout_ms = 300;
      settings.absent = absent;
      settings.rendezvous = fresh_name();
      size_t before = open_descriptors();
      std::vector<verdict> all = run_ranks(transport, 4, nothing, settings);
      std::string who = absent.size() == 2 ? "ranks 1 and 2" : "rank " + std::to_string(absent[0]);
      for (size_t rank = 0; rank < 4; ++rank)
        if (std::count(absent.begin(), absent.end(), rank) == 0) {
          CHECK(all[rank].text == "W0606 rendezvous '" + settings.rendezvous + "': " + who +
                                      " of 4 did not come within 0.3 s");
          CHECK(all[rank].seconds < 2.3);
        }
      CHECK(open_descriptors() == before);
    }
}

TEST_CASE("a rank with another number of ranks, or a number that another has, is named to all") {
  for (const std::string &transport : both) {
    rank_settings settings;
    settings.rendezvous = fresh_name();
    settings.change = [](weft_group_options_t &o) { o.world += o.rank == 1; };
    std::vector<verdict> all = run_ranks(transport, 2, nothing, settings);
    for (const verdict &each : all) {
      CHECK(each.status == WEFT_MISMATCH);
      CHECK(each.text == "W0604 rendezvous '" + settings.rendezvous +
                             "': rank 1 is one of 3 ranks, but rank 0 one of 2");
    }
    settings.change = [](weft_group_options_t &o) { o.rank = o.rank ? 1 : 0; };
    all = run_ranks(transport, 3, nothing, settings);
    for (const verdict &each : all)
      CHECK_THAT(each.text, Contains(" are both rank 1"));
  }
}

TEST_CASE("a rendezvous that is in use is refused, and the group that uses it goes on") {
  for (std::string name : {fresh_name(), "/tmp/" + fresh_name()}) {
    rank_settings settings;
    settings.rendezvous = name;
    settings.timeout_ms = 1500;
    settings.absent = {1};
    std::vector<verdict> second;
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      second = run_ranks("shm", 2, nothing, settings);
    });
    std::vector<verdict> first = run_ranks("shm", 2, nothing, settings);
    late.join();
    CHECK(second[0].status == WEFT_BUSY);
    CHECK(second[0].text == "W0603 rendezvous '" + name + "' is in use");
    CHECK(first[0].status == WEFT_TIMEOUT);
    CHECK(access(name.c_str(), F_OK) != 0);
  }
}

TEST_CASE(
    "a path works as a rendezvous, also where a killed rank left its socket, and is removed") {
  rank_settings settings;
  settings.rendezvous = "/tmp/" + fresh_name();
  for (bool is_left_behind : {false, true}) {
    if (is_left_behind) {
      sockaddr_un name = {};
      name.sun_family = AF_UNIX;
      settings.rendezvous.copy(name.sun_path, sizeof name.sun_path - 1);
      int door = socket(AF_UNIX, SOCK_SEQPACKET, 0);
      REQUIRE(bind(door, (sockaddr *)&name, sizeof name) == 0);
      close(door);
    }
    for (const verdict &each : run_ranks("shm", 3, nothing, settings))
      CHECK(each.text == "");
    CHECK(access(settings.rendezvous.c_str(), F_OK) != 0);
  }
}

TEST_CASE("a file that is no socket is not touched") {
  rank_settings settings;
  settings.rendezvous = "/tmp/" + fresh_name();
  settings.absent = {1};
  fclose(fopen(settings.rendezvous.c_str(), "w"));
  CHECK(run_ranks("shm", 2, nothing, settings)[0].text ==
        "W0603 rendezvous '" + settings.rendezvous + "' is in use");
  CHECK(unlink(settings.rendezvous.c_str()) == 0);
}

TEST_CASE("a rank that is killed while others are waited for ends the start") {
  rank_settings settings;
  settings.rendezvous = fresh_name();
  pid_t rank1 = fork();
  if (rank1 == 0) {
    weft_group_options_t options = {sizeof options, 1, 3, 60000, "shm", settings.rendezvous.c_str(),
                                    nullptr};
    weft_group_t *group = nullptr;
    weft_group_open(nullptr, &options, &group, nullptr);
    _exit(0);
  }
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(rank1, SIGKILL);
  });
  settings.absent = {1, 2};
  std::vector<verdict> all = run_ranks("shm", 3, nothing, settings);
  end.join();
  waitpid(rank1, nullptr, 0);
  CHECK(all[0].text == "W0605 rendezvous '" + settings.rendezvous + "': rank 1 is lost (process " +
                           std::to_string(rank1) + " ended)");
  CHECK(all[0].seconds < 2);
}

TEST_CASE("a process that ends before it comes is named at once where processes are known") {
  pid_t ended = fork();
  if (ended == 0)
    _exit(0);
  for (int32_t absent : {0, 1}) {
    std::vector<int32_t> processes = {getpid(), getpid()};
    processes[size_t(absent)] = ended;
    rank_settings settings;
    settings.rendezvous = fresh_name();
    settings.absent = {absent};
    settings.change = [&](weft_group_options_t &options) { options.processes = processes.data(); };
    verdict other = run_ranks("shm", 2, nothing, settings)[size_t(1 - absent)];
    CHECK(other.text == "W0605 rendezvous '" + settings.rendezvous + "': rank " +
                            std::to_string(absent) + " is lost (process " + std::to_string(ended) +
                            " ended)");
    CHECK(other.seconds < 2);
  }
  waitpid(ended, nullptr, 0);
}

TEST_CASE("a rank that ends before it comes to a part of its group is lost at once") {
  for (int32_t lost : {0, 2}) {
    auto ends = [&](weft_group_t *group, weft_error_t *err) {
      weft_group_t *part = nullptr;
      rlimit none{0, 0};
      if (weft_group_rank(group) == lost) // it has no door, and so fails and ends
        setrlimit(RLIMIT_NOFILE, &none);
      return weft_group_split(group, 0, 0, &part, err);
    };
    std::vector<verdict> all = run_ranks("shm", 3, ends);
    for (int32_t rank = 0; rank < 3; ++rank) {
      INFO(all[size_t(rank)].text);
      CHECK(all[size_t(rank)].status == (rank == lost ? WEFT_IO : WEFT_LOST_PEER));
      CHECK(all[size_t(rank)].seconds < 2);
    }
  }
}

TEST_CASE("options that make no group are refused") {
  auto refusal = [](const std::function<void(weft_group_options_t &)> &change) {
    weft_group_options_t options = {sizeof options, 0, 1, 0, "threads", "name", nullptr};
    change(options);
    weft_error_t err = WEFT_ERROR_INIT;
    weft_group_t *group = (weft_group_t *)1;
    CHECK(weft_group_open(nullptr, &options, &group, &err) == WEFT_INVALID);
    CHECK(group == nullptr);
    return std::string(err.code) + " " + err.message;
  };
  CHECK(refusal([](auto &o) { o.rank = 1; }) == "W0601 there is no rank 1 of 1");
  CHECK(refusal([](auto &o) { o.rank = -1; }) == "W0601 there is no rank -1 of 1");
  CHECK(refusal([](auto &o) { o.world = 0; }) == "W0601 there is no rank 0 of 0");
  CHECK(refusal([](auto &o) { o.world = 5000; }) ==
        "W0601 5000 ranks, but 1024 are possible on one machine");
  CHECK(refusal([](auto &o) { o.rendezvous = nullptr; }) == "W0601 options.rendezvous is NULL");
  CHECK(refusal([](auto &o) { o.rendezvous = ""; }) == "W0601 the rendezvous has no name");
  CHECK(refusal([](auto &o) { o.transport = "../carrier"; }) ==
        "W0601 there is no transport '../carrier'");
  CHECK(refusal([](auto &o) { o.timeout_ms = -5; }) == "W0601 options.timeout_ms is -5");
  std::string long_name(200, 'x');
  CHECK(refusal([&](auto &o) { o.rendezvous = long_name.c_str(); }) ==
        "W0601 the rendezvous '" + std::string(40, 'x') + "...' is too long for a socket's name");
}

TEST_CASE("a plug-in that is not there, or is something else, is refused") {
  auto refusal = [](const char *transport) {
    weft_group_options_t options = {sizeof options, 0, 1, 0, transport, "name", nullptr};
    weft_error_t err = WEFT_ERROR_INIT;
    weft_group_t *group = nullptr;
    weft_status_t status = weft_group_open(nullptr, &options, &group, &err);
    CHECK(group == nullptr);
    return std::to_string(status) + " " + err.message + "; " + err.hint;
  };
  CHECK(refusal("carrier") ==
        std::to_string(WEFT_NOT_FOUND) +
            " there is no transport 'carrier': 'threads' and 'shm' are built in, and "
            "libweft_carrier.so was not found; WEFT_PLUGIN_DIR names the folder of "
            "libweft_carrier.so");
  std::string folder = "/tmp/" + fresh_name(), file = folder + "/libweft_text.so";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  fclose(fopen(file.c_str(), "w"));
  setenv("WEFT_PLUGIN_DIR", folder.c_str(), 1);
  CHECK_THAT(refusal("text"),
             Contains(std::to_string(WEFT_UNSUPPORTED) + " transport 'text': ") && Contains(file));
  unsetenv("WEFT_PLUGIN_DIR");
  CHECK(unlink(file.c_str()) + rmdir(folder.c_str()) == 0);
}

TEST_CASE("forty ranks are killed one after the other, at random moments") {
  for (int round = 0; round < 40; ++round) {
    std::vector<verdict> all = run_ranks("shm", 3, [&](weft_group_t *group, weft_error_t *err) {
      bool is_victim = weft_group_rank(group) == round % 3;
      std::thread end;
      if (is_victim)
        end = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(round * 397 % 5000));
          raise(SIGKILL);
        });
      for (;;)
        if (weft_status_t status = sum(group, 40000, "x", err))
          return status;
    });
    for (int32_t rank = 0; rank < 3; ++rank) {
      CHECK(all[size_t(rank)].seconds < 2);
      if (rank != round % 3)
        CHECK_THAT(all[size_t(rank)].text,
                   Contains("rank " + std::to_string(round % 3) + " is lost"));
    }
  }
}
