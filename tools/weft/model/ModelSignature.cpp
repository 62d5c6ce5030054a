//===- ModelSignature.cpp - What a model takes, before it is compiled -------------------------===//

#include "compiler/artifact/Descriptor.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/model/EntryPlan.h"
#include "compiler/model/ModuleImpl.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/Passes.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/model/ModelImport.h"

namespace weft::cli {

/// Names for a hint: "'main', 'decode'".
static std::string publicNames(mlir::ModuleOp module) {
  std::string text;
  for (auto each : module.getOps<mlir::FunctionOpInterface>())
    if (each.isPublic())
      text += (text.empty() ? "'" : ", '") + each.getName().str() + "'";
  return text;
}

Result<mlir::FunctionOpInterface> findFunction(mlir::ModuleOp program, const std::string &wanted) {
  mlir::FunctionOpInterface function;
  for (auto each : program.getOps<mlir::FunctionOpInterface>())
    if (each.isPublic() &&
        (wanted.empty() ? !function || each.getName() == "main" : each.getName() == wanted))
      function = each;
  if (function)
    return function;
  if (wanted.empty())
    return Failure{ExitInputRefused, "the model has no public function", "", "W0304"};
  return Failure{ExitInputRefused, "the model has no function '" + wanted + "'",
                 "its functions are " + publicNames(program), "W0401"};
}

Result<mlir::FunctionOpInterface> findFunction(const Module &module, const std::string &wanted) {
  return findFunction(*module.get().module, wanted);
}

static InputSpec argument(std::string name, SymTensorType tensor) {
  InputSpec spec{std::move(name), elementCode(tensor.getElementType()), {}};
  for (SymExpr dim : tensor.getDims())
    spec.dims.push_back(dim.str());
  return spec;
}

/// As the compiled model will check them.
static void addLimits(mlir::FunctionOpInterface function, Signature &signature) {
  auto module = function->getParentOfType<mlir::ModuleOp>();
  if (plan::isPlan(module))
    return;
  mlir::OwningOpRef<mlir::ModuleOp> checked = module.clone();
  mlir::ScopedDiagnosticHandler silent(function.getContext(),
                                       [](mlir::Diagnostic &) { return mlir::success(); });
  if (mlir::failed(runPass(*checked, createCheckPositions({}, {}))))
    return; // what no call can give is said by those that compile or compute it
  auto same = checked->lookupSymbol<mlir::func::FuncOp>(function.getName());
  same.walk([&](CheckPositionsOp check) {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(check.getPositions());
    if (argument && argument.getOwner() == &same.getBody().front() && check.getSizes().size() == 1)
      signature.inputs[argument.getArgNumber()].below.push_back(check.getSizes()[0].str());
  });
}

Result<Signature> modelSignature(mlir::FunctionOpInterface function) {
  mlir::OwningOpRef<mlir::FunctionOpInterface> wholes = withWholes(function);
  llvm::Expected<EntryPlan> plan = planEntry(*wholes);
  if (!plan)
    return Failure{ExitInputRefused, llvm::toString(plan.takeError()), "", "W0304"};
  Signature signature;
  signature.function = function.getName().str();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    signature.inputs.push_back(argument(inputName(function, i), callersInput(*wholes, i)));
  for (const EntrySymbol &symbol : plan->symbols)
    if (!symbol.isRoom) // callers do not choose it by a dimension
      signature.symbols.push_back({symbol.name.str(), symbol.min, symbol.max, symbol.multiple,
                                   int32_t(symbol.input), int32_t(symbol.dim)});
  addLimits(function, signature);
  return signature;
}

std::vector<InputSpec> modelOutputs(mlir::FunctionOpInterface function) {
  std::vector<InputSpec> outputs;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    outputs.push_back(argument(outputName(function, i), callersOutput(function, i)));
  return outputs;
}

/// `seq` and `128`, `1..512` or `multiple-of(8)`.
static Result<std::vector<std::string>> dimFacts(const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (std::optional<int64_t> number = parseInteger(value))
    return std::vector<std::string>{name + " == " + std::to_string(*number)};
  size_t dots = value.find("..");
  if (dots != std::string::npos) {
    std::optional<int64_t> low = parseInteger(value.substr(0, dots)),
                           high = parseInteger(value.substr(dots + 2));
    if (low && high && *low <= *high)
      return std::vector<std::string>{std::to_string(*low) + " <= " + name,
                                      name + " <= " + std::to_string(*high)};
  }
  const std::string prefix = "multiple-of(";
  if (value.rfind(prefix, 0) == 0 && value.back() == ')')
    if (std::optional<int64_t> k =
            parseInteger(value.substr(prefix.size(), value.size() - prefix.size() - 1));
        k && *k > 0)
      return std::vector<std::string>{"mod(" + name + ", " + std::to_string(*k) + ") == 0"};
  return Failure{ExitWrongUsage, "'--dim " + text + "' must be a size, a range or a multiple",
                 "write seq=128, seq=1..512 or seq=multiple-of(8)", ""};
}

Result<std::vector<std::string>> readFacts(const ParsedOptions &options) {
  std::vector<std::string> facts;
  for (const std::string &given : options.values("dim"))
    for (const std::string &text : splitSymbols(given)) {
      Result<std::vector<std::string>> more = dimFacts(text);
      if (!more)
        return more.failure();
      facts.insert(facts.end(), more->begin(), more->end());
    }
  for (const std::string &text : options.values("assume"))
    facts.push_back(text);
  return facts;
}

} // namespace weft::cli
