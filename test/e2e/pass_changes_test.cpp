// The comparison behind 'weft verify --bisect=passes': programs of the real passes, and of passes that are wrong on purpose.
#include <catch2/catch.hpp>

#include "compiler/import/text/ImportText.h"
#include "dialects/plan/Plan.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/verify/PassBisect.h"

#include <algorithm>
#include <functional>
#include <regex>

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
    CHECK(changes.all().back().pass == "plan-place-memory");
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
  unsigned launches = 0;
  programs->back().program->walk([&](plan::LaunchOp) { ++launches; });
  CHECK(launches == 3);
}

//===-- Wrong plans ----------------------------------------------------------------------------===//

/// Four kernels, one in each line from 3 on; what the first computes is read by the second and by the last.
static Module importChain() {
  const std::string type = "!weft.tensor<[b, 2], f32>";
  auto softmax = [&](const std::string &result, const std::string &operand) {
    return result + " = weft.softmax " + operand + " : (" + type + ") -> " + type + "\n";
  };
  return import("func.func @main(%x: " + type + " {weft.name = \"x\"}) -> (" + type +
                " {weft.name = \"y\"})\nattributes {weft.symbols = #weft.symbols<b>} {\n" +
                softmax("%0", "%x") + softmax("%1", "%0") + softmax("%2", "%1") +
                softmax("%3", "%2") + "%4 = weft.mul %3, %0 : (" + type + ", " + type + ") -> " +
                type + "\nreturn %4 : " + type + "\n}\n");
}

using Launches = std::vector<plan::LaunchOp>;

/// The passes of the chain, one more that does `harm` to the plan, and one that does nothing.
static PassChanges compareHarmed(const std::function<void(Launches)> &harm) {
  Module module = importChain();
  auto programs = programsAfterPasses(module, {});
  REQUIRE(programs);
  mlir::OwningOpRef<mlir::ModuleOp> harmed = programs->back().program->clone();
  Launches launches;
  harmed->walk([&](plan::LaunchOp launch) { launches.push_back(launch); });
  REQUIRE(launches.size() == 4);
  harm(launches);
  mlir::OwningOpRef<mlir::ModuleOp> same = harmed->clone();
  programs->push_back({"plan-harm", std::move(harmed)});
  programs->push_back({"plan-behind", std::move(same)});
  return compare(module, *programs);
}

/// What is wrong with the plan, without the kernels' hashes.
static std::string faultAfter(const std::function<void(Launches)> &harm) {
  PassChanges changes = compareHarmed(harm);
  REQUIRE(changes.first());
  CHECK(changes.first()->pass == "plan-harm");
  CHECK_FALSE(changes.first()->isEvaluated);
  CHECK(changes.table().find("  refused    refused\n") != std::string::npos);
  CHECK(changes.table().find("  0          refused\n") != std::string::npos); // behind it
  std::string verdict = changes.verdict();
  size_t line = verdict.find("\n         ");
  CHECK(verdict.substr(0, line).find("pass plan-harm, ") == 0);
  return std::regex_replace(verdict.substr(line + 10), std::regex("@weft_k_row_[0-9a-f]+"), "@row");
}

static plan::MemoryOp memoryOf(plan::LaunchOp writer) {
  return writer.getOutputs()[0].getDefiningOp<plan::MemoryOp>();
}

TEST_CASE("memory that is placed onto a living one is found, with the launch that writes over it") {
  auto ontoTheFirst = [](Launches launches) {
    REQUIRE(memoryOf(launches[0]).getAbove()->empty());
    memoryOf(launches[2]).setAbove(llvm::ArrayRef<int64_t>());
  };
  CHECK(faultAfter(ontoTheFirst) ==
        "input 1 of kernel @row at test.mlir:6 is read, but kernel @row "
        "at test.mlir:5 wrote over its bytes 0 to 7");
}

TEST_CASE("a launch in front of the one whose result it reads is found") {
  auto behindItsReader = [](Launches launches) { launches[0]->moveAfter(launches[1]); };
  CHECK(faultAfter(behindItsReader) ==
        "input 0 of kernel @row at test.mlir:4 is read, but nothing wrote its bytes 0 to 7");
}

TEST_CASE("a region of launches that depend on each other is found") {
  auto together = [](Launches launches) {
    mlir::OpBuilder b(launches[1]);
    auto region = b.create<plan::TogetherOp>(launches[0].getLoc());
    mlir::Block &block = region.getBody().emplaceBlock();
    launches[0]->moveBefore(&block, block.end());
    launches[1]->moveBefore(&block, block.end());
  };
  CHECK(faultAfter(together) == "kernel @row at test.mlir:3 and kernel @row at test.mlir:4 run "
                                "together, but output 0 of the first lies where input 0 of the "
                                "second does");
}

TEST_CASE("a plan that computes something else is found by its outputs") {
  PassChanges changes = compareHarmed([](Launches launches) {
    launches[3].getInputsMutable()[1].set(launches[0].getInputs()[0]); // x for softmax(x)
  });
  REQUIRE(changes.first());
  CHECK(changes.first()->pass == "plan-harm");
  CHECK(changes.first()->isEvaluated);
  CHECK(changes.first()->total.text() ==
        "2 of 2 elements differ, worst error 0.25: got 0.5, expected 0.25 at [0, 0]");
}
