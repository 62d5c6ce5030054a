// Formulas as numbers and as text, and numbers as people write them.
#include <catch2/catch.hpp>

#include "tools/weft/cli/Formula.h"
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/Values.h"

#include <random>

using namespace weft::cli;

static const SymbolValues kValues = {{"b", 3}, {"s", 17}, {"odd name", 5}, {"one", 1}};

TEST_CASE("formulas are evaluated as the symbolic engine prints them") {
  CHECK(evaluateFormula("4*b*s + 1", kValues) == 205);
  CHECK(evaluateFormula("-b + s", kValues) == 14);
  CHECK(evaluateFormula("s - b - 1", kValues) == 13);
  CHECK(evaluateFormula("b*s*s", kValues) == 867);
  CHECK(evaluateFormula("s^2", kValues) == 289);
  CHECK(evaluateFormula("ceildiv(s, 4)*2", kValues) == 10);
  CHECK(evaluateFormula("floordiv(s - 20, 2)", kValues) == -2);
  CHECK(evaluateFormula("mod(b - s, 4)", kValues) == 2);
  CHECK(evaluateFormula("max(b, min(s, 9))", kValues) == 9);
  CHECK(evaluateFormula("max(b, 4*s, s, 1)", kValues) == 68);
  CHECK(evaluateFormula("pos(b - s)", kValues) == 0);
  CHECK(evaluateFormula("bcast(one, s) + bcast(b, s)", kValues) == 20);
  CHECK(evaluateFormula("\"odd name\" + 2*(b + 1)", kValues) == 13);
}

TEST_CASE("formulas that have no value have none") {
  for (const char *text :
       {"", "x", "4*", "b +", "(b", "b)", "mod(b)", "mod(b, s, s)", "nothing(b, s)",
        "floordiv(b, 0)", "ceildiv(b, -2)", "9223372036854775807 + b", "99999999999999999999",
        "s^99", "\"", "b b", "4 b"})
    CHECK_FALSE(evaluateFormula(text, kValues));
  CHECK_FALSE(evaluateFormula(std::string(100000, '('), kValues));
}

TEST_CASE("linear formulas are solved") {
  CHECK(solveFormula("2*n + 1", "n", 33, {}) == 16);
  CHECK(solveFormula("n + 2*m", "m", 20, {{"n", 6}}) == 7);
  CHECK_FALSE(solveFormula("2*n", "n", 33, {}));
  CHECK_FALSE(solveFormula("n*n", "n", 16, {}));
  CHECK_FALSE(solveFormula("n + m", "n", 16, {}));
  CHECK(formulaSymbols("max(b, 2*s) + \"odd name\" - b") ==
        std::vector<std::string>{"b", "s", "odd name"});
}

TEST_CASE("formulas for people") {
  CHECK(beautifyFormula("3072*b*s*s + 5", true) == "3072·b·s² + 5");
  CHECK(beautifyFormula("3072*b*s*s + 5", false) == "3072*b*s^2 + 5");
  CHECK(beautifyFormula("max(a*b, -c)", true) == "max(a·b, -c)");
  CHECK(beautifyFormula("b - s*max(s, 1)", true) == "b - s·max(s, 1)");
  CHECK(beautifyFormula("64*ceildiv(s, 16)", true) == "64·ceildiv(s, 16)");
  CHECK(roundFormula("21233664*b*s + 9216*b*s*s", true) == "21.2 M·b·s + 9216·b·s²");
}

TEST_CASE("bounds are polynomials of the symbols") {
  CHECK(boundFormula("max(64*ceildiv(n, 16), 4*n + 8)") == "4*n + 60");
  CHECK(boundFormula("n*m - 5*n*floordiv(n, 3) + 7") == "m*n - n*n + 4*n + 7");
  CHECK(boundFormula("b*floordiv(h - 1, 2)*floordiv(w - 1, 2)") == "b*h*w + 2*b");
  CHECK(boundFormula("b*max(h, 2*w, 3) + min(b*b, 7)") == "b*h + 2*b*w + 3*b + 7");
  CHECK(boundFormula("pos(h - w) + mod(h, 8) + bcast(h, 1)") == "2*h + 8");
  CHECK(boundFormula("ceildiv(h, w)*\"odd name\"") == "\"odd name\"*h");
  CHECK(boundFormula("0") == "0");
  for (const char *text : {"", "4*", "max()", "nothing(b, s)", "floordiv(b, 0)", "b*s^2",
                           "b*floordiv(h - w, 2)*floordiv(w, 2)", "floordiv(h - 1, w)",
                           "99999999999999999999", "9223372036854775807*b + b"})
    CHECK_FALSE(boundFormula(text));
  CHECK_FALSE(boundFormula(std::string(100000, '(')));
}

/// A formula of this depth in the symbols h and w, as the engine could print it.
static std::string randomFormula(std::mt19937_64 &random, unsigned depth) {
  auto number = [&] { return std::to_string(1 + random() % 9); };
  if (depth == 0)
    return random() % 3 == 0 ? number() : random() % 2 ? "h" : "w";
  std::string a = randomFormula(random, depth - 1), b = randomFormula(random, depth - 1);
  switch (random() % 8) {
  case 0:
    return a + " + " + number() + "*" + (random() % 2 ? "(" + b + ")" : "h");
  case 1:
    return a + " - " + (random() % 2 ? number() : "h");
  case 2:
    return "floordiv(" + a + ", " + number() + ")*w";
  case 3:
    return "ceildiv(" + a + ", " + number() + ")";
  case 4:
    return (random() % 2 ? "max(" : "min(") + a + ", " + b + ")";
  case 5:
    return "pos(" + a + " - " + number() + "*w)";
  case 6:
    return "h*mod(" + a + ", " + number() + ")";
  default:
    return "3*floordiv(" + a + ", 4)*ceildiv(w - 1, 2)";
  }
}

TEST_CASE("a bound is never smaller than its formula") {
  std::mt19937_64 random(11);
  unsigned found = 0, compared = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    std::string formula = randomFormula(random, 1 + round % 4);
    std::optional<std::string> bound = boundFormula(formula);
    if (!bound)
      continue;
    ++found;
    CHECK(bound->find('(') == std::string::npos);
    for (int64_t h : {0, 1, 2, 3, 7, 64, 1001})
      for (int64_t w : {0, 1, 2, 5, 16, 999}) {
        std::optional<int64_t> value = evaluateFormula(formula, {{"h", h}, {"w", w}}),
                               most = evaluateFormula(*bound, {{"h", h}, {"w", w}});
        if (!value || !most)
          continue;
        ++compared;
        INFO(formula << " <= " << *bound << " at h=" << h << " w=" << w);
        REQUIRE(*value <= *most);
      }
  }
  CHECK(found > 2000);
  CHECK(compared > 50000);
}

TEST_CASE("formulas of more than two lines are shown by a bound") {
  CHECK(showFormula("peak", "64*n*n", "B", {}) == "peak = 64*n^2 B");
  std::string text = "0";
  for (int i = 1; i < 20; ++i)
    text += " + 64*b*ceildiv(n, " + std::to_string(i) + ")";
  CHECK(showFormula("peak", text, "B", {}) ==
        "peak <= 228*b*n + 989*b B (simplified: see -v, inspect --at)");
  FormulaStyle whole;
  whole.whole = true;
  CHECK(showFormula("peak", "max(" + text + ", 1)", "B", whole) == "peak = max(" + text + ", 1) B");
  std::string hopeless = "b*pos(b - n)*floordiv(b - n, 2)";
  for (int i = 0; i < 5; ++i)
    hopeless += " + " + std::to_string(i + 2) + "*b*floordiv(b - n, 2)*pos(b - n)";
  CHECK(showFormula("peak", hopeless, "B", {}) == "peak = a formula of " +
                                                      std::to_string(hopeless.size()) +
                                                      " characters: see -v, inspect --at");
}

TEST_CASE("sizes and numbers as people write them") {
  CHECK(parseDuration("60s") == 60);
  CHECK(parseDuration("1.5m") == 90);
  CHECK(parseDuration("2h") == 7200);
  CHECK(parseDuration("7") == 7);
  for (const char *bad : {"", "s", "5 s", "-1s", "5ms", "1d", "nan"})
    CHECK_FALSE(parseDuration(bad));
  CHECK(parseSize("64M") == 64 << 20);
  CHECK(parseSize("1.5GiB") == int64_t(3) << 29);
  CHECK(parseSize("100") == 100);
  CHECK(parseSize("2kB") == 2048);
  for (const char *bad : {"", "M", "1X", "1MM", "-1", "1e30", "1 M", "nan", "1.2.3"})
    CHECK_FALSE(parseSize(bad));
  CHECK(parseInteger("9223372036854775807") == INT64_MAX);
  for (const char *bad : {"", "-1", "1.0", "1x", " 1", "9223372036854775808"})
    CHECK_FALSE(parseInteger(bad));
  CHECK(parseSizes("seq=1,22")->second == std::vector<int64_t>{1, 22});
  for (const char *bad : {"seq", "=1", "seq=", "seq=1,", "seq=1..2"})
    CHECK_FALSE(parseSizes(bad));
  CHECK(splitSymbols("batch=1,8,seq=1..9,n=2") ==
        std::vector<std::string>{"batch=1,8", "seq=1..9", "n=2"});
  CHECK(splitSymbols("a,b=1,") == std::vector<std::string>{"a,b=1,"});
  CHECK(splitSymbols("") == std::vector<std::string>{""});
  CHECK(parseReal("1e-3") == 1e-3);
  for (const char *bad : {"", "-1", "nan", "inf", "1x", "e"})
    CHECK_FALSE(parseReal(bad));
}

TEST_CASE("numbers for people have three digits") {
  CHECK(printBytes(512) == "512 B");
  CHECK(printBytes(1536) == "1.50 KiB");
  CHECK(printBytes(90868376) == "86.7 MiB");
  CHECK(printCount(9999) == "9999");
  CHECK(printCount(21233664) == "21.2 M");
  CHECK(printCount(1e18) == "1.00 E");
  CHECK(printSeconds(0.0314) == "31.4 ms");
  CHECK(printSeconds(2) == "2.00 s");
  CHECK(printSeconds(5e-7) == "500 ns");
}
