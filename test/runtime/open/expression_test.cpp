#include <catch2/catch.hpp>

#include <optional>
#include <random>
#include <vector>

#include "runtime/src/open/expression.h"
#include "weft/artifact.h"

using code = std::vector<uint8_t>;

static void add_number(code &out, uint64_t value) {
  for (; value > 0x7F; value >>= 7)
    out.push_back(uint8_t(value) | 0x80);
  out.push_back(uint8_t(value));
}

static code constant(int64_t value) {
  code out = {WEFT_CODE_CONST};
  add_number(out, uint64_t(value) << 1 ^ uint64_t(value >> 63));
  return out;
}

static code join(std::vector<code> parts) {
  code out;
  for (const code &part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

static bool check(const code &c, uint32_t symbols = 3) {
  return weft_code_check(c.data(), c.size(), symbols);
}

static std::optional<int64_t> run(const code &c, std::vector<int64_t> symbols = {}) {
  REQUIRE(check(c, uint32_t(symbols.size())));
  int64_t value;
  if (!weft_code_run(c.data(), c.size(), symbols.data(), &value))
    return std::nullopt;
  return value;
}

TEST_CASE("every operation computes what the format says") {
  auto binary = [](int64_t a, int64_t b, weft_code_t operation) {
    return run(join({constant(a), constant(b), {uint8_t(operation)}}));
  };
  REQUIRE(binary(2, -5, WEFT_CODE_ADD) == -3);
  REQUIRE(binary(-4, 5, WEFT_CODE_MUL) == -20);
  REQUIRE(binary(7, 2, WEFT_CODE_FLOORDIV) == 3);
  REQUIRE(binary(-7, 2, WEFT_CODE_FLOORDIV) == -4);
  REQUIRE(binary(-8, 2, WEFT_CODE_FLOORDIV) == -4);
  REQUIRE(binary(1, 9, WEFT_CODE_BCAST) == 9);
  REQUIRE(binary(4, 1, WEFT_CODE_BCAST) == 4);
  REQUIRE(binary(4, 9, WEFT_CODE_MAX) == 9);
  REQUIRE(run(join({constant(-3), {WEFT_CODE_POS}})) == 0);
  REQUIRE(run({WEFT_CODE_SYMBOL, 1}, {5, 6}) == 6);
  REQUIRE(run(constant(INT64_MIN)) == INT64_MIN);
  REQUIRE(run(constant(INT64_MAX)) == INT64_MAX);
}

TEST_CASE("overflow and division by nothing are errors, not numbers") {
  auto fails = [](int64_t a, int64_t b, weft_code_t operation) {
    return !run(join({constant(a), constant(b), {uint8_t(operation)}}));
  };
  REQUIRE(fails(INT64_MAX, 1, WEFT_CODE_ADD));
  REQUIRE(fails(INT64_MIN, -1, WEFT_CODE_ADD));
  REQUIRE(fails(INT64_MIN, -1, WEFT_CODE_MUL));
  REQUIRE(fails(1ll << 32, 1ll << 31, WEFT_CODE_MUL));
  REQUIRE(fails(1, 0, WEFT_CODE_FLOORDIV));
  REQUIRE(fails(1, -1, WEFT_CODE_FLOORDIV));
  REQUIRE(fails(INT64_MIN, -1, WEFT_CODE_FLOORDIV));
}

TEST_CASE("malformed code is refused") {
  REQUIRE_FALSE(check({}));
  REQUIRE_FALSE(check({0}));
  REQUIRE_FALSE(check({WEFT_CODE_MAX + 1}));
  REQUIRE_FALSE(check({WEFT_CODE_CONST}));
  REQUIRE_FALSE(check({WEFT_CODE_CONST, 0x80}));
  REQUIRE_FALSE(check({WEFT_CODE_ADD}));
  REQUIRE_FALSE(check({WEFT_CODE_POS}));
  REQUIRE_FALSE(check(join({constant(1), {WEFT_CODE_ADD}})));
  REQUIRE_FALSE(check(join({constant(1), constant(2)})));
  REQUIRE(check({WEFT_CODE_SYMBOL, 2}, 3));
  REQUIRE_FALSE(check({WEFT_CODE_SYMBOL, 3}, 3));
  // Ten bytes hold 64 bits; the tenth may only be 0 or 1, and there is no eleventh.
  code longest = {WEFT_CODE_CONST, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
  REQUIRE(check(longest));
  longest.back() = 2;
  REQUIRE_FALSE(check(longest));
  longest.back() = 0x81;
  longest.push_back(0);
  REQUIRE_FALSE(check(longest));
}

TEST_CASE("the stack is 32 deep") {
  code c;
  for (int i = 0; i < 32; ++i)
    c = join({c, constant(i)});
  code more = join({c, constant(1)});
  for (int i = 0; i < 31; ++i)
    c.push_back(WEFT_CODE_ADD);
  REQUIRE(run(c) == 496);
  for (int i = 0; i < 32; ++i)
    more.push_back(WEFT_CODE_ADD);
  REQUIRE_FALSE(check(more));
}

TEST_CASE("code that is one symbol is recognised, mentions are found") {
  code s = {WEFT_CODE_SYMBOL, 2}, sum = join({s, constant(2), {WEFT_CODE_ADD}});
  REQUIRE(weft_code_symbol(s.data(), s.size()) == 2);
  REQUIRE(weft_code_symbol(sum.data(), sum.size()) == -1);
  code two = constant(2);
  REQUIRE(weft_code_symbol(two.data(), two.size()) == -1);
  REQUIRE(weft_code_uses(sum.data(), sum.size(), 2));
  REQUIRE_FALSE(weft_code_uses(sum.data(), sum.size(), 1));
}

namespace {
/// A random program together with its value computed in 128 bits.
struct random_program {
  std::mt19937_64 random;
  std::vector<int64_t> symbols;
  code out;

  explicit random_program(uint64_t seed) : random(seed) {
    for (int i = 0; i < 4; ++i)
      symbols.push_back(pick());
  }
  int64_t pick() {
    static const int64_t corners[] = {0, 1, -1, INT64_MAX, INT64_MIN, 1ll << 31, 1ll << 62};
    switch (random() % 4) {
    case 0:
      return corners[random() % 7];
    case 1:
      return int64_t(random()) >> (random() % 64);
    default:
      return int64_t(random() % 100) - 20;
    }
  }
  static std::optional<int64_t> narrow(__int128 value) {
    if (value > INT64_MAX || value < INT64_MIN)
      return std::nullopt;
    return int64_t(value);
  }
  static std::optional<int64_t> combine(int operation, int64_t a, int64_t b) {
    switch (operation) {
    case WEFT_CODE_ADD:
      return narrow(__int128(a) + b);
    case WEFT_CODE_MUL:
      return narrow(__int128(a) * b);
    case WEFT_CODE_FLOORDIV: {
      if (b <= 0)
        return std::nullopt;
      __int128 quotient = __int128(a) / b;
      return int64_t(quotient * b > a ? quotient - 1 : quotient);
    }
    case WEFT_CODE_BCAST:
      return a == 1 ? b : a;
    default:
      return std::max(a, b);
    }
  }
  std::optional<int64_t> emit(int depth) {
    unsigned kind = random() % (depth > 6 ? 2 : 8);
    if (kind == 0) {
      int64_t value = pick();
      out = join({out, constant(value)});
      return value;
    }
    if (kind == 1) {
      uint8_t index = random() % 4;
      out = join({out, {WEFT_CODE_SYMBOL, index}});
      return symbols[index];
    }
    std::optional<int64_t> a = emit(depth + 1);
    if (kind == 2) {
      out.push_back(WEFT_CODE_POS);
      return a ? std::optional<int64_t>(std::max<int64_t>(*a, 0)) : a;
    }
    std::optional<int64_t> b = emit(depth + 1);
    static const uint8_t binary[] = {WEFT_CODE_ADD, WEFT_CODE_MUL, WEFT_CODE_FLOORDIV,
                                     WEFT_CODE_BCAST, WEFT_CODE_MAX};
    uint8_t operation = binary[kind - 3];
    out.push_back(operation);
    return a && b ? combine(operation, *a, *b) : std::nullopt;
  }
};
} // namespace

TEST_CASE("random programs agree with a reference") {
  int values = 0, errors = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    random_program program(seed);
    std::optional<int64_t> expected = program.emit(0);
    INFO("seed " << seed);
    CHECK(run(program.out, program.symbols) == expected);
    ++(expected ? values : errors);
  }
  REQUIRE(values > 5000);
  REQUIRE(errors > 2000);
}

TEST_CASE("code that passes the check can be run, whatever it is") {
  std::mt19937_64 random(1);
  int passed = 0;
  for (int round = 0; round < 200000; ++round) {
    code c(1 + random() % 12);
    for (uint8_t &byte : c)
      byte = random() % 4 ? uint8_t(random() % 10) : uint8_t(random());
    if (!check(c, 2))
      continue;
    ++passed;
    int64_t symbols[2] = {int64_t(random()), 3}, value;
    weft_code_run(c.data(), c.size(), symbols, &value);
    weft_code_uses(c.data(), c.size(), 1);
    weft_code_symbol(c.data(), c.size());
  }
  REQUIRE(passed > 1000);
}
