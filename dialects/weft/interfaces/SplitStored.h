//===- SplitStored.h - Cuts of elements that share bytes and of blocks ------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_SPLITSTORED_H
#define WEFT_DIALECTS_WEFT_INTERFACES_SPLITSTORED_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Longer steps of a cut, where parts of stored elements that share bytes would not be whole bytes.
void fillBytes(mlir::Operation *op, Cut &cut);
/// By any dimension; along the axis between blocks, where all of them are whole.
llvm::SmallVector<Cut, 4> cutsOfBlocks(DequantizeBlocksOp op);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_SPLITSTORED_H
