// Every operator of these families prints as it is read, and its rule binds.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

/// The function after parsing, printing and parsing again; the rules of its operators must bind.
static std::string printed(const std::string &text) {
  std::string error, result;
  auto module = parse(text, error);
  INFO(error << " in " << text);
  REQUIRE(module);
  module->walk([](RuleOpInterface op) { CHECK(op.rule().points()); });
  llvm::raw_string_ostream stream(result);
  module->print(stream);
  return result;
}

TEST_CASE("printing and parsing again changes nothing") {
  struct {
    const char *op;
    std::vector<std::string> inputs, results;
  } all[] = {
      {"conv %a, %b strides [2] dilations [1] low [1] high [m] groups 2 accumulate f32",
       {"[n, 4, 9], f32", "[6, 2, 3], f32"},
       {"[n, 6, floordiv(m + 7, 2) + 1], f32"}},
      {"conv_transpose %a, %b strides [2] dilations [1] low [1] high [-1] groups 2 accumulate f32",
       {"[n, 4, m], f32", "[4, 3, 3], f32"},
       {"[n, 6, 2*m + 1], f32"}},
      {"pool average %a kernel [3] strides [2] dilations [1] low [1] high [1] {count_padding, "
       "sizes = #weft.dims<[m]>}",
       {"[n, 2*m], f32"},
       {"[n, m], f32"}},
      {"pool_index %a kernel [2] strides [2] dilations [1] low [0] high [0]",
       {"[n, 2*m], f32"},
       {"[n, m], i64"}},
      {"arg_reduce min %a axis 1 {select_last}", {"[n, m], f32"}, {"[n], i64"}},
      {"cumulate prod %a axis 0 {exclusive, reverse}", {"[n, m], f32"}, {"[n, m], f32"}},
      {"top_k %a k [m] axis 1 {smallest}", {"[n, 2*m], f32"}, {"[n, m], f32", "[n, m], i64"}},
      {"random_uniform %a", {"[], i64"}, {"[n, 2*m], f64"}},
      {"gather_elements %a, %b axis 1", {"[n, 4], f32", "[n, m], i32"}, {"[n, m], f32"}},
      {"gather_nd %a, %b batch 1", {"[n, 4], f32", "[n, m, 1], i64"}, {"[n, m], f32"}},
      {"look_up %a, %b", {"[n, m], i8", "[256], ui8"}, {"[n, m], ui8"}},
      {"scatter_elements max %a, %b, %c axis 1",
       {"[n, 4], f32", "[n, m], i32", "[n, m], f32"},
       {"[n, 4], f32"}},
      {"scatter_nd add %a, %b, %c", {"[n, 4], f32", "[m, 1], i64", "[m, 4], f32"}, {"[n, 4], f32"}},
      {"resize cubic %a to [n, 2*m] scales [1.0, 0.0] coordinates align_corners rounding floor "
       "{cubic_a = -5.000000e-01 : f64, exclude_outside}",
       {"[n, m], f32"},
       {"[n, 2*m], f32"}},
      {"is_inf %a {negative = false}", {"[n], f32"}, {"[n], i1"}},
      {"shift right %a, %b", {"[n], ui8", "[n], ui8"}, {"[n], ui8"}},
      {"activation shrink %a {alpha = 5.000000e-01 : f64, beta = 2.500000e-01 : f64}",
       {"[n], f32"},
       {"[n], f32"}},
  };
  for (auto &each : all) {
    std::string once = printed(functionOf(each.op, each.inputs, each.results));
    CHECK(once == printed(once));
    std::string name = llvm::StringRef(each.op).split(' ').first.str();
    CHECK(once.find("weft." + name) != std::string::npos);
  }
}

TEST_CASE("rules of windows and orders") {
  auto rule = [](const std::string &op, const std::vector<std::string> &inputs,
                 const std::vector<std::string> &results) {
    std::string error, text;
    auto module = parse(functionOf(op, inputs, results), error);
    INFO(error);
    REQUIRE(module);
    module->walk([&](RuleOpInterface op) { text = op.ruleText(); });
    return text;
  };
  CHECK(rule("conv %a, %b strides [2, 1] dilations [1, 3] low [1, 0] high [0, 0] groups 1 "
             "accumulate f32",
             {"[n, 3, 8, 9], f32", "[5, 3, 3, 2], f32"},
             {"[n, 5, 4, 6], f32"}) == "n c 2*p0+x0-{1} p1+3*x1, o c x0 x1 -> n o p0 p1 : sum");
  CHECK(rule("conv %a, %b strides [1] dilations [1] low [0] high [0] groups 1 accumulate f32",
             {"[n, 3, m], f32", "[5, 3, 1], f32"},
             {"[n, 5, m], f32"}) == "n c p0, o c 1 -> n o p0 : sum");
  CHECK(rule("conv %a, %b strides [1] dilations [1] low [0] high [1] groups 4 accumulate f32",
             {"[n, 4, m], f32", "[4, 1, 2], f32"},
             {"[n, 4, m], f32"}) == "n g p0+x0, g 1 x0 -> n g p0 : sum");
  CHECK(rule("pool max %a kernel [3] strides [2] dilations [1] low [m] high [0]", {"[n, 7], f32"},
             {"[n, floordiv(m, 2) + 3], f32"}) == "a0 2*p0+x0-{m} -> a0 p0 : max ; x0 = 3");
  CHECK(rule("cumulate prod %a axis 1", {"[n, m, 2], f32"}, {"[n, m, 2], f32"}) ==
        "a0 r> a2 -> a0 r> a2 : prod");
  CHECK(rule("top_k %a k [2] axis 0", {"[n, m], f32"}, {"[2, m], f32", "[2, m], i64"}) ==
        "n! a1 -> k a1 , k a1 ");
}
