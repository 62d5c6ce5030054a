//===- Simulation.h - What a program takes that --weft-simulate-choices made ----------------------===//
#ifndef WEFT_PASSES_QUANT_SIMULATION_H
#define WEFT_PASSES_QUANT_SIMULATION_H

#include "passes/quant/LayerChoice.h"

namespace weft {

/// Inputs of one number for each layer with choices: which it takes, 0 for none. In program order.
constexpr llvm::StringLiteral kChosenInput = "quantize.chosen";
/// Inputs of one number for each static choice, those of a layer one after the other.
constexpr llvm::StringLiteral kScalesInput = "quantize.scales", kZerosInput = "quantize.zeros";

/// Whether a function has them.
inline bool isSimulation(mlir::func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr))
      if (name.getValue() == kChosenInput)
        return true;
  return false;
}

/// With access to weights' bytes, and a place for those that are made.
std::unique_ptr<mlir::Pass> createSimulateChoices(WeightFiles files);
std::unique_ptr<mlir::Pass> createRealiseChoices(WeightFiles files);

} // namespace weft

#endif // WEFT_PASSES_QUANT_SIMULATION_H
