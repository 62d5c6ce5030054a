// One artifact for several targets: every variant computes the same, and weights are stored once per layout.
#include "compiler/import/text/ImportText.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

using namespace weft::test;

namespace {

/// A product with a constant matrix of 96 times 64, and a constant that is added as it is.
const std::string kText = [] {
  auto constant = [](const std::string &shape, const std::string &dims, int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      float value = float(i * 37 % 101) / 64 - 0.75f;
      char hex[9];
      snprintf(hex, sizeof hex, "%02X%02X%02X%02X", ((unsigned char *)&value)[0],
               ((unsigned char *)&value)[1], ((unsigned char *)&value)[2],
               ((unsigned char *)&value)[3]);
      bytes += hex;
    }
    return "weft.constant dense<\"0x" + bytes + "\"> : tensor<" + shape +
           "xf32> -> !weft.tensor<[" + dims + "], f32>\n";
  };
  return "func.func @main(%x: !weft.tensor<[m, 96], f32>) -> !weft.tensor<[m, 64], f32> attributes "
         "{weft.symbols = #weft.symbols<m>} {\n  %w = " +
         constant("96x64", "96, 64", 96 * 64) + "  %b = " + constant("64", "64", 64) +
         "  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (!weft.tensor<[m, 96], "
         "f32>, !weft.tensor<[96, 64], f32>) -> !weft.tensor<[m, 64], f32>\n"
         "  %1 = weft.add %0, %b : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64], f32>) -> "
         "!weft.tensor<[m, 64], f32>\n  return %1 : !weft.tensor<[m, 64], f32>\n}\n";
}();

/// The program continues with the code for `target`, or without any and with the reason.
std::string use(Program &program, const char *target) {
  weft_context_release(program.context);
  weft_module_release(program.artifact);
  program.context = nullptr;
  program.artifact = nullptr;
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.target = target;
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_options_t options = {sizeof options, 1, -1, 0};
  if (weft_module_open(&env, program.path.c_str(), &program.artifact, &error) ||
      weft_context_create(program.artifact, &options, &program.context, &error))
    return error.message;
  return "";
}

uint64_t weightBytes(const std::string &target) {
  weft::Result<weft::Module> module = weft::importText("test.mlir", kText);
  REQUIRE(module);
  weft::CompileOptions options;
  options.target = target;
  weft::Result<weft::Artifact> checked = weft::Compiler().check(*module, options);
  REQUIRE(checked);
  return checked->weightBytes;
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_CASE("every variant of an artifact computes what the evaluator does") {
  Program program(kText, "x86:v2,v3,v4,v4+vnni");
  if (program.artifact == nullptr)
    INFO(program.error());
  REQUIRE(weft_variant_count(program.artifact) == 4);
  const uint32_t count = weft_variant_count(program.artifact);
  std::vector<std::pair<std::string, bool>> targets;
  for (uint32_t i = 0; i < count; ++i) {
    weft_variant_info_t info = {};
    info.struct_size = sizeof info;
    REQUIRE(weft_variant_info(program.artifact, i, &info) == WEFT_OK);
    targets.push_back({info.target, info.missing == nullptr});
  }
  CHECK(targets[0].first == "x86:v4+vnni");
  CHECK(targets[3].first == "x86:v2");
  for (const auto &[target, runs] : targets) {
    INFO(target);
    std::string refused = use(program, target.c_str());
    CHECK(refused.empty() == runs);
    if (runs)
      for (int64_t m : {0, 1, 5, 29})
        CHECK(program.difference({{"m", m}}) <= 1e-5);
  }
  REQUIRE(use(program, nullptr).empty());
}

TEST_CASE("a weight that variants want alike is stored once") {
  uint64_t v3 = weightBytes("x86:v3"), v4 = weightBytes("x86:v4");
  CHECK(weightBytes("x86:v4,v4+vnni") == v4);
  CHECK(weightBytes("x86:v3,v4") ==
        v3 + v4 - 64 * 4); // panels are as wide as two vectors; the bias is common
}

TEST_CASE("an artifact for several targets does not depend on their order") {
  Program one(kText, "x86:v2,v3"), other(kText, "x86:v3,v2,v3");
  REQUIRE(one.error() == "");
  CHECK(contents(one.path) == contents(other.path));
}

TEST_CASE("the manifest says what changes numbers, and the target's name does not") {
  weft::CompileOptions options = exactly("x86:v3");
  options.numerics.roundActivations = true;
  options.numerics.weights = "bf16";
  std::string manifests[2];
  for (bool isPlain : {false, true}) {
    options.numerics = isPlain ? weft::Numerics() : options.numerics;
    Program program(kText, options);
    INFO(program.error());
    REQUIRE(program.artifact);
    const char *text = nullptr;
    size_t size = 0;
    REQUIRE(weft_module_text(program.artifact, "manifest", &text, &size) == WEFT_OK);
    manifests[isPlain].assign(text, size);
    CHECK(manifests[isPlain].find("\"target\":\"x86:v3\"") != std::string::npos);
  }
  for (const char *said :
       {"\"accuracy\":\"exact\"", "\"activations\":\"bytes\"", "\"weights\":\"bf16\""}) {
    CHECK(manifests[0].find(said) != std::string::npos);
    CHECK(manifests[1].find(said) == std::string::npos);
  }
}
