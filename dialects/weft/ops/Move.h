//===- Move.h - What reshapes keep apart --------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_MOVE_H
#define WEFT_DIALECTS_WEFT_OPS_MOVE_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Neighbouring dimensions of both shapes with equal products.
struct ReshapeRun {
  unsigned resultFirst, resultEnd, inputFirst, inputEnd;
};

/// Cuts both shapes into the smallest runs whose products are equal, from the right.
llvm::SmallVector<ReshapeRun> matchRuns(SymTensorType result, SymTensorType input);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_MOVE_H
