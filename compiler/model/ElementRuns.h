//===- ElementRuns.h - A box of a tensor's elements, line by line -----------------------------===//
//
//   ElementRuns rows = runsOfBox({4, 8}, {1, 0}, {2, 8});   // {8, 16}: two whole rows are one run
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_ELEMENTRUNS_H
#define WEFT_COMPILER_MODEL_ELEMENTRUNS_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Elements that lie side by side in row-major order.
struct ElementRun {
  int64_t begin, count;
  int64_t end() const { return begin + count; }
};

/// In the order of their begins, none empty and none touching the next.
using ElementRuns = llvm::SmallVector<ElementRun, 1>;

int64_t countOf(llvm::ArrayRef<int64_t> dims);

/// Of the box of `sizes` elements from `starts` on in a tensor of `dims`, which has them all.
ElementRuns runsOfBox(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> sizes);
ElementRuns runsOfAll(llvm::ArrayRef<int64_t> dims);
/// Those of either.
ElementRuns unite(ElementRuns a, const ElementRuns &b);

/// `to[runs] = from`, and `from[runs]` as a tensor of `dims`.
void scatterRuns(const RefTensor &from, const ElementRuns &runs, RefTensor &to);
RefTensor gatherRuns(const RefTensor &from, const ElementRuns &runs, llvm::ArrayRef<int64_t> dims);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_ELEMENTRUNS_H
