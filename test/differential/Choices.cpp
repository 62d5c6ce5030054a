#include "test/differential/Choices.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/ValueProducts.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

constexpr double kMostByte = 127, kMostShort = 32767;

/// Powers of two divide without rounding.
std::vector<float> randomFactors(Graph &g, int64_t channels) {
  std::vector<float> factors;
  for (int64_t i = 0; i < channels; ++i)
    factors.push_back(g.dice.oneOf({0.5f, 1.0f, 2.0f}));
  return factors;
}

LayerChoice::Form randomForm(Graph &g, bool isProduct, bool isInGroups, int64_t channels) {
  if (!isInGroups && g.dice(4) == 0)
    return LayerChoice::Half;
  if (!isProduct || g.dice(2))
    return LayerChoice::Static;
  if (channels % kWeightBlock == 0 && g.dice(2))
    return g.dice(2) ? LayerChoice::Blocks : LayerChoice::ByteBlocks;
  return g.dice(3) ? LayerChoice::Rows : LayerChoice::WideRows;
}

LayerChoice randomChoice(Graph &g, Operation *layer) {
  Value x = layer->getOperand(0);
  auto conv = dyn_cast<ConvOp>(layer);
  bool isInGroups = conv && conv.getGroups() != 1;
  int64_t channels = *g.type(x).getDim(conv ? 1 : g.rank(x) - 1).asConstant();
  LayerChoice choice;
  choice.form = randomForm(g, !conv, isInGroups, channels);
  if (choice.form == LayerChoice::Static) {
    double most = std::max(g.know(x).most, 0.125);
    // Exact numbers by these are never half way between two integers, where two right computations may differ.
    choice.scale =
        g.dice(2) ? powerOfTwoFrom(most / 128) : float(most / g.dice.oneOf({97.3, 61.7}));
    choice.zero = g.dice.oneOf({0, 7, 128, 255});
  }
  if (choice.hasBytes())
    choice.rounding.isSigned = g.dice(2);
  if (choice.hasBlocks())
    choice.bits = g.dice.oneOf({kBlockBits, int64_t(5), kMostBlockBits});
  if (choice.hasBytes() || choice.hasRowScales()) {
    choice.rounding.mostWeight = g.dice.oneOf({127, 127, 64});
    choice.rounding.hasOneScale = g.dice.chance(1, 4);
    choice.rounding.hasPowersOfTwo = g.dice.chance(1, 4);
  }
  if (!isInGroups && choice.form != LayerChoice::Half && g.dice.chance(1, 3))
    choice.factors = randomFactors(g, channels);
  return choice;
}

Module passed(const Module &module, std::unique_ptr<Pass> pass) {
  Module copy(module.get().clone());
  PassManager manager(copy.get().context.get());
  manager.addPass(std::move(pass));
  if (failed(manager.run(*copy.get().module)))
    llvm::report_fatal_error("choices cannot be written");
  return copy;
}

WeightFiles filesOf(const Module &module) {
  return {[&module](StringRef name) { return module.get().weightBytes(name); }, nullptr};
}

func::FuncOp mainOf(const Module &module) {
  return module.get().module->lookupSymbol<func::FuncOp>("main");
}

/// What the inputs of a simulation say, in their order.
struct Strategy {
  explicit Strategy(func::FuncOp function) {
    for (const IntegerLayer &layer : integerLayers(function)) {
      std::vector<LayerChoice> choices = *choicesOf(layer);
      if (choices.empty())
        continue;
      chosen.push_back(layer.op->getAttrOfType<IntegerAttr>(kChosenAttr).getInt());
      for (const LayerChoice &choice : choices)
        if (choice.form == LayerChoice::Static) {
          scales.push_back(choice.scale);
          zeros.push_back(uint8_t(choice.zero));
        }
    }
    for (const ValueProducts &group : valueProducts(function))
      if (auto half = group.first()->getAttrOfType<IntegerAttr>(kValuesChosenAttr))
        chosen.push_back(half.getInt());
  }
  DenseElementsAttr of(StringRef input, MLIRContext *context) const {
    Builder b(context);
    auto list = [&](size_t size, Type element) {
      return RankedTensorType::get({int64_t(size)}, element);
    };
    if (input == kChosenInput)
      return DenseElementsAttr::get(list(chosen.size(), b.getI64Type()), ArrayRef(chosen));
    if (input == kScalesInput)
      return DenseElementsAttr::get(list(scales.size(), b.getF32Type()), ArrayRef(scales));
    return DenseElementsAttr::get(list(zeros.size(), b.getIntegerType(8, false)), ArrayRef(zeros));
  }

  std::vector<int64_t> chosen;
  std::vector<float> scales;
  std::vector<uint8_t> zeros;
};

} // namespace

Knowledge withChoices(Graph &g, Operation *layer, Knowledge sum, double count) {
  Value x = layer->getOperand(0), w = layer->getOperand(1);
  const Knowledge &k = g.know(x);
  if (!g.hasChoices || !g.element(x).isF32() || !k.isExact() || !w.getDefiningOp<ConstantOp>())
    return sum;
  std::vector<LayerChoice> choices;
  for (int64_t i = 0, most = 1 + g.dice(3); i < most; ++i)
    choices.push_back(randomChoice(g, layer));
  int64_t chosen = g.dice(int64_t(choices.size()) + 1);
  layer->setAttr(kChoicesAttr, choicesAttr(layer->getContext(), choices));
  layer->setAttr(kChosenAttr, g.b.getI64IntegerAttr(chosen));
  if (chosen == 0)
    return sum;
  count = std::max(count, 1.0);
  double most = 4 * count * (k.most + 1) * g.know(w).most;
  double error = precisionOf(g.b.getF32Type()) * most * (2 * std::sqrt(count) + 2);
  LayerChoice::Form form = choices[size_t(chosen) - 1].form;
  if (form == LayerChoice::Rows || form == LayerChoice::WideRows ||
      form == LayerChoice::ByteBlocks) // half of the largest is half way
    error += most / (form == LayerChoice::WideRows ? kMostShort : kMostByte);
  return {most, 0, error, false};
}

std::vector<size_t> chooseHalves(const Module &module, unsigned seed) {
  std::vector<size_t> found;
  for (const ValueProducts &group : valueProducts(mainOf(module))) {
    Builder b(group.first()->getContext());
    group.first()->setAttr(kValuesChosenAttr, b.getI64IntegerAttr((seed + found.size()) % 2));
    found.push_back(group.products.size());
  }
  return found;
}

Module realisedChoices(const Module &module) {
  return passed(module, createRealiseChoices(filesOf(module)));
}

Module simulatedChoices(const Module &module) {
  Strategy strategy(mainOf(module));
  Module simulated = passed(module, createSimulateChoices(filesOf(module)));
  func::FuncOp function = mainOf(simulated);
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  for (unsigned i = function.getNumArguments(); i-- > 0;) {
    auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    if (!name || !name.getValue().starts_with("quantize."))
      continue;
    BlockArgument input = function.getArgument(i);
    input.replaceAllUsesWith(b.create<ConstantOp>(function.getLoc(),
                                                  cast<SymTensorType>(input.getType()),
                                                  strategy.of(name.getValue(), b.getContext())));
    function.eraseArgument(i);
  }
  return simulated;
}

} // namespace weft::test
