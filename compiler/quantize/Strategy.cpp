//===- Strategy.cpp ---------------------------------------------------------------------------===//

#include "compiler/quantize/Strategy.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/BlockWeight.h"
#include "passes/quant/ByteTables.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/ValueProducts.h"
#include <map>

using namespace mlir;

namespace weft {
namespace {

constexpr const char *kWeightName = "quantized";

/// Weights that are made become files in memory of the module.
WeightFiles filesOf(std::shared_ptr<Module::Impl> impl) {
  WeightFiles files;
  files.read = [impl](StringRef name) { return impl->weightBytes(name); };
  files.add = [impl](SymTensorType type, std::vector<int8_t> bytes) -> Attribute {
    auto owner = std::make_shared<std::vector<int8_t>>(std::move(bytes));
    std::string name;
    for (size_t i = impl->files.size(); name.empty(); ++i) {
      std::string wish = kWeightName + std::to_string(i);
      if (!impl->files.count("#" + wish) && !SymbolTable::lookupSymbolIn(*impl->module, wish))
        name = wish;
    }
    ArrayRef<char> view(reinterpret_cast<const char *>(owner->data()), owner->size());
    impl->files["#" + name] = MappedFile::view("#" + name, view, owner);
    OpBuilder builder = OpBuilder::atBlockBegin(impl->module->getBody());
    builder.create<WeightOp>(builder.getUnknownLoc(), name, "#" + name, 0, int64_t(owner->size()),
                             type);
    return FlatSymbolRefAttr::get(type.getContext(), name);
  };
  return files;
}

/// A copy whose layers have their choices as attributes, and those of a strategy are chosen.
/// Numbers that are rounded already are weights of the copy, of all choices or only of those that
/// are chosen.
std::shared_ptr<Module::Impl> annotated(const Module &module,
                                        const std::vector<Decision> &decisions,
                                        const Strategy &strategy, bool hasAllNumbers) {
  std::shared_ptr<Module::Impl> copy = module.get().clone();
  MLIRContext *context = copy->context.get();
  Result<func::FuncOp> function = calledFunction(Module(copy));
  std::vector<IntegerLayer> layers = integerLayers(*function);
  std::vector<ByteTable> tables = byteTables(*function);
  std::vector<ValueProducts> values = valueProducts(*function);
  WeightFiles files = filesOf(copy);
  for (auto [decision, chosen] : llvm::zip_equal(decisions, strategy)) {
    if (decision.table && !decision.choices.empty())
      tables[*decision.table].read->setAttr(kTableChosenAttr,
                                            Builder(context).getI64IntegerAttr(chosen));
    if (decision.values && !decision.choices.empty())
      values[*decision.values].first()->setAttr(kValuesChosenAttr,
                                                Builder(context).getI64IntegerAttr(chosen));
    for (size_t layer : decision.layers) {
      SmallVector<LayerChoice> choices;
      for (const EdgeChoice &choice : decision.choices) {
        choices.push_back(choice.choice);
        choices.back().results = choice.resultsOf(layer);
        auto rounded = choice.rounded.find(layer);
        if (rounded != choice.rounded.end() && (hasAllNumbers || choices.size() == chosen))
          choices.back().rounded =
              constantsOf(layers[layer], *rounded->second, choice.choice.bits, files);
      }
      layers[layer].op->setAttr(kChoicesAttr, choicesAttr(context, choices));
      layers[layer].op->setAttr(kChosenAttr, Builder(context).getI64IntegerAttr(chosen));
    }
  }
  return copy;
}

void eraseUnreadWeights(ModuleOp module) {
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (SymbolTable::symbolKnownUseEmpty(weight, module))
      weight.erase();
}

Result<void> runPass(Module::Impl &impl, std::unique_ptr<Pass> pass) {
  DiagnosticCollector collector(impl.context.get(), "W0300");
  PassManager manager(impl.context.get());
  manager.addPass(std::move(pass));
  if (failed(manager.run(*impl.module)))
    return collector.take();
  return {};
}

} // namespace

Result<func::FuncOp> calledFunction(const Module &module) {
  func::FuncOp found;
  unsigned count = 0;
  for (auto function : module.get().module->getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    ++count;
    if (!found || function.getName() == "main")
      found = function;
  }
  if (found && (count == 1 || found.getName() == "main"))
    return found;
  return quantizeError("W0323",
                       found ? "the model has several functions and none is 'main'"
                             : "the model is no graph of operators",
                       module.get().name);
}

Result<Module> realised(const Module &module, const std::vector<Decision> &decisions,
                        const Strategy &strategy) {
  std::shared_ptr<Module::Impl> impl = annotated(module, decisions, strategy, false);
  if (Result<void> done = runPass(*impl, createRealiseChoices(filesOf(impl))); !done)
    return done.diagnostics();
  eraseUnreadWeights(*impl->module);
  return Module(impl);
}

Result<std::unique_ptr<Simulation>> Simulation::create(const Module &module,
                                                       const QuantizeOptions &options,
                                                       const std::vector<Decision> &decisions) {
  std::shared_ptr<Module::Impl> impl =
      annotated(module, decisions, Strategy(decisions.size(), 0), true);
  if (Result<void> done = runPass(*impl, createSimulateChoices(filesOf(impl))); !done)
    return done.diagnostics();
  auto simulation = std::make_unique<Simulation>();
  std::map<size_t, size_t> decisionOf, decisionOfTable, decisionOfValues;
  for (auto [i, decision] : llvm::enumerate(decisions)) {
    if (decision.choices.empty())
      continue;
    for (size_t layer : decision.layers)
      decisionOf[layer] = i;
    if (decision.table)
      decisionOfTable[*decision.table] = i;
    if (decision.values)
      decisionOfValues[*decision.values] = i;
  }
  for (auto [layer, decision] : decisionOf) {
    simulation->decisionOf.push_back(decision);
    for (auto [i, choice] : llvm::enumerate(decisions[decision].choices))
      if (choice.choice.form == LayerChoice::Static) {
        simulation->scaleOf.emplace_back(decision, i + 1);
        simulation->scales.push_back(choice.choice.scale);
        simulation->zeros.push_back(uint8_t(choice.choice.zero));
      }
  }
  for (const auto &others : {decisionOfTable, decisionOfValues})
    for (auto [position, decision] : others)
      simulation->decisionOf.push_back(decision);
  Result<std::unique_ptr<Session>> session = Session::compile(Module(impl), options, "simulate");
  if (!session)
    return session.diagnostics();
  simulation->session = std::move(*session);
  return simulation;
}

void Simulation::setRange(size_t decision, unsigned choice, const StaticRange &range) {
  for (size_t i = 0; i < scales.size(); ++i)
    if (scaleOf[i] == std::pair(decision, choice)) {
      scales[i] = range.scale;
      zeros[i] = uint8_t(range.zero);
    }
}

Result<void> Simulation::call(const BoundCall &call, const Strategy &strategy) {
  std::vector<int64_t> chosen;
  for (size_t decision : decisionOf)
    chosen.push_back(strategy[decision]);
  BoundCall all{{call.call.name, {}}, call.tensors};
  if (!chosen.empty())
    all.tensors.push_back(listOf(chosen.data(), WEFT_I64, chosen.size()));
  if (!scales.empty()) {
    all.tensors.push_back(listOf(scales.data(), WEFT_F32, scales.size()));
    all.tensors.push_back(listOf(zeros.data(), WEFT_U8, zeros.size()));
  }
  return session->call(all);
}

} // namespace weft
