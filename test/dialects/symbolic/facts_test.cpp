// Proofs: a table of goals with expected answers, then random goals against brute force over small boxes.
#include "Helpers.h"
#include <chrono>
#include <thread>

using namespace weft;
using namespace weft::test;

static SymFacts factsOf(mlir::MLIRContext &context, llvm::ArrayRef<const char *> texts) {
  SymFacts facts(&context);
  for (const char *text : texts)
    facts = facts.with(parsePred(context, text));
  return facts;
}

static const char *name(Proof proof) {
  return proof == Proof::Yes ? "yes" : proof == Proof::No ? "no" : "unknown";
}

namespace {
struct Row {
  std::vector<const char *> facts;
  const char *goal;
  Proof expected;
};
} // namespace

// clang-format off
static const Row table[] = {
    // (1) constant differences
    {{}, "n + 1 <= n", Proof::No},
    {{}, "n <= n + 1", Proof::Yes},
    {{}, "n*(m + 1) == n*m + n", Proof::Yes},
    {{}, "12*64 == 768", Proof::Yes},
    {{}, "2*n + 1 == 2*m", Proof::No},
    // every symbol is in [0, 2^31)
    {{}, "0 <= n", Proof::Yes},
    {{}, "1 <= n", Proof::Unknown},
    {{}, "n <= 2147483647", Proof::Yes},
    {{}, "n == -1", Proof::No},
    {{}, "n == m", Proof::Unknown},
    {{}, "0 <= b*s*64", Proof::Yes},
    // (2) facts, and parts of them
    {{"ps == p + s or ps == 1"}, "ps == p + s or ps == 1", Proof::Yes},
    {{"ps == p + s or ps == 1"}, "ps == 1 or ps == s + p or ps == 7", Proof::Yes},
    {{"ps == p + s or ps == 1"}, "ps == 1", Proof::Unknown},
    {{"1 <= s"}, "2 <= 2*s", Proof::Yes},
    {{"M == S or M == 1"}, "M == S or M == 1 or S == 1", Proof::Yes},
    // (3) equalities
    {{"ps == p + s"}, "ps*64 == 64*p + 64*s", Proof::Yes},
    {{"ps == p + s"}, "ps == p", Proof::Unknown},
    {{"ps == p + s", "1 <= s"}, "ps == p", Proof::No},
    {{"ps == p + s", "1 <= s"}, "1 <= ps", Proof::Yes},
    {{"n == m", "m == k"}, "n == k", Proof::Yes},
    {{"n == m + 1", "m == n + 1"}, "n == 5", Proof::Yes},   // contradictory facts prove anything
    {{"n == 3"}, "floordiv(n*m, 3) == m", Proof::Yes},
    // divisibility
    {{}, "2*floordiv(d, 2) == d", Proof::Unknown},
    {{"mod(d, 2) == 0"}, "2*floordiv(d, 2) == d", Proof::Yes},
    {{"mod(n, 8) == 0"}, "4*floordiv(n, 4) == n", Proof::Yes},
    {{"mod(n, 8) == 0"}, "mod(n, 4) == 0", Proof::Yes},
    {{"mod(n, 8) == 0"}, "mod(n, 16) == 0", Proof::Unknown},
    {{"mod(n, 8) == 3"}, "mod(n, 4) == 3", Proof::Yes},
    {{"mod(n, 8) == 3"}, "mod(n, 2) == 0", Proof::No},
    {{"mod(n, 6) == 0", "mod(n, 4) == 0"}, "mod(n, 12) == 0", Proof::Yes},
    {{"mod(s, 2) == 0", "mod(p, 4) == 0"}, "mod(s + p, 2) == 0", Proof::Yes},
    {{"mod(p + s, 8) == 0", "mod(p, 8) == 0"}, "mod(s, 8) == 0", Proof::Yes},
    {{"s <= 512", "mod(s, 8) == 0"}, "4*ceildiv(s, 4) == s", Proof::Yes},
    {{"mod(H, 2) == 1"}, "2*ceildiv(H, 2) == H + 1", Proof::Yes},
    {{}, "2*n + 2*m == 2*q + 1", Proof::No},
    {{"mod(n, 4) == 0"}, "mod(n + 2, 4) == 2", Proof::Yes},
    {{"mod(n, 4) == 5"}, "n == n + 1", Proof::No},
    // (4) intervals
    {{"1 <= b", "b <= 64"}, "b <= 64*b", Proof::Yes},
    {{"s <= 512"}, "min(s, 512) == s", Proof::Yes},
    {{"513 <= s"}, "min(s, 512) == 512", Proof::Yes},
    {{"b*s <= 4096", "1 <= b"}, "s <= 4096", Proof::Yes},
    {{"p + s <= 2048"}, "s <= 2048", Proof::Yes},
    {{}, "mod(n, 4) <= 3", Proof::Yes},
    {{}, "min(n, 7) <= 7", Proof::Yes},
    {{}, "n <= max(n, m)", Proof::Yes},
    // (5) linear arithmetic
    {{"1 <= n"}, "4*n + 1 <= 5*n", Proof::Yes},
    {{}, "floordiv(d, 2) + ceildiv(d, 2) <= d", Proof::Yes},
    {{}, "d <= floordiv(d, 2) + ceildiv(d, 2)", Proof::Yes},
    {{}, "floordiv(d, 2) + ceildiv(d, 2) == d", Proof::Yes},
    {{}, "d <= 2*ceildiv(d, 2)", Proof::Yes},
    {{}, "min(2*ceildiv(d, 2), d) == d", Proof::Yes},
    {{}, "4*ceildiv(n, 4) <= n + 3", Proof::Yes},
    {{}, "4*floordiv(h, 4) <= h", Proof::Yes},
    {{"3 <= h"}, "1 <= floordiv(h - 3, 2) + 1", Proof::Yes},
    {{}, "max(n, m) <= n + m", Proof::Yes},
    {{}, "max(max(n, m), p) == max(n, max(m, p))", Proof::Yes},
    {{}, "min(min(n, m), p) <= n", Proof::Yes},
    {{"n <= m"}, "max(n, m) == m", Proof::Yes},
    {{"n <= m"}, "min(n, m) == m", Proof::Unknown},
    {{"p + s <= cap"}, "s <= cap", Proof::Yes},
    {{"p + s <= cap"}, "p + s + 1 <= cap", Proof::Unknown},
    {{"i + 1 <= t"}, "p + i + 1 <= p + t", Proof::Yes},
    {{"n <= m", "m <= n"}, "n == m", Proof::Yes},
    {{"n <= m", "m <= k", "k + 1 <= j"}, "n == j", Proof::No},
    // products
    {{"1 <= b", "1 <= s"}, "s <= b*s", Proof::Yes},
    {{"1 <= n", "1 <= m"}, "n + m <= n*m + 1", Proof::Yes},
    {{}, "n <= n*n", Proof::Yes},
    {{"1 <= b", "p + s <= cap"}, "b*s <= b*cap", Proof::Yes},
    {{"p + s <= cap"}, "b*s <= b*cap", Proof::Yes},
    {{"p + s <= cap"}, "b*p*64 + b*s*64 <= 64*b*cap", Proof::Yes},
    {{}, "4*b*floordiv(s, 4) <= b*s", Proof::Yes},
    {{"1 <= k"}, "k*floordiv(n, k) <= n", Proof::Yes},
    {{}, "k*floordiv(n, k) <= n", Proof::Yes},            // the goal's own divisor counts as positive
    {{}, "n <= k*ceildiv(n, k)", Proof::Yes},
    {{}, "mod(n, k) + 1 <= k", Proof::Yes},
    // broadcasting
    {{"n == m or n == 1"}, "bcast(n, m) == m", Proof::Yes},
    {{"n == m"}, "bcast(n, m) == m", Proof::Yes},
    {{"2 <= m"}, "bcast(n, m) == m", Proof::Yes},
    {{}, "bcast(n, m) == m", Proof::Unknown},
    {{"M == S or M == 1"}, "b*bcast(M, S) == b*S", Proof::Yes},
    {{}, "n <= bcast(n, m)", Proof::Unknown},             // bcast(1, 0) = 0
    {{"1 <= m"}, "n <= bcast(n, m)", Proof::Yes},
    // alternatives
    {{"j == n or j == 2*n"}, "j <= 2*n", Proof::Yes},
    {{"j == n or j == 2*n"}, "n <= j", Proof::Yes},
    {{"j == n or j == 2*n"}, "j == 3*n + 1", Proof::No},
    {{"j == n or j == 2*n"}, "mod(j, n) == 0", Proof::Yes},
    {{"n <= 3 or 10 <= n"}, "n == 5", Proof::No},
    {{"n <= 3 or 10 <= n", "4 <= n"}, "10 <= n", Proof::Yes},
    {{}, "n <= 4 or 5 <= n", Proof::Yes},
    {{}, "n <= m or m <= n", Proof::Yes},
    {{"n == 1 or m == 1", "2 <= n"}, "m == 1", Proof::Yes},
    // a check must not be proved by an expression that it guards
    {{"floordiv(n, k) <= 5"}, "1 <= k", Proof::Unknown},
    {{"bcast(n, m) <= 512"}, "n == m or n == 1 or m == 1", Proof::Unknown},
};
// clang-format on

TEST_CASE("the table of goals") {
  mlir::MLIRContext context;
  double worst = 0;
  const char *worstGoal = "";
  for (const Row &row : table) {
    SymFacts facts = factsOf(context, row.facts);
    SymPred goal = parsePred(context, row.goal);
    auto start = std::chrono::steady_clock::now();
    Proof proof = facts.prove(goal);
    std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    if (passed.count() > worst) {
      worst = passed.count();
      worstGoal = row.goal;
    }
    std::string given;
    for (const char *fact : row.facts)
      given += std::string(fact) + ", ";
    INFO(given << "|- " << row.goal);
    CHECK(std::string(name(proof)) == name(row.expected));
  }
  WARN("slowest proof: " << worstGoal << ", " << worst << " ms");
}

static std::string text(SymInterval range) {
  return "[" + (range.low ? std::to_string(*range.low) : "-") + ", " +
         (range.high ? std::to_string(*range.high) : "-") + "]";
}

namespace {
struct TextRow {
  std::vector<const char *> facts;
  const char *expr, *expected;
};
} // namespace

TEST_CASE("bounds") {
  mlir::MLIRContext context;
  // clang-format off
  const TextRow rows[] = {
      {{}, "n", "[0, 2147483647]"},
      {{}, "n*m*p", "[0, -]"},
      {{}, "-n*m*p", "[-, 0]"},
      {{}, "mod(n, 8)", "[0, 7]"},
      {{}, "n - m", "[-2147483647, 2147483647]"},
      {{"n <= 10"}, "2*n + 1", "[1, 21]"},
      {{"3 <= n", "n <= 9"}, "n - 3", "[0, 6]"},
      {{"3 <= n", "n <= 9"}, "20 - n*n", "[-61, 11]"},
      {{"n <= 100"}, "ceildiv(n, 32)", "[0, 4]"},
      {{"n <= 100"}, "floordiv(n, 32)", "[0, 3]"},
      {{"s <= 512"}, "min(s, 100)", "[0, 100]"},
      {{"s <= 512"}, "max(s, 100)", "[100, 512]"},
      {{"s <= 512"}, "2*pos(s - 100)", "[0, 824]"},
      {{"1 <= b", "b <= 64", "p + s <= 2048"}, "64*b*p + 64*b*s", "[0, 8388608]"},
      {{"p + s <= 2048"}, "p + s", "[0, 2048]"},
      {{"u1 <= b*s", "b <= 4", "s <= 8"}, "u1", "[0, 32]"},
      {{"ps == p + s", "p <= 3", "s <= 4"}, "ps", "[0, 7]"},
      {{"j == n or j == 2*n", "n <= 10"}, "j", "[0, 20]"},
      {{"ps == p + s or ps == 1", "p + s <= 2048"}, "ps", "[0, 2048]"},
      {{"mod(n, 8) == 0", "1 <= n", "n <= 100"}, "n", "[8, 96]"},
      {{"n <= 4", "m <= 6"}, "bcast(n, m)", "[0, 6]"},
  };
  // clang-format on
  for (const TextRow &row : rows) {
    INFO(row.expr);
    CHECK(text(factsOf(context, row.facts).bounds(parse(context, row.expr))) == row.expected);
  }
}

TEST_CASE("simplify") {
  mlir::MLIRContext context;
  // clang-format off
  const TextRow rows[] = {
      {{}, "n + 1", "n + 1"},
      {{"ps == p + s"}, "64*ps", "64*p + 64*s"},
      {{"s <= 512"}, "min(s, 512)", "s"},
      {{"512 <= s"}, "min(s, 512)", "512"},
      {{"n <= m"}, "2*max(n, m)", "2*m"},
      {{"n == m or n == 1"}, "b*bcast(n, m)", "b*m"},
      {{"2 <= m"}, "bcast(n, m)", "m"},
      {{"n == 1"}, "bcast(n, m)", "m"},
      {{}, "bcast(n, m)", "bcast(m, n)"},
      {{}, "min(2*ceildiv(d, 2), d)", "d"},
      {{"mod(n, 8) == 0"}, "4*floordiv(n, 4)", "n"},
      {{"mod(H, 2) == 0"}, "2*c*floordiv(H, 2) + 1", "H*c + 1"},
      {{"mod(n, 8) == 0"}, "mod(n, 4)", "0"},
      {{"n == 3"}, "n*m + floordiv(n, 2)", "3*m + 1"},
      {{"n == m", "m == k"}, "n + m + k", "3*k"},
  };
  // clang-format on
  for (const TextRow &row : rows) {
    INFO(row.expr);
    CHECK(factsOf(context, row.facts).simplify(parse(context, row.expr)).str() == row.expected);
  }
}

TEST_CASE("divisors") {
  mlir::MLIRContext context;
  auto divisor = [&](llvm::ArrayRef<const char *> facts, const char *symbol) {
    return factsOf(context, facts).divisor(mlir::StringAttr::get(&context, symbol));
  };
  CHECK(divisor({}, "n") == 1);
  CHECK(divisor({"mod(n, 8) == 0"}, "n") == 8);
  CHECK(divisor({"mod(n, 6) == 0", "mod(n, 4) == 0"}, "n") == 12);
  CHECK(divisor({"n == 4*m"}, "n") == 4);
  CHECK(divisor({"mod(n, 8) == 4"}, "n") == 4);
  CHECK(divisor({"mod(n, 8) == 0"}, "m") == 1);
  CHECK(divisor({"n <= 5"}, "n") == 1);
}

TEST_CASE("facts are immutable and shared") {
  mlir::MLIRContext context;
  SymFacts none(&context);
  SymPred positive = parsePred(context, "1 <= n");
  SymFacts some = none.with(positive);
  CHECK(none.facts().empty());
  REQUIRE(some.facts().size() == 1);
  CHECK(some.facts()[0] == positive);
  CHECK(none.prove(positive) == Proof::Unknown);
  CHECK(some.prove(positive) == Proof::Yes);
  // the same facts again are the same object: they share the memo
  CHECK(SymFacts(&context).with(positive).facts().data() == some.facts().data());
  CHECK(some.with(positive).facts().size() == 1);
}

TEST_CASE("overflow is never proved") {
  mlir::MLIRContext context;
  SymFacts facts(&context);
  SymExpr poison = parse(context, "overflow()"), n = parse(context, "n");
  CHECK(facts.proveEqual(poison, poison) == Proof::Unknown);
  CHECK(facts.proveLE(n, poison) == Proof::Unknown);
  CHECK(facts.with(SymPred::le(poison, n)).proveLE(poison, n) == Proof::Unknown);
  CHECK(facts.with(SymPred::equal(poison, n)).proveEqual(n, n + 1) == Proof::No);
  CHECK(!facts.bounds(poison).low);
  CHECK(facts.simplify(poison) == poison);
  // a difference that overflows although both sides do not
  SymExpr big = SymExpr::constant(&context, INT64_MAX),
          least = SymExpr::constant(&context, INT64_MIN);
  CHECK(facts.proveLE(big * n, least * n) == Proof::Unknown);
  SymFacts odd = facts.with(SymPred::le(big * n, least * n));
  CHECK(odd.proveLE(big * parse(context, "m"), least * parse(context, "m")) == Proof::Unknown);
}

TEST_CASE("threads make the same pointers and share facts") {
  mlir::MLIRContext context;
  SymFacts facts = factsOf(context, {"1 <= n", "p + s <= 2048"});
  constexpr unsigned count = 4;
  std::vector<std::vector<SymExpr>> made(count);
  std::vector<unsigned> proved(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      Random random(1); // the same expressions in every thread
      for (unsigned i = 0; i < 1500; ++i)
        made[t].push_back(randomTree(random, 3).build(context));
      for (unsigned i = 0; i < 40; ++i) {
        SymExpr n = SymExpr::symbol(&context, "n");
        proved[t] += facts.with(SymPred::le(n, n + i)).proveLE(n, n * n + i) == Proof::Yes;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (unsigned t = 1; t < count; ++t)
    CHECK(made[t] == made[0]);
  CHECK(proved == std::vector<unsigned>(count, 40));
}
