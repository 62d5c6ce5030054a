//===- BoundedExponential.h - What schedules tell the expansion of e^x ------------------------------------===//
#ifndef WEFT_TARGETS_CPU_MACHINE_BOUNDEDEXPONENTIAL_H
#define WEFT_TARGETS_CPU_MACHINE_BOUNDEDEXPONENTIAL_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// Of a `math.exp` whose operand is known to be from -87 to 0 (-708 to 0 in f64) or nan: it needs no clamp.
inline constexpr llvm::StringLiteral kBoundedAttr = "weft.bounded";

} // namespace weft

#endif // WEFT_TARGETS_CPU_MACHINE_BOUNDEDEXPONENTIAL_H
