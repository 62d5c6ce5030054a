//===- ArmMachine.h - The vectors of a level of 64-bit ARM ---------------------------------------------===//
#ifndef WEFT_TARGETS_ARM_ARMMACHINE_H
#define WEFT_TARGETS_ARM_ARMMACHINE_H

#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Of "v8", "v8.2" or "v8.6".
const VectorMachine &armMachine(llvm::StringRef level);

} // namespace weft

#endif // WEFT_TARGETS_ARM_ARMMACHINE_H
