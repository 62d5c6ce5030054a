//===- RankPrograms.h - Programs to place on ranks, as text ---------------------------------------------===//
//
//   parseSourceString<ModuleOp>(transformer({2, 768, 12, 3072}), &context)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_PASSES_PARALLEL_RANKPROGRAMS_H
#define WEFT_TEST_PASSES_PARALLEL_RANKPROGRAMS_H

#include <cstdint>
#include <initializer_list>
#include <string>

namespace weft::test {

/// Writes operations on tensors of f32 with names for weights.
class Program {
public:
  /// "[b, s, 64]"
  std::string input(const std::string &name, const std::string &dims) {
    arguments += (arguments.empty() ? "%" : ", %") + name + ": " + typed(dims) +
                 " {weft.name = \"" + name + "\"}";
    return "%" + name;
  }

  std::string weight(const std::string &name, const std::string &dims) {
    int64_t bytes = 4;
    for (size_t at = 1; at < dims.size(); at = dims.find_first_of(",]", at) + 2)
      bytes *= std::stoll(dims.substr(at));
    weights += "weft.weight @\"" + name + "\" from \"w.bin\" at 0 bytes " + std::to_string(bytes) +
               " : " + typed(dims) + "\n";
    return value("weft.constant @\"" + name + "\" -> " + typed(dims));
  }

  struct Operand {
    std::string value, dims;
  };
  /// An operation of these operands, with its result's dimensions.
  std::string op(const std::string &before, std::initializer_list<Operand> operands,
                 const std::string &after, const std::string &dims) {
    std::string names, types;
    for (const Operand &operand : operands) {
      names += (names.empty() ? "" : ", ") + operand.value;
      types += (types.empty() ? "" : ", ") + typed(operand.dims);
    }
    return value("weft." + before + " " + names + " " + after + " : (" + types + ") -> " +
                 typed(dims));
  }

  std::string contract(const std::string &rule, Operand a, Operand b, const std::string &dims) {
    return op("contract \"" + rule + "\"", {a, b}, "accumulate f32", dims);
  }

  std::string text(const std::string &result, const std::string &dims,
                   const std::string &symbols) const {
    return weights + "func.func @main(" + arguments + ") -> (" + typed(dims) +
           " {weft.name = \"y\"}) attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n" +
           body + "  return " + result + " : " + typed(dims) + "\n}\n";
  }

private:
  static std::string typed(const std::string &dims) { return "!weft.tensor<" + dims + ", f32>"; }
  std::string value(const std::string &operation) {
    std::string name = "%v" + std::to_string(++values);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }

  std::string weights, arguments, body;
  unsigned values = 0;
};

struct Sizes {
  unsigned layers = 2, hidden = 768, heads = 12, inner = 3072;
};

/// An encoder as BERT's: query, key, value, out, up and down.
inline std::string transformer(Sizes sizes) {
  auto list = [](std::initializer_list<std::string> dims) {
    std::string text;
    for (const std::string &dim : dims)
      text += (text.empty() ? "[" : ", ") + dim;
    return text + "]";
  };
  Program p;
  std::string h = std::to_string(sizes.hidden), f = std::to_string(sizes.inner),
              n = std::to_string(sizes.heads), d = std::to_string(sizes.hidden / sizes.heads),
              all = list({"b", "s", h}), apart = list({"b", "s", n, d}),
              heads = list({"b", n, "s", d}), scores = list({"b", n, "s", "s"}),
              wide = list({"b", "s", f});
  std::string x = p.input("x", all);
  for (unsigned i = 0; i < sizes.layers; ++i) {
    std::string layer = "layer." + std::to_string(i) + ".";
    auto linear = [&](const std::string &from, const std::string &dims, const std::string &name,
                      const std::string &k, const std::string &j) {
      return p.contract("b s k, k j -> b s j", {from, dims},
                        {p.weight(layer + name, list({k, j})), list({k, j})}, list({"b", "s", j}));
    };
    auto projected = [&](const std::string &name) {
      std::string made = linear(x, all, name, h, h),
                  cut = p.op("reshape", {{made, all}}, "to " + apart, apart);
      return p.op("transpose", {{cut, apart}}, "[0, 2, 1, 3]", heads);
    };
    auto normalized = [&](const std::string &a, const std::string &b, const std::string &name) {
      std::string sum = p.op("add", {{a, all}, {b, all}}, "", all), one = list({h});
      return p.op("normalize",
                  {{sum, all},
                   {p.weight(layer + name + ".scale", one), one},
                   {p.weight(layer + name + ".shift", one), one}},
                  "{epsilon = 1.0e-5 : f64, center = true}", all);
    };
    std::string q = projected("query"), k = projected("key"), v = projected("value");
    std::string score = p.contract("b h s d, b h t d -> b h s t", {q, heads}, {k, heads}, scores),
                part = p.op("softmax", {{score, scores}}, "", scores),
                mixed =
                    p.contract("b h s t, b h t d -> b h s d", {part, scores}, {v, heads}, heads),
                back = p.op("transpose", {{mixed, heads}}, "[0, 2, 1, 3]", apart),
                joined = p.op("reshape", {{back, apart}}, "to " + all, all);
    x = normalized(linear(joined, all, "out", h, h), x, "norm1");
    std::string up = p.op("activation gelu", {{linear(x, all, "up", h, f), wide}}, "", wide);
    x = normalized(linear(up, wide, "down", f, h), x, "norm2");
  }
  return p.text(x, all, "b, s");
}

} // namespace weft::test

#endif // WEFT_TEST_PASSES_PARALLEL_RANKPROGRAMS_H
