// Plans that somebody wrote, evaluated: what they give, and what is said of wrong ones.
#include "compiler/eval/Evaluate.h"
#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "dialects/plan/Plan.h"
#include <catch2/catch.hpp>

using namespace weft;

namespace {

/// @neg and @add on vectors, @less on one element, @first takes half of what it gets.
const std::string kKernels = R"(
plan.kernel @neg target "x86:v3" schedule "loop" flops [s0] moves [8*s0] work [s0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.neg %a : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
plan.kernel @add target "x86:v3" schedule "loop" flops [s0] moves [12*s0] work [s0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>, %b: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.add %a, %b : (!weft.tensor<[s0], f32>, !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
plan.kernel @less target "x86:v3" schedule "loop" flops [1] moves [9] work [1] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>, %b: !weft.tensor<[], f32>) -> !weft.tensor<[], i1> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.reduce sum %a [0] : (!weft.tensor<[s0], f32>) -> !weft.tensor<[], f32>
    %1 = weft.compare lt %0, %b : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
    return %1 : !weft.tensor<[], i1>
  }
}
plan.kernel @first target "x86:v3" schedule "loop" flops [0] moves [4*s0] work [s0] {
  func.func @kernel(%a: !weft.tensor<[2*s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0 : "1 <= s0">} {
    %0 = weft.slice %a from [0] size [s0] step [1] : (!weft.tensor<[2*s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
)";

/// `body` of @main(x: [n]) -> [n], behind the names %in and %out.
std::string planOf(const std::string &body, const std::string &symbols = "n") {
  return "module attributes {plan.target = \"x86:v2\"} {" + kKernels +
         "plan.func @main(%x: !weft.tensor<[n], f32> {weft.name = \"x\"}) -> "
         "(!weft.tensor<[n], f32> {weft.name = \"y\"}) attributes {weft.symbols = "
         "#weft.symbols<" +
         symbols + ">} {\n  %in = plan.input 0\n  %out = plan.output 0\n" + body +
         "  plan.return\n}\n}\n";
}

std::string launch(const std::string &kernel, const std::string &inputs, const std::string &output,
                   const std::string &words = "n") {
  return "  plan.launch @" + kernel + "(" + inputs + ") -> (" + output + ") [" + words +
         "] units [1] grain [1] scratch [0] nodes [\"/" + kernel + "\"]\n";
}

std::string memory(const std::string &name, const std::string &bytes,
                   const std::string &rest = "") {
  return "  " + name + " = plan.memory host [" + bytes + "] " + rest + "\n";
}

struct Answer {
  std::vector<double> values;
  std::string error;
};

/// Of inputs 1, 2, …, 16.
Answer evaluate(const std::string &text) {
  weft::Result<Module> module = importText("plan.mlir", text);
  INFO(text);
  if (!module)
    FAIL(module.diagnostics()[0].text);
  auto function = *module->get().module->getOps<plan::FuncOp>().begin();
  RefTensor input(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(), {16});
  for (int64_t i = 0; i < 16; ++i)
    input.set(i, Scalar::of(double(i + 1)));
  auto results = evaluateFunction(function, input, {});
  if (!results)
    return {{}, llvm::toString(results.takeError())};
  Answer answer;
  for (int64_t i = 0; i < (*results)[0].size(); ++i)
    answer.values.push_back((*results)[0].at(i).asReal());
  return answer;
}

std::vector<double> times(double factor) {
  std::vector<double> values;
  for (int i = 1; i <= 16; ++i)
    values.push_back(factor * i);
  return values;
}

const std::string kPlace0 = "place 0 above []", kPlace1 = "place 1 above [0]";

} // namespace

TEST_CASE(
    "launches compute what their kernels' specifications say, in memory that has no place too") {
  for (bool isPlaced : {false, true}) {
    Answer answer =
        evaluate(planOf(memory("%a", "4*n", isPlaced ? kPlace0 : "") +
                        memory("%b", "4*n", isPlaced ? kPlace1 : "") + launch("neg", "%in", "%a") +
                        launch("add", "%a, %in", "%b") + launch("add", "%b, %a", "%out")));
    CHECK(answer.error == "");
    CHECK(answer.values == times(-1));
  }
}

TEST_CASE("what nothing wrote is not read") {
  CHECK(evaluate(
            planOf(memory("%a", "4*n") + launch("neg", "%a", "%out") + launch("neg", "%in", "%a")))
            .error ==
        "input 0 of kernel @neg at '/neg' is read, but nothing wrote its bytes 0 to 63");
  CHECK(evaluate(planOf("")).error == "output 'y' is read, but nothing wrote its bytes 0 to 63");
  CHECK(evaluate(planOf(launch("neg", "%in", "%out", "floordiv(n, 2)"))).error ==
        "output 'y' is read, but nothing wrote its bytes 32 to 63");
}

TEST_CASE("places that share bytes are shared") {
  const std::string two = memory("%a", "4*n", kPlace0) + memory("%b", "4*n", "place 1 above []");
  CHECK(evaluate(planOf(two + launch("neg", "%in", "%a") + launch("neg", "%in", "%b") +
                        launch("add", "%a, %b", "%out")))
            .error == "input 0 of kernel @add at '/add' is read, but kernel @neg at '/neg' wrote "
                      "over its bytes 0 to 63");
  // One behind the other they may.
  Answer answer =
      evaluate(planOf(two + launch("neg", "%in", "%a") + launch("add", "%a, %in", "%out") +
                      launch("neg", "%in", "%b") + launch("neg", "%b", "%out")));
  CHECK(answer.error == "");
  CHECK(answer.values == times(1));
}

TEST_CASE("a launch writes nothing that it reads") {
  CHECK(evaluate(planOf(memory("%a", "4*n", kPlace0) + memory("%b", "4*n", "place 1 above []") +
                        launch("neg", "%in", "%a") + launch("neg", "%a", "%b")))
            .error == "output 0 of kernel @neg at '/neg' lies where input 0 does");
}

TEST_CASE("launches that run together neither read nor write what another one writes") {
  const std::string two = memory("%a", "4*n", kPlace0) + memory("%b", "4*n", "place 1 above []") +
                          memory("%c", "4*n", "place 2 above [0, 1]");
  auto together = [&](const std::string &launches) {
    return evaluate(planOf(two + "  plan.together {\n" + launches + "  }\n")).error;
  };
  CHECK(together(launch("neg", "%in", "%a") + launch("add", "%in, %a", "%c")) ==
        "kernel @neg at '/neg' and kernel @add at '/add' run together, but output 0 of the first "
        "lies where input 1 of the second does");
  CHECK(together(launch("add", "%in, %a", "%c") + launch("neg", "%in", "%a")) ==
        "kernel @add at '/add' and kernel @neg at '/neg' run together, but input 1 of the first "
        "lies where output 0 of the second does");
  CHECK(together(launch("neg", "%in", "%a") + launch("add", "%in, %in", "%b")) ==
        "kernel @neg at '/neg' and kernel @add at '/add' run together, but output 0 of the first "
        "lies where output 0 of the second does");
  CHECK(
      evaluate(planOf(two + "  plan.together {\n" + launch("neg", "%in", "%a") +
                      launch("add", "%in, %in", "%c") + "  }\n" + launch("add", "%a, %c", "%out")))
          .values == times(1));
}

TEST_CASE("memory is as large as it says, and blocks as their peaks") {
  CHECK(evaluate(planOf(memory("%a", "4*n - 4") + launch("neg", "%in", "%a"))).error ==
        "output 0 of kernel @neg at '/neg' takes bytes 0 to 63 of its memory, which has 60");
  CHECK(evaluate(planOf("  plan.arena peaks [64]\n" + memory("%a", "4*n", kPlace0) +
                        memory("%b", "4*n", kPlace1)))
            .error == "the memory of place 1 at plan.mlir:32 ends at byte 128 of a block of 64");
  CHECK(evaluate(planOf(memory("%a", "4*n", kPlace0) + memory("%b", "4*n", kPlace0))).error ==
        "place 0 of a block is taken twice");
  CHECK(evaluate(planOf(memory("%a", "4*n", "place 2 above [1]"))).error ==
        "memory at plan.mlir:30 lies above place 1, which no memory of its block has");
}

TEST_CASE("inputs and weights are not written, and of weights no more is read than there is") {
  CHECK(evaluate(planOf(launch("neg", "%in", "%in"))).error ==
        "output 0 of kernel @neg at '/neg' lies where input 0 does");
  const std::string weight =
      "  %w = plan.weight dense<[1.0, 2.0]> : tensor<2xf32> as \"\" : !weft.tensor<[2], f32>\n";
  CHECK(evaluate(planOf(weight + launch("neg", "%in", "%w"))).error ==
        "output 0 of kernel @neg at '/neg' lies in a weight, which nobody writes");
  CHECK(evaluate(planOf(weight + launch("neg", "%w", "%out"))).error ==
        "input 0 of kernel @neg at '/neg' takes bytes 0 to 63 of a weight, which has 8");
  CHECK(evaluate(planOf("  %w = plan.weight @w as \"\" : !weft.tensor<[3], f32>\n" +
                        launch("neg", "%w", "%out", "3")))
            .error == "the weight at plan.mlir:30 is not declared");
}

TEST_CASE("of a weight in parts a rank reads its own, which must be there") {
  auto part = [](const std::string &at, const std::string &size) {
    return evaluate(planOf("  %w = plan.weight dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : "
                           "tensor<2x3xf32> as \"\" part " +
                           at + " size " + size +
                           " of !weft.tensor<[2, 3], f32> : !weft.tensor<[2], f32>\n" +
                           launch("neg", "%w", "%out", "2")));
  };
  CHECK_THAT(part("[0, 2]", "[2, 1]").error, Catch::EndsWith("nothing wrote its bytes 8 to 63"));
  CHECK(part("[0, 3]", "[2, 1]").error == "the weight at plan.mlir:30 has no part '3' here");
}

TEST_CASE("a slice of an operand reads only what it takes") {
  const std::string half = memory("%a", "8*n") + launch("neg", "%in", "%a");
  CHECK(evaluate(planOf(half + launch("first", "%a", "%out"))).values == times(-1));
  CHECK(evaluate(planOf(half + launch("neg", "%a", "%out", "2*n"))).error ==
        "input 0 of kernel @neg at '/neg' is read, but nothing wrote its bytes 64 to 127");
}

TEST_CASE("facts that a kernel relies on hold") {
  CHECK(evaluate(planOf(launch("first", "%in", "%out", "0"))).error ==
        "kernel @first at '/first' relies on '1 <= s0', which does not hold here");
}

TEST_CASE("what a loop carries moves on, and memory of a turn is new in the next one") {
  auto loop = [](const std::string &before, const std::string &body) {
    return planOf(memory("%m", "4*n") + memory("%k", "4*n") + before +
                      "  %r = plan.loop \"i\" trips [3] (%in) memory (%m, %k) -> !plan.buffer {\n"
                      "  ^bb0(%p: !plan.buffer, %q: !plan.buffer):\n" +
                      body + "    plan.yield []\n  }\n" + launch("neg", "%r", "%out"),
                  "n bound i : \"i <= 2\"");
  };
  CHECK(evaluate(loop("", launch("add", "%p, %p", "%q"))).values == times(-8));
  CHECK(evaluate(loop("", memory("%t", "4*n") + launch("add", "%p, %t", "%q"))).error ==
        "input 1 of kernel @add at '/add' is read, but nothing wrote its bytes 0 to 63");
  CHECK(
      evaluate(loop(memory("%t", "4*n"), launch("add", "%p, %p", "%q") + launch("neg", "%q", "%t")))
          .values == times(-8));
}

TEST_CASE("an output whose size data decide is asked for before it is written") {
  const std::string text = R"(module {
plan.kernel @fill target "x86:v3" schedule "loop" flops [0] moves [4*s0] work [s0] {
  func.func @kernel() -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.fill 2.5 : f32 -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
plan.func @main(%x: !weft.tensor<[n], i64>) -> !weft.tensor<[u], f32> attributes {weft.symbols = #weft.symbols<n bound u>} {
  %in = plan.input 0
  %out = plan.output 0
  plan.bind "u" %in bits 64 node "/size"
)",
                    end = "  plan.launch @fill() -> (%out) [u] units [1] grain [1] scratch [0]\n  "
                          "plan.return\n}\n}\n";
  auto answer = [](const std::string &plan, int64_t size) {
    weft::Result<Module> module = importText("plan.mlir", plan);
    REQUIRE(module);
    auto function = *module->get().module->getOps<plan::FuncOp>().begin();
    RefTensor input(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(),
                    {1});
    input.set(0, Scalar::of(size));
    auto results = evaluateFunction(function, input, {});
    return results ? std::to_string((*results)[0].size()) : llvm::toString(results.takeError());
  };
  CHECK(answer(text + "  plan.provide %out [4*u]\n" + end, 3) == "3");
  CHECK(answer(text + "  plan.provide %out [4*u]\n" + end, 0) == "0");
  CHECK(answer(text + end, 3) == "output 0 of kernel @fill at plan.mlir:12 lies in output "
                                 "'output0', whose memory nobody asked for yet");
  CHECK(answer(text + "  plan.provide %out [4*u]\n" + end, -3) ==
        "/size: 'u', which the contents of tensors decide, is -3");
}

TEST_CASE("a block that is asked for again holds nothing") {
  const std::string loop =
      "  %r = plan.loop \"i\" trips [2] (%in) memory (%m, %k) -> !plan.buffer {\n"
      "  ^bb0(%p: !plan.buffer, %q: !plan.buffer):\n"
      "    %block = plan.reserve peaks [64]\n"
      "    %t = plan.memory host [4*n] in %block place 0 above []\n" +
      launch("neg", "%p", "%t") + launch("neg", "%t", "%q") + "    plan.yield []\n  }\n";
  CHECK(evaluate(
            planOf(memory("%m", "4*n") + memory("%k", "4*n") + loop + launch("neg", "%r", "%out"),
                   "n bound i : \"i <= 1\""))
            .values == times(-1));
}
