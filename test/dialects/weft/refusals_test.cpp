// What the verifiers of windows, orders, positions, shifts and resizes refuse, in their words.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

/// A convolution over one dimension.
static std::string conv(const std::string &strides, const std::string &padding, int groups, const std::string &accumulate,
                        const std::string &name = "conv") {
  return name + " %a, %b strides " + strides + " dilations [1] low " + padding + " high " + padding + " groups " + std::to_string(groups) +
         " accumulate " + accumulate;
}

TEST_CASE("convolutions") {
  std::vector<std::string> operands = {"[m, 4, n], f32", "[6, 4, 3], f32"}, result = {"[m, 6, n], f32"};
  CHECK(refusal(conv("[1]", "[1]", 1, "f32"), operands, result) == "");
  CHECK_THAT(refusal(conv("[1]", "[1]", 1, "f32"), {"[m, 4, n], f32", "[6, 4], f32"}, result),
             StartsWith("'weft.conv' operands must have one rank from 3 to 5, but are "));
  CHECK(refusal(conv("[1, 1]", "[1]", 1, "f32"), operands, result) ==
        "'weft.conv' needs a stride, a dilation and two amounts of padding for each of its 1 window dimensions");
  CHECK(refusal(conv("[0]", "[1]", 1, "f32"), operands, result) == "'weft.conv' strides and dilations must be positive");
  CHECK(refusal(conv("[1]", "[1]", 1, "f32"), {"[m, 4, n], f32", "[6, 4, 3], f16"}, result) ==
        "'weft.conv' operands must have one element type, but are 'f32' and 'f16'");
  CHECK(refusal(conv("[1]", "[1]", 1, "i32"), operands, {"[m, 6, n], i32"}) == "'weft.conv' cannot sum products of 'f32' in 'i32'");
  CHECK(refusal(conv("[1]", "[1]", 0, "f32"), operands, result) == "'weft.conv' needs at least 1 group");
  CHECK_THAT(refusal(conv("[1]", "[1]", 4, "f32"), operands, result), StartsWith("'weft.conv' with 4 groups cannot apply a filter "));
  CHECK_THAT(refusal(conv("[1]", "[1]", 1, "f32"), operands, {"[m, 6, n + 1], f32"}), Contains("inferred type"));
  CHECK_THAT(refusal(conv("[1]", "[1]", 3, "f32", "conv_transpose"), {"[m, 4, n], f32", "[4, 2, 3], f32"}, {"[m, 6, n], f32"}),
             StartsWith("'weft.conv_transpose' with 3 groups cannot apply a filter "));
}

TEST_CASE("pools") {
  auto pool = [](const std::string &kind, const std::string &kernel, const std::string &more = "") {
    return "pool " + kind + " %a kernel " + kernel + " strides [1] dilations [1] low [0] high [0]" + more;
  };
  CHECK(refusal(pool("max", "[1]"), {"[m, n], f32"}, {"[m, n], f32"}) == "");
  CHECK(refusal(pool("max", "[0]"), {"[m, n], f32"}, {"[m, n], f32"}) == "'weft.pool' kernel sizes must be positive");
  CHECK_THAT(refusal(pool("max", "[2, 2]"), {"[n], f32"}, {"[n], f32"}), StartsWith("'weft.pool' cannot move a kernel of 2 dimensions over "));
  CHECK(refusal(pool("average", "[2]"), {"[n + 1], i32"}, {"[n], i32"}) == "'weft.pool' averages floats, but its operand has elements 'i32'");
  CHECK(refusal(pool("max", "[1]", " {sizes = #weft.dims<[m, n]>}"), {"[m, n], f32"}, {"[m, n], f32"}) ==
        "'weft.pool' needs 1 sizes, but has 2");
}

TEST_CASE("orders") {
  CHECK_THAT(refusal("arg_reduce max %a axis 2", {"[m, n], f32"}, {"[m], i64"}), StartsWith("'weft.arg_reduce' has no axis 2 in "));
  CHECK_THAT(refusal("cumulate sum %a axis -1", {"[m, n], f32"}, {"[m, n], f32"}), StartsWith("'weft.cumulate' has no axis -1 in "));
  CHECK(refusal("top_k %a k [m, n] axis 0", {"[n], f32"}, {"[m], f32", "[m], i64"}) == "'weft.top_k' needs one 'k', but has 2");
  CHECK_THAT(refusal("top_k %a k [5] axis 0", {"[4], f32"}, {"[5], f32", "[5], i64"}),
             StartsWith("'weft.top_k' cannot take 5 elements along axis 0 of "));
}

TEST_CASE("positions from data") {
  CHECK_THAT(refusal("gather_elements %a, %b axis 0", {"[m, n], f32", "[m], i64"}, {"[m], f32"}),
             StartsWith("'weft.gather_elements' has no axis 0 in both "));
  CHECK(refusal("gather_elements %a, %b axis 0", {"[m], f32", "[m], f32"}, {"[m], f32"}) ==
        "'weft.gather_elements' indices must be i32 or i64, but are 'f32'");
  CHECK(refusal("gather_elements %a, %b axis 0", {"[m, 3], f32", "[m, 4], i64"}, {"[m, 4], f32"}) ==
        "'weft.gather_elements': dimension 1 of the indices is 4, but the operand's is 3");
  CHECK_THAT(refusal("gather_nd %a, %b batch 0", {"[m], f32", "[4, n], i64"}, {"[4], f32"}), StartsWith("'weft.gather_nd' cannot index "));
  CHECK_THAT(refusal("gather_nd %a, %b batch 1", {"[m, 3], f32", "[m, 2], i64"}, {"[m], f32"}), StartsWith("'weft.gather_nd' cannot index "));
  CHECK(refusal("gather_nd %a, %b batch 1", {"[m, 3], f32", "[n, 1], i64"}, {"[n], f32"}) == "'weft.gather_nd': batch dimension 0 is 'm' and 'n'");
  CHECK_THAT(refusal("scatter_elements set %a, %b, %c axis 0", {"[m], f32", "[3], i64", "[4], f32"}, {"[m], f32"}),
             StartsWith("'weft.scatter_elements' updates must be '!weft.tensor<[3], f32>', but are "));
  CHECK_THAT(refusal("scatter_nd add %a, %b, %c", {"[m], f32", "[3, 2], i64", "[3], f32"}, {"[m], f32"}),
             StartsWith("'weft.scatter_nd' cannot index "));
  CHECK_THAT(refusal("scatter_nd add %a, %b, %c", {"[m, n], f32", "[3, 1], i64", "[3, n], i32"}, {"[m, n], f32"}),
             StartsWith("'weft.scatter_nd' updates must be '!weft.tensor<[3, n], f32>', but are "));
}

TEST_CASE("elements and resizes") {
  CHECK(refusal("tan %a", {"[n], i32"}, {"[n], i32"}) == "'weft.tan' needs floats, but its operand has elements 'i32'");
  CHECK(refusal("is_nan %a", {"[n], i32"}, {"[n], i1"}) == "'weft.is_nan' needs floats, but its operand has elements 'i32'");
  CHECK(refusal("shift left %a, %b", {"[n], f32", "[n], f32"}, {"[n], f32"}) ==
        "'weft.shift' moves bits of integers, but its operand has elements 'f32'");
  CHECK(refusal("resize nearest %a to [n] scales [1.0] coordinates asymmetric rounding floor", {"[m, n], f32"}, {"[n], f32"}) ==
        "'weft.resize' needs a size and a scale for each of the 2 dimensions");
  CHECK(refusal("resize nearest %a to [n] scales [-1.0] coordinates asymmetric rounding floor", {"[n], f32"}, {"[n], f32"}) ==
        "'weft.resize' scales must not be negative");
  CHECK(refusal("resize linear %a to [2*n] scales [2.0] coordinates asymmetric rounding floor", {"[n], i32"}, {"[2*n], i32"}) ==
        "'weft.resize linear' needs floats, but its operand has elements 'i32'");
}
