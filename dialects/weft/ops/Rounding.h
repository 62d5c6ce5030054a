//===- Rounding.h - round_blocks: reals that bytes can stand for -------------------------------===//
//
// Beside Weft.h, which the whole compiler includes: few files know this operator. Everything else asks its interfaces.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_ROUNDING_H
#define WEFT_DIALECTS_WEFT_OPS_ROUNDING_H

#include "dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "dialects/weft/RoundingOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_OPS_ROUNDING_H
