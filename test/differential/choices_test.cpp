// What 'weft quantize' tries choices with computes what it then writes: the same numbers, for whatever was chosen.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/quant/LayerChoice.h"
#include "test/differential/Choices.h"
#include "test/differential/RandomProgram.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

/// Layers of which something was chosen, and how many of these stand in branches and loops.
static std::pair<unsigned, unsigned> countLayers(const Module &module) {
  unsigned all = 0, inside = 0;
  module.get().module->walk([&](mlir::Operation *op) {
    auto chosen = op->getAttrOfType<mlir::IntegerAttr>(kChosenAttr);
    all += chosen && chosen.getInt() > 0;
    inside += chosen && chosen.getInt() > 0 && !mlir::isa<mlir::func::FuncOp>(op->getParentOp());
  });
  return {all, inside};
}

TEST_CASE("branches that take a choice compute what the choice becomes") {
  unsigned layers = 0, inRegions = 0, ofValues = 0, together = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    RandomProgram program = chosenProgram(seed);
    unsigned before = ofValues;
    auto [all, inside] = countLayers(program.module);
    layers += all;
    inRegions += inside;
    for (size_t products : chooseHalves(program.module, seed)) {
      ofValues += 1;
      together += products > 1;
    }
    if (all == 0 && ofValues == before)
      continue;
    INFO("seed " << seed << "\n" << program.module.text());
    CHECK(trySame(realisedChoices(program.module), simulatedChoices(program.module),
                  program.trial) == "");
  }
  CHECK(layers > 150);
  CHECK(inRegions > 10);
  CHECK(ofValues > 50);
  CHECK(together > 5);
}
