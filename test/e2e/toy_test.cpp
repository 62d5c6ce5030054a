// A family of targets that is no part of Weft: what a new processor needs is its folder and one row of the registry.
#include "compiler/import/text/ImportText.h"
#include "test/support/Program.h"
#include "test/targets/toy/ToyFamily.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace weft;
using namespace weft::test;

namespace {

const bool kIsKnown = [] {
  addFamily(toyFamily());
  return true;
}();

void agrees(const std::string &text, std::initializer_list<Sizes> all, double tolerance = 1e-5) {
  REQUIRE(kIsKnown);
  Program program(text, "toy:scalar");
  INFO(text << program.error());
  REQUIRE(program.error().empty());
  for (const Sizes &sizes : all) {
    double difference = program.difference(sizes);
    INFO(program.error());
    CHECK(difference <= tolerance);
  }
}

/// `body` computes %r of type $t from %x of type $x.
std::string function(std::string body, const std::string &from, const std::string &to) {
  for (auto [sign, dims] : {std::pair("$x", from), std::pair("$t", to)})
    for (size_t at; (at = body.find(sign)) != std::string::npos;)
      body.replace(at, 2, "!weft.tensor<" + dims + ">");
  return "func.func @main(%x: !weft.tensor<" + from + ">) -> !weft.tensor<" + to +
         "> attributes {weft.symbols = #weft.symbols<m, n>} {\n" + body +
         "\n  return %r : !weft.tensor<" + to + ">\n}\n";
}

const std::initializer_list<Sizes> kSizes = {
    {{"m", 0}, {"n", 5}}, {{"m", 1}, {"n", 1}}, {{"m", 7}, {"n", 33}}, {{"m", 19}, {"n", 64}}};

} // namespace

TEST_CASE("toy: products, biases and activations") {
  agrees(
      R"(func.func @main(%a: !weft.tensor<[m, 24], f32>, %b: !weft.tensor<[24, n], f32>, %c: !weft.tensor<[n], f32>)
    -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %c : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.activation gelu %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %2 : !weft.tensor<[m, n], f32>
})",
      kSizes);
}

TEST_CASE("toy: lines, columns and views") {
  agrees(function("  %r = weft.softmax %x : ($x) -> $t", "[m, n], f32", "[m, n], f32"), kSizes);
  agrees(function("  %r = weft.reduce sum %x [0] : ($x) -> $t", "[m, n], f32", "[n], f32"), kSizes);
  agrees(function("  %r = weft.transpose %x [1, 0] : ($x) -> $t", "[m, n], i64", "[n, m], i64"),
         kSizes, 0);
}

TEST_CASE("toy: integers, and code with loops of its own") {
  agrees(function("  %0 = weft.mul %x, %x : ($x, $x) -> $x\n"
                  "  %r = weft.maximum %0, %x : ($x, $x) -> $t",
                  "[m, n], i32", "[m, n], i32"),
         kSizes, 0);
  agrees(function("  %r = weft.cumulate sum %x axis 1 : ($x) -> $t", "[m, n], f32", "[m, n], f32"),
         kSizes);
}

TEST_CASE("toy: its name is among those of targets, and says what an artifact is for") {
  REQUIRE(kIsKnown);
  std::string text = function("  %r = weft.neg %x : ($x) -> $t", "[m, n], f32", "[m, n], f32");
  Program program(text, "toy:scalar");
  weft_module_info_t info = {};
  REQUIRE(program.artifact);
  info.struct_size = sizeof info;
  REQUIRE(!weft_module_info(program.artifact, &info));
  CHECK(std::string(info.target) == "toy:scalar");
  CHECK(Program(text, "toy:vector").error().find("toy:scalar") != std::string::npos);
}

namespace {

/// A row, and a loop over what it gives.
const std::string kTwoKernels = function("  %0 = weft.softmax %x : ($x) -> $x\n"
                                         "  %1 = weft.transpose %0 [1, 0] : ($x) -> $t\n"
                                         "  %r = weft.neg %1 : ($t) -> $t",
                                         "[m, n], f32", "[n, m], f32");

/// Its plan for x86:v2, but for the loop, which is `target`'s.
Result<Module> planWithLoopFor(const std::string &target) {
  CompileOptions options;
  options.target = "x86:v2";
  std::string plan =
      *Compiler().programAfter("plan", *importText("two.mlir", kTwoKernels), options);
  const std::string own = "target \"x86:v2\" schedule \"loop\"";
  size_t at = plan.find(own);
  REQUIRE(at != std::string::npos);
  return importText("plan.mlir",
                    plan.replace(at, own.size(), "target \"" + target + "\" schedule \"loop\""));
}

/// The first lines of kernels' specifications, which say who compiles them and how.
std::set<std::string> compiledIn(const std::filesystem::path &folder) {
  std::set<std::string> lines;
  for (const auto &file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".mlir") {
      std::ifstream text(file.path());
      std::string line;
      std::getline(text, line);
      lines.insert(line);
    }
  return lines;
}

} // namespace

TEST_CASE("toy: one artifact holds kernels of the toy and of another target") {
  REQUIRE(kIsKnown);
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "weft_toy_test";
  std::filesystem::remove_all(folder);
  CompileOptions options;
  options.target = "x86:v2";
  options.temporariesDirectory = folder;
  Program model(kTwoKernels, "x86:v2"), mixed(*planWithLoopFor("toy:scalar"), options);
  INFO(mixed.error());
  REQUIRE(mixed.error().empty());
  CHECK(compiledIn(folder) == std::set<std::string>{"// toy:scalar loop", "// x86:v2 row"});
  const char *manifest = nullptr;
  uint64_t size = 0;
  REQUIRE(!weft_module_text(mixed.artifact, "manifest", &manifest, &size));
  CHECK(std::string(manifest, size).find("\"kernel_targets\":[\"toy:scalar\"]") !=
        std::string::npos);
  // A plan cannot be evaluated: its artifact is called as the model's.
  std::swap(model.artifact, mixed.artifact);
  std::swap(model.context, mixed.context);
  for (const Sizes &sizes : kSizes)
    CHECK(model.difference(sizes) <= 1e-5);
}

TEST_CASE("toy: a kernel of a target that there is not is refused with its place") {
  REQUIRE(kIsKnown);
  CompileOptions options;
  options.target = "x86:v2";
  Result<Artifact> artifact = Compiler().check(*planWithLoopFor("toy:vector"), options);
  REQUIRE(artifact.diagnostics().size() == 1);
  const Diagnostic &refusal = artifact.diagnostics()[0];
  CHECK(refusal.where.rfind("plan.mlir:", 0) == 0);
  CHECK_THAT(refusal.text,
             StartsWith("no kernels are compiled for 'toy:vector', but for x86:v2, x86:v3, ") &&
                 EndsWith(", toy:scalar, also with ':exact'"));
}
