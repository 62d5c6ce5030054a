//===- Operators.td - All operators, for the reference pages ------------------------------------===//
#ifndef WEFT_OPERATORS_TD
#define WEFT_OPERATORS_TD

include "dialects/weft/WeftOps.td"
include "dialects/weft/ops/Collective.td"
include "dialects/weft/ops/Quantize.td"
include "dialects/weft/ops/Random.td"
include "dialects/weft/ops/Rounding.td"

#endif
