//===- Choices.h - Layers that may become integers, as 'weft quantize' has them -----------------------------===//
//
// The generator gives products and convolutions of exact values a list of choices, one of which is chosen: two right computations round such
// a value to the same integers. What the choice gives is not exact.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_CHOICES_H
#define WEFT_TEST_DIFFERENTIAL_CHOICES_H

#include "test/differential/Graph.h"
#include "weft/compiler.hpp"

namespace weft::test {

/// What is known of a layer's result, `sum` where it stays as it is. It stays where the graph makes no choices.
Knowledge withChoices(Graph &g, mlir::Operation *layer, Knowledge sum, double count);

/// Chooses bf16 for every second of the products of two values, whichever the seed says. How many products each of them has.
std::vector<size_t> chooseHalves(const Module &module, unsigned seed);

/// The program with every layer as it was chosen.
Module realisedChoices(const Module &module);
/// The program with every choice in a branch, and what was chosen as constants in place of its inputs.
Module simulatedChoices(const Module &module);

} // namespace weft::test

#endif // WEFT_TEST_DIFFERENTIAL_CHOICES_H
