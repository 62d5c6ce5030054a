//===- MakeFirst.h - What ranks send is made before what they keep ----------------------------------------===//
//
//   before   %q = …  %k = …  %v = …  permute %k, permute %v      after   %k = …  permute %k  %v = …  permute %v  %q = …
//
// The earlier keys are on their way, the more of that is hidden: queries are not sent, and can be projected meanwhile.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_MAKEFIRST_H
#define WEFT_PASSES_PARALLEL_MAKEFIRST_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Moves the exchanges of each list, with what they are made of, in front of what only lists behind it and the operations between the last exchange and `end`
/// are made of. All of one block. What does not depend on the program's inputs, or is no pure operation, stays where it is.
void makeFirst(llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> exchanges,
               mlir::Operation *end);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_MAKEFIRST_H
