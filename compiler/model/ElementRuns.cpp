//===- ElementRuns.cpp ------------------------------------------------------------------------===//

#include "compiler/model/ElementRuns.h"

using namespace mlir;

namespace weft {

static void append(ElementRuns &runs, ElementRun next) {
  if (next.count == 0)
    return;
  if (!runs.empty() && next.begin <= runs.back().end())
    runs.back().count = std::max(runs.back().end(), next.end()) - runs.back().begin;
  else
    runs.push_back(next);
}

static void addBox(ArrayRef<int64_t> dims, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                   int64_t begin, ElementRuns &runs) {
  if (dims.empty())
    return append(runs, {begin, 1});
  if (dims.size() == 1)
    return append(runs, {begin + starts[0], sizes[0]});
  int64_t stride = countOf(dims.drop_front());
  for (int64_t i = 0; i < sizes[0]; ++i)
    addBox(dims.drop_front(), starts.drop_front(), sizes.drop_front(),
           begin + (starts[0] + i) * stride, runs);
}

ElementRuns runsOfBox(ArrayRef<int64_t> dims, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
  ElementRuns runs;
  if (!llvm::is_contained(sizes, 0))
    addBox(dims, starts, sizes, 0, runs);
  return runs;
}

int64_t countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

ElementRuns runsOfAll(ArrayRef<int64_t> dims) {
  ElementRuns runs;
  append(runs, {0, countOf(dims)});
  return runs;
}

ElementRuns unite(ElementRuns a, const ElementRuns &b) {
  llvm::append_range(a, b);
  llvm::sort(a, [](ElementRun x, ElementRun y) { return x.begin < y.begin; });
  ElementRuns united;
  for (ElementRun run : a)
    append(united, run);
  return united;
}

void scatterRuns(const RefTensor &from, const ElementRuns &runs, RefTensor &to) {
  int64_t next = 0;
  for (ElementRun run : runs)
    for (int64_t i = run.begin; i < run.end(); ++i)
      to.set(i, from.at(next++));
}

RefTensor gatherRuns(const RefTensor &from, const ElementRuns &runs, ArrayRef<int64_t> dims) {
  RefTensor to(from.element, dims);
  int64_t next = 0;
  for (ElementRun run : runs)
    for (int64_t i = run.begin; i < run.end(); ++i)
      to.set(next++, from.at(i));
  return to;
}

} // namespace weft
