//===- WalkOrder.h - Whether neighbouring dimensions of a kernel can be walked as one ---------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_WALKORDER_H
#define WEFT_TARGETS_COMMON_MATCH_WALKORDER_H

#include "mlir/IR/Operation.h"

namespace weft {

/// Whether everything in the kernel but `root` walks over these dimensions in order, or not at all: operands have all of them, or one element for all.
/// Then a number that counts over all of them may stand in place of the last, with zeros before it. The `count` dimensions before the last
/// `behind` are meant.
bool walksInOrder(mlir::Operation *root, unsigned behind, unsigned count);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_WALKORDER_H
