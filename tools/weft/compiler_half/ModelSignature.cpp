//===- ModelSignature.cpp - What a model takes, before it is compiled ---------------------------------------===//

#include "compiler/artifact/Descriptor.h"
#include "compiler/pipeline/EntryPlan.h"
#include "compiler/pipeline/ModuleImpl.h"
#include "tools/weft/Values.h"
#include "tools/weft/compiler_half/CompilerCommands.h"

namespace weft::cli {

Result<Signature> modelSignature(Module &module, const std::string &wanted) {
  mlir::func::FuncOp function;
  for (auto each : module.get().module->getOps<mlir::func::FuncOp>())
    if (each.isPublic() && (wanted.empty() ? !function || each.getName() == "main" : each.getName() == wanted))
      function = each;
  if (!function)
    return Failure{ExitInputRefused, wanted.empty() ? "the model has no public function" : "the model has no function '" + wanted + "'", "", ""};
  llvm::Expected<EntryPlan> plan = planEntry(function);
  if (!plan)
    return Failure{ExitInputRefused, llvm::toString(plan.takeError()), "", "W0304"};
  Signature signature;
  signature.function = function.getName().str();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = mlir::cast<SymTensorType>(function.getArgumentTypes()[i]);
    InputSpec input{inputName(function, i), elementCode(type.getElementType()), {}};
    for (SymExpr dim : type.getDims())
      input.dims.push_back(dim.str());
    signature.inputs.push_back(input);
  }
  for (const EntrySymbol &symbol : plan->symbols)
    signature.symbols.push_back({symbol.name.str(), symbol.min, symbol.max, symbol.multiple, int32_t(symbol.input), int32_t(symbol.dim)});
  return signature;
}

/// `seq` and `128`, `1..512` or `multiple-of(8)`.
static Result<std::vector<std::string>> dimFacts(const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (std::optional<int64_t> number = parseInteger(value))
    return std::vector<std::string>{name + " == " + std::to_string(*number)};
  size_t dots = value.find("..");
  if (dots != std::string::npos) {
    std::optional<int64_t> low = parseInteger(value.substr(0, dots)), high = parseInteger(value.substr(dots + 2));
    if (low && high && *low <= *high)
      return std::vector<std::string>{std::to_string(*low) + " <= " + name, name + " <= " + std::to_string(*high)};
  }
  const std::string prefix = "multiple-of(";
  if (value.rfind(prefix, 0) == 0 && value.back() == ')')
    if (std::optional<int64_t> k = parseInteger(value.substr(prefix.size(), value.size() - prefix.size() - 1)); k && *k > 0)
      return std::vector<std::string>{"mod(" + name + ", " + std::to_string(*k) + ") == 0"};
  return Failure{ExitWrongUsage, "--dim " + text + ": expected a size, a range such as 1..512, or multiple-of(8)", "", ""};
}

Result<std::vector<std::string>> readFacts(const ParsedOptions &options) {
  std::vector<std::string> facts;
  for (const std::string &text : options.values("dim")) {
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
