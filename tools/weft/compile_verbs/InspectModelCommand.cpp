//===- InspectModelCommand.cpp - weft inspect of a model --------------------------------------===//
//
// What a model says before it is compiled: its signature, its operators, its parameters.
//===------------------------------------------------------------------------------------------===//

#include "compiler/artifact/Descriptor.h"
#include "compiler/model/EntryPlan.h"
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/SignatureJson.h"
#include "tools/weft/cli/SignatureText.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/compile_verbs/PredictReport.h"
#include "tools/weft/compile_verbs/WhyReport.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>

namespace weft::cli {
namespace {

constexpr size_t kOperatorsShown = 12;

struct FunctionModel {
  Signature signature;
  std::vector<InputSpec> outputs;
  std::vector<std::string> facts; ///< all of the contract
};

struct Parameters {
  std::string element;
  uint64_t tensors = 0, elements = 0, bytes = 0;
};

class ModelInspection {
public:
  ModelInspection(const ParsedOptions &options, Console &console, Module module)
      : options(options), console(console), module(std::move(module)) {}

  int run() {
    for (auto step : {&ModelInspection::readFunctions, &ModelInspection::readAt})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    countOperators();
    countParameters();
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  Result<Done> readFunctions() {
    if (options.has("target"))
      return Failure{ExitWrongUsage,
                     "'--target' is for artifacts, but '" + options.positional()[0] +
                         "' is not compiled",
                     "with --why it says what the model is compiled for", ""};
    if (options.has("ranks"))
      return Failure{ExitWrongUsage,
                     "'--ranks' is for artifacts, but '" + options.positional()[0] +
                         "' is not compiled",
                     "with --why it says how so many would share the work", ""};
    for (auto function : module.get().module->getOps<mlir::func::FuncOp>()) {
      if (!function.isPublic())
        continue;
      Result<Signature> signature = modelSignature(function);
      if (!signature)
        return signature.failure();
      FunctionModel model{*signature, modelOutputs(function), {}};
      if (auto symbols = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
        for (const SymPred &fact : symbols.getFacts())
          model.facts.push_back(fact.str());
      functions.push_back(std::move(model));
    }
    return Done{};
  }

  /// --at batch=1,seq=128: sizes instead of formulas.
  Result<Done> readAt() {
    Result<SymbolValues> sizes = readSymbols(options, "at");
    if (!sizes)
      return sizes.failure();
    at = std::move(*sizes);
    for (const auto &[name, value] : at)
      if (!isSymbol(name))
        return Failure{ExitWrongUsage, "'--at': there is no symbol '" + name + "'", symbolHint(),
                       ""};
    return Done{};
  }

  bool isSymbol(const std::string &name) const {
    for (const FunctionModel &function : functions)
      for (const SymbolSpec &symbol : function.signature.symbols)
        if (symbol.name == name)
          return true;
    return false;
  }

  std::string symbolHint() const {
    std::vector<std::string> names;
    for (const FunctionModel &function : functions)
      for (const SymbolSpec &symbol : function.signature.symbols)
        if (std::find(names.begin(), names.end(), symbol.name) == names.end())
          names.push_back(symbol.name);
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "the symbols are " : ", ") + name;
    return text.empty() ? "all sizes are fixed" : text;
  }

  void countOperators() {
    std::map<std::string, uint64_t> counts;
    module.get().module->walk([&](mlir::Operation *op) {
      // Constants are counted as parameters; the rest of these is structure.
      if (op->getNumResults() > 0 && !mlir::isa<ConstantOp, KernelOp>(op))
        ++counts[op->getName().stripDialect().str()];
    });
    operators.assign(counts.begin(), counts.end());
    std::stable_sort(operators.begin(), operators.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
  }

  /// Tensors in files, and constants written in the program.
  void countParameters() {
    std::map<std::string, Parameters> byElement;
    auto add = [&](SymTensorType type) {
      std::string name = weft_element_name(elementCode(type.getElementType()));
      int64_t count = 1;
      for (SymExpr dim : type.getDims())
        count *= dim.asConstant().value_or(0);
      Parameters &row = byElement.try_emplace(name, Parameters{name}).first->second;
      ++row.tensors;
      row.elements += uint64_t(count);
      row.bytes += uint64_t(elementBytes(type.getElementType(), count));
    };
    module.get().module->walk(
        [&](WeightOp weight) { add(mlir::cast<SymTensorType>(weight.getType())); });
    module.get().module->walk([&](ConstantOp constant) {
      if (mlir::isa<mlir::DenseElementsAttr>(constant.getValue()))
        add(mlir::cast<SymTensorType>(constant.getType()));
    });
    for (auto &[name, row] : byElement)
      parameters.push_back(row);
    std::stable_sort(parameters.begin(), parameters.end(),
                     [](const Parameters &a, const Parameters &b) { return a.bytes > b.bytes; });
  }

  void line(const std::string &text) { console.result(text + "\n"); }

  void report() {
    std::string path = options.positional()[0];
    while (path.size() > 1 && path.back() == '/')
      path.pop_back();
    line(console.bold(lastName(path)) + "  not compiled");
    for (const FunctionModel &function : functions)
      reportFunction(function);
    reportOperators();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Parameters &row = parameters[i];
      line((i ? "         " : "weights  ") + row.element + "  " + std::to_string(row.tensors) +
           (row.tensors == 1 ? " tensor, " : " tensors, ") + printCount(double(row.elements)) +
           " elements, " + printBytes(double(row.bytes)));
    }
    console.say("  next: weft compile " + options.positional()[0]);
  }

  void reportFunction(const FunctionModel &f) {
    line(console.bold(f.signature.function) + "(" + arguments(f.signature.inputs) + ") -> " +
         (f.outputs.size() == 1 ? arguments(f.outputs) : "(" + arguments(f.outputs) + ")"));
    std::string symbols;
    for (const SymbolSpec &symbol : f.signature.symbols)
      symbols += (symbols.empty() ? "" : "    ") + range(symbol);
    if (!symbols.empty())
      line("symbols  " + symbols);
    std::vector<std::string> facts = factsBesideRanges(f.facts, f.signature.symbols);
    for (size_t i = 0; i < facts.size(); ++i)
      line((i ? "         " : "facts    ") + facts[i]);
  }

  void reportOperators() {
    uint64_t all = 0;
    size_t width = 0;
    for (const auto &[name, count] : operators)
      all += count;
    line("compute  " + std::to_string(all) + (all == 1 ? " operator" : " operators"));
    size_t shown =
        console.verbosity() > 0 ? operators.size() : std::min(operators.size(), kOperatorsShown);
    for (size_t i = 0; i < shown; ++i)
      width = std::max(width, std::to_string(operators[i].second).size());
    for (size_t i = 0; i < shown; ++i) {
      std::string count = std::to_string(operators[i].second);
      line("         " + std::string(width - count.size(), ' ') + count + " x  " +
           operators[i].first);
    }
    if (shown < operators.size())
      line("         and " + std::to_string(operators.size() - shown) + " more kinds (-v)");
  }

  std::string arguments(std::vector<InputSpec> list) const {
    std::string out;
    for (InputSpec &argument : list) {
      for (std::string &dim : argument.dims)
        if (std::optional<int64_t> value = evaluateFormula(dim, at))
          dim = std::to_string(*value);
      out += (out.empty() ? "" : ", ") + argument.name + ": " +
             printShape(argument, console.unicode());
    }
    return out;
  }

  std::string range(const SymbolSpec &symbol) const {
    if (auto value = at.find(symbol.name); value != at.end())
      return symbol.name + " = " + std::to_string(value->second);
    return printRange(symbol, console.unicode());
  }

  void functionJson(JsonWriter &json, const FunctionModel &f) const {
    json.object().field("name", f.signature.function);
    argumentsJson(json, "inputs", f.signature.inputs);
    argumentsJson(json, "outputs", f.outputs);
    symbolsJson(json, f.signature.symbols);
    json.list("facts", f.facts).end();
  }

  void reportJson() {
    JsonWriter json("weft.inspect/1");
    json.field("kind", "model").field("file", options.positional()[0]).array("functions");
    for (const FunctionModel &function : functions)
      functionJson(json, function);
    json.end().object("operators");
    for (const auto &[name, count] : operators)
      json.field(name, count);
    json.end().array("parameters");
    for (const Parameters &row : parameters)
      json.object()
          .field("element", row.element)
          .field("tensors", row.tensors)
          .field("elements", row.elements)
          .field("bytes", row.bytes)
          .end();
    console.result(json.end().finish());
  }

  const ParsedOptions &options;
  Console &console;
  Module module;
  std::vector<FunctionModel> functions;
  SymbolValues at;
  std::vector<std::pair<std::string, uint64_t>> operators; ///< most frequent first
  std::vector<Parameters> parameters;
};

} // namespace

int inspectModelCommand(const ParsedOptions &options, Console &console) {
  int exitCode = ExitOk;
  Result<std::vector<std::string>> facts = readFacts(options);
  if (!facts)
    return console.fail(facts.failure());
  std::optional<Module> module = importModel(options, console, exitCode, *facts);
  if (!module)
    return exitCode;
  if (options.has("machine"))
    return predictReport(options, console, *module);
  return options.has("why") ? whyReport(options, console, *module)
                            : ModelInspection(options, console, *module).run();
}

} // namespace weft::cli
