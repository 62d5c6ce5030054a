//===- IndexFacts.h - What the arithmetic of indices and guards shows ---------------------------------===//
#ifndef WEFT_TARGETS_COMMON_INDEXFACTS_H
#define WEFT_TARGETS_COMMON_INDEXFACTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// A power of two that divides an index; 1 where nothing is known, 2^20 at most.
int64_t divisorOf(mlir::Value index);

/// A condition of lanes as a scalar, where all of them have the same; null where they may differ. `ofRuns`: also of neighbours that begin with a
/// multiple of their count.
mlir::Value sameInAllLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, bool ofRuns);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_INDEXFACTS_H
