// Normal forms as a table: spellings of one value are one pointer, different values are not, and people can read the result.
#include "Helpers.h"
#include "dialects/symbolic/SymDialect.h"
#include <chrono>

using namespace weft;
using namespace weft::test;

// clang-format off
static const std::pair<const char *, const char *> equalities[] = {
    // sums and products: what AffineExpr does and does not do
    {"4*n + 1", "1 + 2*n + n + n"},
    {"floordiv(4*n + 3, 4)", "n"},
    {"mod(8*n + 4, 4)", "0"},
    {"floordiv(n, 4)*4 + mod(n, 4)", "n"},
    {"floordiv(n*m, n)", "m"},
    {"n*m - n*m", "0"},
    {"mod(8*n*m, 8)", "0"},
    {"n*m", "m*n"},
    {"n*(m + 1)", "n*m + n"},
    {"n*m - m*n", "0"},
    {"floordiv(floordiv(n, 2), 3)", "floordiv(n, 6)"},
    {"ceildiv(n, 4)", "floordiv(n + 3, 4)"},
    {"ceildiv(n, 4)", "-floordiv(-n, 4)"},
    {"(n + m)*(n - m)", "n*n - m*m"},
    {"(n + 1)*(n + 1)*(n + 1)", "n*n*n + 3*n*n + 3*n + 1"},
    // 1. reshape: products divide exactly
    {"floordiv(B*S*C, B*S)", "C"},
    {"floordiv(B*s*768, B*s*12)", "64"},
    {"floordiv(B*12*s*64, B*s)", "768"},
    {"floordiv((p + s)*B, B)", "p + s"},
    {"floordiv(B*p + B*s, p + s)", "B"},
    {"floordiv(2*n + 2*m, 4)", "floordiv(n + m, 2)"},
    {"floordiv(2*n + 1, 2*m)", "floordiv(n, m)"},
    {"floordiv(n + 2*m + 1, 2*m + 1)", "1 + floordiv(n, 2*m + 1)"},
    {"floordiv(n*b + m*b, k*b)", "floordiv(n + m, k)"},
    {"floordiv(floordiv(n, a), b)", "floordiv(floordiv(n, b), a)"},
    // 2. halves
    {"floordiv(d + 1, 2)", "ceildiv(d, 2)"},
    {"floordiv(d + 1, 2) + (d - floordiv(d + 1, 2))", "d"},
    {"2*(floordiv(H - 1, 2) + 1)", "2*floordiv(H + 1, 2)"},
    // 3. padding to a window, also with a symbolic window
    {"mod(h + mod(4 - mod(h, 4), 4), 4)", "0"},
    {"h + mod(4 - mod(h, 4), 4)", "4*ceildiv(h, 4)"},
    {"mod(4 + -1*mod(h, 4), 4)", "mod(4 - mod(h, 4), 4)"},
    {"mod(h + mod(k - mod(h, k), k), k)", "0"},
    {"h + mod(k - mod(h, k), k)", "k*ceildiv(h, k)"},
    {"h + mod(k - mod(h, k), k)", "k*floordiv(h + k - 1, k)"},
    {"4*floordiv(h + mod(4 - mod(h, 4), 4), 4)", "h + mod(4 - mod(h, 4), 4)"},
    {"mod(mod(h, 8), 4)", "mod(h, 4)"},
    {"mod(mod(h, k), k)", "mod(h, k)"},
    {"floordiv(mod(h, k), k)", "0"},
    {"mod(-2, d)", "d - 2 - d*floordiv(d - 2, d)"},
    // 4. chains of strided layers
    {"floordiv(floordiv(H - 1, 2) + 1 - 1, 2) + 1", "floordiv(H - 1, 4) + 1"},
    {"floordiv(floordiv(H + 2 - 3, 2) + 1 + 2 - 3, 2) + 1", "floordiv(H - 1, 4) + 1"},
    {"floordiv(floordiv(floordiv(floordiv(h, 2), 2), 2), 2)", "floordiv(h, 16)"},
    {"floordiv(H + 2*1 - 1*(3 - 1) - 1, 1) + 1", "H"},
    // padding to even sizes again and again: a division inside a sum
    {"floordiv(h + floordiv(h, 2), 2)", "floordiv(3*h, 4)"},
    {"floordiv(h - floordiv(h, 2), 2)", "h - floordiv(h, 2) - ceildiv(h, 4)"},
    {"floordiv(2*w + floordiv(h - 1, 3) + 5, 7)", "floordiv(6*w + h + 14, 21)"},
    {"h - floordiv(h + floordiv(h + floordiv(h, 2), 2), 2)", "ceildiv(h, 4) - floordiv(h + 3, 8)"},
    {"floordiv(ceildiv(h, 2) + mod(ceildiv(h, 2), 2), 2)", "ceildiv(h, 2) - floordiv(h + 1, 4)"},
    // 5. caches
    {"p + s", "s + p"},
    {"(p + s)*B*64", "64*B*p + 64*B*s"},
    // min and max
    {"min(n, m)", "min(m, n)"},
    {"max(n, m + 3)", "max(m + 3, n)"},
    {"min(n, m) + max(n, m)", "n + m"},
    {"max(n + p, m + p)", "max(n, m) + p"},
    {"max(2*n, 2*m)", "2*max(n, m)"},
    {"max(b*n, b*m)", "b*max(n, m)"},
    {"-max(-n, -m)", "min(n, m)"},
    {"min(s, s + 3)", "s"},
    {"max(n, 0)", "n"},
    {"min(n, 0)", "0"},
    {"max(n, n)", "n"},
    {"min(min(n, 512), 512)", "min(n, 512)"},
    {"min(512, min(512, n))", "min(n, 512)"},
    {"max(max(n, m), m)", "max(n, m)"},
    {"max(min(n, m), 0)", "min(n, m)"},
    {"max(mod(n, 4), 0)", "mod(n, 4)"},
    {"min(mod(n, k), k)", "mod(n, k)"},
    {"min(mod(n, 4), 3)", "mod(n, 4)"},
    {"min(u1, 30)", "min(30, u1)"},
    {"max(3, 5)", "5"},
    {"min(2*floordiv(d + 1, 2), d)", "d"},
    // 6. broadcasting
    {"bcast(n, m)", "bcast(m, n)"},
    {"bcast(n, n)", "n"},
    {"bcast(n, 1)", "n"},
    {"bcast(0, 1)", "0"},
    {"bcast(n, 3)", "3"},
    {"bcast(bcast(n, m), bcast(m, k))", "bcast(n, bcast(k, m))"},
    {"bcast(n + 1, 1 + n)", "n + 1"},
    // exporters
    {"mod(4 - mod(floordiv(H, 4), 4), 4)", "4*ceildiv(floordiv(H, 4), 4) - floordiv(H, 4)"},
    {"max(a, b, c)", "max(max(a, b), c)"},
};

static const std::pair<const char *, const char *> differences[] = {
    {"2*floordiv(d, 2)", "d"},
    {"n", "m"},
    {"bcast(n, m)", "n"},
    {"min(n, m)", "max(n, m)"},
    {"floordiv(n, 2)", "ceildiv(n, 2)"},
    {"4*floordiv(h, 4)", "4*ceildiv(h, 4)"},
    {"ps", "p + s"},
    {"n*n", "n"},
    {"pos(n - m)", "pos(m - n)"},
};

// the text of a normal form
static const std::pair<const char *, const char *> spellings[] = {
    {"s*b", "b*s"},
    {"1 + 4*n", "4*n + 1"},
    {"n - 4*floordiv(n, 4)", "mod(n, 4)"},
    {"h - k*floordiv(h, k)", "mod(h, k)"},
    {"floordiv(s + 31, 32)", "ceildiv(s, 32)"},
    {"floordiv(s + 32, 32)", "floordiv(s, 32) + 1"},
    {"floordiv(s + k - 1, k)", "ceildiv(s, k)"},
    {"min(512, s)", "min(s, 512)"},
    {"p + max(n, m)", "max(m, n) + p"},
    {"2*b*mod(n, 4) + 1", "2*b*mod(n, 4) + 1"},
    {"n - m", "n - m"},
    {"-n - m", "-m - n"},
    {"m*-1", "-m"},
    {"0*n", "0"},
    {"-3", "-3"},
    {"pos(n - 5)", "pos(n - 5)"},
    {"n*n*m", "m*n*n"},
    {"h + mod(4 - mod(h, 4), 4)", "4*ceildiv(h, 4)"},
    {"mod(floordiv(n, 4), 8)", "mod(floordiv(n, 4), 8)"},
    {"max(min(n - 3, 5), 0)", "pos(min(n, 8) - 3)"},
    {"\"a b\" + \"or\" + \"x\\\"y\"", "\"a b\" + \"or\" + \"x\\22y\""},
    {"floordiv(H - 1, 4) + 1", "ceildiv(H, 4)"},
};
// clang-format on

TEST_CASE("equal values have one normal form") {
  mlir::MLIRContext context;
  for (auto [a, b] : equalities) {
    INFO(a << " against " << b);
    CHECK(parse(context, a).str() == parse(context, b).str());
    CHECK(parse(context, a) == parse(context, b));
  }
}

TEST_CASE("different values stay apart") {
  mlir::MLIRContext context;
  for (auto [a, b] : differences) {
    INFO(a << " against " << b);
    CHECK(parse(context, a) != parse(context, b));
  }
}

TEST_CASE("normal forms print as people write them and read back") {
  mlir::MLIRContext context;
  for (auto [text, printed] : spellings) {
    SymExpr expr = parse(context, text);
    CHECK(expr.str() == printed);
    CHECK(parse(context, printed) == expr);
  }
}

TEST_CASE("the text does not depend on the order in which nodes are made") {
  mlir::MLIRContext first, second;
  for (auto [a, b] : equalities)
    (void)parse(second, b);
  for (auto it = std::rbegin(equalities); it != std::rend(equalities); ++it)
    CHECK(parse(first, it->first).str() == parse(second, it->first).str());
}

TEST_CASE("parts of an expression") {
  mlir::MLIRContext context;
  SymExpr expr = parse(context, "3*b*s*s + floordiv(n, 4) + 7");
  REQUIRE(expr.symbols().size() == 3);
  CHECK(expr.symbols()[0] == "b");
  CHECK(expr.symbols()[1] == "n");
  CHECK(expr.symbols()[2] == "s");
  auto terms = expr.terms();
  REQUIRE(terms.size() == 3);
  CHECK(terms[0].coefficient == 3);
  REQUIRE(terms[0].factors.size() == 2);
  CHECK(terms[0].factors[1].first == parse(context, "s"));
  CHECK(terms[0].factors[1].second == 2);
  SymExpr atom = terms[1].factors[0].first;
  CHECK(atom.asAtom() == AtomKind::FloorDiv);
  REQUIRE(atom.atomOperands().size() == 2);
  CHECK(atom.atomOperands()[1].isConstant(4));
  CHECK(terms[2].factors.empty());
  CHECK(!expr.asAtom());
  CHECK(!expr.asConstant());
  CHECK(parse(context, "n").asSymbol() == "n");
  CHECK(!parse(context, "n + 1").asSymbol());
  CHECK(parse(context, "n - n").terms().empty());
  CHECK(parse(context, "n - n").isConstant(0));
  CHECK(parse(context, "pos(n - 3)").asAtom() == AtomKind::Pos);
  CHECK(parse(context, "bcast(n, m)").asAtom() == AtomKind::BCast);
}

TEST_CASE("overflow is sticky and never silent") {
  mlir::MLIRContext context;
  SymExpr n = SymExpr::symbol(&context, "n"), big = SymExpr::constant(&context, INT64_MAX);
  SymExpr least = SymExpr::constant(&context, INT64_MIN);
  CHECK(!(n * big).isOverflow());
  SymExpr poison = n * big * 2;
  REQUIRE(poison.isOverflow());
  CHECK(poison == big + 1);
  CHECK(poison == least - 1);
  CHECK(poison == -least);
  CHECK(poison == -(n * INT64_MIN));
  CHECK(poison == n * big + n);
  for (SymExpr kept :
       {poison + 1, poison - poison, poison * 0, n * poison, -poison, SymExpr::floordiv(poison, 4),
        SymExpr::floordiv(n, poison), SymExpr::mod(poison, n), SymExpr::min(poison, n),
        SymExpr::pos(poison), SymExpr::bcast(poison, n), SymExpr::bcast(n, poison)})
    CHECK(kept == poison);
  CHECK(mlir::failed(poison.evaluate(SymValues())));
  CHECK(poison.str() == "overflow()");
  CHECK(parse(context, "overflow()") == poison);
  CHECK(!poison.asConstant());
  CHECK(poison.symbols().empty());
  CHECK(SymExpr::floordiv(n, 0).isOverflow());
  CHECK(SymExpr::floordiv(n, -2).isOverflow());
  SymMap map;
  map[n.asSymbol()] = poison;
  CHECK((n * n + 1).substitute(map) == poison);
}

TEST_CASE("expressions of absurd size become the poison value") {
  mlir::MLIRContext context;
  SymExpr n = SymExpr::symbol(&context, "n"), m = SymExpr::symbol(&context, "m");
  SymExpr deep = n;
  for (int i = 0; i < 200 && !deep.isOverflow(); ++i)
    deep = SymExpr::pos(deep * m - i - 2);
  CHECK(deep.isOverflow());
  SymExpr wide = n + m + 1;
  for (int i = 0; i < 12 && !wide.isOverflow(); ++i)
    wide = wide * wide;
  CHECK(wide.isOverflow());
}

TEST_CASE("evaluation refuses what it cannot know") {
  mlir::MLIRContext context;
  SymValues values = valuesOf(context, {0, 7, INT64_MAX, int64_t(1) << 40});
  CHECK(*parse(context, "m + 4*n + 1").evaluate(values) == 8);
  CHECK(mlir::failed(parse(context, "q + 1").evaluate(values)));
  CHECK(mlir::failed(parse(context, "floordiv(m, n)").evaluate(values)));
  CHECK(mlir::failed(parse(context, "p + 1").evaluate(values)));
  CHECK(mlir::failed(parse(context, "p*p*p*p").evaluate(values)));
  // products beyond 64 bits may cancel
  CHECK(*parse(context, "7*s*s - m*s*s + m").evaluate(values) == 7);
}

TEST_CASE("construction is fast") {
  mlir::MLIRContext context;
  SymExpr b = SymExpr::symbol(&context, "b"), s = SymExpr::symbol(&context, "s");
  SymExpr p = SymExpr::symbol(&context, "p");
  auto time = [&](const char *what, auto &&build) {
    constexpr int repeats = 20000;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
      build(i % 50);
    std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    double each = passed.count() / repeats;
    WARN(what << ": " << int(each) << " ns");
    CHECK(each < 100000); // a regression of complexity, not of a busy machine
  };
  time("b*s", [&](int) { return b * s; });
  time("p + s", [&](int) { return p + s; });
  time("b*(p + s)*c", [&](int i) { return b * (p + s) * (i + 1); });
  time("floordiv(s + i, 4)", [&](int i) { return SymExpr::floordiv(s + i, 4); });
  time("mod(s, 4)", [&](int) { return SymExpr::mod(s, 4); });
  time("min(s, i)", [&](int i) { return SymExpr::min(s, SymExpr::constant(&context, i)); });
  time("floordiv(b*s*768, b*s)", [&](int) { return SymExpr::floordiv(b * s * 768, b * s); });
  time("str()", [&](int) { return (b * s + 1).str(); });
}
