//===- plan_test.cpp - Programs of the plan as text ---------------------------------------------===//
//
// A plan prints, reads back to the same text and is compiled to the same file; text that is no good plan is refused.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "test/differential/RandomProgram.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace weft::test {
namespace {

std::string bytesOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string compiled(const Module &module, const CompileOptions &options) {
  CompileOptions here = options;
  here.outputPath = std::filesystem::temp_directory_path() / "weft_plan_test.weft";
  Result<Artifact> artifact = Compiler().compile(module, here);
  return artifact ? bytesOf(here.outputPath) : artifact.diagnostics()[0].text;
}

/// What differs between a program and its plan that was printed and read; empty when nothing does.
std::string differs(const Module &module, bool compile) {
  CompileOptions options;
  options.target = "x86:v2";
  Result<std::string> printed = Compiler().programAfter("plan", module, options);
  if (!printed)
    return ""; // refused
  auto impl = Module::Impl::create(module.get().name);
  auto parsed = parseText(impl->context.get(), "plan.mlir", *printed, Limits(), &impl->files);
  if (!parsed)
    return "the plan does not read back: " + parsed.diagnostics()[0].text;
  impl->module = std::move(*parsed);
  Module read(impl);
  Result<std::string> again = Compiler().programAfter("plan", read, options);
  if (!again || *again != *printed)
    return "the plan does not print the same again";
  if (compile && compiled(module, options) != compiled(read, options))
    return "the plan is compiled to another file";
  return "";
}

/// The first line of what a plan's text is refused with.
std::string refusal(const std::string &text, bool exact = false) {
  Result<Module> module = importText("plan.mlir", text);
  if (!module)
    return module.diagnostics()[0].text;
  CompileOptions options;
  options.target = "x86:v2";
  options.numerics.exact = exact;
  Result<Artifact> checked = Compiler().check(*module, options);
  return checked ? "" : checked.diagnostics()[0].text;
}

/// Of a module with the kernel @k, which negates, and `body`.
std::string planOf(const std::string &body, const std::string &schedule = "loop",
                   const std::string &target = "x86:v2", const std::string &host = "x86:v2") {
  return "module attributes {plan.target = \"" + host + "\"} {\nplan.kernel @k target \"" + target +
         "\" schedule \"" + schedule + R"(" flops [s0] moves [8*s0] work [17*s0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.neg %a : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
)" + body +
         "  plan.return\n}\n}\n";
}

const char *kLaunch =
    "  plan.launch @k(%in) -> (%out) [n] units [ceildiv(n, 4096)] grain [1] scratch [0]\n";

} // namespace

TEST_CASE(
    "plans of random programs print, read back to the same text and compile to the same file") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    CHECK(differs(randomProgram(seed).module, /*compile=*/seed % 20 == 0) == "");
  }
}

TEST_CASE("plans of random programs give the bits of the programs that they were made from") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    RandomProgram program = randomProgram(seed);
    CHECK(tryPlan(program.module, program.trial) == "");
  }
}

TEST_CASE("plans of random programs with rounded operands give the bits of the rounded programs") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    RandomProgram program = randomProgram(seed);
    program.trial.compute = seed % 2 ? "bf16" : "f16";
    CHECK(tryPlan(program.module, program.trial) == "");
  }
}

TEST_CASE("a plan that somebody wrote is compiled as it says") {
  CHECK(refusal(planOf(std::string("  plan.arena peaks [0]\n") + kLaunch)) == "");
}

TEST_CASE("a plan is for the host that it was made for") {
  std::string body = std::string("  plan.arena peaks [0]\n") + kLaunch;
  CHECK(refusal(planOf(body, "loop", "x86:v2", "x86:v3")) ==
        "the plan is for target 'x86:v3', not for 'x86:v2'");
}

TEST_CASE("a kernel's target is one that there is") {
  std::string body = std::string("  plan.arena peaks [0]\n") + kLaunch;
  CHECK(refusal(planOf(body, "loop", "x86:v3")) == "");
  for (const char *target :
       {"x86:v9", "gpu:big", "host", "x86:host", "x86:v2,v3", "x86:v2:fast", "x"})
    CHECK_THAT(refusal(planOf(body, "loop", target)),
               StartsWith("no kernels are compiled for '" + std::string(target) +
                          "', but for x86:v2, x86:v3, ") &&
                   EndsWith(", also with ':exact'"));
}

TEST_CASE("an artifact needs of a processor what any of its kernels does") {
  CompileOptions options;
  options.target = "x86:v2";
  for (const auto &[target, isNeeded] : {std::pair("x86:v2", false), std::pair("x86:v4", true)}) {
    Result<Module> plan = importText(
        "plan.mlir", planOf(std::string("  plan.arena peaks [0]\n") + kLaunch, "loop", target));
    REQUIRE(plan);
    std::string bytes = compiled(*plan, options);
    CHECK(bytes.find("sse4.2") != std::string::npos);
    CHECK((bytes.find("avx512f") != std::string::npos) == isNeeded);
  }
}

TEST_CASE("where exact results are asked for, kernels of targets that round more are refused") {
  std::string body = std::string("  plan.arena peaks [0]\n") + kLaunch;
  CHECK(refusal(planOf(body, "loop", "x86:v2:exact"), /*exact=*/true) == "");
  CHECK(refusal(planOf(body, "loop", "x86:v2"), /*exact=*/true) ==
        "the kernel's target 'x86:v2' may round more than the operators do, and exact results are "
        "asked for");
}

TEST_CASE("a schedule that does not take a plan's kernel is refused") {
  std::string body = std::string("  plan.arena peaks [0]\n") + kLaunch;
  CHECK(refusal(planOf(body, "contraction")) == "schedule 'contraction' does not take the kernel");
  CHECK(refusal(planOf(body, "lunch")) == "schedule 'lunch' does not take the kernel");
}

TEST_CASE("launches that do not fit a kernel's schedule are refused") {
  auto launch = [](const std::string &units, const std::string &scratch) {
    return "  plan.arena peaks [0]\n  plan.launch @k(%in) -> (%out) [n] units [" + units +
           "] grain [1] scratch [" + scratch + "]\n";
  };
  std::string behind = " than 'x86:v2' needs for schedule 'loop' of the kernel";
  CHECK(refusal(planOf(launch("ceildiv(n, 4096)", "0"))) == "");
  CHECK(refusal(planOf(launch("n", "0"))) == "has other units" + behind);
  CHECK(refusal(planOf(launch("ceildiv(n, 4096)", "4"))) == "has other scratch" + behind);
}

TEST_CASE("a kernel is no other target's because the text says so") {
  CompileOptions options;
  options.target = "x86:v3";
  Result<Module> model = importText("two.mlir", R"(
func.func @main(%a: !weft.tensor<[m, 24], f32>, %b: !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32
      : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  return %0 : !weft.tensor<[m, n], f32>
})");
  std::string plan = *Compiler().programAfter("plan", *model, options);
  options.target = "x86:v2";
  plan.replace(plan.find("x86:v3"), 6, options.target); // of the host; the kernel stays
  CHECK(Compiler().check(*importText("plan.mlir", plan), options));
  plan.replace(plan.find("x86:v3"), 6, "x86:v4");
  Result<Artifact> checked = Compiler().check(*importText("plan.mlir", plan), options);
  REQUIRE(checked.diagnostics().size() == 1);
  CHECK(checked.diagnostics()[0].text ==
        "has other units than 'x86:v4' needs for schedule 'product' of the kernel");
}

TEST_CASE("memory without a place, and places that are taken twice, are refused") {
  CHECK(refusal(planOf(kLaunch)) == "has no 'plan.arena'; 'plan-place-memory' makes one");
  CHECK(refusal(planOf(std::string("  plan.arena peaks [0]\n  %m = plan.memory host [4*n]\n") +
                       kLaunch)) == "has no place; 'plan-place-memory' finds one");
  CHECK(refusal(planOf(std::string("  plan.arena peaks [8*n]\n"
                                   "  %a = plan.memory host [4*n] place 0 above []\n"
                                   "  %b = plan.memory host [4*n] place 0 above []\n") +
                       kLaunch)) == "places memory twice or leaves place 1 of a block out");
}

} // namespace weft::test
