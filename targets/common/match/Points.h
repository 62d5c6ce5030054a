//===- Points.h - Kernels that are computed point by point ------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_POINTS_H
#define WEFT_TARGETS_COMMON_MATCH_POINTS_H

#include "targets/common/match/Match.h"

namespace weft {

/// What is walked: all results have these dimensions, and every element can be pulled.
Match<SymTensorType> matchPoints(mlir::func::FuncOp spec);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_POINTS_H
