#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/src/cpu/shares.h"
#include "runtime/src/cpu/threads.h"

namespace {
/// Parts divided among workers.
struct division {
  std::vector<weft_part_v1> parts;
  int32_t workers, busy;
  std::vector<uint64_t> memory;
  weft_shares_t shares;

  division(std::vector<weft_part_v1> wanted, int32_t count)
      : parts(std::move(wanted)), workers(count), memory(weft_shares_bytes(count) / 8 + 1),
        shares(weft_shares_in(memory.data(), count)) {
    busy = weft_share(parts.data(), int32_t(parts.size()), workers, shares);
  }
  bool pays(bool are_awake = true) const {
    return weft_sharing_pays(parts.data(), int32_t(parts.size()), workers, are_awake, shares);
  }
  std::pair<int64_t, int64_t> piece(size_t part, int32_t worker) const {
    std::pair<int64_t, int64_t> units;
    weft_share_of(parts.data(), int32_t(part), workers, worker, shares, &units.first,
                  &units.second);
    return units;
  }
  int64_t length(size_t part, int32_t worker) const {
    auto [begin, end] = piece(part, worker);
    return end - begin;
  }
  /// The most that a worker has to do.
  double longest() const { return *std::max_element(shares.loads, shares.loads + workers); }
};

weft_part_v1 part(int64_t units, double work, int64_t grain = 1) {
  return {nullptr, nullptr, units, grain, work, 0, 0};
}
} // namespace

TEST_CASE("every unit of every part belongs to one contiguous piece, whatever the estimates say") {
  std::mt19937_64 random(7);
  const double odd[] = {0, -5, 1, 1e300, std::nan(""), std::numeric_limits<double>::infinity()};
  for (int round = 0; round < 20000; ++round) {
    std::vector<weft_part_v1> parts;
    size_t count = 1 + random() % WEFT_MAX_PARTS;
    for (size_t i = 0; i < count; ++i) {
      int64_t units = int64_t(random() % (random() % 4 ? 40 : 1ull << 62)) - (random() % 50 == 0);
      double work = random() % 8 ? double(random() % 10000000) : odd[random() % 6];
      parts.push_back(part(units, work, 1 + int64_t(random() % (random() % 3 ? 5 : 1ull << 40))));
    }
    division d(parts, 1 + int32_t(random() % 20));
    for (size_t i = 0; i < count; ++i) {
      int64_t expected = 0;
      for (int32_t w = 0; w < d.workers; ++w) {
        auto [begin, end] = d.piece(i, w);
        REQUIRE(begin <= end);
        REQUIRE((w < d.busy || begin == end));
        if (begin == end)
          continue;
        REQUIRE(begin == expected);
        if (end != parts[i].units)
          REQUIRE(end % parts[i].grain == 0);
        expected = end;
      }
      REQUIRE(expected == std::max<int64_t>(parts[i].units, 0));
    }
  }
}

TEST_CASE("workers end within a chunk of each other") {
  std::mt19937_64 random(8);
  for (int round = 0; round < 5000; ++round) {
    std::vector<weft_part_v1> parts;
    double sum = 0, chunk = 0;
    for (size_t i = 0, count = 1 + random() % WEFT_MAX_PARTS; i < count; ++i) {
      int64_t units = 1 + int64_t(random() % 30);
      double each = 10 + double(random() % 1000);
      parts.push_back(part(units, each * double(units)));
      sum += each * double(units);
      chunk = std::max(chunk, each);
    }
    division d(parts, 1 + int32_t(random() % 9));
    REQUIRE(d.longest() <= sum / d.workers + chunk + 1e-6 * sum);
  }
}

TEST_CASE("one part is split as it would be alone") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 2000; ++round) {
    int64_t units = 1 + int64_t(random() % 1000), grain = 1 + int64_t(random() % 5);
    division d({part(units, 1e6, grain)}, 1 + int32_t(random() % 20));
    int32_t pieces = int32_t(std::min<int64_t>(d.workers, weft_chunks(units, grain)));
    REQUIRE(d.busy == pieces);
    for (int32_t w = 0; w < pieces; ++w) {
      int64_t begin, end;
      weft_split(units, grain, pieces, w, &begin, &end);
      REQUIRE(d.piece(0, w) == std::make_pair(begin, end));
    }
  }
}

TEST_CASE("parts that split well are split evenly, and what remains of others is levelled out") {
  division even({part(100, 1e6), part(40, 3e6)}, 4);
  for (int32_t w = 0; w < 4; ++w) {
    REQUIRE(even.length(0, w) == 25);
    REQUIRE(even.length(1, w) == 10);
  }
  division branches({part(1, 1e5), part(1, 1e5), part(1, 1e5), part(1, 1e5)}, 2);
  REQUIRE(branches.longest() == 2e5);
  REQUIRE(branches.pays());
  // Three chunks of 10 us for two workers; the small ones make up for it.
  division odd({part(3, 30000), part(100, 100000)}, 2);
  REQUIRE(odd.length(0, 0) == 2);
  REQUIRE(odd.length(1, 0) == 45);
  REQUIRE(odd.length(1, 1) == 55);
  REQUIRE(odd.pays());
}

TEST_CASE("one after the other where nothing is gained") {
  // Each is computed by the caller alone; together they would wake a worker for less than that costs.
  REQUIRE_FALSE(division({part(1, 900), part(1, 900)}, 2).pays());
  REQUIRE(division({part(1, 9000), part(1, 9000)}, 2).pays());
  // To wake one takes longer. When that has to be for one of them, it is no reason against the other.
  REQUIRE_FALSE(division({part(1, 9000), part(1, 9000)}, 2).pays(false));
  REQUIRE(division({part(1, 90000), part(1, 90000)}, 2).pays(false));
  REQUIRE(division({part(1, 9000), part(2, 9000)}, 2).pays(false));
  // A small one beside a large one that cannot be split.
  REQUIRE_FALSE(division({part(1, 1e6), part(1, 1000)}, 2).pays());
  // Two that split evenly would only save a barrier.
  division even({part(8, 1e5), part(6, 1e5)}, 2), uneven({part(8, 1e5), part(7, 1e5)}, 2);
  REQUIRE_FALSE(even.pays());
  REQUIRE_FALSE(weft_have_gaps(even.parts.data(), 2, 2));
  REQUIRE(weft_have_gaps(uneven.parts.data(), 2, 2));
  REQUIRE(division({part(0, 1e5), part(-3, 1e5)}, 2).busy == 0);
}
