//===- DecisionKinds.h - Which decisions cost the same, and what files are smaller by ---------===//
#ifndef WEFT_COMPILER_QUANTIZE_DECISIONKINDS_H
#define WEFT_COMPILER_QUANTIZE_DECISIONKINDS_H

#include "compiler/quantize/Strategy.h"
#include "passes/quant/ByteTables.h"
#include "passes/quant/IntegerLayers.h"
#include "passes/quant/ValueProducts.h"

namespace weft {

struct DecisionKind {
  std::string text; ///< equal for decisions whose layers equal kernels compute: they have one price
  double weights = 0;        ///< elements of the layers' weights
  std::vector<double> bytes; ///< that the file is smaller by with each choice
  std::vector<bool> isTimed; ///< by choice; the others compute in f32 and take its time
  /// By choice: of a weight's element and of what it is multiplied by, together.
  std::vector<unsigned> bits;
};

constexpr unsigned kFloatBits = 32;

/// By decision.
std::vector<DecisionKind> kindsOf(llvm::ArrayRef<Decision> decisions,
                                  llvm::ArrayRef<IntegerLayer> layers,
                                  llvm::ArrayRef<ByteTable> tables,
                                  llvm::ArrayRef<ValueProducts> values);

/// More than caches hold: a call of few rows spends its time with reading them.
bool haveManyWeights(llvm::ArrayRef<IntegerLayer> layers);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_DECISIONKINDS_H
