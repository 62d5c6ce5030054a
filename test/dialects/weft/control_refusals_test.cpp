// What 'bind', 'if' and 'loop' refuse, and what else their errors show.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// The first error of a function with this body on %x: [n] f32, %k: an i64 and %c: an i1.
Refusal refusalOf(const std::string &body, const std::string &bound) {
  return refusalOfText("func.func @main(%x: !weft.tensor<[n], f32>, %k: !weft.tensor<[], i64>, %c: "
                       "!weft.tensor<[], i1>) -> !weft.tensor<[n], f32> attributes {weft.symbols = "
                       "#weft.symbols<n bound " +
                       bound + ">} {\n" + body + "\n  return %x : !weft.tensor<[n], f32>\n}\n");
}

/// An 'if' whose regions yield these.
std::string branch(const std::string &attributes, const std::string &result, const std::string &yes,
                   const std::string &no, const std::string &condition = "%c") {
  std::string type = condition == "%c" ? "!weft.tensor<[], i1>" : "!weft.tensor<[], i64>";
  return "%e = weft.concat %x, %x dim 0 : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> "
         "!weft.tensor<[2*n], f32>\n%r = weft.if " +
         condition + attributes + " : (" + type + ") -> !weft.tensor<[" + result +
         "], f32> {\n  weft.yield " + yes + "\n} else {\n  weft.yield " + no + "\n}";
}

const std::string kOne = "%x : !weft.tensor<[n], f32>", kTwo = "%e : !weft.tensor<[2*n], f32>";
const std::string kBinds = " attributes {binds = [\"u\"]}";

} // namespace

TEST_CASE("what becomes a symbol is one integer") {
  CHECK(refusalOf("weft.bind \"u\" %k : !weft.tensor<[], i64>", "u").error == "");
  // bind (R1)
  CHECK(refusalOf("weft.bind \"u\" %x : !weft.tensor<[n], f32>", "u").error ==
        "'weft.bind' op needs one integer of 32 or 64 bits, but the operand is "
        "'!weft.tensor<[n], f32>'");
  // bind (R1)
  CHECK_THAT(refusalOf("weft.bind \"u\" %c : !weft.tensor<[], i1>", "u").error,
             StartsWith("'weft.bind' op needs one integer of 32 or 64 bits"));
}

TEST_CASE("positions are integers with a size each, or with one for all") {
  auto refused = [](const std::string &of) {
    return refusalOf("weft.check_positions " + of, "u").error;
  };
  CHECK(refused("%k sizes [n] : !weft.tensor<[], i64>") == "");
  // check_positions (R1)
  CHECK(refused("%x sizes [n] : !weft.tensor<[n], f32>") ==
        "'weft.check_positions' op needs integers of 32 or 64 bits, but the operand is "
        "'!weft.tensor<[n], f32>'");
  // check_positions (R2)
  CHECK(refused("%k sizes [n, 3] : !weft.tensor<[], i64>") ==
        "'weft.check_positions' op has 2 sizes for positions '!weft.tensor<[], i64>'");
  // check_positions (R2)
  CHECK(refused("%k sizes [] : !weft.tensor<[], i64>") ==
        "'weft.check_positions' op has 0 sizes for positions '!weft.tensor<[], i64>'");
}

TEST_CASE("what a branch binds are names") {
  CHECK_THAT(refusalOf(branch(" attributes {binds = [4]}", "n", kOne, kOne), "u").error,
             Contains("attribute 'binds' failed to satisfy constraint: string array attribute"));
}

TEST_CASE("a symbol that is bound again is shown where it was bound") {
  Refusal refusal = refusalOf("  weft.bind \"u\" %k : !weft.tensor<[], i64>\n"
                              "  weft.bind \"u\" %k : !weft.tensor<[], i64>",
                              "u");
  CHECK(refusal.error == "binds 'u' a second time");
  CHECK(refusal.notes == std::vector<std::string>{"2:3: it is bound here"});
}

TEST_CASE("branches yield what the results are") {
  CHECK(refusalOf(branch(kBinds, "u", kOne, kTwo), "u").error == "");
  CHECK(refusalOf(branch("", "n", kOne, kOne), "u").error == "");
  // if (R1)
  CHECK(refusalOf(branch("", "n", kOne, kOne, "%k"), "u").error ==
        "'weft.if' op needs one i1 as condition, but has '!weft.tensor<[], i64>'");
  // if (R2)
  Refusal refusal = refusalOf(branch("", "n", kOne, kTwo), "u");
  CHECK(refusal.error == "'weft.if' op yields '!weft.tensor<[2*n], f32>' for the result "
                         "'!weft.tensor<[n], f32>'");
  CHECK(refusal.notes == std::vector<std::string>{"6:3: it is yielded here"});
  // if (R2)
  CHECK_THAT(refusalOf(branch("", "n", kOne, "%c : !weft.tensor<[], i1>"), "u").error,
             Contains("yields other numbers, ranks or elements than its results have"));
  // if (R3)
  CHECK(refusalOf(branch(kBinds, "n", kOne, kOne), "u").error ==
        "'weft.if' op binds a symbol that is no dimension of a result");
}

namespace {

/// A loop that carries %x and stacks a line of it.
std::string loop(const std::string &carried, const std::string &stacked,
                 const std::string &yielded = "%v, %v : !weft.tensor<[n], f32>, !weft.tensor<[n], "
                                              "f32>") {
  return "%y, %all = weft.loop \"i\" trips [4] (%x) : (!weft.tensor<[n], f32>) -> (!weft.tensor<[" +
         carried + "], f32>, !weft.tensor<[" + stacked +
         "], f32>) {\n^bb0(%v: !weft.tensor<[n], f32>):\n  weft.yield " + yielded + "\n}";
}

} // namespace

TEST_CASE("loops carry values of one type and stack equal ones") {
  CHECK(refusalOf(loop("n", "4, n"), "i").error == "");
  // loop (R1)
  Refusal refusal = refusalOf(loop("n + 1", "4, n"), "i");
  CHECK(refusal.error == "'weft.loop' op carries '!weft.tensor<[n], f32>', which becomes "
                         "'!weft.tensor<[n + 1], f32>'");
  CHECK(refusal.notes == std::vector<std::string>{"4:3: the next value is yielded here"});
  // loop (R2)
  refusal = refusalOf(loop("n", "n, 4"), "i");
  CHECK(refusal.error ==
        "'weft.loop' op stacks '!weft.tensor<[n], f32>' to '!weft.tensor<[n, 4], f32>', which "
        "needs the first dimension '4'");
  CHECK(refusal.notes == std::vector<std::string>{"4:3: each of them is yielded here"});
  // loop (R3)
  CHECK_THAT(
      refusalOf("%all = weft.loop \"i\" trips [4] (%k) attributes {count = \"u\"} : "
                "(!weft.tensor<[], i64>) -> !weft.tensor<[u, n], f32> {\n  weft.yield %k, "
                "%x : !weft.tensor<[], i64>, !weft.tensor<[n], f32>\n}",
                "i, u")
          .error,
      Contains("with 'count' needs a condition as first operand and as first yielded value"));
}
