//===- OfIndices.h - What code of elements says of its arithmetic -------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_OFINDICES_H
#define WEFT_DIALECTS_WEFT_INTERFACES_OFINDICES_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// On divisions and remainders: they are of indices, which are not negative and far from the ends of their type.
constexpr llvm::StringLiteral kOfIndicesAttr = "weft.of_indices";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_OFINDICES_H
