// What passes ask of a rule instead of reading its text.
#include "mlir/AsmParser/AsmParser.h"
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

/// `text` bound to types written as "[m, n]".
IterationRule bound(const std::string &text, const std::vector<std::string> &operands,
                    const std::string &result) {
  std::vector<mlir::Type> types;
  for (const std::string &type : operands)
    types.push_back(mlir::parseType("!weft.tensor<" + type + ", f32>", &context()));
  mlir::Type to = mlir::parseType("!weft.tensor<" + result + ", f32>", &context());
  std::string why;
  auto rule = IterationRule::bind(text, types, to,
                                  [&](const llvm::Twine &message) { why = message.str(); });
  INFO(text << ": " << why);
  REQUIRE(mlir::succeeded(rule));
  return *rule;
}

using Tail = std::optional<unsigned>;

} // namespace

TEST_CASE("a rule is pointwise when every dimension is one of '...'") {
  CHECK(bound("... -> ...", {"[m, n]"}, "[m, n]").isPointwise());
  CHECK(bound("..., ... -> ...", {"[m, n]", "[n]"}, "[m, n]").isPointwise());
  CHECK(bound("..., ... -> ...", {"[m, n]", "[]"}, "[m, n]").isPointwise());
  CHECK(bound("..., ... -> ...", {"[m, 1]", "[1, n]"}, "[m, n]").isPointwise());
  CHECK_FALSE(bound("a0 a1 -> a0 a1", {"[m, n]"}, "[m, n]").isPointwise());
  CHECK_FALSE(bound("... 1 -> ... a", {"[m, 1]"}, "[m, n]").isPointwise());
  CHECK_FALSE(bound("... d~, d, d -> ... d~", {"[m, 8]", "[8]", "[8]"}, "[m, 8]").isPointwise());
  CHECK_FALSE(bound("... k, k -> ...", {"[m, 8]", "[8]"}, "[m]").isPointwise());
}

TEST_CASE(
    "a rule sees extents only when no dimension is taken apart and no number is an expression") {
  CHECK(bound("b i k, b k j -> b i j", {"[b, m, 8]", "[b, 8, n]"}, "[b, m, n]").seesExtentsOnly());
  CHECK(bound("n 2*p+x-1, x -> n p", {"[n, 9]", "[3]"}, "[n, 4]").seesExtentsOnly());
  CHECK(bound("a? -> a", {"[m]"}, "[n]").seesExtentsOnly());
  CHECK_FALSE(bound("(h d) -> h d", {"[4*m]"}, "[4, m]").seesExtentsOnly());
  CHECK_FALSE(bound("h d -> (h d)", {"[4, m]"}, "[4*m]").seesExtentsOnly());
  CHECK_FALSE(bound("p-{l} -> p", {"[m]"}, "[m + l]").seesExtentsOnly());
  CHECK_FALSE(bound("{l}*p -> p", {"[l*m]"}, "[m]").seesExtentsOnly());
}

TEST_CASE("the named tail is what must stay when leading dimensions are cut otherwise") {
  CHECK(bound("..., ... -> ...", {"[m, n]", "[n]"}, "[m, n]").namedTail() == Tail(0));
  CHECK(bound("... d~, d, d -> ... d~", {"[m, 8]", "[8]", "[8]"}, "[m, 8]").namedTail() == Tail(1));
  CHECK(bound("... d~ -> ... d~", {"[8]"}, "[8]").namedTail() == Tail(1));
  CHECK(bound("... k, k j -> ... j", {"[b, m, 8]", "[8, n]"}, "[b, m, n]").namedTail() == Tail(1));
  CHECK(bound("... i k -> ... i", {"[b, m, 8]"}, "[b, m]").namedTail() == Tail(2));
  CHECK(bound("i k -> i", {"[m, 8]"}, "[m]").namedTail() == std::nullopt);
  CHECK(bound("... -> a", {"[]"}, "[m]").namedTail() == std::nullopt);
  CHECK(bound("a ... -> ... a", {"[m, n]"}, "[n, m]").namedTail() == std::nullopt);
  CHECK(bound("... (h d) -> ... h d", {"[m, 8*n]"}, "[m, 8, n]").namedTail() == std::nullopt);
  CHECK(bound("... p-{l} -> ... p", {"[n, m]"}, "[n, m + l]").namedTail() == std::nullopt);
}

TEST_CASE("'...' is seen also where it stands for no dimension") {
  IterationRule rule = bound("... k, k -> ...", {"[8]", "[8]"}, "[]");
  CHECK(rule.hasEllipsis());
  CHECK(rule.hasEllipsis(0));
  CHECK_FALSE(rule.hasEllipsis(1));
  CHECK_FALSE(bound("k, k -> ", {"[8]", "[8]"}, "[]").hasEllipsis());
}

TEST_CASE("a result in another order is said by the same rule") {
  CHECK(IterationRule::reordered("b i k, b k j -> b i j", {1, 0, 2}) == "b i k, b k j -> i b j");
  CHECK(IterationRule::reordered("i k, k j -> (h i) j", {1, 0}) == "i k, k j -> j (h i)");
  CHECK(IterationRule::reordered("i k, k j -> i j", {0, 1, 2}) == std::nullopt);
  CHECK(IterationRule::reordered("... k, k -> ...", {0}) == std::nullopt);
}
