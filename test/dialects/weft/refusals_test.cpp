// What the verifiers of operators, types and contracts refuse, in their words: a case for every constraint that an operator states.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

/// A convolution over one dimension.
static std::string conv(const std::string &strides, const std::string &padding, int groups,
                        const std::string &accumulate, const std::string &name = "conv") {
  return name + " %a, %b strides " + strides + " dilations [1] low " + padding + " high " +
         padding + " groups " + std::to_string(groups) + " accumulate " + accumulate;
}

TEST_CASE("convolutions") {
  std::vector<std::string> operands = {"[m, 4, n], f32", "[6, 4, 3], f32"},
                           result = {"[m, 6, n], f32"};
  CHECK(refusal(conv("[1]", "[1]", 1, "f32"), operands, result) == "");
  // conv (R1)
  CHECK_THAT(refusal(conv("[1]", "[1]", 1, "f32"), {"[m, 4, n], f32", "[6, 4], f32"}, result),
             StartsWith("'weft.conv' operands must have one rank from 3 to 5, but are "));
  CHECK(refusal(conv("[1, 1]", "[1]", 1, "f32"), operands, result) ==
        "'weft.conv' needs a stride, a dilation and two amounts of padding for each of its 1 "
        "window dimensions");
  // conv (R5)
  CHECK(refusal(conv("[0]", "[1]", 1, "f32"), operands, result) ==
        "'weft.conv' strides and dilations must be positive");
  // conv (R2)
  CHECK(refusal(conv("[1]", "[1]", 1, "f32"), {"[m, 4, n], f32", "[6, 4, 3], f16"}, result) ==
        "'weft.conv' operands must have one element type, but are 'f32' and 'f16'");
  // conv (R3)
  CHECK(refusal(conv("[1]", "[1]", 1, "i32"), operands, {"[m, 6, n], i32"}) ==
        "'weft.conv' cannot sum products of 'f32' in 'i32'");
  CHECK(refusal(conv("[1]", "[1]", 0, "f32"), operands, result) ==
        "'weft.conv' needs at least 1 group");
  // conv (R4)
  CHECK_THAT(refusal(conv("[1]", "[1]", 4, "f32"), operands, result),
             StartsWith("'weft.conv' with 4 groups cannot apply a filter "));
  CHECK_THAT(refusal(conv("[1]", "[1]", 1, "f32"), operands, {"[m, 6, n + 1], f32"}),
             Contains("inferred type"));
  // conv_transpose (R4)
  CHECK_THAT(refusal(conv("[1]", "[1]", 3, "f32", "conv_transpose"),
                     {"[m, 4, n], f32", "[4, 2, 3], f32"}, {"[m, 6, n], f32"}),
             StartsWith("'weft.conv_transpose' with 3 groups cannot apply a filter "));
}

TEST_CASE("pools") {
  auto pool = [](const std::string &kind, const std::string &kernel, const std::string &more = "") {
    return "pool " + kind + " %a kernel " + kernel + " strides [1] dilations [1] low [0] high [0]" +
           more;
  };
  CHECK(refusal(pool("max", "[1]"), {"[m, n], f32"}, {"[m, n], f32"}) == "");
  // pool (R2)
  CHECK(refusal(pool("max", "[0]"), {"[m, n], f32"}, {"[m, n], f32"}) ==
        "'weft.pool' kernel sizes must be positive");
  // pool (R1)
  CHECK_THAT(refusal(pool("max", "[2, 2]"), {"[n], f32"}, {"[n], f32"}),
             StartsWith("'weft.pool' cannot move a kernel of 2 dimensions over "));
  // pool (R3)
  CHECK(refusal(pool("average", "[2]"), {"[n + 1], i32"}, {"[n], i32"}) ==
        "'weft.pool' averages floats, but its operand has elements 'i32'");
  CHECK(refusal(pool("max", "[1]", " {sizes = #weft.dims<[m, n]>}"), {"[m, n], f32"},
                {"[m, n], f32"}) == "'weft.pool' needs 1 sizes, but has 2");
}

TEST_CASE("orders") {
  // arg_reduce (R1)
  CHECK_THAT(refusal("arg_reduce max %a axis 2", {"[m, n], f32"}, {"[m], i64"}),
             StartsWith("'weft.arg_reduce' has no axis 2 in "));
  // cumulate (R1)
  CHECK_THAT(refusal("cumulate sum %a axis -1", {"[m, n], f32"}, {"[m, n], f32"}),
             StartsWith("'weft.cumulate' has no axis -1 in "));
  // top_k (R1)
  CHECK(refusal("top_k %a k [m, n] axis 0", {"[n], f32"}, {"[m], f32", "[m], i64"}) ==
        "'weft.top_k' needs one 'k', but has 2");
  // top_k (R2)
  CHECK_THAT(refusal("top_k %a k [5] axis 0", {"[4], f32"}, {"[5], f32", "[5], i64"}),
             StartsWith("'weft.top_k' cannot take 5 elements along axis 0 of "));
}

TEST_CASE("random numbers: one seed of 64 bits, elements of 64 bits") {
  CHECK(refusal("random_uniform %a", {"[], i64"}, {"[m, n], f64"}) == "");
  // random_uniform (R1)
  CHECK_THAT(refusal("random_uniform %a", {"[1], i64"}, {"[m], f64"}),
             StartsWith("'weft.random_uniform' op needs one i64 as its seed, but has "));
  CHECK_THAT(refusal("random_uniform %a", {"[], i32"}, {"[m], f64"}),
             StartsWith("'weft.random_uniform' op needs one i64 as its seed, but has "));
  // random_uniform (R2)
  CHECK_THAT(refusal("random_uniform %a", {"[], i64"}, {"[m], f32"}),
             StartsWith("'weft.random_uniform' op gives f64, but its type is "));
}

TEST_CASE("positions from data") {
  // gather_elements (R1)
  CHECK_THAT(refusal("gather_elements %a, %b axis 0", {"[m, n], f32", "[m], i64"}, {"[m], f32"}),
             StartsWith("'weft.gather_elements' has no axis 0 in both "));
  // gather_elements (R2)
  CHECK(refusal("gather_elements %a, %b axis 0", {"[m], f32", "[m], f32"}, {"[m], f32"}) ==
        "'weft.gather_elements' indices must be i32 or i64, but are 'f32'");
  // gather_elements (R3)
  CHECK(refusal("gather_elements %a, %b axis 0", {"[m, 3], f32", "[m, 4], i64"}, {"[m, 4], f32"}) ==
        "'weft.gather_elements': dimension 1 of the indices is 4, but the operand's is 3");
  // gather_nd (R1)
  CHECK_THAT(refusal("gather_nd %a, %b batch 0", {"[m], f32", "[4, n], i64"}, {"[4], f32"}),
             StartsWith("'weft.gather_nd' cannot index "));
  CHECK_THAT(refusal("gather_nd %a, %b batch 1", {"[m, 3], f32", "[m, 2], i64"}, {"[m], f32"}),
             StartsWith("'weft.gather_nd' cannot index "));
  // gather_nd (R3)
  CHECK(refusal("gather_nd %a, %b batch 1", {"[m, 3], f32", "[n, 1], i64"}, {"[n], f32"}) ==
        "'weft.gather_nd': batch dimension 0 is 'm' and 'n'");
  // scatter_elements (R3)
  CHECK_THAT(
      refusal("scatter_elements set %a, %b, %c axis 0", {"[m], f32", "[3], i64", "[4], f32"},
              {"[m], f32"}),
      StartsWith("'weft.scatter_elements' updates must be '!weft.tensor<[3], f32>', but are "));
  // scatter_nd (R1)
  CHECK_THAT(
      refusal("scatter_nd add %a, %b, %c", {"[m], f32", "[3, 2], i64", "[3], f32"}, {"[m], f32"}),
      StartsWith("'weft.scatter_nd' cannot index "));
  // scatter_nd (R3)
  CHECK_THAT(refusal("scatter_nd add %a, %b, %c", {"[m, n], f32", "[3, 1], i64", "[3, n], i32"},
                     {"[m, n], f32"}),
             StartsWith("'weft.scatter_nd' updates must be '!weft.tensor<[3, n], f32>', but are "));
}

TEST_CASE("elements and resizes") {
  CHECK(refusal("tan %a", {"[n], i32"}, {"[n], i32"}) ==
        "'weft.tan' needs floats, but its operand has elements 'i32'");
  CHECK(refusal("is_nan %a", {"[n], i32"}, {"[n], i1"}) ==
        "'weft.is_nan' needs floats, but its operand has elements 'i32'");
  // shift (R1)
  CHECK(refusal("shift left %a, %b", {"[n], f32", "[n], f32"}, {"[n], f32"}) ==
        "'weft.shift' moves bits of integers, but its operand has elements 'f32'");
  // resize (R1)
  CHECK(refusal("resize nearest %a to [n] scales [1.0] coordinates asymmetric rounding floor",
                {"[m, n], f32"}, {"[n], f32"}) ==
        "'weft.resize' needs a size and a scale for each of the 2 dimensions");
  CHECK(refusal("resize nearest %a to [n] scales [-1.0] coordinates asymmetric rounding floor",
                {"[n], f32"}, {"[n], f32"}) == "'weft.resize' scales must not be negative");
  // resize (R2)
  CHECK(refusal("resize linear %a to [2*n] scales [2.0] coordinates asymmetric rounding floor",
                {"[n], i32"}, {"[2*n], i32"}) ==
        "'weft.resize linear' needs floats, but its operand has elements 'i32'");
}

//===-- Elementwise ------------------------------------------------------------------------------===//

TEST_CASE("operators of two operands") {
  for (const char *name : {"add", "sub", "mul", "div", "rem", "pow", "minimum", "maximum", "and",
                           "or", "xor", "compare eq", "shift left"}) {
    std::string op = std::string(name) + " %a, %b",
                word = std::string(name).substr(0, std::string(name).find(' '));
    std::string result = word == "compare" ? "i1" : "i32";
    INFO(name);
    CHECK(refusal(op, {"[m, n], i32", "[n], i32"}, {"[m, n], " + result}) == "");
    // binary (R1), shift (R1)
    CHECK(refusal(op, {"[n], i32", "[n], i64"}, {"[n], " + result}) ==
          "'weft." + word +
              "' operands must have one element type, but 'lhs' is 'i32' and 'rhs' is 'i64'");
    // binary (R2), shift (R2)
    CHECK_THAT(refusal(op, {"[m], i32", "[n], i32"}, {"[m], " + result}),
               StartsWith("'weft." + word + "': dimension 0 of operand 1 is 'n', but must be 'm'"));
    CHECK_THAT(refusal(op, {"[n], i32", "[n], i32"}, {"[n + 1], " + result}),
               Contains("inferred type"));
  }
  CHECK(refusal("add %a, %b", {"[1, n], f32", "[m, 1], f32"}, {"[m, n], f32"}) == "");
}

TEST_CASE("where two operands do not fit each other the second is shown") {
  auto notes = [](const std::string &op, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &results) {
    return refusalOfText(functionOf(op, inputs, results)).notes;
  };
  std::vector<std::string> second = {"1:45: 'rhs' is defined here"};
  CHECK(notes("add %a, %b", {"[n], f32", "[n], f64"}, {"[n], f32"}) == second);
  CHECK(notes("contract \"k, k -> \" %a, %b accumulate f32", {"[n], f32", "[n], f64"},
              {"[], f32"}) == second);
  CHECK(notes("concat %a, %b dim 0", {"[m], f32", "[n], i32"}, {"[m + n], f32"}) ==
        std::vector<std::string>{"1:45: 'operand 1' is defined here"});
}

TEST_CASE("functions of floats, and functions of bits") {
  for (const char *op : {"exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor",
                         "ceil", "round", "activation relu", "acosh"}) {
    std::string word = std::string(op).substr(0, std::string(op).find(' '));
    INFO(op);
    CHECK(refusal(std::string(op) + " %a", {"[n], f16"}, {"[n], f16"}) == "");
    CHECK(refusal(std::string(op) + " %a", {"[n], i32"}, {"[n], i32"}) ==
          "'weft." + word + "' needs floats, but its operand has elements 'i32'");
  }
  for (std::string op : {"and", "or", "xor"})
    CHECK(refusal(op + " %a, %b", {"[n], f32", "[n], f32"}, {"[n], f32"}) ==
          "'weft." + op + "' combines bits, but its operand has elements 'f32'");
  CHECK(refusal("not %a", {"[n], f32"}, {"[n], f32"}) ==
        "'weft.not' combines bits, but its operand has elements 'f32'");
  CHECK(refusal("reduce or %a [0]", {"[n], f32"}, {"[], f32"}) ==
        "'weft.reduce' combines bits, but its operand has elements 'f32'");
}

TEST_CASE("select and convert") {
  CHECK(refusal("select %a, %b, %c", {"[n], i1", "[n], f32", "[1], f32"}, {"[n], f32"}) == "");
  CHECK(refusal("select %a, %b, %c", {"[n], i1", "[n], f32", "[n], f16"}, {"[n], f32"}) ==
        "'weft.select' values must have one element type, but they are 'f32' and 'f16'");
  CHECK(refusal("select %a, %b, %c", {"[n], i8", "[n], f32", "[n], f32"}, {"[n], f32"}) ==
        "'weft.select' condition must be i1, but is 'i8'");
  CHECK_THAT(refusal("select %a, %b, %c", {"[n], i1", "[n], f32", "[m], f32"}, {"[n], f32"}),
             StartsWith("'weft.select': dimension 0 of operand "));
  CHECK_THAT(refusal("convert %a to i3", {"[n], f32"}, {"[n], f32"}),
             StartsWith("'weft.convert': 'i3' is not an element type"));
  CHECK_THAT(refusal("convert %a to i32", {"[n], f32"}, {"[n], i64"}), Contains("inferred type"));
}

//===-- Contractions and rows --------------------------------------------------------------------===//

TEST_CASE("contractions") {
  auto contract = [](const std::string &rule, const std::string &accumulate) {
    return "contract \"" + rule + "\" %a, %b accumulate " + accumulate;
  };
  std::vector<std::string> result = {"[m, n], f32"};
  CHECK(refusal(contract("m k, k n -> m n", "f32"), {"[m, 4], f32", "[4, n], f32"}, result) == "");
  CHECK(refusal(contract("m k, k n -> m n", "i32"), {"[m, 4], ui8", "[4, n], i8"},
                {"[m, n], i32"}) == "");
  CHECK(refusal(contract("m k, k n -> m n, m k", "f32"), {"[m, 4], f32", "[4, n], f32"}, result) ==
        "'weft.contract': the rule must have one result");
  // contract (R1)
  CHECK(refusal(contract("m k, k n -> m n", "f32"), {"[m, 4], f32", "[4, n], f16"}, result) ==
        "'weft.contract' operands must have one element type, but are 'f32' and 'f16'");
  // contract (R2)
  CHECK(refusal(contract("m k, k n -> m n", "i32"), {"[m, 4], f32", "[4, n], f32"},
                {"[m, n], i32"}) == "'weft.contract' cannot sum products of 'f32' in 'i32'");
  CHECK(refusal(contract("m k, k n -> m n", "f16"), {"[m, 4], f32", "[4, n], f32"},
                {"[m, n], f16"}) == "'weft.contract' cannot sum products of 'f32' in 'f16'");
  CHECK_THAT(refusal(contract("m k, k n -> m n", "index"), {"[m, 4], f32", "[4, n], f32"}, result),
             StartsWith("'weft.contract' accumulates: 'index' is not an element type"));
  CHECK_THAT(refusal(contract("m k, k n -> m n", "f32"), {"[m, 4], f32", "[5, n], f32"}, result),
             StartsWith("'weft.contract': dimension 0 of operand 1 is '5', but must be '4'"));
  CHECK_THAT(refusal(contract("m k, k n -> m q", "f32"), {"[m, 4], f32", "[4, n], f32"}, result),
             StartsWith("'weft.contract': nothing determines factor 'q' of rule "));
  CHECK(refusal(contract("m k, k n", "f32"), {"[m, 4], f32", "[4, n], f32"}, result) ==
        "'weft.contract': rule 'm k, k n' has no '->'");
  for (const char *open : {"(", "(m"})
    CHECK_THAT(refusal(contract(std::string("m k, k n -> m ") + open, "f32"),
                       {"[m, 4], f32", "[4, n], f32"}, result),
               StartsWith(std::string("'weft.contract': in rule access '") + open +
                          "': expected ')' at its end"));
  CHECK_THAT(refusal(contract("m k, k n -> m n", "f32"), {"[m, 4, 1], f32", "[4, n], f32"}, result),
             StartsWith("'weft.contract': operand 0 must have rank 2, but has rank 3"));
}

TEST_CASE("softmax, normalisation and reductions") {
  CHECK(refusal("softmax %a", {"[n], i32"}, {"[n], i32"}) ==
        "'weft.softmax' needs floating-point lines, but its operand is '!weft.tensor<[n], i32>'");
  CHECK_THAT(refusal("softmax %a", {"[], f32"}, {"[], f32"}),
             StartsWith("'weft.softmax' needs floating-point lines"));
  std::string normalize = "normalize %a, %b, %c {epsilon = 1.0e-5 : f64, center = true}";
  CHECK(refusal(normalize, {"[m, 8], f32", "[8], f32", "[8], f32"}, {"[m, 8], f32"}) == "");
  CHECK_THAT(refusal(normalize, {"[m, 8], i8", "[8], f32", "[8], f32"}, {"[m, 8], i8"}),
             StartsWith("'weft.normalize' needs floating-point lines"));
  CHECK_THAT(refusal(normalize, {"[m, 8], f32", "[8], f32", "[9], f32"}, {"[m, 8], f32"}),
             StartsWith("'weft.normalize': dimension 0 of operand 2 is '9', but must be '8'"));
  for (const char *axes : {"[1, 0]", "[0, 0]", "[2]", "[-1]"})
    CHECK_THAT(refusal(std::string("reduce sum %a ") + axes, {"[m, n], f32"}, {"[m], f32"}),
               StartsWith("'weft.reduce' axes must be ascending dimensions of "));
}

//===-- Elements at other places -----------------------------------------------------------------===//

TEST_CASE("reshapes, transposes and expansions") {
  CHECK(refusal("reshape %a to [n, m]", {"[m, n], f32"}, {"[n, m], f32"}) == "");
  CHECK_THAT(refusal("reshape %a to [n]", {"[m, n], f32"}, {"[n], f32"}),
             StartsWith("'weft.reshape' cannot make "));
  CHECK(refusal("transpose %a [0, 0]", {"[m, n], f32"}, {"[m, n], f32"}) ==
        "'weft.transpose' order must name each of the 2 dimensions once");
  CHECK(refusal("transpose %a [0]", {"[m, n], f32"}, {"[m], f32"}) ==
        "'weft.transpose' order must name each of the 2 dimensions once");
  CHECK(refusal("transpose %a [0, 2]", {"[m, n], f32"}, {"[m, n], f32"}) ==
        "'weft.transpose' order must name each of the 2 dimensions once");
  CHECK_THAT(refusal("expand %a to [n]", {"[1, n], f32"}, {"[n], f32"}),
             StartsWith("'weft.expand' cannot remove dimensions"));
  CHECK_THAT(refusal("expand %a to [m, 4]", {"[3], f32"}, {"[m, 4], f32"}),
             StartsWith("'weft.expand' cannot make dimension 0 of "));
}

TEST_CASE("slices, pads and concatenations") {
  CHECK(refusal("slice %a from [0] size [n] step [1]", {"[m, n], f32"}, {"[n], f32"}) ==
        "'weft.slice' needs a start, a size and a step for each of the 2 dimensions");
  CHECK(refusal("slice %a from [0] size [n] step [0]", {"[n], f32"}, {"[n], f32"}) ==
        "'weft.slice' steps must not be 0 nor beyond 2^62");
  CHECK(refusal("slice %a from [0] size [n] step [11111111111111111111]", {"[n], f32"},
                {"[n], f32"}) == "'weft.slice' steps must not be 0 nor beyond 2^62");
  CHECK(refusal("pad %a with %b low [1] high [1]", {"[n], f32", "[], f32"}, {"[n + 2], f32"}) ==
        "");
  CHECK(refusal("pad %a with %b low [1] high [1, 1]", {"[n], f32", "[], f32"}, {"[n + 2], f32"}) ==
        "'weft.pad' needs two amounts for each of the 1 dimensions");
  CHECK(refusal("pad %a with %b low [1] high [1]", {"[n], f32", "[], i32"}, {"[n + 2], f32"}) ==
        "'weft.pad' value must be one 'f32'");
  CHECK(refusal("pad %a with %b low [1] high [1]", {"[n], f32", "[1], f32"}, {"[n + 2], f32"}) ==
        "'weft.pad' value must be one 'f32'");
  CHECK_THAT(refusal("concat %a, %b dim 1", {"[m], f32", "[n], f32"}, {"[m + n], f32"}),
             StartsWith("'weft.concat' has no dimension 1 in "));
  CHECK_THAT(refusal("concat %a, %b dim 0", {"[m], f32", "[n], i32"}, {"[m + n], f32"}),
             StartsWith("'weft.concat' operands must agree"));
  CHECK(refusal("concat %a, %b dim 0", {"[m, 2], f32", "[n, 3], f32"}, {"[m + n, 2], f32"}) ==
        "'weft.concat': dimension 1 of operand 1 is '3', but must be '2'");
}

//===-- The rest of positions, orders and windows ------------------------------------------------===//

TEST_CASE("indices are integers of 32 or 64 bits, for every operator that takes some") {
  CHECK_THAT(refusal("gather %a, %b axis 1", {"[m], f32", "[n], i64"}, {"[n], f32"}),
             StartsWith("'weft.gather' has no axis 1 in "));
  CHECK(refusal("gather %a, %b axis 0", {"[m], f32", "[n], i8"}, {"[n], f32"}) ==
        "'weft.gather' indices must be i32 or i64, but are 'i8'");
  // gather_nd (R2)
  CHECK(refusal("gather_nd %a, %b batch 0", {"[m], f32", "[n, 1], ui32"}, {"[n], f32"}) ==
        "'weft.gather_nd' indices must be i32 or i64, but are 'ui32'");
  // scatter_elements (R2)
  CHECK(refusal("scatter_elements set %a, %b, %c axis 0", {"[m], f32", "[n], f32", "[n], f32"},
                {"[m], f32"}) ==
        "'weft.scatter_elements' indices must be i32 or i64, but are 'f32'");
  // scatter_elements (R1)
  CHECK_THAT(refusal("scatter_elements set %a, %b, %c axis 1", {"[m], f32", "[n], i64", "[n], f32"},
                     {"[m], f32"}),
             StartsWith("'weft.scatter_elements' has no axis 1 in both "));
  // scatter_nd (R2)
  CHECK(refusal("scatter_nd set %a, %b, %c", {"[m], f32", "[n, 1], i1", "[n], f32"},
                {"[m], f32"}) == "'weft.scatter_nd' indices must be i32 or i64, but are 'i1'");
  CHECK_THAT(refusal("top_k %a k [m] axis 1", {"[n], f32"}, {"[m], f32", "[m], i64"}),
             StartsWith("'weft.top_k' has no axis 1 in "));
  CHECK_THAT(refusal("top_k %a k [-1] axis 0", {"[n], f32"}, {"[n], f32", "[n], i64"}),
             StartsWith("'weft.top_k' cannot take -1 elements "));
}

TEST_CASE("transposed convolutions and positions of maxima keep the constraints of their kin") {
  auto transposed = [](const std::string &strides, const std::string &accumulate) {
    return conv(strides, "[0]", 1, accumulate, "conv_transpose");
  };
  std::vector<std::string> operands = {"[m, 4, n], f32", "[4, 6, 3], f32"},
                           result = {"[m, 6, n + 2], f32"};
  CHECK(refusal(transposed("[1]", "f32"), operands, result) == "");
  // conv_transpose (R1)
  CHECK_THAT(refusal(transposed("[1]", "f32"), {"[m, 4, n], f32", "[4, 6], f32"}, result),
             StartsWith("'weft.conv_transpose' operands must have one rank from 3 to 5, but are "));
  CHECK_THAT(refusal(transposed("[1, 1]", "f32"), operands, result),
             StartsWith("'weft.conv_transpose' needs a stride, a dilation and two amounts"));
  // conv_transpose (R2)
  CHECK(refusal(transposed("[1]", "f32"), {"[m, 4, n], f32", "[4, 6, 3], f16"}, result) ==
        "'weft.conv_transpose' operands must have one element type, but are 'f32' and 'f16'");
  // conv_transpose (R3)
  CHECK(refusal(transposed("[1]", "f16"), operands, {"[m, 6, n + 2], f16"}) ==
        "'weft.conv_transpose' cannot sum products of 'f32' in 'f16'");
  // conv_transpose (R5)
  CHECK(refusal(transposed("[0]", "f32"), operands, result) ==
        "'weft.conv_transpose' strides and dilations must be positive");
  CHECK(refusal("pool_index %a kernel [0] strides [1] dilations [1] low [0] high [0]", {"[n], f32"},
                {"[n], i64"}) == "'weft.pool_index' kernel sizes must be positive");
  CHECK(refusal("pool max %a kernel [2] strides [0] dilations [1] low [0] high [0]", {"[n], f32"},
                {"[n], f32"}) == "'weft.pool' strides and dilations must be positive");
  CHECK(refusal("pool max %a kernel [2] strides [1, 1] dilations [1] low [0] high [0]",
                {"[n], f32"}, {"[n], f32"}) ==
        "'weft.pool' needs a stride, a dilation and two amounts of "
        "padding for each of its 1 window dimensions");
}

//===-- Values from nothing, kernels, types ------------------------------------------------------===//

/// Why a function with this body and result is refused; `outside` stands beside the function.
static std::string refusalOf(const std::string &body, const std::string &type,
                             const std::string &outside = "") {
  std::string error;
  parse(outside + "\nfunc.func @main(%a: !weft.tensor<[m, n], f32>) -> !weft.tensor<" + type +
            "> attributes {weft.symbols = #weft.symbols<m, n>} {\n  " + body +
            "\n  return %r : !weft.tensor<" + type + ">\n}\n",
        error);
  return error;
}

TEST_CASE("constants and weights") {
  CHECK(refusalOf("%r = weft.constant dense<1.0> : tensor<2xf32> -> !weft.tensor<[2], f32>",
                  "[2], f32") == "");
  CHECK_THAT(
      refusalOf("%r = weft.constant dense<1.0> : tensor<3xf32> -> !weft.tensor<[2], f32>",
                "[2], f32"),
      Contains("has elements of type 'tensor<3xf32>', but its type is '!weft.tensor<[2], f32>'"));
  CHECK_THAT(refusalOf("%r = weft.constant dense<1> : tensor<2xi32> -> !weft.tensor<[2], f32>",
                       "[2], f32"),
             Contains("has elements of type 'tensor<2xi32>'"));
  CHECK_THAT(
      refusalOf("%r = weft.constant sparse<[[0]], [1.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>",
                "[2], f32"),
      Contains("must have dense elements"));
  std::string use = "%r = weft.constant @w -> !weft.tensor<[2], f32>";
  auto weight = [](const std::string &bytes, const std::string &type) {
    return "weft.weight @w from \"w.bin\" at 0 bytes " + bytes + " : !weft.tensor<" + type + ">";
  };
  CHECK(refusalOf(use, "[2], f32", weight("8", "[2], f32")) == "");
  CHECK_THAT(refusalOf(use, "[2], f32"), Contains("names weight 'w', which does not exist"));
  CHECK_THAT(refusalOf(use, "[2], f32", weight("12", "[3], f32")),
             Contains("but weight 'w' has type '!weft.tensor<[3], f32>'"));
  CHECK_THAT(refusalOf(use, "[2], f32", weight("9", "[2], f32")),
             Contains("needs 8 bytes for '!weft.tensor<[2], f32>', but 'bytes' is 9"));
  CHECK_THAT(refusalOf(use, "[2], f32", weight("-8", "[2], f32")), Contains("but 'bytes' is -8"));
  CHECK_THAT(refusalOf(use, "[2], f32", weight("8", "[n], f32")),
             Contains("must have constant dimensions"));
  CHECK_THAT(refusalOf(use, "[2], f32", weight("8", "[4294967296, 4294967296], f32")),
             Contains("has more elements than 64 bits count"));
}

TEST_CASE("fills, positions and dimensions as data") {
  CHECK(refusalOf("%r = weft.fill 1.0 : f32 -> !weft.tensor<[m], f32>", "[m], f32") == "");
  std::string four = "!weft.f4E2M1FN", vector = " -> !weft.tensor<[m], " + four + ">";
  CHECK(refusalOf("%r = weft.fill 1.5 : f32" + vector, "[m], " + four) == "");
  CHECK_THAT(refusalOf("%r = weft.fill 1.25 : f32" + vector, "[m], " + four),
             Contains("has the value 1.25"));
  CHECK_THAT(refusalOf("%r = weft.constant dense<[0.5, 0.75]> : tensor<2xf32> -> "
                       "!weft.tensor<[2], " +
                           four + ">",
                       "[2], " + four),
             Contains("cannot hold"));
  CHECK_THAT(refusalOf("%r = weft.fill 1.0 : f64 -> !weft.tensor<[m], f32>", "[m], f32"),
             Contains("has a value of type 'f64', but its elements are 'f32'"));
  CHECK_THAT(refusalOf("%r = weft.iota dim 1 : !weft.tensor<[m], i64>", "[m], i64"),
             Contains("has no dimension 1"));
  CHECK_THAT(refusalOf("%r = weft.dims_value [m, n] : !weft.tensor<[3], i64>", "[3], i64"),
             Contains("has 2 values, but its type is "));
  CHECK_THAT(refusalOf("%r = weft.dims_value [m] : !weft.tensor<[1], i32>", "[1], i32"),
             Contains("gives i64 of rank 0 or 1, but its type is "));
}

TEST_CASE("kernels agree with their region") {
  std::string type = "!weft.tensor<[m, n], f32>", other = "!weft.tensor<[n, m], f32>";
  auto kernel = [&](const std::string &argument, const std::string &yielded,
                    const std::string &root = "loop") {
    return "%r = weft.kernel \"" + root + "\" (%a) : (" + type + ") -> " + type +
           " {\n  ^bb0(%x: " + argument + "):\n    weft.yield %x : " + yielded + "\n  }";
  };
  CHECK(refusalOf(kernel(type, type), "[m, n], f32") == "");
  CHECK_THAT(refusalOf(kernel(type, type, "spiral"), "[m, n], f32"),
             Contains("there is no family of schedules 'spiral'"));
  CHECK_THAT(refusalOf(kernel(other, other), "[m, n], f32"),
             Contains("has block arguments that differ from its operands"));
  std::string transposed = "%r = weft.kernel \"loop\" (%a) : (" + type + ") -> " + type +
                           " {\n  ^bb0(%x: " + type + "):\n    %t = weft.transpose %x [1, 0] : (" +
                           type + ") -> " + other + "\n    weft.yield %t : " + other + "\n  }";
  CHECK_THAT(refusalOf(transposed, "[m, n], f32"),
             Contains("yields types that differ from its results"));
}

TEST_CASE("types and contracts of functions") {
  auto function = [](const std::string &type, const std::string &symbols) {
    std::string error, tensor = "!weft.tensor<" + type + ">";
    parse("func.func @main(%a: " + tensor + ") -> " + tensor +
              " attributes {weft.symbols = #weft.symbols<" + symbols +
              ">} { return %a : " + tensor + " }",
          error);
    return error;
  };
  CHECK(function("[m], f32", "m : \"m <= 8\"") == "");
  CHECK_THAT(function("[m], i3", "m"), Contains("'i3' is not an element type"));
  CHECK(function("[m, 1, 1, 1, 1, 1, 1, 1, 1], f32", "m") ==
        "a tensor has at most 8 dimensions, but this one has 9");
  CHECK(function("[-1], f32", "m") == "dimension 0 is -1, but a size is at least 0");
  CHECK_THAT(function("[q], f32", "m"),
             Contains("symbol 'q' is not declared by 'weft.symbols' of the function"));
  CHECK_THAT(function("[m], f32", "m, m"), Contains("symbol 'm' is declared twice"));
  CHECK_THAT(function("[m], f32", "m : \"q <= 8\""),
             Contains("fact 'q <= 8' speaks of 'q', which is not declared"));
  CHECK_THAT(function("[m], f32", "m : \"m <=\""), Contains("fact \"m <=\": "));
}

TEST_CASE("rounding in blocks") {
  CHECK(refusal("round_blocks %a block 4", {"[m, 10], f32"}, {"[m, 10], f32"}) == "");
  // round_blocks (R1)
  for (const char *operand : {"[m, 8], f16", "[8, m], f32", "[], f32"})
    CHECK_THAT(refusal("round_blocks %a block 4", {operand}, {operand}),
               StartsWith("'weft.round_blocks' needs lines of f32 with a constant length, but its "
                          "operand is "));
  // round_blocks (R2)
  CHECK(refusal("round_blocks %a block 0", {"[m, 8], f32"}, {"[m, 8], f32"}) ==
        "'weft.round_blocks' cannot have blocks of 0");
}

TEST_CASE("dequantisation in blocks") {
  auto op = [](int axis, int block) {
    return "dequantize_blocks %a, %b axis " + std::to_string(axis) + " block " +
           std::to_string(block);
  };
  std::vector<std::string> result = {"[m, 8], f32"};
  CHECK(refusal(op(1, 4), {"[m, 8], i4", "[m, 2], f32"}, result) == "");
  CHECK(refusal("dequantize_blocks %a, %b, %c axis 1 block 4",
                {"[m, 8], ui4", "[m, 2], f16", "[m, 2], ui4"}, result) == "");
  // dequantize_blocks (R1)
  CHECK_THAT(refusal(op(2, 4), {"[m, 8], i4", "[m, 2], f32"}, result),
             StartsWith("'weft.dequantize_blocks' has no axis 2 in "));
  CHECK_THAT(refusal(op(1, 4), {"[m, 8], i4", "[n, 2], f32"}, result),
             Contains("has not one value per block of"));
  CHECK_THAT(refusal(op(1, 4), {"[m, 8], i4", "[2], f32"}, result),
             Contains("has not one value per block of"));
  // dequantize_blocks (R2)
  CHECK_THAT(refusal(op(1, 3), {"[m, 8], i4", "[m, 2], f32"}, result),
             Contains("has too few blocks of 3 for"));
  CHECK_THAT(refusal(op(0, 8), {"[m, 8], i4", "[m, 8], f32"}, result),
             Contains("has too few blocks of 8 for"));
  // dequantize_blocks (R3)
  CHECK_THAT(refusal(op(1, 4), {"[m, 8], i32", "[m, 2], f32"}, result),
             StartsWith("'weft.dequantize_blocks' takes elements of at most 16 bits"));
  CHECK_THAT(refusal(op(1, 4), {"[m, 8], i4", "[m, 2], i8"}, result),
             StartsWith("'weft.dequantize_blocks' takes elements of at most 16 bits"));
  CHECK(refusal(op(1, 4), {"[m, 8], !weft.f4E2M1FN", "[m, 2], !weft.f8E8M0FNU"}, result) == "");
}
