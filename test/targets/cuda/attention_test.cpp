// Attention as one kernel: rows, keys and heads around the sizes of tiles, masks that hide whole rows, and what stands behind the softmax.
#include "test/targets/cuda/Orders.h"

using namespace weft::test;

namespace {

/// softmax(program(q k^T)) v, of `element`, with heads of these depths. Keys answer `shared` heads each.
struct Attention {
  std::string element = "f32";
  int depth = 32, columns = 32, shared = 1;
  bool isHidden = false;    ///< a row sees the keys in front of it only, so the first sees none
  bool isForgiving = false; ///< rows that see nothing give zeros
  bool isTurned = false;    ///< keys and values lie with keys last
  std::string mask = "f32"; ///< added to scores; i1: hides those that it is false for
};

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

std::string unary(const std::string &name, const std::string &op, const std::string &from,
                  const std::string &type, const std::string &result,
                  const std::string &rest = "") {
  return "  %" + name + " = weft." + op + " %" + from + rest + " : (" + type + ") -> " + result +
         "\n";
}

/// What stands between the first product, %s of f32, and the softmax's result %w.
std::string between(const Attention &a) {
  std::string type = tensor("b, 4, m, n", "f32"), mask = tensor("m, n", a.mask),
              truth = tensor("b, 4, m, n", "i1"), scalar = tensor("", "f32");
  std::string text =
      a.mask == "i1" ? "  %least = weft.fill -9.0 : f32 -> <[], f32>\n  %bias = weft.select %mask, "
                       "%s, %least : (" +
                           mask + ", " + type + ", " + scalar + ") -> " + type + "\n"
                     : unary("wide", "convert", "mask", mask, tensor("m, n", "f32"), " to f32") +
                           "  %bias = weft.add %s, %wide : (" + type + ", " +
                           tensor("m, n", "f32") + ") -> " + type + "\n";
  std::string scores = "bias";
  if (a.isHidden) {
    std::string i64 = tensor("m, n", "i64"), seen = tensor("m, n", "i1");
    text += "  %row = weft.iota dim 0 : " + i64 + "\n  %column = weft.iota dim 1 : " + i64 + "\n";
    text +=
        "  %seen = weft.compare lt %column, %row : (" + i64 + ", " + i64 + ") -> " + seen + "\n";
    text += "  %none = weft.fill 0xFF800000 : f32 -> <[], f32>\n";
    text += "  %shown = weft.select %seen, %bias, %none : (" + seen + ", " + type + ", " + scalar +
            ") -> " + type + "\n";
    scores = "shown";
  }
  text += unary("p", "softmax", scores, type, type);
  if (!a.isForgiving)
    return text +
           unary("w", "convert", "p", type, tensor("b, 4, m, n", a.element), " to " + a.element);
  text +=
      unary("isnan", "is_nan", "p", type, truth) + "  %zero = weft.fill 0.0 : f32 -> <[], f32>\n";
  text += "  %kept = weft.select %isnan, %zero, %p : (" + truth + ", " + scalar + ", " + type +
          ") -> " + type + "\n";
  return text +
         unary("w", "convert", "kept", type, tensor("b, 4, m, n", a.element), " to " + a.element);
}

/// Heads of keys or values, %from, for all heads of queries: %name.
std::string repeated(const std::string &name, const std::string &from, const Attention &a,
                     const std::string &dims) {
  if (a.shared == 1)
    return unary(name, "neg", from, tensor("b, 4, " + dims, a.element),
                 tensor("b, 4, " + dims, a.element));
  std::string heads = std::to_string(4 / a.shared), each = std::to_string(a.shared);
  std::string own = tensor("b, " + heads + ", " + dims, a.element),
              one = tensor("b, " + heads + ", 1, " + dims, a.element),
              more = tensor("b, " + heads + ", " + each + ", " + dims, a.element),
              all = tensor("b, 4, " + dims, a.element);
  return unary(name + "1", "reshape", from, own, one, " to [b, " + heads + ", 1, " + dims + "]") +
         unary(name + "2", "expand", name + "1", one, more,
               " to [b, " + heads + ", " + each + ", " + dims + "]") +
         unary(name, "reshape", name + "2", more, all, " to [b, 4, " + dims + "]");
}

std::string program(const Attention &a) {
  std::string d = std::to_string(a.depth), e = std::to_string(a.columns),
              heads = std::to_string(4 / a.shared);
  std::string keyDims = a.isTurned ? d + ", n" : "n, " + d,
              valueDims = a.isTurned ? e + ", n" : "n, " + e;
  std::string q = tensor("b, 4, m, " + d, a.element),
              k = tensor("b, " + heads + ", " + keyDims, a.element),
              v = tensor("b, " + heads + ", " + valueDims, a.element),
              mask = tensor("m, n", a.mask), scores = tensor("b, 4, m, n", "f32"),
              out = tensor("b, 4, m, " + e, "f32");
  std::string keys = tensor("b, 4, " + keyDims, a.element),
              values = tensor("b, 4, " + valueDims, a.element),
              weights = tensor("b, 4, m, n", a.element);
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v + ", %mask: " + mask + ") -> " +
         out + " attributes {weft.symbols = #weft.symbols<b, m, n>} {\n" +
         repeated("keys", "k", a, keyDims) + repeated("values", "v", a, valueDims) +
         "  %s = weft.contract \"b h m d, b h " + (a.isTurned ? "d n" : "n d") +
         " -> b h m n\" %q, %keys accumulate f32 : (" + q + ", " + keys + ") -> " + scores + "\n" +
         between(a) + "  %mix = weft.contract \"b h m n, b h " + (a.isTurned ? "e n" : "n e") +
         " -> b h m e\" %w, %values accumulate f32 : (" + weights + ", " + values + ") -> " + out +
         "\n" + unary("z", "tanh", "mix", out, out) + "  return %z : " + out + "\n}\n";
}

using Calls = std::vector<std::array<int64_t, 2>>; // queries and keys
const Calls kAll = {{1, 1},  {1, 64},  {1, 130},  {8, 63},   {9, 65}, {16, 64},
                    {17, 3}, {64, 64}, {33, 128}, {65, 129}, {5, 0},  {0, 7}};
const Calls kSome = {{1, 70}, {12, 65}, {66, 64}};

void agree(const Attention &a, const Calls &calls = kSome, int64_t batch = 2) {
  std::string text = program(a);
  Program compiled(text, targetsToTry({"x86:host"}).front());
  INFO(compiled.error() << text);
  REQUIRE(compiled.error().empty());
  REQUIRE(uses(compiled, "attention"));
  double tolerance = a.element == "f32" ? 2e-5 : a.element == "f16" ? 4e-3 : 3e-2;
  std::vector<Sizes> sizes;
  for (auto [m, n] : calls)
    sizes.push_back({{"b", batch}, {"m", m}, {"n", n}});
  agreeInOrders(compiled, text, sizes, tolerance);
}

} // namespace

TEST_CASE(
    "attention agrees with the evaluator where rows and keys are whole tiles, ragged or none") {
  for (const char *element : {"f32", "f16", "bf16"})
    agree({element}, kAll);
}

TEST_CASE("attention agrees with the evaluator for heads of any depth") {
  for (const char *element : {"f32", "bf16"})
    for (auto [depth, columns] :
         {std::pair(1, 1), {8, 40}, {20, 16}, {64, 64}, {80, 96}, {128, 128}, {136, 24}, {48, 200}})
      agree({element, depth, columns}, kSome, 1);
}

TEST_CASE("attention agrees with the evaluator where heads share keys and values") {
  for (const char *element : {"f32", "f16"})
    for (int shared : {2, 4})
      agree({element, 32, 32, shared});
}

TEST_CASE("attention agrees with the evaluator where keys lie last in memory") {
  for (const char *element : {"f32", "f16"}) {
    Attention a{element};
    a.isTurned = true;
    agree(a);
  }
}

TEST_CASE("attention agrees with the evaluator where blocks share keys, of which some see none") {
  const Calls shared = {{1, 600}, {7, 515}, {16, 257}, {66, 520}};
  for (const char *element : {"f32", "f16"})
    for (bool isHidden : {false, true}) {
      Attention a{element, 64, 64, 2};
      a.isHidden = isHidden;
      agree(a, shared, 1);
    }
  agree({"bf16", 136, 24}, shared, 1);
}

TEST_CASE("a row that sees no key gives no number, unless the program says what it gives") {
  for (const char *element : {"f32", "f16"})
    for (bool isForgiving : {false, true}) {
      Attention a{element};
      a.isHidden = true;
      a.isForgiving = isForgiving;
      agree(a, kAll);
    }
}

TEST_CASE("attention agrees with the evaluator for masks of any width") {
  for (const char *element : {"f32", "f16"})
    for (const char *mask : {"i1", "f16", "f64"}) {
      Attention a{element};
      a.mask = mask;
      agree(a, {{1, 64}, {16, 72}, {17, 8}, {40, 136}, {65, 67}});
    }
}
