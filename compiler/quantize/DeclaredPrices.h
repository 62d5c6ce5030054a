//===- DeclaredPrices.h - Prices that a description says, without timing ----------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_DECLAREDPRICES_H
#define WEFT_COMPILER_QUANTIZE_DECLAREDPRICES_H

#include "compiler/quantize/HardwareLimits.h"
#include "compiler/quantize/Strategy.h"

namespace weft {

struct DeclaredPrices {
  double plainSeconds = 0;                  ///< of all layers' multiply-adds in f32, over the calls
  std::vector<std::vector<double>> savings; ///< seconds by decision and choice, from 1 on
};

/// Of `calls` of the module's function. Refuses, with code W0332, a layer whose sizes only data
/// say.
Result<DeclaredPrices> declaredPrices(const Module &module, const HardwareLimits &limits,
                                      const std::vector<IntegerLayer> &layers,
                                      const std::vector<Decision> &decisions,
                                      const std::vector<BoundCall> &calls);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_DECLAREDPRICES_H
