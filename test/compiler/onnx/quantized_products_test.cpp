// MatMulNBits: when rows may be rounded to bytes, and what the product then is.
#include "test/compiler/readers/SampleFiles.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace weft;

namespace {

constexpr int64_t kColumns = 40;

/// Rows of `k` elements times a weight of 4 bits in blocks of 32; `accuracy` is the attribute's value, -1 leaves it out.
std::string modelFile(int64_t accuracy, int64_t k) {
  int64_t blocks = (k + 31) / 32;
  std::string nibbles, scales;
  for (int64_t i = 0; i < kColumns * blocks * 16; ++i)
    nibbles += char(i * 37 % 251);
  for (int64_t i = 0; i < kColumns * blocks; ++i)
    scales += WireWriter::fixed(float(i % 7 + 1) / 64);
  WireWriter node = simpleNode("MatMulNBits", {"x", "w", "scales"}, {"y"}, "/product");
  node.text(7, "com.microsoft");
  std::vector<std::pair<const char *, int64_t>> attributes = {
      {"K", k}, {"N", kColumns}, {"bits", 4}, {"block_size", 32}};
  if (accuracy >= 0)
    attributes.push_back({"accuracy_level", accuracy});
  for (auto [name, value] : attributes)
    node.message(5, attributeOf(name, 2).integer(3, value));
  WireWriter graph =
      WireWriter()
          .message(1, node)
          .text(2, "graph")
          .message(5, rawTensor("w", 2, {kColumns, blocks, 16}, nibbles))
          .message(5, rawTensor("scales", 1, {kColumns * blocks}, scales))
          .message(11, valueInfo("x", tensorType(1, {"b", "s", std::to_string(k)})))
          .message(12, valueInfo("y", tensorType(1, {"b", "s", std::to_string(kColumns)})));
  std::string path = "nbits." + std::to_string(accuracy) + "." + std::to_string(k) + ".onnx";
  std::ofstream(path, std::ios::binary)
      << modelOf(graph).message(8, opsetOf("com.microsoft", 1)).bytes;
  return path;
}

bool rounds(const std::string &path) {
  Result<Module> module = Compiler().importFile(path);
  REQUIRE(module);
  return module->text().find("weft.round_blocks") != std::string::npos;
}

} // namespace

TEST_CASE("rows are rounded where the model allows bytes") {
  CHECK(rounds(modelFile(4, 64)));
  CHECK_FALSE(rounds(modelFile(-1, 64)));
  for (int64_t accuracy : {0, 1, 2, 3})
    CHECK_FALSE(rounds(modelFile(accuracy, 64)));
  CHECK_FALSE(rounds(modelFile(4, 48))); // rows that are not whole blocks
}

TEST_CASE("a product of rounded rows is what the evaluator says") {
  for (const char *target : {"x86:host", "x86:v3"}) {
    Result<Module> module = Compiler().importFile(modelFile(4, 64));
    REQUIRE(module);
    test::Program program(*module, target);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (int64_t s : {0, 1, 5, 13})
      CHECK(program.difference({{"b", 1}, {"s", s}}) <= 1e-4);
  }
}
