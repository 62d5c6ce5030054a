// The comparison behind 'weft verify --bisect=passes': programs of the real passes, and of passes that are wrong on purpose.
#include <catch2/catch.hpp>

#include "compiler/import/text/ImportText.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/verify/PassBisect.h"

#include <algorithm>

using namespace weft;
using namespace weft::cli;

/// f(x * w + x) for a constant w, or its first column.
static std::string programText(const std::string &function = "relu", bool column = false) {
  const std::string type = "!weft.tensor<[b, 2], f32>", half = "!weft.tensor<[b, 1], f32>";
  const std::string result = column ? half : type;
  return "func.func @main(%x: " + type + " {weft.name = \"x\"}) -> (" + result +
         " {weft.name = \"y\"}) attributes {weft.symbols = #weft.symbols<b>} {\n"
         "  %w = weft.constant dense<[[1.001, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> "
         "!weft.tensor<[2, 2], f32>\n"
         "  %p = weft.contract \"b i, i j -> b j\" %x, %w accumulate f32 : (" +
         type + ", !weft.tensor<[2, 2], f32>) -> " + type + "\n  %s = weft.add %p, %x : (" + type +
         ", " + type + ") -> " + type + "\n  %f = weft.activation " + function + " %s : (" + type +
         ") -> " + type + "\n  %h = weft.slice %f from [0, 0] size [b, 1] step [1, 1] : (" + type +
         ") -> " + half + "\n  return " + (column ? "%h" : "%f") + " : " + result + "\n}\n";
}

static Module import(const std::string &text = programText()) {
  weft::Result<Module> module = importText("test.mlir", text);
  INFO(text);
  REQUIRE(module);
  return *module;
}

/// x = [[1, 1]] through the programs.
static PassChanges compare(const Module &module, const std::vector<PassProgram> &programs) {
  auto function = findFunction(module, "main");
  REQUIRE(function);
  auto signature = modelSignature(*function);
  REQUIRE(signature);
  InputRequest request;
  request.sources.push_back({"x", "", "ones"});
  request.dims["b"] = 1;
  auto inputs = prepareInputs(*signature, request);
  REQUIRE(inputs);
  auto imported = evaluateModel(module, *function, *inputs);
  REQUIRE(imported);
  auto changes = comparePasses(module, programs, "main", *inputs, *imported, -1);
  REQUIRE(changes);
  return *changes;
}

/// Passes of these names, each of which leaves this text; the model is the first.
static PassChanges compare(const std::vector<std::pair<std::string, std::string>> &steps) {
  std::vector<Module> modules; // they own the contexts
  std::vector<PassProgram> programs;
  for (const auto &[pass, text] : steps) {
    modules.push_back(import(text));
    programs.push_back({pass, modules.back().get().module->clone()});
  }
  return compare(modules[0], programs);
}

TEST_CASE("a wrong pass is named, the ones behind it are not") {
  // relu(7) is 7, silu(7) is 6.99.
  PassChanges changes = compare({{"import", programText()},
                                 {"good", programText()},
                                 {"wrong", programText("silu")},
                                 {"behind", programText("silu")}});
  REQUIRE(changes.all().size() == 3);
  REQUIRE(changes.first());
  CHECK(changes.first()->pass == "wrong");
  CHECK(changes.first()->position == 2);
  CHECK(changes.all()[0].own.comparison.worst == 0);
  CHECK(changes.all()[2].own.comparison.worst == 0);
  CHECK_FALSE(changes.all()[2].total.isGood());
  CHECK(changes.verdict().find("pass wrong, 2 of 3\n         output 'y': 2 of 2 elements differ") ==
        0);
}

TEST_CASE("a pass that mends what another broke is a change of its own") {
  PassChanges changes = compare(
      {{"import", programText()}, {"wrong", programText("silu")}, {"mends", programText()}});
  REQUIRE(changes.first());
  CHECK(changes.first()->pass == "wrong");
  CHECK_FALSE(changes.all()[1].own.isGood());
  CHECK(changes.all()[1].total.isGood());
}

TEST_CASE("a pass that changes a shape is named") {
  PassChanges changes =
      compare({{"import", programText()}, {"cuts", programText("relu", /*column=*/true)}});
  REQUIRE(changes.first());
  CHECK(changes.first()->total.trouble == "its shape is [1, 1], but [1, 2] is expected");
  CHECK(changes.table().find("cuts  shape      shape\n") != std::string::npos);
}

TEST_CASE("code that differs from the last program is told from a pass") {
  PassChanges changes = compare({{"import", programText()}, {"good", programText()}});
  CHECK_FALSE(changes.first());
  CHECK(changes.verdict() == "no pass changes an output by more than the tolerance");
  changes.add(kCodeStep, compare({{"import", programText("silu")}}).latest());
  CHECK(changes.verdict().find("the code of the kernels: the passes are good\n") == 0);
}

TEST_CASE("the passes keep a program's meaning, but for the one that rounds weights") {
  Module module = import();
  for (const char *weights : {"", "bf16"}) {
    CompileOptions options;
    options.numerics.weights = weights;
    auto programs = programsAfterPasses(module, options);
    REQUIRE(programs);
    CHECK((*programs)[0].pass == "import");
    PassChanges changes = compare(module, *programs);
    for (const PassChange &change : changes.all()) {
      INFO(change.pass);
      CHECK((change.own.comparison.worst == 0) == (change.pass != "weft-narrow-weights"));
    }
    CHECK((changes.first() != nullptr) == (*weights != 0));
    CHECK(changes.all().back().pass == "weft-collapse-dims");
  }
}

TEST_CASE("kernels are formed once, also where the target refuses an attention") {
  // No schedule knows attention whose heads have a symbolic size: it stays in separate kernels.
  Module module = import(R"(
func.func @main(%q: !weft.tensor<[s, d], f32>, %k: !weft.tensor<[t, d], f32>, %v: !weft.tensor<[t, d], f32>)
    -> !weft.tensor<[s, d], f32> attributes {weft.symbols = #weft.symbols<s, t, d>} {
  %0 = weft.contract "s d, t d -> s t" %q, %k accumulate f32
      : (!weft.tensor<[s, d], f32>, !weft.tensor<[t, d], f32>) -> !weft.tensor<[s, t], f32>
  %1 = weft.softmax %0 : (!weft.tensor<[s, t], f32>) -> !weft.tensor<[s, t], f32>
  %2 = weft.contract "s t, t d -> s d" %1, %v accumulate f32
      : (!weft.tensor<[s, t], f32>, !weft.tensor<[t, d], f32>) -> !weft.tensor<[s, d], f32>
  return %2 : !weft.tensor<[s, d], f32>
})");
  auto programs = programsAfterPasses(module, {});
  REQUIRE(programs);
  CHECK(std::count_if(programs->begin(), programs->end(), [](const PassProgram &each) {
          return each.pass == "weft-form-kernels";
        }) == 1);
  unsigned kernels = 0;
  programs->back().program->walk([&](KernelOp) { ++kernels; });
  CHECK(kernels == 3);
}
