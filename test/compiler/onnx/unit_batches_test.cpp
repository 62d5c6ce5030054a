// Batches of one sentence or image, as exporters write them into files: products have the kernels of batches of any size.
#include "test/compiler/readers/SampleFiles.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace weft;
using test::uses;

namespace {

/// Queries, keys and values [batch, tokens, heads, width], as they come from a reshape, through softmax(q k^T) v.
WireWriter attention(bool isEinsum) {
  WireWriter graph = WireWriter().text(2, "graph");
  auto einsum = [](const char *a, const char *b, const char *to, const char *equation) {
    return simpleNode("Einsum", {a, b}, {to}, to)
        .message(5, attributeOf("equation", 3).text(4, equation));
  };
  auto turned = [](const char *from, const char *to, std::vector<int64_t> order) {
    return simpleNode("Transpose", {from}, {to}, to)
        .message(5, attributeOf("perm", 7).packed(8, order));
  };
  WireWriter softmax = simpleNode("Softmax", {"scores"}, {"weights"}, "softmax")
                           .message(5, attributeOf("axis", 2).integer(3, 3));
  if (isEinsum)
    return graph.message(1, einsum("q", "k", "scores", "bshe,bthe->bhst"))
        .message(1, softmax)
        .message(1, einsum("weights", "v", "y", "bhst,bthe->bshe"));
  return graph.message(1, turned("q", "qt", {0, 2, 1, 3}))
      .message(1, turned("k", "kt", {0, 2, 3, 1}))
      .message(1, turned("v", "vt", {0, 2, 1, 3}))
      .message(1, simpleNode("MatMul", {"qt", "kt"}, {"scores"}, "scores"))
      .message(1, softmax)
      .message(1, simpleNode("MatMul", {"weights", "vt"}, {"y"}, "sums"));
}

test::Program compiled(const WireWriter &graph, const std::string &name) {
  std::ofstream(name, std::ios::binary) << modelOf(graph).bytes;
  Result<Module> module = Compiler().importFile(name);
  REQUIRE(module);
  return test::Program(*module, "x86:host");
}

} // namespace

TEST_CASE("attention over one sequence is one kernel") {
  for (bool isEinsum : {false, true})
    for (const char *batch : {"1", "n"}) {
      INFO((isEinsum ? "Einsum" : "MatMul") << ", batch " << batch);
      WireWriter graph = attention(isEinsum);
      for (const char *name : {"q", "k", "v"})
        graph.message(11, valueInfo(name, tensorType(1, {batch, "s", "4", "24"})));
      graph.message(12, valueInfo("y", tensorType(1, {"", "", "", ""})));
      test::Program program = compiled(graph, "attention.onnx");
      INFO(program.error());
      REQUIRE(program.error().empty());
      CHECK(uses(program, "attention"));
      CHECK_FALSE(uses(program, "loop"));
      for (int64_t s : {0, 1, 17, 40})
        CHECK(program.difference(*batch == '1' ? test::Sizes{{"s", s}}
                                               : test::Sizes{{"n", 1}, {"s", s}}) <= 1e-5);
    }
}

TEST_CASE("weights with leading dimensions of 1 are weights") {
  std::string numbers;
  for (int i = 0; i < 40 * 24; ++i)
    numbers += WireWriter::fixed(float(i % 13 - 6) / 8);
  for (std::vector<std::string> rows :
       {std::vector<std::string>{"1", "s"}, {"s", "5"}, {"2", "1", "s"}}) {
    std::vector<int64_t> dims(rows.size(), 1);
    dims[rows.size() - 1] = 40;
    dims.push_back(24);
    rows.push_back("40");
    WireWriter graph =
        WireWriter()
            .text(2, "graph")
            .message(1, simpleNode("MatMul", {"x", "w"}, {"y"}, "product"))
            .message(5, rawTensor("w", 1, dims, numbers))
            .message(11, valueInfo("x", tensorType(1, rows)))
            .message(12, valueInfo("y", tensorType(1, std::vector<std::string>(rows.size(), ""))));
    test::Program program = compiled(graph, "weights.onnx");
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, "contraction"));
    for (int64_t s : {0, 1, 17, 40})
      CHECK(program.difference({{"s", s}}) <= 1e-5);
  }
}

TEST_CASE("an operand that repeats along the other's batch is a shorter stack of matrices") {
  using Dims = std::vector<std::string>;
  const std::pair<Dims, Dims> cases[] = {{{"n", "s", "24"}, {"1", "24", "33"}},
                                         {{"1", "s", "24"}, {"n", "24", "33"}},
                                         {{"n", "3", "s", "24"}, {"n", "1", "24", "33"}},
                                         {{"n", "1", "s", "24"}, {"1", "3", "24", "33"}}};
  for (const auto &[a, b] : cases) {
    WireWriter graph = WireWriter()
                           .text(2, "graph")
                           .message(1, simpleNode("MatMul", {"a", "b"}, {"y"}, "product"))
                           .message(11, valueInfo("a", tensorType(1, a)))
                           .message(11, valueInfo("b", tensorType(1, b)))
                           .message(12, valueInfo("y", tensorType(1, Dims(a.size(), ""))));
    test::Program program = compiled(graph, "repeated.onnx");
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, "product"));
    for (int64_t n : {0, 1, 3})
      for (int64_t s : {0, 1, 17})
        CHECK(program.difference({{"n", n}, {"s", s}}) <= 1e-5);
  }
}
