//===- RealiseChoices.cpp - Layers become what was chosen for them --------------------------------===//
//
//   before   %1 = contract … %0, %w {weft.choices = [{scale = 0.1, zero = 3}], weft.chosen = 1}
//   after    %q = quantize %0, 0.1, 3 ; %a = dequantize %q, 0.1, 3
//            %b = dequantize %bytes, %scales, 0
//            %1 = contract … %a, %b
//
// Products of two values that are to be of bf16 read rounded operands. Where a choice rounds its input everywhere, whatever else reads %0 reads %a, too. Where it rounds what the layer gives, whatever reads that
// reads it rounded, once: not where a reader's choice rounds it everywhere.
// --weft-use-integers computes the product of the integers. Layers that nothing was chosen for stay as they are.
//===------------------------------------------------------------------------------------------===//

#include "passes/quant/ByteTables.h"
#include "passes/quant/Passes.h"
#include "passes/quant/RoundOperands.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/ValueProducts.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_REALISECHOICES
#include "passes/quant/Passes.h.inc"

namespace {

/// What was chosen for a layer, if anything was.
FailureOr<std::optional<LayerChoice>> chosenOf(const IntegerLayer &layer) {
  FailureOr<std::vector<LayerChoice>> choices = choicesOf(layer);
  if (failed(choices))
    return failure();
  auto chosen = layer.op->getAttrOfType<IntegerAttr>(kChosenAttr);
  layer.op->removeAttr(kChoicesAttr);
  layer.op->removeAttr(kChosenAttr);
  if (!chosen || chosen.getInt() == 0)
    return std::optional<LayerChoice>();
  if (chosen.getValue().ugt(choices->size()))
    return layer.op->emitOpError("has no choice ") << chosen.getInt();
  return std::optional<LayerChoice>((*choices)[size_t(chosen.getInt() - 1)]);
}

LogicalResult realise(IntegerLayer layer, const LayerChoice &choice, const WeightFiles &files) {
  ImplicitLocOpBuilder b(layer.op->getLoc(), layer.op);
  layer.input = layer.op->getOperand(0); // which may have been a layer, too
  Value result = buildChoice(b, layer, choice, constantScale(b, choice), files);
  if (!result)
    return layer.op->emitOpError("has a weight whose elements are not known");
  layer.op->getResult(0).replaceAllUsesWith(result);
  layer.op->erase();
  if (layer.weight->use_empty())
    layer.weight->erase();
  return success();
}

LogicalResult realise(ArrayRef<IntegerLayer> layers, const WeightFiles &files) {
  std::vector<std::vector<LayerChoice>> chosen; // at most one of each
  for (const IntegerLayer &layer : layers) {
    FailureOr<std::optional<LayerChoice>> choice = chosenOf(layer);
    if (failed(choice))
      return failure();
    chosen.emplace_back();
    if (*choice)
      chosen.back().push_back(std::move(**choice));
  }
  std::vector<GivenResult> results = givenResults(layers, chosen);
  if (layers.empty())
    return success();
  ImplicitLocOpBuilder b(layers[0].op->getLoc(), layers[0].op);
  auto everywhere = [&](size_t i) {
    return !chosen[i].empty() && chosen[i][0].everywhere ? &chosen[i][0] : nullptr;
  };
  roundEverywhere(b, layers, everywhere, [&](size_t i, const LayerChoice &choice) {
    return restored(b, layers[i].input, constantScale(b, choice));
  });
  for (const GivenResult &given : results)
    if (!roundsEverywhere(layers, given.value, everywhere))
      roundResult(b, given.value,
                  [&](Value value) { return restored(b, value, constantScale(b, given.rounded)); });
  for (auto [layer, choice] : llvm::zip_equal(layers, chosen))
    if (!choice.empty() && failed(realise(layer, choice[0], files)))
      return failure();
  return success();
}

LogicalResult realise(const ByteTable &table, const WeightFiles &files) {
  auto chosen = table.read->getAttrOfType<IntegerAttr>(kTableChosenAttr);
  table.read->removeAttr(kTableChosenAttr);
  if (!chosen || chosen.getInt() == 0)
    return success();
  ImplicitLocOpBuilder b(table.read.getLoc(), table.read);
  Value bytes = buildTable(b, table, files);
  if (!bytes)
    return table.read->emitOpError("reads a table whose elements are not known");
  table.read.getResult().replaceAllUsesWith(bytes);
  table.read->erase();
  if (table.table->use_empty())
    table.table->erase();
  return success();
}

/// The products whose operands are to be rounded.
SmallVector<Operation *> chosenAmong(ArrayRef<ValueProducts> groups) {
  SmallVector<Operation *> chosen;
  for (const ValueProducts &group : groups) {
    auto number = group.first()->getAttrOfType<IntegerAttr>(kValuesChosenAttr);
    group.first()->removeAttr(kValuesChosenAttr);
    if (number && number.getInt() != 0)
      llvm::append_range(chosen, group.products);
  }
  return chosen;
}

struct RealiseChoicesPass : impl::RealiseChoicesBase<RealiseChoicesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      std::vector<ByteTable> tables = byteTables(function);
      SmallVector<Operation *> halves = chosenAmong(valueProducts(function));
      if (failed(realise(integerLayers(function), files)))
        return signalPassFailure();
      for (const ByteTable &table : tables)
        if (failed(realise(table, files)))
          return signalPassFailure();
      roundOperands(halves, BFloat16Type::get(&getContext()));
    }
  }
  WeightFiles files;
};

} // namespace

std::unique_ptr<Pass> createRealiseChoices(WeightFiles files) {
  auto pass = std::make_unique<RealiseChoicesPass>();
  pass->files = std::move(files);
  return pass;
}

} // namespace weft
