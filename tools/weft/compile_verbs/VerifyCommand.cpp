//===- VerifyCommand.cpp - weft verify --------------------------------------------------------===//
//
// Evaluates the model, calls what was compiled from it with the same inputs, and compares.
//===------------------------------------------------------------------------------------------===//

#include "targets/common/Registry.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/verify/Bisect.h"
#include "tools/weft/verify/PassBisect.h"

namespace weft::cli {
namespace {

class Verify {
public:
  Verify(const ParsedOptions &options, Console &console, Module module)
      : options(options), console(console), module(std::move(module)),
        given(options.positional().size() > 1 ? options.positional()[1] : "") {}

  int run() {
    for (auto step : {&Verify::prepare, &Verify::evaluate, &Verify::callCompiled, &Verify::compare,
                      &Verify::bisect, &Verify::bisectPasses})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    console.json() ? reportJson() : report();
    return finish();
  }

private:
  Result<Done> prepare() {
    Result<mlir::FunctionOpInterface> found = findFunction(module, "");
    if (!found)
      return found.failure();
    function = *found;
    Result<Signature> read = modelSignature(function);
    if (!read)
      return read.failure();
    signature = *read;
    Result<InputRequest> request = readInputRequest(options);
    if (!request)
      return request.failure();
    Result<Inputs> prepared = prepareInputs(signature, *request);
    if (!prepared)
      return prepared.failure();
    inputs = std::move(*prepared);
    if (options.has("tol"))
      tolerance = parseReal(options.value("tol")).value_or(0);
    sayInputs();
    return beginBisection();
  }

  /// Where ranks are asked for, of the split program.
  Result<Done> beginBisection() {
    if (!options.has("bisect") || wantsPasses())
      return Done{};
    if (asksForRanks(options))
      if (Result<Done> done = splitModel(); !done)
        return done;
    auto graph = mlir::dyn_cast<mlir::func::FuncOp>(splitModule ? *splitFunction : *function);
    if (!graph)
      return Failure{ExitWrongUsage,
                     "'--bisect' compiles prefixes of a graph, but '" + options.positional()[0] +
                         "' is a plan",
                     "give the model that it was made from", ""};
    bisection.emplace(splitModule ? *splitModule : module, graph, inputs, tolerance);
    Caller prefixes = caller();
    prefixes.ranksMustAgree = false;
    bisection->runOn(prefixes);
    return Done{};
  }

  Result<Done> splitModel() {
    CompileOptions ranks;
    if (Result<Done> done = readRanks(options, ranks); !done)
      return done;
    weft::Result<Module> split = Compiler().partition(module, ranks);
    if (!split)
      return failureOf(split.diagnostics());
    splitModule = *split;
    Result<mlir::FunctionOpInterface> found = findFunction(*splitModule, signature.function);
    if (!found)
      return found.failure();
    splitFunction = *found;
    return Done{};
  }

  /// The local ranks of this command, whoever started it.
  Caller caller() const {
    Caller made;
    made.device = options.value("device");
    made.ranks.world = static_cast<int32_t>(options.number("ranks", 0));
    return made;
  }

  void sayInputs() {
    sayAssumed(console, inputs.assumed);
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      const HostTensor &tensor = inputs.tensors[i].tensor;
      console.say((i ? "         " : "inputs   ") + signature.inputs[i].name + "  " +
                  weft_element_name(tensor.element()) + printDims(tensor.dims()) + "  " +
                  inputs.tensors[i].origin);
    }
  }

  Result<Done> evaluate() {
    ObserveValues observe = bisection ? bisection->observer() : ObserveValues();
    Result<std::vector<NamedTensor>> results =
        evaluateModel(module, function, inputs, splitModule ? ObserveValues() : observe);
    if (!results)
      return results.failure();
    expected = std::move(*results);
    if (!splitModule)
      return Done{};
    results = evaluateModel(*splitModule, splitFunction, inputs, observe);
    return results ? Result<Done>(Done{}) : results.failure();
  }

  Result<Done> callCompiled() {
    guard.emplace(nullptr);
    if (given.empty() || options.has("bisect")) {
      Result<TemporaryFolder> made = TemporaryFolder::create();
      if (!made)
        return made.failure();
      folder = *made;
    }
    Result<CalledModel> result = given.empty() ? compileAndCall() : call(given);
    if (!result)
      return result.failure();
    called = std::move(*result);
    if (!called.mesh.empty())
      console.say("ranks    " + called.mesh);
    return Done{};
  }

  Result<CalledModel> call(const std::string &path) {
    return callArtifact(path, signature.function, inputs, *guard, caller());
  }

  Result<CalledModel> compileAndCall() {
    Result<CompileOptions> compile = wholeOptions();
    if (!compile)
      return compile.failure();
    Result<std::string> path = compileAside(module, *compile, *folder);
    return path ? call(*path) : path.failure();
  }

  bool isOnDevice() const { return options.value("device", "cpu") != "cpu"; }

  /// The first level of devices, whose code all of them run.
  static std::string deviceTarget() {
    for (const auto &each : allKernelTargets())
      if (each->isForDevice())
        return each->name().str();
    return CompileOptions().target;
  }

  /// What a given artifact was compiled for, unless --target says otherwise.
  std::string target() const {
    if (isOnDevice())
      return options.value("target", deviceTarget());
    return options.value("target", called.target.empty() ? CompileOptions().target : called.target);
  }

  CompileOptions compileOptions() const {
    CompileOptions compile;
    compile.target = target();
    compile.numerics = readNumerics(options);
    return compile;
  }

  /// Of the whole model: prefixes of it have other outputs, which may not extend an input.
  Result<CompileOptions> wholeOptions() const {
    CompileOptions compile = compileOptions();
    readInPlace(options, compile);
    compile.fuseComm = readFuseComm(options);
    if (Result<Done> done = readRanks(options, compile); !done)
      return done.failure();
    return compile;
  }

  bool wantsPasses() const { return options.value("bisect") == "passes"; }

  Result<Done> compare() {
    if (called.outputs.size() != expected.size())
      return Failure{ExitInputRefused,
                     given + " has " + std::to_string(called.outputs.size()) +
                         " outputs, but the model has " + std::to_string(expected.size()),
                     "compile the artifact again", ""};
    verdicts = judgeOutputs(called.outputs, expected, tolerance);
    for (const Verdict &verdict : verdicts)
      good &= verdict.isGood();
    return Done{};
  }

  Result<Done> bisect() {
    if (!bisection || good)
      return Done{};
    Result<std::optional<Difference>> found =
        bisection->run(compileOptions(), *folder, *guard,
                       [&](const std::string &line) { console.say("bisect   " + line); });
    if (!found)
      return found.failure();
    first = *found;
    return Done{};
  }

  /// The code is the last step: of what was compiled here, not of a given artifact.
  Result<Done> bisectPasses() {
    if (!wantsPasses())
      return Done{};
    Result<CompileOptions> compile = wholeOptions();
    if (!compile)
      return compile.failure();
    weft::Result<std::vector<PassProgram>> programs = programsAfterPasses(module, *compile);
    if (!programs)
      return failureOf(programs.diagnostics());
    Result<PassChanges> changes =
        comparePasses(module, *programs, signature.function, inputs, expected, tolerance);
    if (!changes)
      return changes.failure();
    std::vector<NamedTensor> outputs = called.outputs;
    if (!given.empty()) {
      Result<CalledModel> again = compileAndCall();
      if (!again)
        return again.failure();
      outputs = again->outputs;
    }
    changes->add(kCodeStep, std::move(outputs));
    passes = std::move(*changes);
    return Done{};
  }

  std::string describeFirst() const {
    if (!first)
      return given.empty() ? "no operator differs when it is compiled with what precedes it"
                           : "the model compiled now does not differ; compile " + given + " again";
    std::string text = first->operation;
    if (!first->node.empty())
      text += " at '" + first->node + "'";
    text += ", operator " + std::to_string(first->position) + " of " +
            std::to_string(first->operators) + "\n         " + weft_element_name(first->element) +
            printDims(first->dims) + "  ";
    return text +
           (first->trouble.empty() ? describe(first->comparison, first->dims) : first->trouble);
  }

  std::string describeFirstPass() const {
    return !passes->first() && !good && !given.empty()
               ? "the model compiled now does not differ; compile " + given + " again"
               : passes->verdict();
  }

  void report() {
    if (console.verbosity() < 0)
      return;
    size_t nameWidth = 0, shapeWidth = 0;
    auto shapeOf = [](const Verdict &v) {
      return weft_element_name(v.element) + printDims(v.dims);
    };
    for (const Verdict &verdict : verdicts) {
      nameWidth = std::max(nameWidth, verdict.name.size());
      shapeWidth = std::max(shapeWidth, shapeOf(verdict).size());
    }
    for (size_t i = 0; i < verdicts.size(); ++i) {
      std::string name = verdicts[i].name, shape = shapeOf(verdicts[i]);
      name.resize(nameWidth, ' ');
      shape.resize(shapeWidth, ' ');
      console.result((i ? "         " : "outputs  ") + name + "  " + shape + "  " +
                     (verdicts[i].isGood() ? describe(verdicts[i].comparison, verdicts[i].dims)
                                           : "different") +
                     "\n");
    }
    if (bisection && !good)
      console.result("first    " + describeFirst() + "\n");
    if (passes)
      console.result(passes->table() + "first    " + describeFirstPass() + "\n");
    if (bisection && good)
      console.say("bisect   nothing to look for: all outputs agree");
  }

  void passesJson(JsonWriter &json) const {
    auto change = [&](const char *name, const Verdict &verdict) {
      json.object(name).field("output", verdict.name).field("good", verdict.isGood());
      comparisonJson(json, verdict.trouble, verdict.comparison);
      json.end();
    };
    json.array("passes");
    for (const PassChange &each : passes->all()) {
      json.object().field("pass", each.pass);
      change("change", each.own);
      change("total", each.total);
      json.end();
    }
    json.end();
    if (const PassChange *found = passes->first())
      json.object("first").field("pass", found->pass).field("position", found->position).end();
  }

  void reportJson() {
    JsonWriter json("weft.verify/1");
    json.field("model", options.positional()[0]).field("artifact", given);
    json.field("function", signature.function)
        .field("target", isOnDevice() ? target() : called.target);
    if (!called.mesh.empty())
      json.field("mesh", called.mesh);
    json.field("seed", options.number("seed", 1)).field("good", good).object("symbols");
    for (const auto &[name, value] : inputs.symbols)
      json.field(name, value);
    json.end().array("outputs");
    for (const Verdict &verdict : verdicts) {
      json.object().field("name", verdict.name).field("good", verdict.isGood());
      json.field("element", weft_element_name(verdict.element)).list("dims", verdict.dims);
      comparisonJson(json, verdict.trouble, verdict.comparison);
      json.end();
    }
    json.end();
    if (first) {
      json.object("first").field("node", first->node).field("operator", first->operation);
      json.field("position", first->position).field("operators", first->operators);
      json.field("element", weft_element_name(first->element)).list("dims", first->dims);
      comparisonJson(json, first->trouble, first->comparison);
      json.end();
    }
    if (passes)
      passesJson(json);
    console.result(json.finish());
  }

  /// Outputs that differ are said after the report, each in a line, and a program that the evaluator
  /// refuses.
  int finish() {
    int written = console.finish();
    const PassChange *found = passes ? passes->first() : nullptr;
    if (found && !found->isEvaluated) {
      console.say("error: after pass " + found->pass + ": " + found->total.trouble, -1);
      good = false;
    }
    for (const Verdict &verdict : verdicts)
      if (!verdict.isGood())
        console.say("error: output '" + verdict.name + "': " +
                        (verdict.trouble.empty() ? describe(verdict.comparison, verdict.dims)
                                                 : verdict.trouble),
                    -1);
    return written ? written : good ? ExitOk : ExitComparisonFailed;
  }

  const ParsedOptions &options;
  Console &console;
  Module module;
  std::string given; ///< the artifact, or empty
  mlir::FunctionOpInterface function;
  Signature signature;
  Inputs inputs;
  double tolerance = -1;
  std::optional<InterruptGuard> guard; ///< from the first file on
  std::optional<TemporaryFolder> folder;
  std::vector<NamedTensor> expected;
  CalledModel called;
  std::vector<Verdict> verdicts;
  bool good = true;
  std::optional<Module> splitModule; ///< that is bisected, where ranks are asked for
  mlir::FunctionOpInterface splitFunction;
  std::optional<Bisection> bisection;
  std::optional<Difference> first;
  std::optional<PassChanges> passes;
};

} // namespace

int verifyCommand(const ParsedOptions &options, Console &console) {
  int exitCode = ExitOk;
  std::optional<Module> module = importModel(options, console, exitCode);
  return module ? Verify(options, console, *module).run() : exitCode;
}

} // namespace weft::cli
