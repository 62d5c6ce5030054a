// Sizes around those of tiles and chunks: whole, ragged, empty, with operands in any order.
#include "test/targets/cuda/Orders.h"

using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// A program of these symbols with operands %x and %y, which returns %z.
std::string program(const std::string &x, const std::string &y, const std::string &z,
                    const std::string &body, const std::string &symbols = "m, n") {
  return "func.func @main(%x: " + x + ", %y: " + y + ") -> " + z +
         " attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n" + body +
         "  return %z : " + z + "\n}\n";
}

/// What is computed of a product stands behind it, and what it reads is computed on the way.
std::string product(const std::string &element, const std::string &lhs, const std::string &rhs) {
  std::string x = tensor(lhs, element), y = tensor(rhs, element), z = tensor("m, n", "f32");
  auto spaced = [](std::string dims) {
    dims.erase(dims.find(','), 1);
    return dims;
  };
  return program(x, y, z,
                 "  %a = weft.neg %x : (" + x + ") -> " + x + "\n  %p = weft.contract \"" +
                     spaced(lhs) + ", " + spaced(rhs) + " -> m n\" %a, %y accumulate f32 : (" + x +
                     ", " + y + ") -> " + z + "\n  %z = weft.tanh %p : (" + z + ") -> " + z + "\n",
                 "m, n, k");
}

void agree(const std::string &text, std::initializer_list<std::array<int64_t, 3>> all,
           double tolerance, const std::string &schedule = "", int64_t limit = 8) {
  Program compiled(text, targetsToTry({"x86:host"}).front());
  INFO(compiled.error() << text);
  REQUIRE(compiled.error().empty());
  REQUIRE((schedule.empty() || uses(compiled, schedule)));
  std::vector<Sizes> calls;
  for (auto [m, n, k] : all)
    calls.push_back({{"m", m}, {"n", n}, {"k", k}});
  agreeInOrders(compiled, text, calls, tolerance, limit);
}

/// Of bytes; the left ones as they lie, or computed on the way.
std::string byteProduct(const std::string &x, const std::string &y, bool isComputed,
                        const std::string &rule) {
  std::string z = tensor("m, n", "i32"), body;
  if (isComputed)
    body = "  %a = weft.add %x, %x : (" + x + ", " + x + ") -> " + x + "\n";
  body += "  %p = weft.contract \"" + rule + " -> m n\" " + (isComputed ? "%a" : "%x") +
          ", %y accumulate i32 : (" + x + ", " + y + ") -> " + z + "\n  %z = weft.sub %p, %p2 : (" +
          z + ", " + tensor("n", "i32") + ") -> " + z + "\n";
  return "func.func @main(%x: " + x + ", %y: " + y + ", %p2: " + tensor("n", "i32") + ") -> " + z +
         " attributes {weft.symbols = #weft.symbols<m, n, k>} {\n" + body + "  return %z : " + z +
         "\n}\n";
}

/// By a constant of k rows.
std::string byteWeights(int64_t k, int64_t n) {
  std::string w = tensor(std::to_string(k) + ", " + std::to_string(n), "i8"),
              x = tensor("m, " + std::to_string(k), "ui8"),
              z = tensor("m, " + std::to_string(n), "i32");
  return "func.func @main(%x: " + x + ") -> " + z +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
         bytesText({k, n}, "i8") + " -> " + w +
         "\n  %z = weft.contract \"m k, k n -> m n\" %x, %w accumulate i32 : (" + x + ", " + w +
         ") -> " + z + "\n  return %z : " + z + "\n}\n";
}

constexpr int64_t kAnyByte = 256;

} // namespace

TEST_CASE("products agree with the evaluator where tiles are whole, ragged or empty") {
  for (const char *element : {"f32", "f16", "bf16"})
    for (const char *lhs : {"m, k", "k, m"})
      for (const char *rhs : {"k, n", "n, k"})
        agree(product(element, lhs, rhs),
              {{0, 3, 5},
               {5, 0, 3},
               {3, 5, 0},
               {1, 1, 1},
               {16, 64, 32},
               {17, 65, 33},
               {15, 63, 31},
               {32, 80, 129},
               {33, 16, 130},
               {64, 24, 200},
               {65, 72, 17},
               {128, 72, 40},
               {128, 20, 7},
               {129, 40, 72},
               {130, 8, 64},
               {390, 20, 40}},
              1e-4);
}

TEST_CASE("products agree with the evaluator where blocks share the steps of few tiles") {
  for (const char *element : {"f32", "f16"})
    for (const char *rhs : {"k, n", "n, k"})
      agree(product(element, "m, k", rhs),
            {{1, 40, 600}, {17, 72, 515}, {40, 24, 1030}, {70, 65, 520}, {390, 20, 1030}}, 1e-4);
}

TEST_CASE("products agree with the evaluator where their columns or steps are known to be few") {
  for (auto [k, n] :
       {std::pair(24, 40), std::pair(24, 8), std::pair(300, 8), std::pair(1040, 16)}) {
    std::string depth = std::to_string(k), width = std::to_string(n),
                x = tensor("m, " + depth, "f16"), y = tensor(depth + ", " + width, "f16"),
                z = tensor("m, " + width, "f32");
    agree(program(x, y, z,
                  "  %z = weft.contract \"m k, k n -> m n\" %x, %y accumulate f32 : (" + x + ", " +
                      y + ") -> " + z + "\n",
                  "m"),
          {{0, 0, 0}, {1, 0, 0}, {16, 0, 0}, {33, 0, 0}, {130, 0, 0}, {260, 0, 0}}, 1e-4,
          "product");
  }
}

TEST_CASE("products agree in every bit where they are of bytes, with signs or without") {
  const char *const kinds[] = {"ui8", "i8"}, *const lefts[] = {"m, k", "k, m"},
                    *const rights[] = {"n, k", "k, n"};
  for (int pair = 0; pair < 4; ++pair) { // of kinds, and of orders
    int right = pair % 2, isMixed = pair / 2, left = right ^ isMixed;
    std::string lhs = lefts[left], rhs = rights[right];
    std::string text = byteProduct(tensor(lhs, kinds[right]), tensor(rhs, kinds[right != isMixed]),
                                   left != right, lhs.erase(1, 1) + ", " + rhs.erase(1, 1));
    agree(text,
          {{0, 3, 5},
           {5, 0, 3},
           {3, 5, 0},
           {1, 1, 1},
           {16, 64, 64},
           {17, 65, 65},
           {15, 16, 256},
           {33, 40, 272},
           {64, 24, 400},
           {129, 72, 80},
           {390, 20, 40},
           {40, 24, 1030},
           {17, 64, 1040}},
          0, "product", kAnyByte);
  }
}

TEST_CASE("products agree in every bit where weights of bytes lie column by column") {
  for (auto [k, n] : {std::pair(48, 24), std::pair(40, 10), std::pair(304, 16), std::pair(200, 70),
                      std::pair(1040, 8)})
    agree(byteWeights(k, n), {{0, 0, 0}, {1, 0, 0}, {16, 0, 0}, {33, 0, 0}, {260, 0, 0}}, 0,
          "product", kAnyByte);
}

TEST_CASE("elements and lines agree with the evaluator where chunks are whole, ragged or empty") {
  for (const char *element : {"f32", "f16", "i64"}) {
    std::string x = tensor("m, n", element), y = tensor("n", element);
    agree(program(x, y, x, "  %z = weft.add %x, %y : (" + x + ", " + y + ") -> " + x + "\n"),
          {{0, 4, 1}, {3, 0, 1}, {1, 1, 1}, {5, 31, 1}, {5, 32, 1}, {3, 1024, 1}}, 1e-3);
  }
  std::string x = tensor("m, n", "f32"), y = tensor("n", "f32");
  agree(program(x, y, x, "  %z = weft.softmax %x : (" + x + ") -> " + x + "\n"),
        {{0, 4, 1}, {1, 1, 1}, {9, 31, 1}, {5, 128, 1}, {5, 132, 1}, {3, 1000, 1}}, 1e-5);
}

TEST_CASE("what lies in another order agrees where tiles are whole, ragged or empty") {
  for (const char *element : {"f32", "f16", "i8", "i1", "i64"}) {
    std::string x = tensor("k, n, m", element), y = tensor("n", element),
                t = tensor("k, m, n", element), z = tensor("k, m + 2, n + 1", element),
                none = tensor("", element), op = element == std::string("i1") ? "or" : "add";
    std::string number = element == std::string("i1") ? "true"
                         : element[0] == 'f'          ? "1.5 : " + std::string(element)
                                                      : "3 : " + std::string(element);
    std::string body = "  %t = weft.transpose %x [0, 2, 1] : (" + x + ") -> " + t +
                       "\n  %s = weft." + op + " %t, %y : (" + t + ", " + y + ") -> " + t;
    auto all = {
        std::array<int64_t, 3>{0, 9, 1},    {9, 0, 1},  {1, 1, 3},   {31, 127, 1}, {32, 128, 2},
        std::array<int64_t, 3>{33, 129, 1}, {8, 16, 1}, {40, 24, 2}, {7, 300, 1}};
    std::string turned = body;
    turned.replace(turned.find("%s ="), 4, "%z =");
    agree(program(x, y, t, turned + "\n", "m, n, k"), all, 1e-3, "turn");
    agree(program(x, y, z,
                  body + "\n  %none = weft.fill " + number + " -> <[], " + element +
                      ">\n  %z = weft.pad %s with %none low [0, 1, 1] high [0, 1, 0] : (" + t +
                      ", " + none + ") -> " + z + "\n",
                  "m, n, k"),
          all, 1e-3, "turn");
  }
}

namespace {

/// Positions from -3 on, which are counted from the end; those outside are left out. %x is [m, n]; `kind` is all that stands before it.
std::string scatter(const std::string &kind, const std::string &element,
                    const std::string &positions, const std::string &updates,
                    const std::string &behind = "") {
  std::string x = tensor("m, n", element), i = tensor(positions, "i64"),
              u = tensor(updates, element);
  return "func.func @main(%x: " + x + ", %i: " + i + ", %u: " + u + ") -> " + x +
         " attributes {weft.symbols = #weft.symbols<m, n, k>} {\n  %c = weft.fill 3 : i64 -> <[], "
         "i64>\n  %j = weft.sub %i, %c : (" +
         i + ", !weft.tensor<[], i64>) -> " + i + "\n  %z = weft." + kind + " %x, %j, %u" + behind +
         " outside clamped : (" + x + ", " + i + ", " + u + ") -> " + x + "\n  return %z : " + x +
         "\n}\n";
}

} // namespace

TEST_CASE("updates of an element are in the order of their positions, whoever has the element") {
  auto all = {
      std::array<int64_t, 3>{0, 4, 3},   {4, 0, 3},   {4, 3, 0},   {1, 1, 1},    {9, 33, 40},
      std::array<int64_t, 3>{40, 3, 70}, {64, 64, 5}, {200, 1, 9}, {2, 1200, 9}, {30, 40, 200}};
  constexpr int64_t limit = 50;
  for (const char *element : {"f32", "i32"})
    for (const char *kind : {"set", "add"}) {
      std::string nd = std::string("scatter_nd ") + kind,
                  single = std::string("scatter_elements ") + kind;
      agree(scatter(nd, element, "k, 1", "k, n"), all, 1e-5, "scatter", limit);
      agree(scatter(nd, element, "k, 2", "k"), all, 1e-5, "scatter", limit);
      agree(scatter(single, element, "k, 3", "k, 3", " axis 0"), all, 1e-5, "scatter", limit);
      agree(scatter(single, element, "2, k", "2, k", " axis 1"), all, 1e-5, "scatter", limit);
    }
}

namespace {

/// A convolution of bytes, channels last; of f32, where the filter is widened in the kernel.
std::string convolution(int64_t filters, int64_t channels, bool isWide) {
  std::string o = std::to_string(filters), c = std::to_string(channels);
  std::string element = isWide ? "f32" : "ui8", sum = isWide ? "f32" : "i32";
  std::string x = tensor("k, m, n, " + c, element), y = tensor(o, sum),
              bytes = tensor(o + ", " + c + ", 3, 3", "i8"),
              wide = tensor(o + ", " + c + ", 3, 3", sum), z = tensor("k, m, n, " + o, sum);
  std::string body =
      "  %f = weft.constant " + bytesText({filters, channels, 3, 3}, "i8") + " -> " + bytes + "\n";
  if (isWide)
    body += "  %w = weft.convert %f to f32 : (" + bytes + ") -> " + wide + "\n";
  body += "  %c = weft.conv %x, " + std::string(isWide ? "%w" : "%f") +
          " strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate " + sum +
          " {channels_last} : (" + x + ", " + (isWide ? wide : bytes) + ") -> " + z +
          "\n  %z = weft.add %c, %y : (" + z + ", " + y + ") -> " + z + "\n";
  return program(x, y, z, body, "m, n, k");
}

} // namespace

TEST_CASE("filters whose columns lie side by side agree, whatever their number") {
  for (bool isWide : {false, true})
    for (int64_t filters : {1, 5, 24, 32, 40})
      agree(convolution(filters, 3, isWide), {{1, 1, 1}, {5, 7, 2}}, isWide ? 0.1 : 0, "loop");
}

TEST_CASE("products agree in every bit where they are those of images of bytes") {
  for (auto [filters, channels] : {std::pair(8, 16), std::pair(40, 32), std::pair(70, 5)})
    agree(convolution(filters, channels, false), {{1, 1, 1}, {5, 7, 2}, {9, 16, 1}, {20, 20, 1}}, 0,
          "product", kAnyByte);
}
