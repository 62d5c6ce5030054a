#include <catch2/catch.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "runtime/src/cpu/threads.h"

namespace {
/// A pool with its slots and one scratch value per worker.
struct pool_of {
  std::unique_ptr<weft_pool_t> pool = std::make_unique<weft_pool_t>();
  std::vector<weft_pool_slot_t> slots;
  std::vector<weft_worker_t> workers;

  pool_of(int32_t threads, int32_t spin_us) : slots(threads), workers(threads) {
    for (int32_t i = 0; i < threads; ++i)
      workers[i] = {nullptr, i, 0};
    weft_pool_init(pool.get(), slots.data(), threads, spin_us);
  }
  ~pool_of() { weft_pool_stop(pool.get()); }

  void run(weft_kernel_fn kernel, const uint64_t *words, int64_t units, int64_t grain) {
    weft_part_v1 part = {kernel, words, units, grain, 0, 0, 0};
    weft_region_t region = {&part, 1, 0, 0, false, {}, workers.data()};
    weft_pool_begin_call(pool.get());
    region.pieces =
        int32_t(std::min<int64_t>(weft_pool_workers(pool.get()), weft_chunks(units, grain)));
    weft_pool_run(pool.get(), &region);
    weft_pool_end_call(pool.get());
  }
};
} // namespace

/// words: counts per unit, worker per unit
static void count_units(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  int32_t *counts = (int32_t *)words[0], *who = (int32_t *)words[1];
  for (int64_t i = begin; i < end; ++i) {
    ++counts[i];
    who[i] = worker->index;
  }
}

TEST_CASE("pieces cover all units once, are contiguous, and are multiples of grain") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 5000; ++round) {
    int64_t units = 1 + int64_t(random() % (round % 2 ? 50 : 1ull << 62));
    int64_t grain = 1 + int64_t(random() % (round % 3 ? 7 : 1ull << 40));
    int32_t pieces = 1 + int32_t(random() % 20);
    pieces = int32_t(std::min<int64_t>(pieces, weft_chunks(units, grain)));
    int64_t expected = 0, shortest = INT64_MAX, longest = 0;
    for (int32_t p = 0; p < pieces; ++p) {
      int64_t begin, end;
      weft_split(units, grain, pieces, p, &begin, &end);
      REQUIRE(begin == expected);
      REQUIRE(end > begin);
      if (p + 1 < pieces)
        REQUIRE((end - begin) % grain == 0);
      shortest = std::min(shortest, weft_chunks(end - begin, grain));
      longest = std::max(longest, weft_chunks(end - begin, grain));
      expected = end;
    }
    REQUIRE(expected == units);
    REQUIRE(longest - shortest <= 1);
  }
}

static void run_many_regions(int32_t threads, int32_t spin_us) {
  pool_of p(threads, spin_us);
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    int64_t units = 1 + random() % 60, grain = 1 + random() % 5;
    std::vector<int32_t> counts(units), who(units);
    uint64_t words[2] = {uint64_t(counts.data()), uint64_t(who.data())};
    p.run(count_units, words, units, grain);
    int32_t pieces = int32_t(std::min<int64_t>(threads, weft_chunks(units, grain)));
    for (int32_t w = 0; w < pieces; ++w) {
      int64_t begin, end;
      weft_split(units, grain, pieces, w, &begin, &end);
      for (int64_t i = begin; i < end; ++i) {
        REQUIRE(counts[i] == 1);
        REQUIRE(who[i] == w);
      }
    }
  }
}

TEST_CASE("every unit is computed once by the worker that the split names") {
  SECTION("alone") { run_many_regions(1, 50); }
  SECTION("two, spinning") { run_many_regions(2, 50); }
  SECTION("two, sleeping") { run_many_regions(2, 0); }
  SECTION("more threads than CPUs") { run_many_regions(13, 0); }
  SECTION("more threads than CPUs, spinning") { run_many_regions(5, 20); }
}

TEST_CASE("a pool that was never used starts no thread") {
  pool_of p(64, 50);
  REQUIRE(p.pool->started == 0);
}

static double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST_CASE("between calls no thread runs, even with a long spin time") {
  pool_of p(4, 1000000);
  std::vector<int32_t> counts(64), who(64);
  uint64_t words[2] = {uint64_t(counts.data()), uint64_t(who.data())};
  p.run(count_units, words, 64, 1);
  timespec moment = {0, 20000000};
  nanosleep(&moment, nullptr); // workers notice the end of the call
  double before = cpu_seconds();
  moment = {0, 200000000};
  nanosleep(&moment, nullptr);
  REQUIRE(cpu_seconds() - before < 0.02);
}

/// words: CPUs per unit that the worker may use
static void count_cpus(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *) {
  cpu_set_t set;
  for (int64_t i = begin; i < end; ++i)
    ((int32_t *)words[0])[i] = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

TEST_CASE("workers keep off the caller's CPU when there are enough others") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  const int32_t allowed = CPU_COUNT(&set);
  for (int32_t threads : {2, allowed, allowed + 1}) {
    if (threads < 2)
      continue;
    INFO(threads << " threads, " << allowed << " CPUs");
    pool_of p(threads, 0);
    std::vector<int32_t> cpus(threads);
    uint64_t words[1] = {uint64_t(cpus.data())};
    for (int round = 0; round < 3; ++round) // the first starts the workers
      p.run(count_cpus, words, threads, 1);
    REQUIRE(cpus[0] == allowed);
    for (int32_t worker = 1; worker < threads; ++worker)
      REQUIRE(cpus[worker] == (allowed >= threads ? allowed - 1 : allowed));
  }
}

TEST_CASE("the process may use at least one CPU") {
  REQUIRE(weft_cpus_allowed() >= 1);
  REQUIRE(weft_cpus_allowed() <= WEFT_MAX_WORKERS);
}
