//===- LineShape.h - Kernels that walk the lines of one operand ------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_LINESHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_LINESHAPE_H

#include "targets/common/match/Match.h"

namespace weft {

/// The softmax, normalisation or reduction along the last dimension whose lines the kernel walks: all its results have their dimensions.
Match<mlir::Operation *> matchLines(mlir::func::FuncOp spec);

/// Of what the lines are of.
SymTensorType lineType(mlir::Operation *root);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_LINESHAPE_H
