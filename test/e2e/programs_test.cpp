// Small programs compiled and compared with the reference evaluator at sizes 0, 1, odd ones and beyond a vector.
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <sstream>

using namespace weft::test;

static void agrees(const std::string &text, std::initializer_list<Sizes> all,
                   double tolerance = 1e-5) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &sizes : all) {
      std::string where;
      for (auto &[name, value] : sizes)
        where += name + "=" + std::to_string(value) + " ";
      INFO(where);
      double difference = program.difference(sizes);
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
  }
}

/// A function of one input and one result.
static std::string unary(const std::string &op, const std::string &from, const std::string &to) {
  std::string symbols = from.find('n') == std::string::npos ? "m" : "m, n";
  return "func.func @main(%x: !weft.tensor<" + from + ">) -> !weft.tensor<" + to +
         "> attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n  %0 = weft." + op +
         " : (!weft.tensor<" + from + ">) -> !weft.tensor<" + to +
         ">\n  return %0 : !weft.tensor<" + to + ">\n}\n";
}

TEST_CASE("a product with symbolic sizes and a bias") {
  agrees(
      R"(func.func @main(%a: !weft.tensor<[m, 24], f32>, %b: !weft.tensor<[24, n], f32>, %c: !weft.tensor<[n], f32>)
    -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n : "m <= 4096">} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %c : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
})",
      {{{"m", 0}, {"n", 5}}, {{"m", 1}, {"n", 1}}, {{"m", 7}, {"n", 33}}, {{"m", 64}, {"n", 64}}});
}

/// A contraction of two inputs, and what comes behind it.
static std::string product(const std::string &rule, const std::string &a, const std::string &b,
                           const std::string &out, const std::string &element = "f32") {
  auto tensor = [](const std::string &dims, const std::string &type) {
    return "!weft.tensor<[" + dims + "], " + type + ">";
  };
  std::string result = tensor(out, "f32");
  return "func.func @main(%a: " + tensor(a, element) + ", %b: " + tensor(b, element) +
         ", %c: " + result + ") -> " + result +
         " attributes {weft.symbols = #weft.symbols<g, m, n" +
         (a.find('k') == std::string::npos ? "" : ", k") + ">} {\n  %0 = weft.contract \"" + rule +
         "\" %a, %b accumulate f32 : (" + tensor(a, element) + ", " + tensor(b, element) + ") -> " +
         result + "\n  %1 = weft.activation relu %0 : (" + result + ") -> " + result +
         "\n  %2 = weft.add %1, %c : (" + result + ", " + result + ") -> " + result +
         "\n  return %2 : " + result + "\n}\n";
}

TEST_CASE("products of two inputs, in any order of dimensions") {
  std::initializer_list<Sizes> sizes = {
      {{"g", 2}, {"m", 3}, {"n", 5}, {"k", 7}},     {{"g", 1}, {"m", 1}, {"n", 1}, {"k", 1}},
      {{"g", 3}, {"m", 17}, {"n", 33}, {"k", 0}},   {{"g", 2}, {"m", 0}, {"n", 9}, {"k", 4}},
      {{"g", 2}, {"m", 115}, {"n", 64}, {"k", 97}}, {{"g", 1}, {"m", 14}, {"n", 100}, {"k", 200}}};
  agrees(product("g m k, g k n -> g m n", "g, m, k", "g, k, n", "g, m, n"), sizes);
  agrees(product("g m k, g n k -> g m n", "g, m, k", "g, n, k", "g, m, n"), sizes);
  agrees(product("g k m, g k n -> g m n", "g, k, m", "g, k, n", "g, m, n"), sizes);
  agrees(product("g m k, k n -> g m n", "g, m, k", "k, n", "g, m, n"), sizes);
  agrees(product("m k, g k n -> m g n", "m, k", "g, k, n", "m, g, n"), sizes);
  agrees(product("m g k, n g k -> g m n", "m, g, k", "n, g, k", "g, m, n"), sizes);
  agrees(product("g k n, g m k -> g m n", "g, k, n", "g, m, k", "g, m, n"),
         sizes); // the first operand has the last dimension
  agrees(product("g m k, g k n -> g m n", "g, m, 24", "g, 24, n", "g, m, n"), sizes);
  for (const char *element : {"f16", "bf16"})
    agrees(product("g m k, g k n -> g m n", "g, m, k", "g, k, n", "g, m, n", element), sizes);
}

TEST_CASE("what is read twice at every step is computed once, also at other places") {
  std::string chain = "func.func @main(%v0: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> "
                      "attributes {weft.symbols = #weft.symbols<n : \"1 <= n\">} {\n"
                      "  %z = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>\n";
  std::string shifted = chain;
  for (int i = 0; i < 40; ++i) {
    std::string from = "%v" + std::to_string(i), to = "%v" + std::to_string(i + 1),
                step = std::to_string(i);
    std::string binary =
        " : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>\n";
    chain += "  " + to + " = weft.maximum " + from + ", " + from + binary;
    shifted +=
        "  %s" + step + " = weft.slice " + from +
        " from [1] size [n - 1] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[n - 1], "
        "f32>\n" +
        "  %p" + step + " = weft.pad %s" + step +
        " with %z low [0] high [1] : (!weft.tensor<[n - 1], f32>, !weft.tensor<[], f32>) -> " +
        "!weft.tensor<[n], f32>\n  " + to + " = weft.maximum " + from + ", %p" + step + binary;
  }
  for (std::string text : {chain, shifted}) {
    text += "  return %v40 : !weft.tensor<[n], f32>\n}\n";
    agrees(text, {{{"n", 1}}, {{"n", 50}}}, 0);
  }
}

TEST_CASE("thousands of kernel calls, whose host program is compiled in another way") {
  const int calls = 4000; // each turns all points by a right angle
  for (std::string rows : {"m", "max(floordiv(2*m - 7, 2), 0)"}) {
    std::string all = "!weft.tensor<[m, 2], f32>", points = "!weft.tensor<[" + rows + ", 2], f32>",
                turn = "!weft.tensor<[2, 2], f32>", text;
    text = "func.func @main(%x: " + all + ") -> " + points +
           " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant "
           "dense<[[0.0, -1.0], [1.0, 0.0]]> : tensor<2x2xf32> -> " +
           turn + "\n  %x0 = weft.slice %x from [0, 0] size [" + rows + ", 2] step [1, 1] : (" +
           all + ") -> " + points + "\n";
    for (int i = 0; i < calls; ++i)
      text += "  %x" + std::to_string(i + 1) + " = weft.contract \"m k, k n -> m n\" %x" +
              std::to_string(i) + ", %w accumulate f32 : (" + points + ", " + turn + ") -> " +
              points + "\n";
    text += "  return %x" + std::to_string(calls) + " : " + points + "\n}\n";
    Program program(text, "x86:v3");
    REQUIRE(program.error() == "");
    for (int64_t m : {0, 3, 4, 9})
      CHECK(program.difference({{"m", m}}) == 0);
  }
}

TEST_CASE("views are index arithmetic") {
  agrees(unary("transpose %x [1, 0]", "[m, n], f32", "[n, m], f32"),
         {{{"m", 3}, {"n", 37}}, {{"m", 0}, {"n", 4}}});
  agrees(unary("reshape %x to [2*m, 6]", "[m, 3, 4], f32", "[2*m, 6], f32"),
         {{{"m", 5}}, {{"m", 0}}, {{"m", 1}}});
  agrees(unary("slice %x from [1, 0] size [m, n] step [1, 2]", "[m + 3, 2*n], f32", "[m, n], f32"),
         {{{"m", 3}, {"n", 17}}});
  agrees(unary("slice %x from [m - 1, 0] size [m, n] step [-1, 1]", "[m, n], f32", "[m, n], f32"),
         {{{"m", 3}, {"n", 17}}});
  agrees(unary("expand %x to [m, 5, n]", "[m, 1, n], f32", "[m, 5, n], f32"),
         {{{"m", 3}, {"n", 17}}});
}

TEST_CASE("a vector of elements lies in many lines of another shape, whose lengths are symbols") {
  // The result's line is one of all elements, and that of the operand is as long as `n`.
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n, 3], f32>) -> !weft.tensor<[3*m*n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.transpose %x [2, 1, 0] : (!weft.tensor<[m, n, 3], f32>) -> !weft.tensor<[3, n, m], f32>
  %1 = weft.reshape %0 to [3*m*n] : (!weft.tensor<[3, n, m], f32>) -> !weft.tensor<[3*m*n], f32>
  %2 = weft.exp %1 : (!weft.tensor<[3*m*n], f32>) -> !weft.tensor<[3*m*n], f32>
  return %2 : !weft.tensor<[3*m*n], f32>
})",
      {{{"m", 0}, {"n", 5}},
       {{"m", 1}, {"n", 1}},
       {{"m", 3}, {"n", 7}},
       {{"m", 31}, {"n", 2}},
       {{"m", 67}, {"n", 129}}});
}

TEST_CASE("lines: softmax, normalize, reductions") {
  std::initializer_list<Sizes> sizes = {
      {{"m", 3}, {"n", 1}}, {{"m", 2}, {"n", 16}}, {{"m", 5}, {"n", 77}}, {{"m", 0}, {"n", 9}}};
  agrees(unary("softmax %x", "[m, n], f32", "[m, n], f32"), sizes);
  agrees(unary("softmax %x {logarithm}", "[m, n], f32", "[m, n], f32"), sizes);
  agrees(unary("reduce sum %x [1]", "[m, n], f32", "[m], f32"), sizes);
  agrees(unary("reduce max %x [0]", "[m, n], f32", "[n], f32"), {{{"m", 3}, {"n", 33}}});
  agrees(unary("reduce sum %x [0, 1]", "[m, n], i64", "[], i64"), sizes);
  agrees(unary("reduce min %x [1]", "[m, n], i32", "[m], i32"), sizes);
  agrees(unary("reduce sum %x [1]", "[m, n], f32", "[m], f32"), {{{"m", 3}, {"n", 0}}});
}

TEST_CASE("lines of a type that no schedule for lines writes are computed in smaller steps") {
  std::string four = "!weft.f4E2M1FN";
  std::initializer_list<Sizes> sizes = {
      {{"m", 3}, {"n", 1}}, {{"m", 2}, {"n", 16}}, {{"m", 5}, {"n", 77}}, {{"m", 0}, {"n", 9}}};
  // The evaluator does not round lines to their type: half the distance of two numbers below 1, and below 6.
  agrees(unary("softmax %x", "[m, n], " + four, "[m, n], " + four), sizes, 0.25);
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n], !weft.f4E2M1FN>, %s: !weft.tensor<[n], f32>, %t: !weft.tensor<[n], f32>)
      -> !weft.tensor<[m, n], !weft.f4E2M1FN> attributes {weft.symbols = #weft.symbols<m, n : "1 <= n">} {
  %0 = weft.normalize %x, %s, %t {epsilon = 1.0e-5 : f64, center = true}
     : (!weft.tensor<[m, n], !weft.f4E2M1FN>, !weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], !weft.f4E2M1FN>
  return %0 : !weft.tensor<[m, n], !weft.f4E2M1FN>
})",
      sizes, 1);
}

TEST_CASE("reductions that keep the last dimension") {
  std::initializer_list<Sizes> sizes = {{{"m", 3}, {"n", 1}},
                                        {{"m", 2}, {"n", 16}},
                                        {{"m", 5}, {"n", 300}},
                                        {{"m", 0}, {"n", 9}},
                                        {{"m", 200}, {"n", 19}}};
  agrees(unary("reduce sum %x [0]", "[m, n], f32", "[n], f32"), sizes);
  agrees(unary("reduce sum %x [1, 2]", "[n, m, 3, 150], f32", "[n, 150], f32"), sizes);
  agrees(unary("reduce sum %x [1, 2]", "[2, m, 7, n], f32", "[2, n], f32"), sizes);
  agrees(unary("reduce max %x [0, 2]", "[m, 4, m, n], ui8", "[4, n], ui8"), sizes);
  agrees(unary("reduce sum %x [1]", "[5, m, n, 128], i32", "[5, n, 128], i32"), sizes);
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, 7, 7, n], f32>, %y: !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
      attributes {weft.symbols = #weft.symbols<m, n>} {
  %f = weft.fill 0.25 : f32 -> !weft.tensor<[m, n], f32>
  %0 = weft.abs %x : (!weft.tensor<[m, 7, 7, n], f32>) -> !weft.tensor<[m, 7, 7, n], f32>
  %1 = weft.reduce sum %0 [1, 2] : (!weft.tensor<[m, 7, 7, n], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.mul %1, %f : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %3 = weft.add %2, %y : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %3 : !weft.tensor<[m, n], f32>
})",
      sizes);
}

TEST_CASE("elementwise functions over whole vectors and rests") {
  for (const char *op :
       {"neg", "abs", "exp", "sqrt", "tanh", "erf", "floor", "ceil", "round", "sin", "cos"})
    if (std::string(op) != "sqrt")
      agrees(unary(std::string(op) + " %x", "[m, n], f32", "[m, n], f32"),
             {{{"m", 3}, {"n", 29}}, {{"m", 1}, {"n", 1}}});
  for (const char *kind :
       {"relu", "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "hard_swish"})
    agrees(unary("activation " + std::string(kind) + " %x", "[m, n], f32", "[m, n], f32"),
           {{{"m", 3}, {"n", 29}}});
  for (const char *to : {"i64", "i8", "ui8", "i4", "ui4", "i2", "ui2", "i1", "f64", "f16", "bf16",
                         "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "!weft.f4E2M1FN"})
    agrees(unary("convert %x to " + std::string(to), "[m, n], f32", "[m, n], " + std::string(to)),
           {{{"m", 3}, {"n", 29}}}, 0);
  for (const char *from : {"i4", "ui4", "i2", "ui2", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ",
                           "f8E5M2FNUZ", "!weft.f4E2M1FN"})
    agrees(unary("convert %x to f32", "[m, n], " + std::string(from), "[m, n], f32"),
           {{{"m", 3}, {"n", 29}}, {{"m", 1}, {"n", 1}}}, 0);
}

TEST_CASE("bits read as another element type") {
  const std::pair<const char *, const char *> pairs[] = {
      {"f32", "i32"}, {"i32", "f32"},           {"f64", "ui64"},
      {"f16", "i16"}, {"ui16", "bf16"},         {"f8E5M2", "ui8"},
      {"i8", "ui8"},  {"!weft.f4E2M1FN", "i4"}, {"ui4", "!weft.f4E2M1FN"},
      {"i2", "ui2"}};
  for (auto [from, to] : pairs)
    agrees(unary("bitcast %x to " + std::string(to), "[m, n], " + std::string(from),
                 "[m, n], " + std::string(to)),
           {{{"m", 3}, {"n", 29}}}, 0);
}

TEST_CASE("pad, concat and gather read only what is there") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n], f32>, %y: !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m + 2, n + 5], f32>
      attributes {weft.symbols = #weft.symbols<m, n>} {
  %c = weft.fill 7.0 : f32 -> !weft.tensor<[], f32>
  %0 = weft.concat %x, %y dim 1 : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, n + 3], f32>
  %1 = weft.pad %0 with %c low [1, 2] high [1, 0] : (!weft.tensor<[m, n + 3], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[m + 2, n + 5], f32>
  return %1 : !weft.tensor<[m + 2, n + 5], f32>
})",
      {{{"m", 3}, {"n", 14}}, {{"m", 0}, {"n", 0}}, {{"m", 1}, {"n", 33}}});
  agrees(
      R"(func.func @main(%table: !weft.tensor<[8, n], f32>, %ids: !weft.tensor<[m], i64>) -> !weft.tensor<[m, n], f32>
      attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.gather %table, %ids axis 0 : (!weft.tensor<[8, n], f32>, !weft.tensor<[m], i64>) -> !weft.tensor<[m, n], f32>
  return %0 : !weft.tensor<[m, n], f32>
})",
      {{{"m", 3}, {"n", 14}}, {{"m", 0}, {"n", 3}}, {{"m", 9}, {"n", 33}}});
}

TEST_CASE("results do not depend on the number of threads") {
  std::string text = unary("softmax %x", "[m, n], f32", "[m, n], f32");
  Program one(text, "x86:host", 1), two(text, "x86:host", 2);
  auto inputs = one.generate({{"m", 4000}, {"n", 65}}, 3);
  REQUIRE(one.run(inputs)[0].bytes == two.run(inputs)[0].bytes);
}

TEST_CASE("a size that 64 bits cannot count is refused by name") {
  Program program(unary("exp %x", "[m, 1000000000000, 1000000000000], f32",
                        "[m, 1000000000000, 1000000000000], f32"));
  CHECK(program.error() == "a value of type '!weft.tensor<[m, 1000000000000, 1000000000000], f32>' "
                           "has more bytes than 64 bits count");
}

TEST_CASE("sizes that overflow when the model runs are refused before anything is allocated") {
  Program program(unary("exp %x", "[m, n, 4096], f32", "[m, n, 4096], f32"));
  REQUIRE(program.error().empty());
  int64_t dims[] = {2147483647, 2147483647, 4096};
  float data = 0;
  weft_tensor_t in = weft_tensor_of(&data, WEFT_F32, 3, dims), out = WEFT_TENSOR_EMPTY;
  weft_error_t error = WEFT_ERROR_INIT;
  CHECK(weft_query_outputs(program.artifact, 0, &in, 1, &out, 1, &error) == WEFT_INVALID);
  CHECK(std::string(error.message) == "input 'input0': its size overflows");
}

TEST_CASE("compiling leaves the handlers of signals to its caller") {
  const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGSEGV, SIGBUS,
                         SIGFPE, SIGILL, SIGTRAP, SIGUSR2};
  auto own = [](int) {};
  std::vector<void (*)(int)> before;
  for (int each : signals)
    before.push_back(std::signal(each, own));
  for (int time : {1, 2}) { // LLVM puts its handlers in once
    Program program(unary("transpose %x [1, 0]", "[m, n], f32", "[n, m], f32"), "x86:v3");
    REQUIRE(program.error().empty());
    for (size_t i = 0; i < std::size(signals); ++i) {
      INFO("signal " << signals[i] << ", time " << time);
      CHECK(std::signal(signals[i], own) == +own);
    }
  }
  for (size_t i = 0; i < std::size(signals); ++i)
    std::signal(signals[i], before[i]);
}
