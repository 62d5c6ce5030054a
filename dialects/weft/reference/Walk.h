//===- Walk.h - Boxes of indices for reference semantics ----------------------------------------===//
//
//   forBox({2, 3}, [&](ArrayRef<int64_t> index) { out.set(rowMajor(index, out.dims), …); });
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_REFERENCE_WALK_H
#define WEFT_DIALECTS_WEFT_REFERENCE_WALK_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

/// Calls `body` for every index of a box in row-major order; once when it has no dimensions.
inline void forBox(llvm::ArrayRef<int64_t> dims,
                   llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body) {
  if (llvm::is_contained(dims, 0))
    return;
  llvm::SmallVector<int64_t> index(dims.size());
  while (true) {
    body(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

inline int64_t rowMajor(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> dims) {
  int64_t at = 0;
  for (auto [i, dim] : llvm::zip_equal(index, dims))
    at = at * dim + i;
  return at;
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_REFERENCE_WALK_H
