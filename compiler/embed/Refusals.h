//===- Refusals.h - What cannot be embedded ---------------------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_REFUSALS_H
#define WEFT_COMPILER_EMBED_REFUSALS_H

#include "compiler/plan/Variant.h"
#include "weft/compiler.hpp"

namespace weft {

/// Refuses what needs more than a processor and memory that is there before the call: devices,
/// ranks, memory whose size only data decide, loops that nothing limits.
Result<void> checkEmbeddable(llvm::ArrayRef<Variant> variants);

} // namespace weft

#endif
