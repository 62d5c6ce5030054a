// Every rank ends or stops before and inside every collective of a program, and where the start lacks something: the others are told who, in time, and
// nothing is left.
#include <catch2/catch.hpp>

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/src/group/shared_memory.h"
#include "test/runtime/group/ranks.h"

using namespace weft_test;
using Catch::Contains;

enum { WORLD = 3, KINDS = 6, WAIT_MS = 200 };

namespace {
/// Where a rank ends or stops.
struct plan {
  int32_t victim;
  int collective;
  bool inside; ///< after its first step, or before
  int how;     ///< SIGKILL or SIGSTOP
};
/// Of this process, which is a rank.
plan own_plan;
int begun = 0;

weft_status_t start(weft_link_t *link, weft_queue_t *queue, const weft_collective_t *collective,
                    uint64_t *out_ticket, weft_error_t *err) {
  bool is_there = begun++ == own_plan.collective;
  if (is_there && !own_plan.inside)
    raise(own_plan.how);
  weft_status_t status = weft_shm_transport.start(link, queue, collective, out_ticket, err);
  int32_t is_done;
  if (is_there && own_plan.inside && !status) {
    status = weft_shm_transport.progress(link, *out_ticket, 0, &is_done, err);
    raise(own_plan.how);
  }
  return status;
}

/// One collective of every kind.
weft_status_t run_program(weft_group_t *group, weft_error_t *err) {
  std::vector<float> send(60000, 1), receive(60000);
  for (int kind = WEFT_ALL_REDUCE; kind <= WEFT_PERMUTE; ++kind) {
    weft_collective_t c =
        collective_of(weft_collective_kind_t(kind), WEFT_F32, 20000, send.data(), receive.data());
    std::string node = "layer." + std::to_string(kind);
    c.node = node.c_str();
    c.second = kind == WEFT_ALL_TO_ALL ? 3 : 1;
    c.peer = kind == WEFT_PERMUTE;
    if (weft_status_t status = weft_group_collective(group, &c, err))
      return status;
  }
  weft_collective_t last = collective_of(WEFT_ALL_REDUCE, WEFT_F32, 5, send.data(), receive.data());
  last.node = "the end";
  return weft_group_collective(group, &last, err);
}

/// All ranks of one plan; who stopped is ended when the others are gone.
std::vector<verdict> carry_out(const plan &wanted) {
  shared_array<std::atomic<int32_t>> shared(2);
  std::atomic<int32_t> &gone = shared[0], &victim = shared[1];
  weft_transport_v1 table = weft_shm_transport;
  table.start = start;
  rank_settings settings;
  settings.timeout_ms = WAIT_MS;
  settings.change = [&](weft_group_options_t &options) { options.table = &table; };
  std::thread ender([&] {
    for (int i = 0; i < 4000 && gone < WORLD - 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (wanted.how == SIGSTOP && victim > 0)
      kill(victim, SIGKILL);
  });
  std::vector<verdict> all = run_ranks(
      "shm", WORLD,
      [&](weft_group_t *group, weft_error_t *err) {
        bool is_victim = weft_group_rank(group) == wanted.victim;
        own_plan = wanted;
        own_plan.collective = is_victim ? wanted.collective : -1;
        if (is_victim)
          victim = getpid();
        weft_status_t status = run_program(group, err);
        gone += !is_victim;
        return status;
      },
      settings);
  ender.join();
  return all;
}

void check_plan(const plan &wanted) {
  INFO("rank " << wanted.victim << (wanted.how == SIGKILL ? " ends " : " stops ")
               << (wanted.inside ? "inside" : "before") << " collective " << wanted.collective);
  size_t before = open_descriptors();
  std::vector<verdict> all = carry_out(wanted);
  std::string name = "rank " + std::to_string(wanted.victim);
  for (int32_t rank = 0; rank < WORLD; ++rank) {
    const verdict &each = all[size_t(rank)];
    if (rank == wanted.victim) {
      CHECK(each.signal == SIGKILL);
      continue;
    }
    bool is_dead = wanted.how == SIGKILL;
    CHECK(each.status == (is_dead ? WEFT_LOST_PEER : WEFT_TIMEOUT));
    CHECK_THAT(each.text, Contains(is_dead ? ": " + name + " is lost (process "
                                           : ": waited 0.2 s for " + name));
    CHECK_THAT(each.text,
               Contains(wanted.collective == 0 && !wanted.inside
                            ? (is_dead ? ", which had not begun" : ", which has not begun")
                            : ", which "));
    CHECK_THAT(each.text, Contains(" after 'layer.") || Contains(" after 'the end'"));
    CHECK(each.seconds < (is_dead ? 2 : 2.2));
  }
  CHECK(open_descriptors() == before);
}

std::vector<std::string> shared_names() {
  std::vector<std::string> names;
  DIR *folder = opendir("/dev/shm");
  while (const dirent *entry = folder ? readdir(folder) : nullptr)
    if (std::string(entry->d_name).find("weft") != std::string::npos)
      names.push_back(entry->d_name);
  if (folder)
    closedir(folder);
  return names;
}
} // namespace

TEST_CASE("each rank ends at every collective, before and inside it") {
  std::vector<std::string> before = shared_names();
  for (int collective = 0; collective < KINDS; ++collective)
    for (int32_t victim = 0; victim < WORLD; ++victim)
      for (bool inside : {false, true})
        check_plan({victim, collective, inside, SIGKILL});
  CHECK(shared_names() == before);
}

TEST_CASE("each rank stops at every collective, before and inside it") {
  for (int collective = 0; collective < KINDS; ++collective)
    for (int32_t victim = 0; victim < WORLD; ++victim)
      check_plan({victim, collective, (collective + victim) % 2 == 0, SIGSTOP});
}

TEST_CASE("the program ends well where nobody ends or stops") {
  for (const std::string transport : {"threads", "shm"})
    for (const verdict &each : run_ranks(transport, WORLD, run_program))
      CHECK(each.text == "");
}

TEST_CASE("without memory to share all ranks are told, and nobody waits") {
  rlimit limit, small;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  signal(SIGXFSZ, SIG_IGN);
  small = limit;
  small.rlim_cur = 65536;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::vector<verdict> all = run_ranks("shm", WORLD, run_program);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (const verdict &each : all) {
    CHECK(each.text == "W0603 no memory that 3 ranks share: File too large");
    CHECK(each.status == WEFT_OUT_OF_MEMORY);
    CHECK(each.seconds < 2);
  }
}
