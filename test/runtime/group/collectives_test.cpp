// Every collective against a computation that knows all ranks' values, in integers and index by index.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "runtime/src/group/layout.h"
#include "test/runtime/group/ranks.h"

using namespace weft_test;

namespace {
struct tensor {
  std::vector<int64_t> dims, values;
};

/// Rows [begin, end) of dimension `dim`.
tensor slice(const tensor &whole, size_t dim, int64_t begin, int64_t end) {
  tensor out = {whole.dims, {}};
  out.dims[dim] = end - begin;
  int64_t inner = 1;
  for (size_t d = dim + 1; d < whole.dims.size(); ++d)
    inner *= whole.dims[d];
  for (size_t at = 0; at < whole.values.size(); ++at) {
    int64_t row = int64_t(at) / inner % whole.dims[dim];
    if (row >= begin && row < end)
      out.values.push_back(whole.values[at]);
  }
  return out;
}

tensor part(const tensor &whole, size_t dim, int32_t world, int32_t rank) {
  int64_t extent = whole.dims[dim], each = (extent + world - 1) / world;
  return slice(whole, dim, std::min(rank * each, extent), std::min((rank + 1) * each, extent));
}

/// A collective without memory.
struct shape {
  weft_collective_kind_t kind;
  weft_element_t element;
  weft_combiner_t combiner;
  bool is_reversed;
  int32_t peer;
  int64_t outer, first, middle, second, inner;

  bool is_exchange() const { return kind == WEFT_ALL_TO_ALL; }
  std::vector<int64_t> dims() const {
    return {outer, first, is_exchange() ? middle : 1, is_exchange() ? second : 1, inner};
  }
  bool is_unsigned() const {
    return element == WEFT_U8 || element == WEFT_U16 || element == WEFT_U32 ||
           element == WEFT_U64 || element == WEFT_BOOL;
  }
  /// Small enough that sums and products are exact in all types: -2 to 2, without a sign 0 to 2.
  tensor global(int32_t seed) const {
    tensor out = {dims(), {}};
    int64_t count = 1;
    for (int64_t d : out.dims)
      count *= d;
    for (int64_t at = 0; at < count; ++at) {
      int64_t mixed = (at * 7 + seed * 13 + at / 11) % 5;
      int64_t value = element == WEFT_BOOL ? mixed % 2 : is_unsigned() ? mixed % 3 : mixed - 2;
      bool is_factor = combiner == WEFT_PROD && value == 0; // 0 times -1 has a sign in some types
      out.values.push_back(is_factor ? 1 : value);
    }
    return out;
  }
  tensor sent(int32_t world, int32_t rank) const {
    if (kind == WEFT_ALL_GATHER)
      return part(global(0), 1, world, rank);
    if (is_exchange())
      return part(global(0), is_reversed ? 3 : 1, world, rank);
    return global(rank);
  }
  tensor combined(int32_t world) const {
    tensor out = global(0);
    for (int32_t rank = 1; rank < world; ++rank) {
      tensor next = global(rank);
      for (size_t at = 0; at < out.values.size(); ++at) {
        int64_t a = out.values[at], b = next.values[at];
        out.values[at] = combiner == WEFT_SUM   ? a + b
                         : combiner == WEFT_MAX ? std::max(a, b)
                         : combiner == WEFT_MIN ? std::min(a, b)
                                                : a * b;
      }
    }
    return out;
  }
  tensor expected(int32_t world, int32_t rank) const {
    switch (kind) {
    case WEFT_ALL_REDUCE:
      return combined(world);
    case WEFT_REDUCE_SCATTER:
      return part(combined(world), 1, world, rank);
    case WEFT_ALL_GATHER:
      return global(0);
    case WEFT_ALL_TO_ALL:
      return part(global(0), is_reversed ? 1 : 3, world, rank);
    case WEFT_BROADCAST:
      return global(peer);
    default:
      return global(((is_reversed ? peer - rank : rank - peer) + 2 * world) % world);
    }
  }
};

/// Whole numbers up to 256 as elements of any type.
std::vector<uint8_t> encode(weft_element_t element, const std::vector<int64_t> &values) {
  size_t bytes = weft_element_bits(element) / 8;
  std::vector<uint8_t> out(values.size() * bytes + 1, 0xEE); // one more, which must stay
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = uint64_t(values[i]);
    float f = float(values[i]);
    double d = double(values[i]);
    uint32_t single;
    memcpy(&single, &f, sizeof single);
    if (element == WEFT_F32 || element == WEFT_BF16)
      bits = element == WEFT_F32 ? single : single >> 16;
    else if (element == WEFT_F64)
      memcpy(&bits, &d, sizeof d);
    else if (element == WEFT_F16)
      bits = f == 0 ? single >> 16
                    : (single >> 16 & 0x8000) | ((single & 0x7FFFFFFF) - 0x38000000) >> 13;
    memcpy(&out[i * bytes], &bits, bytes);
  }
  return out;
}

enum class memory_kind { separate, in_place, shared };
constexpr int64_t half_area = 8 << 20;

/// Does the collective on this rank; false when it gives something else than expected. `area`: of memory_kind::shared.
bool is_right(weft_group_t *group, const shape &s, memory_kind memory, uint8_t *area,
              weft_status_t *out_status, weft_error_t *err) {
  int32_t rank = weft_group_rank(group), world = weft_group_world(group);
  std::vector<uint8_t> send = encode(s.element, s.sent(world, rank).values);
  std::vector<uint8_t> expected = encode(s.element, s.expected(world, rank).values);
  std::vector<uint8_t> receive(expected.size(), 0xEE), sent = send;
  bool in_place = memory == memory_kind::in_place, is_shared = memory == memory_kind::shared;
  if (is_shared) {
    std::copy(send.begin(), send.end(), area);
    std::fill_n(area + half_area, receive.size(), 0xEE);
  }
  weft_collective_t c = collective_of(s.kind, s.element, s.first, is_shared ? area : send.data(),
                                      is_shared  ? area + half_area
                                      : in_place ? send.data()
                                                 : receive.data());
  c.combiner = uint16_t(s.combiner);
  c.is_reversed = s.is_reversed;
  c.peer = s.peer;
  c.outer = s.outer;
  c.middle = s.middle;
  c.second = s.second;
  c.inner = s.inner;
  *out_status = weft_group_collective(group, &c, err);
  if (is_shared) {
    std::copy_n(area, send.size(), send.begin());
    std::copy_n(area + half_area, receive.size(), receive.begin());
  }
  return *out_status != WEFT_OK ||
         (in_place ? send == expected : receive == expected && send == sent);
}

const std::vector<weft_element_t> combined_elements = {WEFT_F32, WEFT_F64, WEFT_F16, WEFT_BF16,
                                                       WEFT_I8,  WEFT_U8,  WEFT_I16, WEFT_U16,
                                                       WEFT_I32, WEFT_U32, WEFT_I64, WEFT_U64};

/// Extents: none, one, fewer than ranks, odd, more than a piece has.
std::vector<shape> shapes_of(int32_t world, weft_element_t element) {
  std::vector<shape> all;
  for (int64_t first : {0, 1, 3, 13, 40000})
    for (int64_t inner : {1, 5}) {
      int64_t outer = first > 100 ? 1 : 3, second = first > 100 ? 3 : 11;
      for (auto kind : {WEFT_ALL_REDUCE, WEFT_REDUCE_SCATTER})
        all.push_back({kind, element, WEFT_SUM, false, 0, outer, first, 1, 1, inner});
      all.push_back({WEFT_ALL_GATHER, element, WEFT_SUM, false, 0, outer, first, 1, 1, inner});
      for (bool is_reversed : {false, true})
        all.push_back(
            {WEFT_ALL_TO_ALL, element, WEFT_SUM, is_reversed, 0, outer, first, 2, second, inner});
      all.push_back(
          {WEFT_BROADCAST, element, WEFT_SUM, false, world - 1, outer, first, 1, 1, inner});
      for (int32_t shift : {1, -1, 0})
        for (bool is_mirrored : {false, true})
          if (std::abs(shift) < world)
            all.push_back(
                {WEFT_PERMUTE, element, WEFT_SUM, is_mirrored, shift, outer, first, 1, 1, inner});
    }
  return all;
}

/// Numbers of the shapes that were wrong, of all ranks.
std::vector<size_t> wrong_ones(const std::string &transport, int32_t world,
                               const std::vector<shape> &shapes,
                               memory_kind memory = memory_kind::separate) {
  shared_array<uint8_t> is_wrong(shapes.size());
  std::vector<verdict> all =
      run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
        void **areas = nullptr;
        if (memory == memory_kind::shared)
          if (weft_status_t status = weft_group_share(group, 2 * half_area, &areas, err))
            return status;
        uint8_t *area = areas ? (uint8_t *)areas[weft_group_rank(group)] : nullptr;
        for (size_t i = 0; i < shapes.size(); ++i) {
          weft_status_t status;
          if (!is_right(group, shapes[i], memory, area, &status, err))
            __atomic_store_n(&is_wrong[i], 1, __ATOMIC_RELAXED);
          if (status != WEFT_OK)
            return status;
        }
        return WEFT_OK;
      });
  for (const verdict &each : all) {
    INFO(transport << ", " << world << " ranks");
    REQUIRE(each.text == "");
    REQUIRE(each.signal == 0);
  }
  std::vector<size_t> out;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (is_wrong[i])
      out.push_back(i);
  return out;
}

/// A dimension of which ranks have parts, and so many rows of a part at a time.
struct pieces_of_part {
  int64_t first, rows;

  weft_status_t run(weft_group_t *group, weft_collective_kind_t kind, weft_error_t *err) const {
    const int64_t width = 5, bytes = 4 * width;
    shape s = {kind, WEFT_F32, WEFT_SUM, false, 0, 1, first, 1, 1, width};
    int32_t rank = weft_group_rank(group), world = weft_group_world(group);
    std::vector<uint8_t> send = encode(s.element, s.sent(world, rank).values);
    std::vector<uint8_t> expected = encode(s.element, s.expected(world, rank).values);
    std::vector<uint8_t> receive(expected.size(), 0xEE);
    std::vector<uint8_t> &part = kind == WEFT_ALL_GATHER ? send : receive;
    int64_t own = int64_t(part.size() - 1) / bytes, largest = (first + world - 1) / world;
    for (int64_t from = 0; from < largest; from += rows) {
      uint8_t *at = part.data() + std::min(from, own) * bytes;
      weft_collective_t c = collective_of(kind, s.element, first, send.data(), receive.data());
      if (kind == WEFT_ALL_GATHER)
        c.send = at;
      else
        c.receive = at;
      c.combiner = uint16_t(s.combiner);
      c.inner = width;
      c.from = from;
      c.rows = rows;
      if (weft_status_t status = weft_group_collective(group, &c, err))
        return status;
    }
    return receive == expected ? WEFT_OK : WEFT_BUSY;
  }
};
} // namespace

TEST_CASE(
    "every collective gives what is computed directly, for all numbers of ranks and extents") {
  for (const char *transport : {"threads", "shm"})
    for (int32_t world : {1, 2, 3, 4, 8})
      CHECK(wrong_ones(transport, world, shapes_of(world, WEFT_F32)) == std::vector<size_t>());
}

TEST_CASE("elements of every size are moved as they are") {
  for (weft_element_t element : {WEFT_I8, WEFT_BF16, WEFT_F64})
    CHECK(wrong_ones("threads", 3, shapes_of(3, element)) == std::vector<size_t>());
}

TEST_CASE("every type has sums, products, largest and smallest ones") {
  std::vector<shape> shapes;
  for (weft_element_t element : combined_elements)
    for (auto combiner : {WEFT_SUM, WEFT_MAX, WEFT_MIN, WEFT_PROD})
      for (int64_t first : {5, 3000})
        for (auto kind : {WEFT_ALL_REDUCE, WEFT_REDUCE_SCATTER})
          shapes.push_back({kind, element, combiner, false, 0, 2, first, 1, 1, 3});
  for (auto combiner : {WEFT_MAX, WEFT_MIN})
    shapes.push_back({WEFT_ALL_REDUCE, WEFT_BOOL, combiner, false, 0, 1, 9, 1, 1, 1});
  for (int32_t world : {2, 3, 8})
    CHECK(wrong_ones("threads", world, shapes) == std::vector<size_t>());
}

TEST_CASE("all_reduce and broadcast work in place") {
  std::vector<shape> shapes;
  for (int64_t first : {0, 1, 7, 5000, 100000}) {
    shapes.push_back({WEFT_ALL_REDUCE, WEFT_F32, WEFT_SUM, false, 0, 1, first, 1, 1, 1});
    shapes.push_back({WEFT_ALL_REDUCE, WEFT_BF16, WEFT_MAX, false, 0, 1, first, 1, 1, 1});
    shapes.push_back({WEFT_BROADCAST, WEFT_I32, WEFT_SUM, false, 0, 1, first, 1, 1, 1});
  }
  for (int32_t world : {1, 2, 4})
    CHECK(wrong_ones("threads", world, shapes, memory_kind::in_place) == std::vector<size_t>());
}

TEST_CASE("random shapes in one long sequence are right") {
  std::mt19937 random(5);
  for (int32_t world : {2, 3}) {
    std::vector<shape> shapes;
    for (int i = 0; i < 400; ++i) {
      auto size = [&](uint32_t most) { return int64_t(random() % (most + 1)); };
      auto kind = weft_collective_kind_t(1 + random() % 6);
      auto element = combined_elements[random() % combined_elements.size()];
      int32_t peer = int32_t(random() % uint32_t(world));
      shapes.push_back({kind, element, WEFT_SUM, random() % 2 == 0, peer, size(4),
                        size(random() % 8 ? 20 : 9000), size(3), size(9), size(6)});
    }
    CHECK(wrong_ones("threads", world, shapes) == std::vector<size_t>());
    CHECK(wrong_ones("shm", world, shapes) == std::vector<size_t>());
  }
}

/// Sums of numbers whose order shows, of one rank after the other.
static std::vector<float> float_sums(const std::string &transport, int32_t world, int64_t count) {
  shared_array<float> results(size_t(world) * size_t(count));
  std::vector<verdict> all =
      run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
        int32_t rank = weft_group_rank(group);
        std::mt19937 random(unsigned(rank) + 1);
        std::vector<float> own;
        for (int64_t i = 0; i < count; ++i)
          own.push_back(std::ldexp(float(random()), int(random() % 40) - 40));
        weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, count, own.data(),
                                            &results[size_t(rank) * size_t(count)]);
        return weft_group_collective(group, &c, err);
      });
  for (const verdict &each : all)
    REQUIRE(each.text == "");
  return std::vector<float>(results.data, results.data + size_t(world) * size_t(count));
}

TEST_CASE("sums run in the order of ranks: the same bits on every rank and every transport") {
  for (int32_t world : {2, 3, 5})
    for (int64_t count : {7, 4099, 70001}) {
      std::vector<float> expected;
      for (int32_t rank = 0; rank < world; ++rank) {
        std::mt19937 random(unsigned(rank) + 1);
        for (int64_t i = 0; i < count; ++i) {
          float value = std::ldexp(float(random()), int(random() % 40) - 40);
          if (rank == 0)
            expected.push_back(value);
          else
            expected[size_t(i)] += value;
        }
      }
      for (const char *transport : {"threads", "shm"}) {
        std::vector<float> all = float_sums(transport, world, count);
        for (int32_t rank = 0; rank < world; ++rank)
          REQUIRE(memcmp(&all[size_t(rank * count)], expected.data(),
                         expected.size() * sizeof(float)) == 0);
      }
    }
}

TEST_CASE("memory that ranks share is seen by all, and sent from where it lies") {
  for (const char *transport : {"threads", "shm"})
    for (int32_t world : {1, 2, 3}) {
      constexpr int64_t count = 50000;
      shared_array<uint8_t> is_right(static_cast<size_t>(world));
      std::vector<verdict> all =
          run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
            int32_t rank = weft_group_rank(group);
            void **first = nullptr, **second = nullptr;
            if (weft_status_t status = weft_group_share(group, 100, &first, err))
              return status;
            if (weft_status_t status = weft_group_share(group, 2 * count * 4, &second, err))
              return status;
            int32_t *own = (int32_t *)second[rank], *result = own + count;
            bool is_zero = own[0] == 0 && own[2 * count - 1] == 0 && *(int32_t *)first[rank] == 0;
            *(int32_t *)first[rank] = 100 + rank;
            for (int32_t i = 0; i < count; ++i)
              own[i] = (rank + 1) * i;
            weft_status_t status = WEFT_OK;
            bool is_sum = true;
            for (int round = 0; round < 20 && !status; ++round) {
              weft_collective_t c =
                  collective_of(WEFT_ALL_REDUCE, WEFT_I32, count - round, own, result);
              status = weft_group_collective(group, &c, err);
              for (int32_t i = 0; i < count - round; ++i)
                is_sum = is_sum && result[i] == world * (world + 1) / 2 * i;
              result[round] = 0;
            }
            for (int32_t peer = 0; peer < world && !status; ++peer)
              is_sum = is_sum && *(int32_t *)first[peer] == 100 + peer;
            // Others still look at this rank's number.
            weft_collective_t c = collective_of(WEFT_ALL_GATHER, WEFT_U8, 0, nullptr, nullptr);
            status = status ? status : weft_group_collective(group, &c, err);
            is_right[size_t(rank)] = is_zero && is_sum;
            return status;
          });
      for (int32_t rank = 0; rank < world; ++rank) {
        REQUIRE(all[size_t(rank)].text == "");
        REQUIRE(is_right[size_t(rank)]);
      }
    }
}

TEST_CASE("every collective is right in memory that ranks share") {
  for (int32_t world : {2, 3})
    CHECK(wrong_ones("shm", world, shapes_of(world, WEFT_F32), memory_kind::shared) ==
          std::vector<size_t>());
}

TEST_CASE("what is too large for the caches is right, of odd sizes and in long and short runs") {
  std::vector<shape> shapes;
  for (auto [outer, first] :
       {std::pair<int64_t, int64_t>{1, 4200007}, {3, 1500001}, {20000, 211}}) {
    shapes.push_back({WEFT_ALL_GATHER, WEFT_I8, WEFT_SUM, false, 0, outer, first, 1, 1, 1});
    shapes.push_back({WEFT_BROADCAST, WEFT_I8, WEFT_SUM, false, 1, outer, first, 1, 1, 1});
    shapes.push_back({WEFT_PERMUTE, WEFT_I8, WEFT_SUM, false, 1, outer, first, 1, 1, 1});
    shapes.push_back({WEFT_ALL_TO_ALL, WEFT_I8, WEFT_SUM, false, 0, outer, first / 3, 1, 3, 1});
  }
  for (memory_kind memory : {memory_kind::separate, memory_kind::shared})
    CHECK(wrong_ones("shm", 2, shapes, memory) == std::vector<size_t>());
}

TEST_CASE(
    "what is written past the caches lies where it belongs, and nothing beside it is touched") {
  for (int64_t run : {1, 1000, 1024, 1091, 5003})
    for (int64_t offset : {0, 1, 63}) {
      weft_view_t to = {offset, 3, run, run + 7}, from = {0, 1, 3 * run, 0};
      std::vector<uint8_t> source(size_t(3 * run)), target(size_t(3 * run + 100), 0xEE);
      std::iota(source.begin(), source.end(), uint8_t(1));
      std::vector<uint8_t> expected = target;
      weft_range_t range = {2, 3 * run - 1, true};
      for (int64_t i = range.begin; i < range.end; ++i)
        expected[size_t(offset + i / run * (run + 7) + i % run)] = source[size_t(i)];
      weft_copy_view(to, target.data(), from, source.data(), range, 1);
      INFO("runs of " << run << " at " << offset);
      CHECK(target == expected);
    }
}

TEST_CASE("pieces of parts come to lie where the whole would") {
  for (const char *transport : {"threads", "shm"})
    for (int32_t world : {1, 2, 3, 4})
      for (pieces_of_part pieces :
           {pieces_of_part{0, 2}, {1, 1}, {13, 2}, {40, 7}, {30011, 4000}}) {
        INFO(transport << ", " << world << " ranks, " << pieces.rows << " of " << pieces.first);
        for (const verdict &each :
             run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
               for (auto kind : {WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER})
                 if (weft_status_t status = pieces.run(group, kind, err))
                   return status;
               return WEFT_OK;
             })) {
          CHECK(each.status == WEFT_OK); // BUSY: something else came out
          CHECK(each.text == "");
        }
      }
}

TEST_CASE("ranks that share different numbers of bytes are told so, and go on") {
  for (const char *transport : {"threads", "shm"}) {
    std::vector<verdict> all = run_ranks(transport, 2, [&](weft_group_t *group, weft_error_t *err) {
      void **peers = nullptr;
      weft_status_t status =
          weft_group_share(group, 5000 + 5000 * weft_group_rank(group), &peers, err);
      weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, 0, nullptr, nullptr);
      weft_error_t later = WEFT_ERROR_INIT;
      return weft_group_collective(group, &c, &later) || peers ? WEFT_BUSY : status;
    });
    for (const verdict &each : all)
      CHECK(each.text == "W0604 rank 1 shares 12288 bytes, but rank 0 8192");
  }
}

TEST_CASE("a group is split by colour and key, and the parts work side by side") {
  for (const char *transport : {"threads", "shm"}) {
    shared_array<int32_t> sums(5), ranks(5);
    std::vector<verdict> all = run_ranks(transport, 5, [&](weft_group_t *group, weft_error_t *err) {
      int32_t rank = weft_group_rank(group), color = rank == 4 ? -1 : rank % 2;
      weft_group_t *part = nullptr;
      weft_status_t status = weft_group_split(group, color, -rank, &part, err);
      if (status != WEFT_OK || !part)
        return status == WEFT_OK && color >= 0 ? WEFT_INVALID : status;
      weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_I32, 1, &rank, &sums[size_t(rank)]);
      status = weft_group_collective(part, &c, err);
      ranks[size_t(rank)] = 10 * weft_group_world(part) + weft_group_rank(part);
      weft_group_release(part);
      return status;
    });
    for (const verdict &each : all)
      REQUIRE(each.text == "");
    REQUIRE(std::vector<int32_t>(sums.data, sums.data + 5) == std::vector<int32_t>{2, 4, 2, 4, 0});
    REQUIRE(std::vector<int32_t>(ranks.data, ranks.data + 5) ==
            std::vector<int32_t>{21, 21, 20, 20, 0});
  }
}

TEST_CASE("a collective that no rank could do is refused before anything is sent") {
  float data[8] = {};
  auto refusal = [&](const std::function<void(weft_collective_t &)> &change) {
    std::vector<verdict> all = run_ranks("threads", 1, [&](weft_group_t *group, weft_error_t *err) {
      weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, 4, data, data);
      change(c);
      weft_status_t status = weft_group_collective(group, &c, err);
      weft_collective_t good = collective_of(WEFT_ALL_REDUCE, WEFT_F32, 4, data, data);
      return weft_group_collective(group, &good, nullptr) ? WEFT_BUSY : status;
    });
    CHECK(all[0].status == WEFT_INVALID);
    return all[0].text;
  };
  CHECK(refusal([](auto &c) { c.kind = 0; }) == "W0602 there is no collective of kind 0");
  CHECK(refusal([](auto &c) { c.kind = 7; }) == "W0602 there is no collective of kind 7");
  CHECK(refusal([](auto &c) { c.element = WEFT_I4; }) ==
        "W0602 all_reduce: elements of type i4 cannot be sent");
  CHECK(refusal([](auto &c) { c.element = WEFT_BOOL; }) ==
        "W0602 all_reduce: there is no sum of bool");
  CHECK(refusal([](auto &c) { c.element = WEFT_F8E4M3; }) ==
        "W0602 all_reduce: there is no sum of f8e4m3");
  CHECK(refusal([](auto &c) { c.combiner = 9; }) == "W0602 all_reduce: there is no ? of f32");
  CHECK(refusal([](auto &c) { c.first = -1; }) == "W0602 all_reduce: a size is -1");
  CHECK(refusal([](auto &c) { c.first = int64_t(1) << 62; }) ==
        "W0602 all_reduce: more than 16 TiB");
  CHECK(refusal([](auto &c) { c.rows = 2; }) ==
        "W0602 all_reduce: 2 rows from row 0 on are no piece");
  CHECK(refusal([](auto &c) {
          c.kind = WEFT_ALL_GATHER;
          c.from = 1;
        }) == "W0602 all_gather: 0 rows from row 1 on are no piece");
  CHECK(refusal([](auto &c) { c.send = nullptr; }) == "W0602 all_reduce: send is NULL");
  CHECK(refusal([](auto &c) { c.receive = nullptr; }) == "W0602 all_reduce: receive is NULL");
  CHECK(refusal([&](auto &c) { c.receive = data + 1; }) ==
        "W0602 all_reduce: send and receive overlap");
  CHECK(refusal([](auto &c) { c.kind = WEFT_PERMUTE; }) ==
        "W0602 permute: send and receive overlap");
  CHECK(refusal([](auto &c) {
          c.kind = WEFT_PERMUTE;
          c.peer = 1;
        }) == "W0602 permute: 1 ranks cannot be shifted by 1");
  CHECK(refusal([](auto &c) {
          c.kind = WEFT_BROADCAST;
          c.peer = 1;
        }) == "W0602 broadcast: rank 1 of 1 ranks is the root");
}

TEST_CASE(
    "a permute whose ranks have other sizes says what it sends, what it gets and the most of all") {
  const int32_t world = 3;
  for (const char *transport : {"threads", "shm"})
    for (int64_t longest : {int64_t(5), int64_t(100000)}) {
      auto size_of = [&](int32_t rank) { return rank == 2 ? 0 : longest - 2 * rank; };
      shared_array<int32_t> got(size_t(world * longest));
      auto all = run_ranks(transport, world, [&](weft_group_t *group, weft_error_t *err) {
        int32_t rank = weft_group_rank(group), before = (rank + world - 1) % world;
        std::vector<int32_t> own(size_t(size_of(rank)) + 1);
        for (size_t i = 0; i < own.size(); ++i)
          own[i] = int32_t(i) * world + rank;
        weft_collective_t c = collective_of(WEFT_PERMUTE, WEFT_I32, size_of(rank), own.data(),
                                            &got[size_t(rank * longest)]);
        c.peer = 1;
        c.received = size_of(before);
        c.longest = longest;
        return weft_group_collective(group, &c, err);
      });
      int64_t wrong = 0;
      for (int32_t rank = 0; rank < world; ++rank) {
        REQUIRE(all[size_t(rank)].text == "");
        int32_t before = (rank + world - 1) % world;
        for (int64_t i = 0; i < longest; ++i)
          wrong += got[size_t(rank * longest + i)] !=
                   (i < size_of(before) ? int32_t(i) * world + before : 0);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("a permute of more than the most is refused, and ranks that say another most differ") {
  auto ends = [&](int64_t first, int64_t received, std::vector<int64_t> longest) {
    return run_ranks("threads", 2, [&](weft_group_t *group, weft_error_t *err) {
      int32_t data[8] = {}, result[8];
      weft_collective_t c = collective_of(WEFT_PERMUTE, WEFT_I32, first, data, result);
      c.peer = 1;
      c.received = received;
      c.longest = longest[size_t(weft_group_rank(group))];
      return weft_group_collective(group, &c, err);
    });
  };
  CHECK(ends(4, 3, {3, 3})[0].text ==
        "W0602 permute: 4 elements are sent and 3 received, of 3 at most");
  CHECK(ends(3, 4, {3, 3})[1].text ==
        "W0602 permute: 3 elements are sent and 4 received, of 3 at most");
  CHECK(ends(3, 3, {3, 5})[0].status == WEFT_MISMATCH);
}

TEST_CASE("what a rank has put in its place is not copied there again") {
  for (const std::string transport : {"threads", "shm"}) {
    std::vector<verdict> all =
        run_ranks(transport, 3, [](weft_group_t *group, weft_error_t *err) -> weft_status_t {
          int32_t rank = weft_group_rank(group);
          for (int64_t part : {5, 50000}) { // through the window, and where it lies
            std::vector<float> own, got;
            own.assign(size_t(part), float(rank));
            got.assign(size_t(3 * part), -1);
            weft_collective_t c =
                collective_of(WEFT_ALL_GATHER, WEFT_F32, 3 * part, own.data(), got.data());
            c.is_placed = 1;
            if (weft_status_t status = weft_group_collective(group, &c, err))
              return status;
            for (int64_t i = 0; i < 3 * part; ++i)
              if (got[size_t(i)] != (i / part == rank ? -1 : float(i / part)))
                return WEFT_INVALID;
          }
          return WEFT_OK;
        });
    for (const verdict &each : all)
      CHECK(each.status == WEFT_OK);
  }
}
