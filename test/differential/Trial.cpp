#include "test/differential/Trial.h"
#include "compiler/driver/PassPrograms.h"
#include "compiler/eval/Evaluate.h"
#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "test/differential/Graph.h"
#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace weft::test {

static std::string textOf(const Sizes &sizes) {
  std::string text;
  for (auto &[name, value] : sizes)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

std::string Trial::str() const {
  std::string text = "target " + target + ", " + std::to_string(threads) + " threads" +
                     (compute.empty() ? "" : ", operands in " + compute) + ", sizes";
  for (const Sizes &each : sizes)
    text += " (" + textOf(each) + ")";
  return text;
}

namespace {

//===-- Inputs -------------------------------------------------------------------------------------===//

Scalar randomScalar(Type element, const Knowledge &k, std::mt19937_64 &random) {
  double low = std::max(-k.most, lowestOf(element));
  if (!isFloat(element)) {
    if (k.most - low > 1e9) // any bits
      return Scalar::of(wrapInteger(element, int64_t(random())));
    return Scalar::of(int64_t(low) + int64_t(random() % uint64_t(k.most - low + 1)));
  }
  if (k.special && random() % 6 == 0) {
    constexpr double kSpecials[] = {INFINITY, -INFINITY, NAN, -0.0};
    return Scalar::of(kSpecials[random() % 4]);
  }
  auto steps = uint64_t(std::ldexp(k.most - low, k.quantum)) + 1;
  return Scalar::of(low + std::ldexp(double(random() % steps), -k.quantum));
}

std::vector<Tensor> inputsOf(func::FuncOp function, const Sizes &sizes, unsigned seed) {
  SymValues values;
  for (auto &[name, value] : sizes)
    values[StringAttr::get(function.getContext(), name)] = value;
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (BlockArgument argument : function.getArguments()) {
    SymTensorType type = wholeArgument(function, argument.getArgNumber());
    Tensor input;
    input.element = type.getElementType();
    for (SymExpr dim : type.getDims())
      input.dims.push_back(dim.evaluate(values).value_or(0));
    RefTensor reference(input.element, input.dims);
    Knowledge k = Knowledge::of(argument).value_or(Knowledge{1, 2, 0, false});
    for (int64_t i = 0; i < reference.size(); ++i)
      reference.set(i, randomScalar(input.element, k, random));
    input.bytes.resize(elementBytes(input.element, reference.size()));
    toBytes(reference, input.bytes.data());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

//===-- Comparison ---------------------------------------------------------------------------------===//

/// 0 when equal; infinity when one is not finite or an integer differs.
double distance(const Scalar &got, const Scalar &expected) {
  if (got.kind != Scalar::Real)
    return got.integer == expected.integer
               ? 0
               : std::max(1.0, std::fabs(got.asReal() - expected.asReal()));
  double a = got.real, e = expected.real;
  if (a == e || (std::isnan(a) && std::isnan(e)))
    return 0;
  return std::isfinite(a) && std::isfinite(e) ? std::fabs(a - e) : INFINITY;
}

std::string textOf(const Scalar &value) {
  char text[64];
  if (value.kind == Scalar::Real)
    snprintf(text, sizeof text, "%.9g", value.real);
  else
    snprintf(text, sizeof text, "%lld", (long long)value.integer);
  return text;
}

std::string compare(const RefTensor &got, const RefTensor &expected, const Knowledge &k) {
  if (got.dims != expected.dims)
    return "other dimensions";
  double worst = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < got.size(); ++i)
    if (double d = distance(got.at(i), expected.at(i)); d > worst)
      worst = d, at = i;
  if (worst <= 2 * k.error)
    return "";
  char text[160];
  snprintf(text, sizeof text, "element %lld of %lld is %s, expected %s, allowed %.3g, times %.3g",
           (long long)at, (long long)got.size(), textOf(got.at(at)).c_str(),
           textOf(expected.at(at)).c_str(), 2 * k.error,
           k.error > 0 ? worst / (2 * k.error) : INFINITY);
  return text;
}

bool isAboutPositions(const std::string &why) {
  return why.find(" is outside ") != std::string::npos;
}

/// How far a result may lie from the evaluated one.
Knowledge allowed(func::FuncOp function, unsigned result) {
  Operation *end = function.getBody().front().getTerminator();
  return Knowledge::of(end->getOperand(result)).value_or(Knowledge{1, 0, 1e-3, true});
}

/// What the compiler refused no call may give.
std::string refusedAlways(Program &program, func::FuncOp function, const Trial &trial) {
  std::string why = program.error();
  for (const Sizes &sizes : trial.sizes)
    if (!program.evaluate(inputsOf(function, sizes, trial.seed)).empty())
      return "compiler: " + why;
  return "";
}

/// What the programs behind the passes give for these inputs.
class Evaluations {
public:
  Evaluations(const Module &module, ArrayRef<Tensor> given) {
    options.weight = [&](llvm::StringRef name) { return module.get().weightBytes(name); };
    for (const Tensor &input : given)
      inputs.push_back(input.reference());
  }

  /// Results, or why there are none in `error`.
  std::vector<RefTensor> of(ModuleOp program) {
    llvm::Expected<std::vector<RefTensor>> results =
        evaluateFunction(cast<FunctionOpInterface>(program.lookupSymbol("main")), inputs, options);
    if (results)
      return std::move(*results);
    error = llvm::toString(results.takeError());
    return {};
  }

  std::string error;

private:
  EvaluateOptions options;
  std::vector<RefTensor> inputs;
};

/// The program that is computed: the imported one, or what is left of it where operands are rounded.
ModuleOp meantProgram(ArrayRef<PassProgram> graph) {
  for (const PassProgram &each : graph)
    if (each.pass == "weft-round-operands")
      return *each.program;
  return *graph.front().program;
}

/// What is right for some inputs, or nothing and why.
using Meaning =
    llvm::function_ref<std::vector<RefTensor>(const std::vector<Tensor> &inputs, std::string &why)>;

std::string compareAll(Program &program, func::FuncOp function, Meaning meaning, const Sizes &sizes,
                       const Trial &trial) {
  std::vector<Tensor> inputs = inputsOf(function, sizes, trial.seed);
  std::string why;
  std::vector<RefTensor> expected = meaning(inputs, why);
  if (expected.empty() && !(trial.mayRefuse && isAboutPositions(why)))
    return "evaluator: " + why;
  std::vector<Tensor> got = program.run(inputs);
  if (expected.empty())
    return got.empty() && isAboutPositions(program.error()) ? "" : "call: not refused: " + why;
  if (got.size() != expected.size())
    return "call: " + program.error();
  for (size_t i = 0; i < got.size(); ++i) {
    std::string problem = compare(got[i].reference(), expected[i], allowed(function, i));
    if (!problem.empty())
      return "result " + std::to_string(i) + ": " + problem;
  }
  return "";
}

/// `graph`: the programs before it is planned.
std::string comparePlans(const Module &module, ArrayRef<PassProgram> graph,
                         ArrayRef<PassProgram> plans, ArrayRef<Tensor> inputs) {
  auto function = module.get().module->lookupSymbol<func::FuncOp>("main");
  Evaluations evaluations(module, inputs);
  std::vector<RefTensor> meant = evaluations.of(meantProgram(graph)),
                         exact = evaluations.of(*graph.back().program);
  for (const PassProgram &plan : plans) {
    std::vector<RefTensor> got = evaluations.of(*plan.program);
    if (!evaluations.error.empty() || got.size() != meant.size())
      return plan.pass + ": " + evaluations.error;
    for (size_t i = 0; i < got.size(); ++i) {
      std::string problem = compare(got[i], exact[i], Knowledge());
      if (problem.empty())
        problem = compare(got[i], meant[i], allowed(function, i));
      if (!problem.empty())
        return plan.pass + ": result " + std::to_string(i) + ": " + problem;
    }
  }
  return "";
}

} // namespace

static CompileOptions optionsOf(const Trial &trial) {
  CompileOptions options;
  options.target = trial.target;
  options.numerics.compute = trial.compute;
  if (trial.computesMeanwhile)
    options.fuseComm = FuseComm::Always;
  return options;
}

std::string tryPlan(const Module &module, const Trial &trial) {
  Result<std::vector<PassProgram>> programs = programsAfterPasses(module, optionsOf(trial));
  if (!programs)
    return "compiler: " + programs.diagnostics()[0].text;
  auto first =
      llvm::find_if(*programs, [](const PassProgram &each) { return each.pass == "plan-lower"; });
  ArrayRef<PassProgram> all(*programs), graph = all.take_front(first - programs->begin());
  auto function = module.get().module->lookupSymbol<func::FuncOp>("main");
  for (const Sizes &sizes : trial.sizes) {
    std::vector<Tensor> inputs = inputsOf(function, sizes, trial.seed);
    std::string problem = comparePlans(module, graph, all.drop_front(graph.size()), inputs);
    if (!problem.empty())
      return textOf(sizes) + ": " + problem;
  }
  return "";
}

std::string trySame(const Module &module, const Module &other, const Trial &trial) {
  for (const Sizes &sizes : trial.sizes) {
    std::vector<Tensor> inputs =
        inputsOf(module.get().module->lookupSymbol<func::FuncOp>("main"), sizes, trial.seed);
    Evaluations first(module, inputs), second(other, inputs);
    std::vector<RefTensor> expected = first.of(*module.get().module),
                           got = second.of(*other.get().module);
    if (!first.error.empty() || !second.error.empty() || got.size() != expected.size())
      return textOf(sizes) + ": evaluator: " + first.error + second.error;
    for (size_t i = 0; i < got.size(); ++i)
      if (std::string problem = compare(got[i], expected[i], Knowledge()); !problem.empty())
        return textOf(sizes) + ": result " + std::to_string(i) + ": " + problem;
  }
  return "";
}

/// Split, it is the same program: evaluated on all ranks, and compiled and run by them.
static std::string tryRanks(const Module &module, const Trial &trial) {
  Result<Module> split = Compiler().partition(module, CompileOptions());
  if (!split)
    return "compiler: " + split.diagnostics()[0].text;
  Program program(*split, optionsOf(trial), trial.threads);
  if (!program.error().empty())
    return "compiler: " + program.error();
  auto function = module.get().module->lookupSymbol<func::FuncOp>("main");
  for (const Sizes &sizes : trial.sizes) {
    std::vector<Tensor> inputs = inputsOf(function, sizes, trial.seed);
    Evaluations evaluations(module, inputs);
    std::vector<RefTensor> expected = evaluations.of(*module.get().module);
    if (!evaluations.error.empty())
      return textOf(sizes) + ": evaluator: " + evaluations.error;
    std::vector<RefTensor> got = evaluations.of(*split->get().module);
    if (!evaluations.error.empty())
      return textOf(sizes) + ": call: " + evaluations.error;
    std::vector<Tensor> computed = program.run(inputs);
    if (computed.size() != got.size())
      return textOf(sizes) + ": compiled: " + program.error();
    for (size_t i = 0; i < got.size(); ++i) {
      std::string problem = compare(got[i], expected[i], allowed(function, i));
      if (problem.empty())
        problem = compare(computed[i].reference(), expected[i], allowed(function, i));
      if (!problem.empty())
        return textOf(sizes) + ": result " + std::to_string(i) + ": " + problem;
    }
  }
  return tryPlan(*split, trial);
}

std::string tryProgram(const Module &module, const Trial &trial) {
  std::string invalid;
  {
    DiagnosticCollector collector(module.get().context.get(), "");
    if (failed(verify(*module.get().module)))
      for (const Diagnostic &each : collector.take())
        invalid += each.text + "; ";
  }
  if (!invalid.empty())
    return "invalid: " + invalid;
  if (trial.overRanks)
    return tryRanks(module, trial);
  Program program(module, optionsOf(trial), trial.threads);
  program.guarded = trial.mayRefuse;
  auto function = module.get().module->lookupSymbol<func::FuncOp>("main");
  if (trial.mayRefuse && isAboutPositions(program.error()))
    return refusedAlways(program, function, trial);
  if (!program.error().empty())
    return "compiler: " + program.error();
  Result<std::vector<PassProgram>> programs = trial.compute.empty()
                                                  ? std::vector<PassProgram>()
                                                  : programsAfterPasses(module, optionsOf(trial));
  auto meaning = [&](const std::vector<Tensor> &inputs, std::string &why) {
    if (trial.compute.empty()) {
      std::vector<RefTensor> expected = program.evaluate(inputs);
      why = program.error();
      return expected;
    }
    Evaluations evaluations(module, inputs);
    std::vector<RefTensor> expected = evaluations.of(meantProgram(*programs));
    why = evaluations.error;
    return expected;
  };
  for (const Sizes &sizes : trial.sizes) {
    std::string problem = compareAll(program, function, meaning, sizes, trial);
    if (!problem.empty())
      return textOf(sizes) + ": " + problem;
  }
  return "";
}

//===-- Another process ------------------------------------------------------------------------------===//

constexpr rlim_t kMostSeconds = 120; // of processor time, so that a busy machine decides nothing

[[noreturn]] static void answerAndExit(int pipe, const Module &module, const Trial &trial) {
  rlimit limit{kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  std::string problem = tryProgram(module, trial);
  for (size_t at = 0; at < problem.size();) {
    ssize_t written = write(pipe, problem.data() + at, problem.size() - at);
    if (written <= 0)
      break;
    at += size_t(written);
  }
  _exit(problem.empty() ? 0 : 1);
}

std::string tryProgramApart(const Module &module, const Trial &trial) {
  int ends[2];
  if (pipe(ends))
    return "cannot make a pipe";
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    answerAndExit(ends[1], module, trial);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.append(buffer, size_t(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return "cannot start a process";
  if (!WIFSIGNALED(status))
    return answer;
  int signal = WTERMSIG(status);
  return signal == SIGXCPU || signal == SIGKILL ? "does not end"
                                                : std::string("crash: ") + strsignal(signal);
}

} // namespace weft::test
