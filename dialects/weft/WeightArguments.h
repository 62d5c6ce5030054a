//===- WeightArguments.h - What specifications say of constants, beside that they are ones ---------------===//
#ifndef WEFT_DIALECTS_WEFT_WEIGHTARGUMENTS_H
#define WEFT_DIALECTS_WEFT_WEIGHTARGUMENTS_H

#include "llvm/ADT/StringRef.h"

namespace weft {

/// On an argument with kWeightAttr: the type of the matrix that it is a part of, on every rank another. It may lie in the panels of that.
constexpr llvm::StringLiteral kPartOfAttr = "weft.part_of";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_WEIGHTARGUMENTS_H
