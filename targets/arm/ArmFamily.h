//===- ArmFamily.h - 64-bit ARM by feature level -----------------------------------------------------===//
#ifndef WEFT_TARGETS_ARM_ARMFAMILY_H
#define WEFT_TARGETS_ARM_ARMFAMILY_H

#include "targets/common/Registry.h"

namespace weft {

/// v8: NEON, which every 64-bit ARM has. v8.2: and products of bytes (DotProd) and arithmetic on f16. v8.6: and products of matrices of bytes and of bf16.
const TargetFamily &armFamily();

} // namespace weft

#endif // WEFT_TARGETS_ARM_ARMFAMILY_H
