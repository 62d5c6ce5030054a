//===- PartSizes.h - Memory for the largest part that any rank has ----------------------------------------===//
//
//   SymTensorType most = largestParts(type, facts);    // [ceildiv(n, 4), 8] where a rank has its part of n over four
//
// Parts of a dimension that does not divide are longest on the first ranks. Memory for those is enough on all: its size is a short formula,
// sizes of blocks that come from other ranks are equal, and products of them can be compared.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_PARTSIZES_H
#define WEFT_PASSES_PLAN_PARTSIZES_H

#include "dialects/weft/Weft.h"

namespace weft {

SymTensorType largestParts(SymTensorType type, const SymFacts &facts);

} // namespace weft

#endif // WEFT_PASSES_PLAN_PARTSIZES_H
