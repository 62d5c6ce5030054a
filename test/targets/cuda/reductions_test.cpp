// Lines, columns and whole tensors that are combined: by groups of threads, warps, blocks and several blocks, whole, ragged and empty.
#include "test/targets/cuda/Orders.h"

using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// A program of symbols m, n and k with operand %x, which returns %z.
std::string program(const std::string &x, const std::string &z, const std::string &body) {
  return "func.func @main(%x: " + x + ") -> " + z +
         " attributes {weft.symbols = #weft.symbols<m, n, k>} {\n" + body + "  return %z : " + z +
         "\n}\n";
}

/// What is combined is computed on the way, and so is what follows.
std::string reduction(const std::string &kind, const std::string &element, const std::string &axes,
                      const std::string &kept) {
  std::string x = tensor("m, n, k", element), z = tensor(kept, element);
  return program(x, z,
                 "  %a = weft.neg %x : (" + x + ") -> " + x + "\n  %r = weft.reduce " + kind +
                     " %a [" + axes + "] : (" + x + ") -> " + z + "\n  %z = weft.abs %r : (" + z +
                     ") -> " + z + "\n");
}

std::string extreme(const std::string &kind, const std::string &element, int axis,
                    const std::string &kept, const std::string &attributes = "") {
  std::string x = tensor("m, n, k", element), z = tensor(kept, "i64");
  return program(x, z,
                 "  %z = weft.arg_reduce " + kind + " %x axis " + std::to_string(axis) +
                     attributes + " : (" + x + ") -> " + z + "\n");
}

void agree(const std::string &text, std::initializer_list<std::array<int64_t, 3>> all,
           double tolerance, const std::string &schedule) {
  Program compiled(text, targetsToTry({"x86:host"}).front());
  INFO(compiled.error() << text);
  REQUIRE(compiled.error().empty());
  REQUIRE(uses(compiled, schedule));
  std::vector<Sizes> calls;
  for (auto [m, n, k] : all)
    calls.push_back({{"m", m}, {"n", n}, {"k", k}});
  agreeInOrders(compiled, text, calls, tolerance);
}

} // namespace

TEST_CASE("lines, columns and all elements are combined by any number of threads") {
  for (const char *element : {"f32", "i64"}) {
    double tolerance = 1e-4;
    agree(reduction("sum", element, "2", "m, n"),
          {{0, 4, 3}, {3, 2, 0}, {1, 1, 1}, {5, 7, 8}, {3, 1, 129}, {2, 1, 2051}, {3, 3, 1024}},
          tolerance, "reduce");
    agree(reduction("max", element, "0, 1", "k"),
          {{0, 4, 3}, {3, 0, 5}, {3, 2, 0}, {1, 1, 1}, {5, 7, 8}, {3, 40, 129}, {70, 10, 16}},
          tolerance, "reduce");
    agree(reduction("min", element, "1", "m, k"), {{2, 0, 5}, {3, 5, 7}, {2, 300, 4}, {5, 33, 260}},
          tolerance, "reduce");
    agree(reduction("sum", element, "0, 2", "n"), {{2, 3, 0}, {3, 5, 7}, {9, 2, 64}, {40, 1, 33}},
          tolerance, "reduce");
  }
  agree(reduction("prod", "f16", "2", "m, n"), {{5, 7, 8}, {1, 3, 40}}, 1e-2, "reduce");
}

TEST_CASE("few results of many elements are combined by several blocks") {
  for (const char *element : {"f32", "i64"}) {
    agree(reduction("sum", element, "0, 1, 2", ""), {{1, 1, 131071}, {2, 500, 133}, {64, 32, 65}},
          1e-4, "reduce");
    agree(reduction("max", element, "0, 1", "k"), {{4, 2060, 16}, {3, 5000, 9}}, 1e-4, "reduce");
  }
  agree(extreme("max", "f32", 2, "m, n"), {{1, 2, 131080}}, 0, "reduce");
  agree(extreme("min", "i32", 1, "m, k"), {{1, 8200, 17}}, 0, "reduce");
}

TEST_CASE("the place of an extreme is that of the first, or of the last") {
  for (const char *element : {"f32", "f16", "i8"})
    for (const char *attributes : {"", " {select_last}"}) {
      agree(extreme("max", element, 2, "m, n", attributes),
            {{2, 3, 0}, {1, 1, 1}, {5, 7, 8}, {2, 1, 333}, {3, 1, 1040}}, 0, "reduce");
      agree(extreme("min", element, 1, "m, k", attributes),
            {{2, 0, 3}, {1, 1, 1}, {5, 7, 8}, {2, 330, 5}}, 0, "reduce");
    }
}

TEST_CASE("softmax and running sums have groups of threads, warps and blocks") {
  std::string x = tensor("m, n, k", "f32");
  agree(program(x, x, "  %z = weft.softmax %x : (" + x + ") -> " + x + "\n"),
        {{0, 4, 3}, {3, 2, 0}, {1, 1, 1}, {50, 7, 8}, {3, 1, 129}, {2, 1, 2051}, {3, 3, 1024}},
        1e-5, "row");
  for (const char *attributes : {"", " {exclusive}", " {reverse}", " {exclusive, reverse}"})
    for (const char *element : {"f32", "i32"}) {
      std::string y = tensor("m, n, k", element);
      agree(program(y, y,
                    "  %z = weft.cumulate sum %x axis 2" + std::string(attributes) + " : (" + y +
                        ") -> " + y + "\n"),
            {{0, 4, 3}, {3, 2, 0}, {1, 1, 1}, {5, 7, 8}, {3, 1, 129}, {2, 1, 2051}, {3, 1, 1024}},
            1e-4, "scan");
    }
}

TEST_CASE("a few elements of lines are selected, the first of equal ones first") {
  for (const char *element : {"f32", "f16", "i8"})
    for (const char *attributes : {"", " {smallest}"}) {
      std::string x = tensor("m, n, k", element), y = tensor("m, n, 5", element),
                  i = tensor("m, n, 5", "i64");
      agree("func.func @main(%x: " + x + ") -> (" + y + ", " + i +
                ") attributes {weft.symbols = #weft.symbols<m, n, k>} {\n  %y, %i = weft.top_k %x "
                "k [5] axis 2" +
                attributes + " : (" + x + ") -> (" + y + ", " + i + ")\n  return %y, %i : " + y +
                ", " + i + "\n}\n",
            {{0, 4, 8}, {2, 3, 3}, {1, 1, 1}, {5, 7, 8}, {3, 1, 129}, {2, 1, 2051}}, 0, "select");
    }
}
