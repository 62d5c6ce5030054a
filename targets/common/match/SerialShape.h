//===- SerialShape.h - Kernels of an operator that writes its loops itself -------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_SERIALSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_SERIALSHAPE_H

#include "targets/common/match/Match.h"

namespace weft {

/// The operation whose loops the kernel runs: it computes all results.
Match<ElementOpInterface> matchSerial(mlir::func::FuncOp spec);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_SERIALSHAPE_H
