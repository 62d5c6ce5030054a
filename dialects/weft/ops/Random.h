//===- Random.h - Numbers that look random --------------------------------------------------------===//
//
// Beside Weft.h, which the whole compiler includes: only what draws random numbers knows this operator. Everything else asks its
// interfaces.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_RANDOM_H
#define WEFT_DIALECTS_WEFT_OPS_RANDOM_H

#include "dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "dialects/weft/RandomOps.h.inc"

namespace weft {

/// Words of 32 bits in the generator's state.
constexpr int64_t kRandomWords = 624;

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_RANDOM_H
